#include "backends/kernel/builder.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "backends/kernel/pieces.h"
#include "hlo/base/status_macros.h"
#include "hlo/ir/small_float.h"

namespace ridge {

absl::Status Refuse(const Instruction& instruction, absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat(instruction.name(), " (line ", instruction.location().line,
                   "): ", Name(instruction.opcode()), ": ", what));
}

const Shape& PartShape(const Instruction& value, int64_t part) {
  return value.shape().IsTuple() ? value.shape().tuple_shape(part)
                                 : value.shape();
}

DimVector PhysicalOrder(const Shape& shape) {
  if (!shape.has_layout()) return RowMajorOrder(shape.rank());
  const DimVector& minor_to_major = shape.layout().minor_to_major;
  return DimVector(minor_to_major.rbegin(), minor_to_major.rend());
}

DimVector RowMajorOrder(int64_t rank) {
  DimVector order;
  for (int64_t d = 0; d < rank; ++d) order.push_back(d);
  return order;
}

KernelBuilder::KernelBuilder(const Group& group, Kernel* kernel)
    : group_(group), kernel_(kernel) {
  members_.insert(group.members.begin(), group.members.end());
  for (size_t b = 0; b < kernel->buffers.size(); ++b) {
    const KernelBuffer& buffer = kernel->buffers[b];
    if (buffer.is_output) continue;
    inputs_[{buffer.value, buffer.part}] = static_cast<int32_t>(b);
  }
}

// ---- Requests --------------------------------------------------------------

int32_t KernelBuilder::RequestId(ValueRequest request) {
  RequestKey key;
  key.first = {request.instruction, request.part};
  key.second.assign(request.index.begin(), request.index.end());
  key.second.push_back(request.guard);
  auto [it, inserted] = request_ids_.try_emplace(
      std::move(key), static_cast<int32_t>(requests_.size()));
  if (inserted) {
    requests_.push_back(std::move(request));
    results_.push_back(kPending);
  }
  return it->second;
}

NodeId KernelBuilder::Need(const Instruction* value, IndexTuple index,
                           NodeId guard, int32_t part) {
  if (IsTrue(guard)) guard = kAlways;
  const Shape& shape = PartShape(*value, part);
  if (IsFalse(guard)) return Zero(shape.type());
  // A dimension of size one has one index.
  for (size_t d = 0; d < index.size(); ++d) {
    if (shape.IsArray() && static_cast<int64_t>(d) < shape.rank() &&
        shape.dim(d) == 1) {
      index[d] = pool().Const(0);
    }
  }
  int32_t id = RequestId({value, part, std::move(index), guard});
  if (results_[id] == kPending) wanted_.push_back(id);
  return results_[id];
}

absl::StatusOr<NodeId> KernelBuilder::Value(ValueRequest request) {
  std::vector<int32_t> stack = {RequestId(std::move(request))};
  const int32_t root = stack[0];
  while (!stack.empty()) {
    const int32_t id = stack.back();
    if (results_[id] != kPending) {
      stack.pop_back();
      continue;
    }
    wanted_.clear();
    const ValueRequest copy = requests_[id];
    RIDGE_ASSIGN_OR_RETURN(NodeId node, Lower(copy));
    if (node != kPending) {
      results_[id] = node;
      stack.pop_back();
      continue;
    }
    RIDGE_RET_CHECK(!wanted_.empty()) << copy.instruction->name();
    // The first wanted is made first.
    stack.insert(stack.end(), wanted_.rbegin(), wanted_.rend());
    if (static_cast<int64_t>(kernel_->nodes.size()) > kMaxNodes) {
      return Refuse(*copy.instruction,
                    absl::StrCat("kernel body: ", kernel_->nodes.size(),
                                 " scalar operations > ", kMaxNodes));
    }
  }
  return results_[root];
}

