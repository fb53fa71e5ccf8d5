// Values of attributes, names and shapes to text; part of the printer.
#ifndef RIDGE_HLO_TEXT_ATTRIBUTE_PRINTER_H_
#define RIDGE_HLO_TEXT_ATTRIBUTE_PRINTER_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/strings/string_view.h"
#include "hlo/ir/attribute.h"
#include "hlo/ir/module.h"
#include "hlo/text/printer.h"

namespace ridge {

class AttributePrinter {
 public:
  AttributePrinter(PrintOptions::Form form, std::string* out)
      : form_(form), out_(*out) {}

  // In the canonical form computations are called by number.
  void SetNumber(const Computation* computation, int64_t number) {
    numbers_[computation] = number;
  }

  void Append(const Attribute& attribute);  // the value alone
  void AppendInt(int64_t value);
  void AppendName(absl::string_view name);
  void AppendName(const Computation& computation);
  // `shape` must be interned: its text is kept for the next time.
  void AppendShape(const Shape* shape);

 private:
  void AppendInts(absl::Span<const int64_t> ints);
  void AppendIntLists(absl::Span<const std::vector<int64_t>> lists);
  void AppendValue(const Attribute& a, bool v);
  void AppendValue(const Attribute& a, int64_t v);
  void AppendValue(const Attribute& a, double v);
  void AppendValue(const Attribute& a, EnumValue v);
  void AppendValue(const Attribute& a, Ints v);
  void AppendValue(const Attribute& a, absl::string_view v);
  void AppendValue(const Attribute& a, Computation* v);
  void AppendStructure(const std::vector<Computation*>& v);
  void AppendStructure(const IntLists& v);
  void AppendStructure(const Window& v);
  void AppendStructure(const PaddingConfig& v);
  void AppendStructure(const SliceRanges& v);
  void AppendStructure(const ConvDimLabels& v);
  void AppendStructure(const OperandAliases& v);
  void AppendStructure(const ReplicaGroups& v);
  void AppendStructure(const Shape& v);
  void AppendStructure(const std::vector<Shape>& v);
  void AppendStructure(const Literal& v);
  template <typename T>
  void AppendValue(const Attribute&, const std::shared_ptr<const T>& v) {
    AppendStructure(*v);
  }

  PrintOptions::Form form_;
  std::string& out_;
  // Nodes, so that the last one used stays where it is.
  absl::node_hash_map<const Shape*, std::string> shapes_;
  const Shape* last_shape_ = nullptr;
  const std::string* last_text_ = nullptr;
  absl::flat_hash_map<const Computation*, int64_t> numbers_;
};

}  // namespace ridge

#endif  // RIDGE_HLO_TEXT_ATTRIBUTE_PRINTER_H_
