// Rules of instructions that move elements: the index of the operand's element
// from the index of the result's.
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/kernel/builder.h"
#include "hlo/base/status_macros.h"

namespace ridge {

absl::StatusOr<NodeId> LowerBroadcast(KernelBuilder& b, const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  const Instruction* operand = i.operand(0);
  Ints dims = i.dimensions();
  if (static_cast<int64_t>(dims.size()) != operand->shape().rank()) {
    return Refuse(i, "dimensions do not fit the operand");
  }
  IndexTuple index;
  for (int64_t d : dims) index.push_back(r.index[d]);
  // An operand without variables is needed whatever the guard says, and is
  // then shared.
  return b.Need(operand, std::move(index), dims.empty() ? kAlways : r.guard);
}

absl::StatusOr<NodeId> LowerReshape(KernelBuilder& b, const ValueRequest& r) {
  const Instruction* operand = r.instruction->operand(0);
  const Shape& from = operand->shape();
  const Shape& to = r.instruction->shape();
  IndexId linear = b.Linear(r.index, to.dims(), RowMajorOrder(to.rank()));
  return b.Need(operand,
                b.Delinear(linear, from.dims(), RowMajorOrder(from.rank())),
                r.guard);
}

// The same bytes seen as another shape: positions go through physical order.
absl::StatusOr<NodeId> LowerBitcast(KernelBuilder& b, const ValueRequest& r) {
  const Instruction* operand = r.instruction->operand(0);
  const Shape& from = operand->shape();
  const Shape& to = r.instruction->shape();
  if (Info(from.type()).bits != Info(to.type()).bits ||
      from.ElementCount() != to.ElementCount()) {
    return Refuse(*r.instruction, "bitcast to elements of another width");
  }
  IndexId linear = b.Linear(r.index, to.dims(), PhysicalOrder(to));
  NodeId value = b.Need(
      operand, b.Delinear(linear, from.dims(), PhysicalOrder(from)), r.guard);
  if (value == kPending || from.type() == to.type()) return value;
  return b.Op(Opcode::kBitcastConvert, to.type(), {value});
}

namespace {

// The unsigned type of as many bits, for taking values apart.
absl::StatusOr<ElementType> UnsignedOfWidth(const Instruction& i, int bits) {
  switch (bits) {
    case 8:
      return ElementType::kU8;
    case 16:
      return ElementType::kU16;
    case 32:
      return ElementType::kU32;
    case 64:
      return ElementType::kU64;
    default:
      return Refuse(i, absl::StrCat("elements of ", bits,
                                    " bits: not one of 8, 16, 32, 64"));
  }
}

// Bitwise identity between types of one width.
NodeId Reinterpret(KernelBuilder& b, NodeId value, ElementType type) {
  if (b.node(value).type == type) return value;
  return b.Op(Opcode::kBitcastConvert, type, {value});
}

// Shift amount lane * bits, in `type`.
NodeId LaneShift(KernelBuilder& b, IndexId lane, int bits, ElementType type) {
  return b.Convert(b.IndexValue(b.pool().Mul(lane, bits)), type);
}

}  // namespace

// Between widths the result has (or loses) a minor dimension that counts the
// narrow elements inside a wide one, lowest bits first.
absl::StatusOr<NodeId> LowerBitcastConvert(KernelBuilder& b,
                                           const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  const Instruction* operand = i.operand(0);
  const ElementType from = operand->shape().type(), to = i.shape().type();
  const int from_bits = Info(from).bits, to_bits = Info(to).bits;
  if (from_bits == to_bits) {
    NodeId value = b.Need(operand, r.index, r.guard);
    if (value == kPending) return kPending;
    return Reinterpret(b, value, to);
  }
  if (IsComplex(from) || IsComplex(to)) {
    return Refuse(i, "complex elements of another width");
  }
  RIDGE_ASSIGN_OR_RETURN(ElementType narrow_from,
                         UnsignedOfWidth(i, from_bits));
  RIDGE_ASSIGN_OR_RETURN(ElementType narrow_to, UnsignedOfWidth(i, to_bits));
  if (from_bits > to_bits) {
    IndexTuple index(r.index.begin(), r.index.end() - 1);
    NodeId value = b.Need(operand, index, r.guard);
    if (value == kPending) return kPending;
    value = Reinterpret(b, value, narrow_from);
    value = b.Op(Opcode::kShiftRightLogical, narrow_from,
                 {value, LaneShift(b, r.index.back(), to_bits, narrow_from)});
    return Reinterpret(b, b.Convert(value, narrow_to), to);
  }
  const int64_t lanes = to_bits / from_bits;
  std::vector<NodeId> parts;
  bool pending = false;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    IndexTuple index = r.index;
    index.push_back(b.pool().Const(lane));
    parts.push_back(b.Need(operand, index, r.guard));
    pending |= parts.back() == kPending;
  }
  if (pending) return kPending;
  NodeId whole = -1;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    NodeId part =
        b.Convert(Reinterpret(b, parts[lane], narrow_from), narrow_to);
    if (lane == 0) {
      whole = part;
      continue;
    }
    part = b.Op(Opcode::kShiftLeft, narrow_to,
                {part, b.Int(narrow_to, lane * from_bits)});
    whole = b.Op(Opcode::kOr, narrow_to, {whole, part});
  }
  return Reinterpret(b, whole, to);
}