absl::StatusOr<NodeId> KernelBuilder::Lower(const ValueRequest& request) {
  const Instruction& instruction = *request.instruction;
  for (IndexId i : request.index) {
    if (pool().TreeSize(i) > kMaxIndexTree) {
      return Refuse(instruction,
                    absl::StrCat("index expression: ", pool().TreeSize(i),
                                 " terms > ", kMaxIndexTree));
    }
  }
  if (!IsMember(&instruction)) {
    int32_t buffer = InputBuffer(&instruction, request.part);
    if (buffer < 0) return Refuse(instruction, "neither member nor input");
    return Load(buffer, request);
  }
  LowerFn fn = FindLowerFn(instruction.opcode());
  if (fn == nullptr) return Refuse(instruction, "no scalar form");
  return fn(*this, request);
}

int32_t KernelBuilder::InputBuffer(const Instruction* value,
                                   int32_t part) const {
  auto it = inputs_.find({value, part});
  return it == inputs_.end() ? -1 : it->second;
}

NodeId KernelBuilder::Load(int32_t buffer, const ValueRequest& request) {
  const Shape& shape = kernel_->buffers[buffer].shape;
  Node n;
  n.kind = NodeKind::kLoad;
  n.type = shape.type();
  n.buffer = buffer;
  n.offset = Offset(shape, request.index);
  n.guard = request.guard;
  n.origin = request.instruction;
  return Add(std::move(n));
}

// ---- Nodes -----------------------------------------------------------------

NodeId KernelBuilder::Add(Node node) {
  node.vars = 0;
  for (NodeId o : node.operands) node.vars |= kernel_->nodes[o].vars;
  if (node.guard >= 0) node.vars |= kernel_->nodes[node.guard].vars;
  if (node.offset >= 0) node.vars |= AllVars(*kernel_, node.offset);
  node.vars &= ~node.reduced;
  auto [it, inserted] = nodes_.try_emplace(
      KeyOf(node), static_cast<NodeId>(kernel_->nodes.size()));
  if (inserted) kernel_->nodes.push_back(std::move(node));
  return it->second;
}

NodeId KernelBuilder::Op(Opcode opcode, ElementType type,
                         absl::Span<const NodeId> operands) {
  Node n;
  n.opcode = opcode;
  n.type = type;
  n.operands.assign(operands.begin(), operands.end());
  return Add(std::move(n));
}

NodeId KernelBuilder::Compare(ComparisonDirection direction, NodeId a,
                              NodeId b) {
  Node n;
  n.opcode = Opcode::kCompare;
  n.type = ElementType::kPred;
  n.operands = {a, b};
  n.direction = direction;
  return Add(std::move(n));
}

NodeId KernelBuilder::Convert(NodeId value, ElementType type) {
  if (node(value).type == type) return value;
  return Op(Opcode::kConvert, type, {value});
}

NodeId KernelBuilder::Int(ElementType type, int64_t value) {
  Node n;
  n.kind = NodeKind::kConst;
  n.type = type;
  int bytes = StorageBytes(type);
  n.bits = static_cast<uint64_t>(value);
  if (bytes < 8) n.bits &= (uint64_t{1} << (8 * bytes)) - 1;
  return Add(std::move(n));
}

NodeId KernelBuilder::Float(ElementType type, double value) {
  Node n;
  n.kind = NodeKind::kConst;
  n.type = type;
  n.bits = EncodeFloat(ComplexComponent(type), value);
  return Add(std::move(n));
}

NodeId KernelBuilder::Zero(ElementType type) {
  return IsFloat(type) || IsComplex(type) ? Float(type, 0) : Int(type, 0);
}

NodeId KernelBuilder::Select(NodeId pred, NodeId on_true, NodeId on_false) {
  if (IsTrue(pred) || on_true == on_false) return on_true;
  if (IsFalse(pred)) return on_false;
  return Op(Opcode::kSelect, node(on_true).type, {pred, on_true, on_false});
}

