// Rules of single instructions: attributes, shapes, element types, layouts,
// aliasing, metadata.
#include <algorithm>
#include <array>
#include <bitset>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "hlo/ir/opcode_rules.h"
#include "hlo/verify/infer.h"
#include "hlo/verify/raw_fields.h"
#include "hlo/verify/rules.h"
#include "hlo/verify/shape_inference.h"

namespace ridge::verify {
namespace {

using infer::Compatible;
using infer::CompatibleIgnoringPrecision;

// ---- Tables ----------------------------------------------------------------

// Facts that the rules below need of each opcode.
enum Trait : uint8_t {
  // The result is a value that exists already, so it can have neither another
  // precision nor, once layouts are assigned, another layout.
  kPassesThrough = 1,
  // May take floats of several precisions: hands values on, or accumulates in
  // a precision of its own.
  kMixesPrecision = 2,
  // Cannot change layouts (all elementwise opcodes but copy cannot either).
  kKeepsLayout = 4,
  // May have operands or results of buffer type.
  kTakesBuffers = 8,
};

struct TraitRow {
  Opcode opcode;
  uint8_t traits;
};

constexpr TraitRow kTraitRows[] = {
    {Opcode::kAddDependency, kMixesPrecision | kTakesBuffers},
    {Opcode::kAllGather, kMixesPrecision},
    {Opcode::kAllGatherDone, kMixesPrecision},
    {Opcode::kAllGatherStart, kMixesPrecision},
    {Opcode::kAllReduce, kMixesPrecision},
    {Opcode::kAllReduceDone, kMixesPrecision},
    {Opcode::kAllReduceStart, kMixesPrecision},
    {Opcode::kAllToAll, kMixesPrecision},
    {Opcode::kAsyncDone, kMixesPrecision | kTakesBuffers},
    {Opcode::kAsyncStart, kMixesPrecision | kTakesBuffers},
    {Opcode::kAsyncUpdate, kMixesPrecision | kTakesBuffers},
    {Opcode::kBitcast, kPassesThrough},
    {Opcode::kCall, kPassesThrough | kMixesPrecision | kTakesBuffers},
    {Opcode::kCollectivePermute, kMixesPrecision},
    {Opcode::kCollectivePermuteDone, kMixesPrecision},
    {Opcode::kCollectivePermuteStart, kMixesPrecision},
    {Opcode::kConcatenate, kKeepsLayout},
    {Opcode::kConditional, kPassesThrough | kMixesPrecision | kTakesBuffers},
    {Opcode::kConstant, kPassesThrough},
    {Opcode::kConvolution, kMixesPrecision},
    {Opcode::kCopyDone, kPassesThrough | kMixesPrecision},
    {Opcode::kCopyStart, kPassesThrough | kMixesPrecision},
    {Opcode::kCustomCall, kPassesThrough | kMixesPrecision | kTakesBuffers},
    {Opcode::kDomain, kMixesPrecision},
    {Opcode::kDot, kMixesPrecision},
    {Opcode::kDynamicSlice, kKeepsLayout},
    {Opcode::kDynamicUpdateSlice, kPassesThrough | kKeepsLayout},
    {Opcode::kFusion, kPassesThrough | kMixesPrecision | kTakesBuffers},
    {Opcode::kGetTupleElement,
     kPassesThrough | kMixesPrecision | kTakesBuffers},
    {Opcode::kInfeed, kPassesThrough | kMixesPrecision},
    {Opcode::kMap, kKeepsLayout},
    {Opcode::kOptimizationBarrier,
     kPassesThrough | kMixesPrecision | kTakesBuffers},
    {Opcode::kOutfeed, kPassesThrough | kMixesPrecision},
    {Opcode::kPad, kKeepsLayout},
    {Opcode::kParameter, kPassesThrough | kMixesPrecision | kTakesBuffers},
    {Opcode::kRaggedDot, kMixesPrecision},
    {Opcode::kRecv, kPassesThrough | kMixesPrecision},
    {Opcode::kRecvDone, kPassesThrough | kMixesPrecision},
    {Opcode::kReducePrecision, kMixesPrecision},
    {Opcode::kReduceScatter, kMixesPrecision},
    {Opcode::kReduceWindow, kMixesPrecision | kKeepsLayout},
    {Opcode::kReverse, kKeepsLayout},
    {Opcode::kScaledDot, kMixesPrecision},
    {Opcode::kSelectAndScatter, kKeepsLayout},
    {Opcode::kSend, kPassesThrough | kMixesPrecision},
    {Opcode::kSendDone, kPassesThrough | kMixesPrecision},
    {Opcode::kSlice, kKeepsLayout},
    {Opcode::kSort, kMixesPrecision | kKeepsLayout},
    {Opcode::kTuple, kPassesThrough | kMixesPrecision | kTakesBuffers},
    {Opcode::kWhile, kPassesThrough | kMixesPrecision | kTakesBuffers},
};

struct OpcodeFacts {
  uint8_t traits = 0;
  std::bitset<kAttrCount> allowed;
  std::bitset<kAttrCount> required;
};

const OpcodeFacts& FactsOf(Opcode opcode) {
  static const auto* const facts = [] {
    auto* all = new std::array<OpcodeFacts, kOpcodeCount>;
    for (int k = 0; k < kOpcodeCount; ++k) {
      const Opcode op = static_cast<Opcode>(k);
      for (const AttrRule& rule : AttrRules(op)) {
        (*all)[k].allowed.set(static_cast<size_t>(rule.id));
        if (rule.required) (*all)[k].required.set(static_cast<size_t>(rule.id));
      }
      if (IsElementwise(op) && op != Opcode::kCopy) {
        (*all)[k].traits = kKeepsLayout;
      }
    }
    for (const TraitRow& row : kTraitRows) {
      (*all)[static_cast<size_t>(row.opcode)].traits |= row.traits;
    }
    return all;
  }();
  return (*facts)[static_cast<size_t>(opcode)];
}

bool Has(Opcode opcode, Trait trait) {
  return (FactsOf(opcode).traits & trait) != 0;
}

// ---- Memory spaces ---------------------------------------------------------

const LayoutExtras* Extras(const Shape& shape) {
  return shape.has_layout() ? shape.layout().extras.get() : nullptr;
}

int64_t MemorySpace(const Shape& shape) {
  const LayoutExtras* extras = Extras(shape);
  return extras == nullptr ? 0 : extras->memory_space;
}

// S(5) is the host's memory.
constexpr int64_t kHostMemory = 5;

// ---- Shapes ----------------------------------------------------------------

// The shape inferred and the shape written, with layout where the two come
// apart only there.
template <typename... Why>
void FailShape(const Instruction& i, const Shape& expected, Context* context,
               const Why&... why) {
  const bool layouts = Compatible(expected, i.shape());
  context->Fail(i, "shape", "expected instruction to have shape equal to ",
                expected.ToString(layouts), ", actual shape is ",
                i.shape().ToString(layouts), why...);
}

// Elementwise with every shape the same interned one, of a type that needs no
// closer look: the bulk of real modules.
bool IsPlainElementwise(const Instruction& i) {
  if (!IsElementwise(i.opcode()) || i.operand_count() == 0) return false;
  switch (i.opcode()) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      break;
    case Opcode::kSubtract:
    case Opcode::kDivide:
    case Opcode::kNegate:
      if (IsPred(i.shape().type())) return false;
      break;
    default:
      return false;
  }
  if (!i.shape().IsArray() || i.operand_count() != Info(i.opcode()).arity) {
    return false;
  }
  for (const Instruction* operand : i.operands()) {
    if (&operand->shape() != &i.shape()) return false;
  }
  return true;
}

// tuple and the like, without building the inferred shape.
bool CheckTuple(const Instruction& i, Context* context) {
  const Shape& shape = i.shape();
  const int64_t size = static_cast<int64_t>(shape.tuple_shapes().size());
  bool same = shape.IsTuple() && size == i.operand_count();
  for (int64_t k = 0; same && k < size; ++k) {
    same = Compatible(shape.tuple_shape(k), i.operand(k)->shape());
  }
  if (!same) FailShape(i, *infer::Tuple(i), context);
  return same;
}

// The result of a contraction may be of another type than its operands.
bool ContractionTypeFits(const Instruction& i, ElementType inferred) {
  const ElementType type = i.shape().type();
  if (type == inferred) return true;
  if (IsComplex(type) != IsComplex(inferred)) return false;
  return IsFloat(inferred) || Info(type).bits >= Info(inferred).bits;
}

bool ShapeFits(const Instruction& i, const Shape& inferred,
               const VerifyOptions& options) {
  const Shape& shape = i.shape();
  if (Info(i.opcode()).op_class == OpClass::kContraction) {
    return shape.IsArray() && infer::SameBounds(shape, inferred) &&
           ContractionTypeFits(i, inferred.type());
  }
  const bool host_copy =
      i.opcode() == Opcode::kCopy &&
      (MemorySpace(shape) == kHostMemory) !=
          (MemorySpace(i.operand(0)->shape()) == kHostMemory);
  if (options.allow_mixed_precision && !Has(i.opcode(), kPassesThrough) &&
      !host_copy) {
    return CompatibleIgnoringPrecision(shape, inferred);
  }
  return Compatible(shape, inferred);
}

// ---- Layouts ---------------------------------------------------------------

bool SameOrder(const Shape& a, const Shape& b) {
  return !a.has_layout() || !b.has_layout() ||
         a.layout().minor_to_major == b.layout().minor_to_major;
}

void CheckKeepsLayout(const Instruction& i, Context* context) {
  const Shape& shape = i.shape();
  if (!shape.IsArray() || !shape.has_layout()) return;
  for (const Instruction* operand : i.operands()) {
    const Shape& from = operand->shape();
    if (!from.IsArray() || from.rank() != shape.rank() ||
        SameOrder(from, shape)) {
      continue;
    }
    context->Fail(i, "layout", "instruction shouldn't change layouts, from ",
                  from.ToString(true), " of ", operand->name(), " to ",
                  shape.ToString(true));
    return;
  }
}

void CheckLayoutIsPermutation(const Instruction& i, const Shape& shape,
                              Context* context) {
  for (const Shape& t : shape.tuple_shapes()) {
    CheckLayoutIsPermutation(i, t, context);
  }
  if (!shape.IsArray() || !shape.has_layout()) return;
  const DimVector& order = shape.layout().minor_to_major;
  uint64_t seen = 0;
  for (int64_t d : order) {
    if (d >= 0 && d < shape.rank()) seen |= uint64_t{1} << d;
  }
  const bool whole =
      static_cast<int64_t>(order.size()) == shape.rank() &&
      (shape.rank() == 64 ? ~seen == 0
                          : seen == (uint64_t{1} << shape.rank()) - 1);
  if (!whole) {
    context->Fail(i, "layout", "a layout must order all ", shape.rank(),
                  " dimensions, found ", shape.layout().ToString());
  }
}

void CheckBitcast(const Instruction& i, Context* context) {
  const Shape& from = i.operand(0)->shape();
  const Shape& to = i.shape();
  if (!from.IsArray() || !to.IsArray()) return;
  // Tiles pad what a buffer holds, so that sizes compare only without them.
  const auto tiled = [](const Shape& shape) {
    return Extras(shape) != nullptr && !Extras(shape)->tiles.empty();
  };
  if (from.IsStatic() && to.IsStatic() && !tiled(from) && !tiled(to) &&
      from.ByteSize() != to.ByteSize()) {
    context->Fail(i, "bitcast-size",
                  "bitcast cannot have different shape sizes of output (",
                  to.ByteSize(), ") and operand (", from.ByteSize(), "), ",
                  to.ToString(), " and ", from.ToString());
  }
  if ((MemorySpace(from) == kHostMemory) != (MemorySpace(to) == kHostMemory)) {
    context->Fail(i, "memory-space",
                  "bitcast moves nothing: its result shouldn't have the layout "
                  "of host memory space when its operand has not (or the other "
                  "way round), found ",
                  from.ToString(true), " to ", to.ToString(true));
  }
}

// ---- Element types ---------------------------------------------------------

// The first float type among leaves, and whether another one follows.
void FindFloats(const Shape& shape, ElementType* found, bool* mixed) {
  if (shape.IsTuple()) {
    for (const Shape& t : shape.tuple_shapes()) FindFloats(t, found, mixed);
    return;
  }
  if (!shape.IsArray() || !IsFloat(shape.type())) return;
  if (*found == ElementType::kOpaque) {
    *found = shape.type();
  } else if (*found != shape.type()) {
    *mixed = true;
  }
}

ComparisonOrder DefaultOrder(ElementType type) {
  switch (Info(type).type_class) {
    case TypeClass::kSigned:
      return ComparisonOrder::kSigned;
    case TypeClass::kUnsigned:
    case TypeClass::kPred:
      return ComparisonOrder::kUnsigned;
    default:
      return ComparisonOrder::kFloat;
  }
}

void CheckComparison(const Instruction& i, Context* context) {
  const ElementType type = i.operand(0)->shape().type();
  const ComparisonOrder fallback = DefaultOrder(type);
  const auto order = i.enum_attr(AttrId::kComparisonType, fallback);
  if (order == fallback) return;
  const bool total = IsFloat(type) && order == ComparisonOrder::kTotalOrder;
  if (total) return;
  const auto names = EnumNames(EnumId::kComparisonOrder);
  context->Fail(i, "comparison-type", "expected comparison type ",
                names[static_cast<size_t>(fallback)],
                IsFloat(type) ? " or TOTALORDER" : "", " for ", Name(type),
                ", found ", names[static_cast<size_t>(order)]);
}

void CheckPackedNibble(const Instruction& i, Context* context) {
  const Ints precision = i.ints(AttrId::kOperandPrecision);
  const auto nibbles =
      std::count(precision.begin(), precision.end(),
                 static_cast<int64_t>(Precision::kPackedNibble));
  if (nibbles == 0) return;
  const auto is_byte = [](const Shape& s) {
    return IsInteger(s.type()) && Info(s.type()).bits == 8;
  };
  if (nibbles != 2 || i.operand_count() < 2 ||
      !is_byte(i.operand(0)->shape()) || !is_byte(i.operand(1)->shape())) {
    context->Fail(i, "packed-nibble",
                  "packed_nibble applies to two operands of 8-bit integers, "
                  "found ",
                  nibbles);
  }
}

// Reducers of these must take exactly the operands' types.
void CheckReducerTypes(const Instruction& i, Context* context) {
  const Computation* reducer = i.to_apply();
  for (int64_t k = 0; k < i.operand_count(); ++k) {
    const ElementType operand = i.operand(k)->shape().type();
    const ElementType parameter = reducer->parameter(k)->shape().type();
    if (operand == parameter) continue;
    // Operands are (inputs, start values), parameters (accumulators, values):
    // both must agree, so that each is compared with its counterpart.
    context->Fail(i, "mixed-precision", "operand ", k, " is ", Name(operand),
                  ", but parameter ", k, " of ", reducer->name(), " is ",
                  Name(parameter));
    return;
  }
}

// ---- Aliasing --------------------------------------------------------------

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

// An alias between a buffer and the array it holds is what Pin and Unpin make.
const Shape& Content(const Shape& shape) {
  return shape.IsBuffer() ? shape.tuple_shape(0) : shape;
}

std::string IndexText(const ShapeIndex& index) { return infer::Braced(index); }

}  // namespace

