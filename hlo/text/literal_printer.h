// Literals to text.
#ifndef RIDGE_HLO_TEXT_LITERAL_PRINTER_H_
#define RIDGE_HLO_TEXT_LITERAL_PRINTER_H_

#include <string>

#include "hlo/ir/literal.h"

namespace ridge {

// Appends the values: 1, {1, 2}, {{1, 2}, {3, 4}}, (1, {2}), {...}. Floats
// with as many digits as bring their bits back.
void AppendLiteral(const Literal& literal, std::string* out);
// With the shape before each array: s32[2]{0} {1, 2}.
void AppendShapedLiteral(const Literal& literal, std::string* out);
// The fewest digits that give the same double back.
void AppendDouble(double value, std::string* out);

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_LITERAL_PRINTER_H_