NodeId KernelBuilder::IndexValue(IndexId expr) {
  const IndexRange r = pool().range(expr);
  const bool narrow = r.lo >= std::numeric_limits<int32_t>::min() &&
                      r.hi <= std::numeric_limits<int32_t>::max();
  Node n;
  n.kind = NodeKind::kIndex;
  n.type = narrow ? ElementType::kS32 : ElementType::kS64;
  if (r.lo == r.hi && pool().node(expr).kind == IndexKind::kConst) {
    return Int(n.type, r.lo);
  }
  n.offset = expr;
  return Add(std::move(n));
}

bool KernelBuilder::IsTrue(NodeId pred) const {
  return pred == kAlways ||
         (node(pred).kind == NodeKind::kConst && node(pred).bits != 0);
}

bool KernelBuilder::IsFalse(NodeId pred) const {
  return pred != kAlways && node(pred).kind == NodeKind::kConst &&
         node(pred).bits == 0;
}

NodeId KernelBuilder::AsNode(NodeId guard) {
  return guard == kAlways ? Int(ElementType::kPred, 1) : guard;
}

NodeId KernelBuilder::And(NodeId a, NodeId b) {
  if (IsTrue(a) || a == b) return b;
  if (IsTrue(b)) return a;
  if (IsFalse(a) || IsFalse(b)) return Int(ElementType::kPred, 0);
  return Op(Opcode::kAnd, ElementType::kPred, {a, b});
}

NodeId KernelBuilder::Not(NodeId a) {
  if (IsTrue(a)) return Int(ElementType::kPred, 0);
  if (IsFalse(a)) return Int(ElementType::kPred, 1);
  return Op(Opcode::kNot, ElementType::kPred, {a});
}

NodeId KernelBuilder::InRange(IndexId expr, int64_t lo, int64_t hi) {
  const IndexRange r = pool().range(expr);
  if (r.hi < lo || r.lo >= hi) return Int(ElementType::kPred, 0);
  NodeId result = kAlways;
  auto bound = [&](ComparisonDirection direction, int64_t limit) {
    NodeId value = IndexValue(expr);
    result =
        And(result, Compare(direction, value, Int(node(value).type, limit)));
  };
  if (r.lo < lo) bound(ComparisonDirection::kGe, lo);
  if (r.hi >= hi) bound(ComparisonDirection::kLt, hi);
  return result;
}

std::vector<NodeId> KernelBuilder::Inline(const ScalarFunction& function,
                                          absl::Span<const NodeId> arguments) {
  std::vector<NodeId> to(function.nodes.size());
  for (size_t i = 0; i < function.nodes.size(); ++i) {
    if (static_cast<int32_t>(i) < function.parameter_count) {
      to[i] = arguments[i];
      continue;
    }
    Node n = function.nodes[i];
    for (NodeId& o : n.operands) o = to[o];
    to[i] = Add(std::move(n));
  }
  std::vector<NodeId> results;
  for (NodeId r : function.results) results.push_back(to[r]);
  return results;
}

absl::StatusOr<int32_t> KernelBuilder::Function(
    const Computation* computation) {
  auto it = functions_.find(computation);
  if (it != functions_.end()) return it->second;
  RIDGE_ASSIGN_OR_RETURN(ScalarFunction f, BuildScalarFunction(*computation));
  int32_t id = static_cast<int32_t>(kernel_->functions.size());
  kernel_->functions.push_back(std::move(f));
  functions_[computation] = id;
  return id;
}

int32_t KernelBuilder::SimpleFunction(Opcode opcode, ElementType type) {
  auto [it, inserted] =
      simple_.try_emplace(std::make_pair(opcode, type),
                          static_cast<int32_t>(kernel_->functions.size()));
  if (!inserted) return it->second;
  ScalarFunction f;
  f.name = absl::StrCat(Name(opcode), "_", Name(type));
  f.parameter_count = 2;
  Node parameter;
  parameter.kind = NodeKind::kParameter;
  parameter.type = type;
  f.nodes = {parameter, parameter};
  Node op;
  op.opcode = opcode;
  op.type = type;
  op.operands = {0, 1};
  f.nodes.push_back(op);
  f.results = {2};
  f.simple = opcode;
  kernel_->functions.push_back(std::move(f));
  return it->second;
}