void CheckAttributes(const Instruction& i, Context* context) {
  const OpcodeFacts& facts = FactsOf(i.opcode());
  std::bitset<kAttrCount> present;
  for (const Attribute& a : i.attributes()) {
    present.set(static_cast<size_t>(a.id));
  }
  const std::bitset<kAttrCount> unknown = present & ~facts.allowed;
  const std::bitset<kAttrCount> missing = facts.required & ~present;
  if (unknown.none() && missing.none() && i.opcode() != Opcode::kConditional &&
      i.opcode() != Opcode::kCustomCall) {
    return;
  }
  for (size_t k = 0; k < kAttrCount; ++k) {
    const absl::string_view name = Name(static_cast<AttrId>(k));
    if (unknown.test(k)) {
      context->Fail(i, "attribute-unknown", Name(i.opcode()), " takes no ",
                    name, "; it takes ",
                    absl::StrJoin(AttrRules(i.opcode()), ", ",
                                  [](std::string* out, const AttrRule& rule) {
                                    absl::StrAppend(out, Name(rule.id));
                                  }));
    }
    if (missing.test(k)) {
      context->Fail(i, "attribute-missing", Name(i.opcode()), " needs ", name);
    }
  }
  const auto alternatives = AttrAlternatives(i.opcode());
  if (!alternatives.empty()) {
    int complete = 0;
    for (absl::Span<const AttrId> set : alternatives) {
      complete += std::all_of(set.begin(), set.end(),
                              [&](AttrId id) { return i.has(id); });
    }
    if (complete != 1) {
      context->Fail(i, "attribute-missing", Name(i.opcode()),
                    " needs either true_computation and false_computation, or "
                    "branch_computations");
    }
  }
  int exclusive = 0;
  for (AttrId id : ExclusiveAttrs(i.opcode())) exclusive += i.has(id);
  if (exclusive > 1) {
    context->Fail(i, "attribute-exclusive", Name(i.opcode()),
                  " takes only one of to_apply and called_computations");
  }
}

