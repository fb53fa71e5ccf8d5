// Attributes that Ridge keeps as text (AttrKind::kRaw) and checks for form
// only: sharding, metadata, frontend attributes, backend configuration, ...
#ifndef RIDGE_HLO_TEXT_RAW_ATTRIBUTES_H_
#define RIDGE_HLO_TEXT_RAW_ATTRIBUTES_H_

#include "absl/strings/string_view.h"
#include "hlo/ir/attribute.h"
#include "hlo/text/scanner.h"

namespace ridge {

// Reads the value of `id` (whose kind is kRaw) as written into *text, after
// checking its form: field names, types of values, balance. False with the
// error recorded.
bool ReadRawAttribute(Scanner* s, AttrId id, absl::string_view* text);

// frontend_attributes={k="v",k={json}}; also a header attribute.
bool SkipFrontendAttributes(Scanner* s);
// {true,false} or one of true and false.
bool SkipBoolList(Scanner* s);
// Text in balanced (), [] and {}, quoted strings skipped.
bool SkipBalanced(Scanner* s, absl::string_view rule);

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_RAW_ATTRIBUTES_H_