// ---- Indices ---------------------------------------------------------------

IndexId KernelBuilder::DynamicIndex(NodeId value, int64_t lo, int64_t hi) {
  const Node& n = node(value);
  const ElementType type = n.type;
  if (n.kind == NodeKind::kConst) {
    int64_t v = static_cast<int64_t>(n.bits);
    int shift = 64 - 8 * StorageBytes(type);
    if (IsSigned(type)) v = static_cast<int64_t>(n.bits << shift) >> shift;
    // Unsigned 64-bit values beyond int64 lie above any bound.
    if (!IsSigned(type) && v < 0) v = hi;
    return pool().Const(std::clamp(v, lo, hi));
  }
  if (n.kind == NodeKind::kIndex) {
    const IndexRange r = pool().range(n.offset);
    if (r.lo >= lo && r.hi <= hi) return n.offset;
  }
  // Bounds that the type cannot hold need no clamp.
  const int bits = Info(type).bits;
  const bool is_signed = IsSigned(type);
  const int value_bits = is_signed ? bits - 1 : bits;
  const int64_t type_max = value_bits >= 63
                               ? std::numeric_limits<int64_t>::max()
                               : (int64_t{1} << value_bits) - 1;
  const int64_t type_min = is_signed ? -type_max - 1 : 0;
  const bool wide_unsigned = !is_signed && bits == 64;
  if (type_min < lo && is_signed) {
    value = Op(Opcode::kMaximum, type, {value, Int(type, lo)});
  }
  if (type_max > hi || wide_unsigned) {
    value = Op(Opcode::kMinimum, type, {value, Int(type, hi)});
  }
  return pool().Dynamic(value,
                        {std::max(lo, type_min), std::min(hi, type_max)});
}

IndexId KernelBuilder::Linear(const IndexTuple& index,
                              absl::Span<const int64_t> dims,
                              absl::Span<const int64_t> order) {
  IndexId linear = pool().Const(0);
  for (int64_t d : order) {
    linear = pool().Add(pool().Mul(linear, dims[d]), index[d]);
  }
  return linear;
}

IndexTuple KernelBuilder::Delinear(IndexId linear,
                                   absl::Span<const int64_t> dims,
                                   absl::Span<const int64_t> order) {
  IndexTuple index(dims.size(), pool().Const(0));
  int64_t stride = 1;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    index[*it] = pool().Mod(pool().FloorDiv(linear, stride), dims[*it]);
    stride = SaturatingMul(stride, dims[*it]);
  }
  return index;
}

IndexId KernelBuilder::Offset(const Shape& shape,
                              absl::Span<const IndexId> index) {
  DimVector strides = ElementStrides(shape);
  IndexId offset = pool().Const(0);
  for (size_t d = 0; d < index.size(); ++d) {
    if (shape.dim(d) <= 1) continue;
    offset = pool().Add(offset, pool().Mul(index[d], strides[d]));
  }
  return offset;
}

uint64_t KernelBuilder::VarsOf(absl::Span<const IndexId> index, NodeId guard) {
  uint64_t vars = guard >= 0 ? node(guard).vars : 0;
  for (IndexId i : index) vars |= AllVars(*kernel_, i);
  return vars;
}

// ---- Variables -------------------------------------------------------------

IndexId KernelBuilder::AddSpaceVar(int64_t extent) {
  int64_t v = static_cast<int64_t>(kernel_->vars.size());
  kernel_->vars.push_back({extent});
  kernel_->space_vars = static_cast<int32_t>(v + 1);
  return pool().Var(v, extent);
}