bool CheckShape(const Instruction& i, Context* context) {
  if (IsPlainElementwise(i)) return true;
  if (!context->options().allow_unbounded_dynamism && i.shape().IsArray()) {
    for (int64_t d : i.shape().dims()) {
      if (d != Shape::kUnbounded) continue;
      context->Fail(i, "unbounded", "unbounded dynamism is disabled, found ",
                    i.shape().ToString());
      return false;
    }
  }
  if (i.opcode() == Opcode::kTuple) return CheckTuple(i, context);
  if (i.opcode() == Opcode::kBroadcast) {
    const absl::Status status = infer::CheckBroadcast(i);
    if (status.ok()) return true;
    context->Fail(i, "shape", status.message());
    return false;
  }
  const absl::StatusOr<Shape> inferred = InferShape(i);
  if (!inferred.ok()) {
    context->Fail(i, "shape", inferred.status().message());
    return false;
  }
  if (!ShapeFits(i, *inferred, context->options())) {
    FailShape(i, *inferred, context);
    return false;
  }
  return true;
}

void CheckElementTypes(const Instruction& i, Context* context) {
  if (i.opcode() == Opcode::kCompare) CheckComparison(i, context);
  if (i.opcode() == Opcode::kDot || i.opcode() == Opcode::kConvolution) {
    CheckPackedNibble(i, context);
  }
  if (!Has(i.opcode(), kTakesBuffers) && i.shape().IsBuffer()) {
    context->Fail(i, "buffer", Name(i.opcode()),
                  " makes no buffer, expected array, found ",
                  i.shape().ToString());
  }
  if (context->options().allow_mixed_precision) return;
  if (!Has(i.opcode(), kMixesPrecision) && i.operand_count() > 1) {
    ElementType found = ElementType::kOpaque;
    bool mixed = false;
    for (const Instruction* operand : i.operands()) {
      FindFloats(operand->shape(), &found, &mixed);
    }
    if (mixed) {
      context->Fail(i, "mixed-precision",
                    "seen floating point types of different precisions among "
                    "the operands of ",
                    Name(i.opcode()), ", which takes one");
      return;
    }
  }
  if (i.opcode() == Opcode::kReduce || i.opcode() == Opcode::kReduceWindow ||
      i.opcode() == Opcode::kMap) {
    CheckReducerTypes(i, context);
  }
}

