// Literals in text: numbers in nested braces, row-major whatever the layout.
#ifndef RIDGE_HLO_TEXT_LITERAL_PARSER_H_
#define RIDGE_HLO_TEXT_LITERAL_PARSER_H_

#include <cstdint>

#include "hlo/ir/literal.h"
#include "hlo/text/scanner.h"

namespace ridge {

// Elided constants (`{...}`) are given this many bytes of fill per module;
// what exceeds it stays without data (Literal::byte_size() is 0), so that a
// short text cannot ask for more memory than there is.
struct FillBudget {
  static constexpr int64_t kBytes = int64_t{256} << 20;
  int64_t left = kBytes;
};

// A literal of a known shape. Values are checked against the range of their
// type. Nothing is allocated for elements that the text does not hold.
bool ParseLiteral(Scanner* s, const Shape& shape, FillBudget* budget,
                  Literal* literal);

// A literal with its shape before it: s32[2] {1, 2}, or a tuple of such:
// (f32[] 1, s32[] 2).
bool ParseShapedLiteral(Scanner* s, FillBudget* budget, Literal* literal);

// A number: 1, -2.5e3, inf, -nan.
bool ParseDouble(Scanner* s, double* value, absl::string_view rule);

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_LITERAL_PARSER_H_