absl::StatusOr<IndexId> KernelBuilder::InnerVar(int64_t extent,
                                                uint64_t* used) {
  if (extent <= 1) return pool().Const(0);
  const int64_t count = static_cast<int64_t>(kernel_->vars.size());
  int64_t v = kernel_->space_vars;
  for (; v < count; ++v) {
    if (((*used >> v) & 1) == 0 && kernel_->vars[v].extent == extent) break;
  }
  if (v >= 64) {
    return absl::UnimplementedError(
        absl::StrCat(group_.name, ": iteration variables: ", v + 1, " > 64"));
  }
  if (v == count) kernel_->vars.push_back({extent});
  *used |= uint64_t{1} << v;
  return pool().Var(v, extent);
}

const IndexTuple* KernelBuilder::Home(const Instruction* value) const {
  auto it = homes_.find(value);
  return it == homes_.end() ? nullptr : &it->second;
}

// ---- The whole -------------------------------------------------------------

namespace {

absl::Status AddBuffers(const Group& group, Kernel* kernel) {
  auto add = [&](const Instruction* value, bool is_output) -> absl::Status {
    KernelBuffer buffer;
    buffer.value = value;
    buffer.is_output = is_output;
    const Shape& shape = value->shape();
    const int64_t parts = shape.IsTuple() ? shape.tuple_shapes().size() : 1;
    for (int64_t p = 0; p < parts; ++p) {
      buffer.part = static_cast<int32_t>(p);
      buffer.shape = shape.IsTuple() ? shape.tuple_shape(p) : shape;
      if (!buffer.shape.IsArray()) {
        return Refuse(*value, "value that is no array");
      }
      if (!buffer.shape.IsStatic()) {
        return Refuse(*value, "dynamic dimension");
      }
      if (buffer.shape.rank() > 0 && buffer.shape.has_layout() &&
          static_cast<int64_t>(buffer.shape.layout().minor_to_major.size()) !=
              buffer.shape.rank()) {
        return Refuse(*value, "layout without a dimension order");
      }
      kernel->buffers.push_back(buffer);
    }
    return absl::OkStatus();
  };
  for (const Instruction* input : GroupInputs(group)) {
    RIDGE_RETURN_IF_ERROR(add(input, false));
  }
  for (const Instruction* root : group.roots) {
    RIDGE_RETURN_IF_ERROR(add(root, true));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Kernel> BuildKernel(const Group& group) {
  RIDGE_ASSIGN_OR_RETURN(Kernel kernel, BuildRoundKernel(group));
  TakePiecesTogether(&kernel);
  return kernel;
}

absl::StatusOr<Kernel> BuildRoundKernel(const Group& group) {
  Kernel kernel;
  kernel.name = group.name;
  kernel.pattern = group.pattern;
  kernel.schedule = group.schedule;
  kernel.index = std::make_shared<IndexPool>();
  if (group.roots.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(group.name, ": group without roots"));
  }
  RIDGE_RETURN_IF_ERROR(AddBuffers(group, &kernel));
  KernelBuilder builder(group, &kernel);
  switch (group.pattern) {
    case GroupPattern::kLoop:
    case GroupPattern::kTranspose:
      RIDGE_RETURN_IF_ERROR(BuildLoopStores(&builder));
      break;
    case GroupPattern::kRowReduce:
    case GroupPattern::kColumnReduce:
    case GroupPattern::kRowColumn:
      RIDGE_RETURN_IF_ERROR(BuildReduceStores(&builder));
      break;
    case GroupPattern::kScatter:
      RIDGE_RETURN_IF_ERROR(BuildScatterStores(&builder));
      break;
    case GroupPattern::kGemm:
      // What no matrix library takes: every element on its own.
      kernel.pattern = GroupPattern::kLoop;
      RIDGE_RETURN_IF_ERROR(BuildLoopStores(&builder));
      break;
    case GroupPattern::kOpaque:
      return absl::UnimplementedError(absl::StrCat(group.name, ": pattern ",
                                                   PatternName(group.pattern),
                                                   " has no scalar kernel"));
  }
  MergeVars(&kernel);
  RIDGE_RETURN_IF_ERROR(ValidateKernel(kernel));
  return kernel;
}

}  // namespace ridge