absl::StatusOr<NodeId> LowerTranspose(KernelBuilder& b, const ValueRequest& r) {
  Ints dims = r.instruction->dimensions();
  if (dims.size() != r.index.size()) {
    return Refuse(*r.instruction, "dimensions do not fit the operand");
  }
  IndexTuple index(r.index.size());
  for (size_t d = 0; d < dims.size(); ++d) index[dims[d]] = r.index[d];
  return b.Need(r.instruction->operand(0), std::move(index), r.guard);
}

absl::StatusOr<NodeId> LowerReverse(KernelBuilder& b, const ValueRequest& r) {
  IndexTuple index = r.index;
  for (int64_t d : r.instruction->dimensions()) {
    IndexId last = b.pool().Const(r.instruction->shape().dim(d) - 1);
    index[d] = b.pool().Sub(last, index[d]);
  }
  return b.Need(r.instruction->operand(0), std::move(index), r.guard);
}

absl::StatusOr<NodeId> LowerSlice(KernelBuilder& b, const ValueRequest& r) {
  const SliceRanges* ranges = r.instruction->boxed<SliceRanges>(AttrId::kSlice);
  if (ranges == nullptr || ranges->size() != r.index.size()) {
    return Refuse(*r.instruction, "slice does not fit the operand");
  }
  IndexTuple index;
  for (size_t d = 0; d < ranges->size(); ++d) {
    const SliceRange& s = (*ranges)[d];
    index.push_back(
        b.pool().AddConst(b.pool().Mul(r.index[d], s.stride), s.start));
  }
  return b.Need(r.instruction->operand(0), std::move(index), r.guard);
}

absl::StatusOr<NodeId> LowerPad(KernelBuilder& b, const ValueRequest& r) {
  const Instruction* operand = r.instruction->operand(0);
  const auto* config = r.instruction->boxed<PaddingConfig>(AttrId::kPadding);
  if (config == nullptr || config->size() != r.index.size()) {
    return Refuse(*r.instruction, "padding does not fit the operand");
  }
  IndexPool& pool = b.pool();
  IndexTuple index;
  NodeId inside = kAlways;
  for (size_t d = 0; d < config->size(); ++d) {
    const PaddingDimension& p = (*config)[d];
    const int64_t step = p.interior + 1;
    IndexId at = pool.AddConst(r.index[d], -p.low);
    IndexId element = pool.FloorDiv(at, step);
    inside = b.And(inside, b.InRange(element, 0, operand->shape().dim(d)));
    if (step > 1) inside = b.And(inside, b.InRange(pool.Mod(at, step), 0, 1));
    index.push_back(element);
  }
  NodeId padding = b.Need(r.instruction->operand(1), {});
  NodeId value = b.IsFalse(inside) ? padding
                                   : b.Need(operand, std::move(index),
                                            b.And(r.guard, inside));
  if (padding == kPending || value == kPending) return kPending;
  return b.Select(b.AsNode(inside), value, padding);
}

absl::StatusOr<NodeId> LowerConcatenate(KernelBuilder& b,
                                        const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  if (i.operand_count() > KernelBuilder::kMaxConcatOperands) {
    return Refuse(i, absl::StrCat("operands: ", i.operand_count(), " > ",
                                  KernelBuilder::kMaxConcatOperands));
  }
  const int64_t d = i.dimensions().empty() ? 0 : i.dimensions()[0];
  struct Piece {
    NodeId before_end;  // the index lies before the piece's end
    NodeId value;
  };
  std::vector<Piece> pieces;
  int64_t start = 0;
  bool pending = false;
  for (const Instruction* operand : i.operands()) {
    const int64_t end = start + operand->shape().dim(d);
    NodeId inside = b.InRange(r.index[d], start, end);
    if (!b.IsFalse(inside)) {
      IndexTuple index = r.index;
      index[d] = b.pool().AddConst(index[d], -start);
      NodeId value = b.Need(operand, std::move(index), b.And(r.guard, inside));
      pending |= value == kPending;
      pieces.push_back(
          {b.InRange(r.index[d], std::numeric_limits<int64_t>::min(), end),
           value});
    }
    start = end;
  }
  if (pending) return kPending;
  if (pieces.empty()) return b.Zero(i.shape().type());
  NodeId value = pieces.back().value;
  for (size_t k = pieces.size() - 1; k-- > 0;) {
    value = b.Select(b.AsNode(pieces[k].before_end), pieces[k].value, value);
  }
  return value;
}

absl::StatusOr<NodeId> LowerIota(KernelBuilder& b, const ValueRequest& r) {
  const Instruction& i = *r.instruction;
  int64_t d = i.int_attr(AttrId::kIotaDimension);
  if (d < 0 || d >= static_cast<int64_t>(r.index.size())) {
    return Refuse(i, "iota_dimension out of range");
  }
  return b.Convert(b.IndexValue(r.index[d]), i.shape().type());
}

absl::StatusOr<NodeId> LowerGetDimensionSize(KernelBuilder& b,
                                             const ValueRequest& r) {
  const Shape& shape = r.instruction->operand(0)->shape();
  Ints dims = r.instruction->dimensions();
  if (dims.size() != 1 || !shape.IsStatic()) {
    return Refuse(*r.instruction, "dynamic dimension");
  }
  return b.Int(r.instruction->shape().type(), shape.dim(dims[0]));
}

}  // namespace ridge