void CheckLayouts(const Instruction& i, Context* context) {
  CheckLayoutIsPermutation(i, i.shape(), context);
  if (i.opcode() == Opcode::kBitcast) CheckBitcast(i, context);
  if (context->options().layout_sensitive && Has(i.opcode(), kKeepsLayout)) {
    CheckKeepsLayout(i, context);
  }
}

void CheckAliasing(const Instruction& i, Context* context) {
  const auto* aliases =
      i.boxed<OperandAliases>(AttrId::kOutputToOperandAliasing);
  if (aliases == nullptr) return;
  for (const OperandAlias& alias : *aliases) {
    if (alias.operand < 0 || alias.operand >= i.operand_count()) {
      context->Fail(i, "aliasing", "aliased operand ", alias.operand,
                    " is outside [0, ", i.operand_count(), ")");
      continue;
    }
    const Shape& operand = i.operand(alias.operand)->shape();
    const Shape* from = Subshape(operand, alias.operand_index);
    const Shape* to = Subshape(i.shape(), alias.output_index);
    if (from == nullptr) {
      context->Fail(i, "aliasing", "index ", IndexText(alias.operand_index),
                    " is not in operand ", alias.operand, ", ",
                    operand.ToString());
    } else if (to == nullptr) {
      context->Fail(i, "aliasing", "index ", IndexText(alias.output_index),
                    " is not in the result ", i.shape().ToString());
    } else if (!Compatible(Content(*from), Content(*to))) {
      context->Fail(i, "aliasing", "aliased shapes differ: output ",
                    IndexText(alias.output_index), " is ", to->ToString(),
                    ", operand ", alias.operand, " ",
                    IndexText(alias.operand_index), " is ", from->ToString());
    }
  }
}

void CheckMetadata(const Instruction& i, Context* context) {
  if (!context->options().verify_names_unchanged) return;
  const std::string name =
      RawFieldText(i.text(AttrId::kMetadata), "scheduling_name");
  // Copies that a compiler makes say so in their names.
  if (name.empty() || name == i.name() ||
      absl::StrContains(i.name(), ".remat") ||
      absl::StrContains(i.name(), ".clone")) {
    return;
  }
  // The scheduler notes the names of all instructions of a computation. Where
  // only some have one the notes are not its.
  for (const Instruction* other : i.parent()->instructions()) {
    if (RawFieldText(other->text(AttrId::kMetadata), "scheduling_name")
            .empty()) {
      return;
    }
  }
  context->Fail(i, "name-unchanged",
                "expected instruction name to remain the same: scheduling_name "
                "is ",
                name, ", the name ", i.name());
}

}  // namespace ridge::verify
