// The module's header: entry layout, input/output aliasing, buffer donors.
#include <string>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "hlo/text/scanner.h"
#include "hlo/text/shape_parser.h"
#include "hlo/verify/infer.h"
#include "hlo/verify/rules.h"

namespace ridge::verify {
namespace {

// Reads a header attribute's value; malformed text is the parser's business,
// so that false means only "nothing more to check".
class HeaderReader {
 public:
  explicit HeaderReader(absl::string_view text)
      : text_(text), scanner_(text_) {}

  bool Eat(char c) { return scanner_.Eat(c); }
  bool Int(int64_t* value) { return scanner_.Int(value, "header", "a number"); }
  bool Shape(ridge::Shape* shape) { return ParseShape(&scanner_, shape); }
  bool Word(absl::string_view* word) {
    *word = scanner_.Name();
    return !word->empty();
  }
  bool Arrow() { return scanner_.EatText("->"); }

  // {0,1}
  bool Index(ShapeIndex* index) {
    if (!Eat('{')) return false;
    while (!Eat('}')) {
      int64_t value = 0;
      if (!Int(&value)) return false;
      index->push_back(value);
      Eat(',');
    }
    return true;
  }

 private:
  std::string text_;  // the scanner wants a terminated string
  Scanner scanner_;
};

const Shape* Subshape(const Shape& shape, const ShapeIndex& index) {
  const Shape* at = &shape;
  for (int64_t k : index) {
    if (!at->IsTuple() || k < 0 ||
        k >= static_cast<int64_t>(at->tuple_shapes().size())) {
      return nullptr;
    }
    at = &at->tuple_shape(k);
  }
  return at;
}

struct ParameterBuffer {
  int64_t number = 0;
  ShapeIndex index;
};

// The shape of a parameter's buffer; null (and the error noted) where there is
// no such buffer.
const Shape* CheckParameter(const ParameterBuffer& buffer,
                            absl::string_view rule, Context* context) {
  const Computation& entry = *context->module().entry();
  const int64_t count = static_cast<int64_t>(entry.parameters().size());
  if (buffer.number < 0 || buffer.number >= count) {
    context->FailModule(rule, rule, " names parameter ", buffer.number,
                        ", but there are ", count);
    return nullptr;
  }
  const Shape* shape =
      Subshape(entry.parameter(buffer.number)->shape(), buffer.index);
  if (shape == nullptr) {
    context->FailModule(rule, rule, ": parameter ", buffer.number,
                        " has no element ", infer::Braced(buffer.index));
  }
  return shape;
}

void CheckEntryLayout(Context* context) {
  const Module& module = context->module();
  const absl::string_view text = module.header_text("entry_computation_layout");
  if (text.empty()) return;
  HeaderReader reader(text);
  std::vector<Shape> parameters;
  if (!reader.Eat('{') || !reader.Eat('(')) return;
  while (!reader.Eat(')')) {
    Shape shape;
    if (!reader.Shape(&shape)) return;
    parameters.push_back(std::move(shape));
    reader.Eat(',');
  }
  Shape result;
  if (!reader.Arrow() || !reader.Shape(&result)) return;
  const Computation& entry = *module.entry();
  if (parameters.size() != entry.parameters().size()) {
    context->FailModule("entry-layout", "entry_computation_layout has ",
                        parameters.size(), " parameters, the entry ",
                        entry.parameters().size());
    return;
  }
  for (size_t k = 0; k < parameters.size(); ++k) {
    const Instruction& parameter = *entry.parameters()[k];
    if (infer::Compatible(parameters[k], parameter.shape())) continue;
    context->Fail(parameter, "entry-layout", "parameter ", k, " is ",
                  parameter.shape().ToString(),
                  ", but should be compatible to the one in "
                  "entry_computation_layout, ",
                  parameters[k].ToString());
  }
  if (!infer::Compatible(result, entry.root()->shape())) {
    context->Fail(*entry.root(), "entry-layout", "the root is ",
                  entry.root()->shape().ToString(),
                  ", but should be compatible to the one in "
                  "entry_computation_layout, ",
                  result.ToString());
  }
}

// { {0}: (0, {}, may-alias), {1}: (2, {0}) }
void CheckInputOutputAlias(Context* context) {
  const Module& module = context->module();
  const absl::string_view text = module.header_text("input_output_alias");
  if (text.empty()) return;
  constexpr absl::string_view kRule = "input_output_alias";
  const Shape& result = module.entry()->root()->shape();
  absl::flat_hash_set<std::pair<int64_t, ShapeIndex>> aliased;
  absl::flat_hash_set<ShapeIndex> outputs;
  HeaderReader reader(text);
  if (!reader.Eat('{')) return;
  while (!reader.Eat('}')) {
    ShapeIndex output;
    ParameterBuffer input;
    if (!reader.Index(&output) || !reader.Eat(':') || !reader.Eat('(') ||
        !reader.Int(&input.number)) {
      return;
    }
    if (reader.Eat(',') && !reader.Index(&input.index)) return;
    absl::string_view kind;
    if (reader.Eat(',') && !reader.Word(&kind)) return;
    if (!reader.Eat(')')) return;
    reader.Eat(',');
    const Shape* to = Subshape(result, output);
    if (to == nullptr) {
      context->FailModule(kRule, kRule, ": the result ", result.ToString(),
                          " has no element ", infer::Braced(output));
      continue;
    }
    const Shape* from = CheckParameter(input, kRule, context);
    if (from == nullptr) continue;
    if (!outputs.insert(output).second) {
      context->FailModule(kRule, kRule, ": output ", infer::Braced(output),
                          " is aliased twice");
    }
    if (!aliased.insert({input.number, input.index}).second) {
      context->FailModule(kRule, kRule, ": parameter ", input.number, " ",
                          infer::Braced(input.index), " is aliased twice");
    }
    if (context->options().layout_sensitive &&
        from->ByteSize() != to->ByteSize()) {
      context->FailModule(kRule, kRule, ": output ", infer::Braced(output),
                          " takes ", to->ByteSize(), " bytes, parameter ",
                          input.number, " ", from->ByteSize());
    }
  }
}

// { (0, {}), (1, {0}) }
void CheckBufferDonor(Context* context) {
  const absl::string_view text = context->module().header_text("buffer_donor");
  if (text.empty()) return;
  HeaderReader reader(text);
  if (!reader.Eat('{')) return;
  while (!reader.Eat('}')) {
    ParameterBuffer donor;
    if (!reader.Eat('(') || !reader.Int(&donor.number)) return;
    if (reader.Eat(',') && !reader.Index(&donor.index)) return;
    if (!reader.Eat(')')) return;
    reader.Eat(',');
    CheckParameter(donor, "buffer_donor", context);
  }
}

}  // namespace

void CheckHeader(Context* context) {
  CheckEntryLayout(context);
  CheckInputOutputAlias(context);
  CheckBufferDonor(context);
}

}  // namespace ridge::verify
