// Computations of scalars (reducers, map bodies, scatter combiners) as
// ScalarFunctions.
#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "backends/kernel/builder.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

bool IsAssociative(Opcode op) {
  switch (op) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

// Instructions that rename a scalar.
bool PassesScalar(Opcode op) {
  switch (op) {
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kBitcast:
    case Opcode::kCopy:
    case Opcode::kTranspose:
      return true;
    default:
      return false;
  }
}

// Nested calls deeper than this are refused; bounds the recursion.
constexpr int kMaxNesting = 16;

class FunctionBuilder {
 public:
  explicit FunctionBuilder(ScalarFunction* f) : f_(*f) {}

  // Nodes of the results of `c` on `arguments`.
  absl::StatusOr<std::vector<NodeId>> Body(const Computation& c,
                                           const std::vector<NodeId>& arguments,
                                           int nesting) {
    absl::flat_hash_map<const Instruction*, std::vector<NodeId>> values;
    for (const Instruction* i : c.instructions()) {
      RIDGE_ASSIGN_OR_RETURN(values[i], Values(*i, arguments, values, nesting));
    }
    return values[c.root()];
  }

 private:
  using ValueMap = absl::flat_hash_map<const Instruction*, std::vector<NodeId>>;

  absl::StatusOr<std::vector<NodeId>> Values(
      const Instruction& i, const std::vector<NodeId>& arguments,
      const ValueMap& values, int nesting) {
    std::vector<NodeId> operands;
    for (const Instruction* o : i.operands()) {
      auto it = values.find(o);
      if (it == values.end()) return Refuse(i, "operand not in its scope");
      if (i.opcode() == Opcode::kGetTupleElement) {
        const int64_t part = i.tuple_index();
        if (part < 0 || part >= static_cast<int64_t>(it->second.size())) {
          return Refuse(i, "tuple index out of range");
        }
        return std::vector<NodeId>{it->second[part]};
      }
      if (i.opcode() != Opcode::kTuple && it->second.size() != 1) {
        return Refuse(i, "tuple inside a scalar computation");
      }
      operands.insert(operands.end(), it->second.begin(), it->second.end());
    }
    if (i.opcode() == Opcode::kTuple) return operands;
    if (i.opcode() == Opcode::kParameter) {
      const int64_t n = i.parameter_number();
      if (n < 0 || n >= static_cast<int64_t>(arguments.size())) {
        return Refuse(i, "parameter number out of range");
      }
      return std::vector<NodeId>{arguments[n]};
    }
    if (i.opcode() == Opcode::kCall || i.opcode() == Opcode::kFusion ||
        i.opcode() == Opcode::kMap) {
      const Computation* callee =
          i.opcode() == Opcode::kFusion ? i.calls() : i.to_apply();
      if (callee == nullptr) return Refuse(i, "calls nothing");
      if (nesting >= kMaxNesting) {
        return Refuse(i, absl::StrCat("nested calls: more than ", kMaxNesting));
      }
      return Body(*callee, operands, nesting + 1);
    }
    if (!i.shape().IsArray() || i.shape().ElementCount() != 1) {
      return Refuse(i, "not a scalar, in a scalar computation");
    }
    if (i.opcode() == Opcode::kConstant) {
      RIDGE_ASSIGN_OR_RETURN(Node n, ConstantNode(i));
      return std::vector<NodeId>{Add(std::move(n))};
    }
    if (PassesScalar(i.opcode())) return operands;
    if (!IsElementwise(i.opcode())) {
      return Refuse(i, "not elementwise, in a scalar computation");
    }
    RIDGE_ASSIGN_OR_RETURN(Node n, OpNode(i));
    n.operands.assign(operands.begin(), operands.end());
    return std::vector<NodeId>{Add(std::move(n))};
  }

  NodeId Add(Node node) {
    f_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(f_.nodes.size()) - 1;
  }

  ScalarFunction& f_;
};

}  // namespace

absl::StatusOr<ScalarFunction> BuildScalarFunction(const Computation& c) {
  ScalarFunction f;
  f.name = std::string(c.name());
  f.parameter_count = static_cast<int32_t>(c.parameters().size());
  std::vector<NodeId> arguments;
  for (const Instruction* p : c.parameters()) {
    if (p == nullptr || !p->shape().IsArray()) {
      return absl::UnimplementedError(
          absl::StrCat("computation ", c.name(), " (line ", c.location().line,
                       "): parameter that is no scalar"));
    }
    Node n;
    n.kind = NodeKind::kParameter;
    n.type = p->shape().type();
    n.origin = p;
    arguments.push_back(static_cast<NodeId>(f.nodes.size()));
    f.nodes.push_back(std::move(n));
  }
  RIDGE_ASSIGN_OR_RETURN(f.results, FunctionBuilder(&f).Body(c, arguments, 0));
  if (f.parameter_count == 2 && f.results.size() == 1 && f.nodes.size() == 3 &&
      f.results[0] == 2) {
    const Node& op = f.nodes[2];
    const bool both = op.operands.size() == 2 && op.operands[0] < 2 &&
                      op.operands[1] == 1 - op.operands[0];
    if (both && IsAssociative(op.opcode) && op.type == f.nodes[0].type &&
        op.type == f.nodes[1].type) {
      f.simple = op.opcode;
    }
  }
  return f;
}

}  // namespace ridge
