#include "backends/kernel/kernel.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo/ir/attribute.h"
#include "hlo/ir/small_float.h"

namespace ridge {
namespace {

std::string MaskText(uint64_t mask) {
  std::string text = "{";
  for (int v = 0; v < 64; ++v) {
    if ((mask >> v) & 1) absl::StrAppend(&text, text.size() > 1 ? "," : "", v);
  }
  return text + "}";
}

std::string BufferName(const Kernel& kernel, int32_t buffer) {
  int32_t n = 0;
  const bool output = kernel.buffers[buffer].is_output;
  for (int32_t b = 0; b < buffer; ++b) {
    n += kernel.buffers[b].is_output == output;
  }
  return absl::StrCat(output ? "out" : "in", n);
}

std::string ConstText(const Node& node) {
  if (IsFloat(node.type)) {
    return absl::StrCat(DecodeFloat(node.type, node.bits));
  }
  if (IsComplex(node.type)) {
    ElementType part = ComplexComponent(node.type);
    return absl::StrCat("(", DecodeFloat(part, node.bits), ", ",
                        DecodeFloat(part, node.bits_high), ")");
  }
  if (IsSigned(node.type)) {
    int shift = 64 - 8 * StorageBytes(node.type);
    return absl::StrCat(static_cast<int64_t>(node.bits << shift) >> shift);
  }
  return absl::StrCat(node.bits);
}

std::string NodeText(const Kernel& kernel, const Node& node) {
  std::string text;
  switch (node.kind) {
    case NodeKind::kConst:
      return absl::StrCat("const ", Name(node.type), " ", ConstText(node));
    case NodeKind::kLoad:
      text = absl::StrCat("load ", BufferName(kernel, node.buffer), "[",
                          kernel.index->ToString(node.offset), "]");
      if (node.guard >= 0) absl::StrAppend(&text, " if n", node.guard);
      return text;
    case NodeKind::kIndex:
      return absl::StrCat("index ", Name(node.type), " ",
                          kernel.index->ToString(node.offset));
    case NodeKind::kParameter:
      return absl::StrCat("parameter ", Name(node.type));
    case NodeKind::kOp:
      text = absl::StrCat(Name(node.opcode), " ", Name(node.type));
      break;
    case NodeKind::kReduce:
      text = absl::StrCat("reduce ", kernel.functions[node.function].name, " ",
                          Name(node.type));
      break;
  }
  for (NodeId o : node.operands) absl::StrAppend(&text, " n", o);
  if (node.kind == NodeKind::kReduce) {
    absl::StrAppend(&text, " over ", MaskText(node.reduced));
    if (node.operands.size() > 2) absl::StrAppend(&text, " #", node.result);
  } else if (node.opcode == Opcode::kCompare) {
    absl::StrAppend(
        &text, " ",
        EnumNames(
            EnumId::kComparisonDirection)[static_cast<int>(node.direction)]);
    if (node.total_order) absl::StrAppend(&text, " total");
  } else if (node.opcode == Opcode::kReducePrecision) {
    absl::StrAppend(&text, " e", node.exponent_bits, "m", node.mantissa_bits);
  }
  return text;
}

}  // namespace

std::string ToString(const Kernel& kernel) {
  std::string text =
      absl::StrCat(kernel.name, ": ", PatternName(kernel.pattern), " over");
  for (size_t v = 0; v < kernel.vars.size(); ++v) {
    absl::StrAppend(
        &text, static_cast<int32_t>(v) == kernel.space_vars ? "; inner" : "",
        " v", v, " = ", kernel.vars[v].extent);
  }
  if (kernel.row_piece > 0) {
    absl::StrAppend(&text, ", in pieces of ", kernel.row_piece);
  }
  absl::StrAppend(&text, "\n");
  for (size_t b = 0; b < kernel.buffers.size(); ++b) {
    const KernelBuffer& buffer = kernel.buffers[b];
    absl::StrAppend(&text, "  ", BufferName(kernel, b), ": ",
                    buffer.shape.ToString(/*with_layout=*/true));
    if (buffer.value != nullptr) {
      absl::StrAppend(&text, " ", buffer.value->name());
      if (buffer.value->shape().IsTuple()) {
        absl::StrAppend(&text, "{", buffer.part, "}");
      }
    }
    if (buffer.aliases >= 0) {
      absl::StrAppend(&text, " updates ", BufferName(kernel, buffer.aliases));
    }
    absl::StrAppend(&text, "\n");
  }
  for (size_t n = 0; n < kernel.nodes.size(); ++n) {
    const Node& node = kernel.nodes[n];
    absl::StrAppend(&text, "  n", n, " = ", NodeText(kernel, node), "  vars ",
                    MaskText(node.vars), " phase ", node.phase, "\n");
  }
  for (const Store& store : kernel.stores) {
    absl::StrAppend(&text, "  store ", BufferName(kernel, store.buffer), "[",
                    kernel.index->ToString(store.offset), "] = n", store.value);
    if (store.combine >= 0) {
      absl::StrAppend(&text, " by ", kernel.functions[store.combine].name);
    }
    if (store.guard >= 0) absl::StrAppend(&text, " if n", store.guard);
    if (!store.unique) absl::StrAppend(&text, " with repeats");
    absl::StrAppend(&text, "\n");
  }
  if (kernel.prologue != nullptr) {
    absl::StrAppend(&text, "  after ", ToString(*kernel.prologue));
  }
  return text;
}

int64_t PointCount(const Kernel& kernel, uint64_t mask) {
  int64_t points = 1;
  for (size_t v = 0; v < kernel.vars.size(); ++v) {
    if ((mask >> v) & 1) points = SaturatingMul(points, kernel.vars[v].extent);
  }
  return points;
}

bool NeedsInt64(const Kernel& kernel) {
  constexpr int64_t kHigh = std::numeric_limits<int32_t>::max();
  const IndexPool& pool = *kernel.index;
  std::vector<bool> seen(pool.size());
  std::vector<IndexId> stack;
  for (const Node& node : kernel.nodes) {
    if (node.offset >= 0) stack.push_back(node.offset);
  }
  for (const Store& store : kernel.stores) stack.push_back(store.offset);
  while (!stack.empty()) {
    IndexId id = stack.back();
    stack.pop_back();
    if (seen[id]) continue;
    seen[id] = true;
    const IndexNode& n = pool.node(id);
    if (n.range.lo < -kHigh || n.range.hi > kHigh) return true;
    if (n.a >= 0) stack.push_back(n.a);
    if (n.b >= 0) stack.push_back(n.b);
  }
  return PointCount(kernel, SpaceMask(kernel)) > kHigh;
}

uint64_t AllVars(const Kernel& kernel, IndexId expr) {
  uint64_t vars = kernel.index->VarMask(expr);
  for (int32_t n : kernel.index->DynamicNodes(expr)) {
    vars |= kernel.nodes[n].vars;
  }
  return vars;
}

ElementType OperandType(const Kernel& kernel, const Node& node) {
  switch (node.opcode) {
    case Opcode::kCompare:
    case Opcode::kConvert:
    case Opcode::kBitcastConvert:
    case Opcode::kIsFinite:
    case Opcode::kReal:
    case Opcode::kImag:
    case Opcode::kComplex:
    case Opcode::kAbs:
      return kernel.nodes[node.operands[0]].type;
    default:
      return node.type;
  }
}

}  // namespace ridge
