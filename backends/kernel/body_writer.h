// Writes a kernel's nodes as statements. What emitters of both dialects share:
// which nodes are already in scope, what variables stand for, guarded loads,
// reductions as plain loops.
//
// An emitter binds the kernel's iteration variables to expressions over
// variables of its own (thread, lane, row, ...), opens scopes, and asks for
// nodes; each comes with everything it needs that is not in scope yet:
//
//   BodyWriter w(kernel, Dialect::kCuda);
//   IndexId t = w.NewVar("t", vectors), j = w.NewVar("j", 4);
//   w.Bind(0, w.pool().Add(w.pool().Mul(t, 4), j));
//   w.Open("for (int j = 0; j < 4; ++j) {");
//   RIDGE_RETURN_IF_ERROR(w.EmitStore(kernel.stores[0]));
//   w.Close("}");
#ifndef RIDGE_BACKENDS_KERNEL_BODY_WRITER_H_
#define RIDGE_BACKENDS_KERNEL_BODY_WRITER_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "backends/kernel/kernel.h"
#include "backends/kernel/precision.h"
#include "backends/kernel/scalar_text.h"

namespace ridge {

class BodyWriter {
 public:
  BodyWriter(const Kernel& kernel, Dialect dialect);

  const Kernel& kernel() const { return kernel_; }
  IndexPool& pool() { return pool_; }
  const IndexPool& pool_const() const { return pool_; }
  // "int32_t", or "int64_t" where an offset or the space does not fit.
  const std::string& index_type() const { return index_type_; }
  const ValuePrecision& precision() const { return precision_; }

  // ---- Variables ----
  // A variable of the emitter's own, spelled `name` in the text.
  IndexId NewVar(absl::string_view name, int64_t extent);
  // From here on kernel variable v is `expr`. Call before emitting.
  void Bind(int64_t v, IndexId expr);
  // An expression over kernel variables, in terms of the emitter's.
  IndexId Bound(IndexId expr);
  std::string Text(IndexId bound_expr) const;
  // Emitter variables (bits) of loops that the compiler unrolls: what is
  // compared with an index takes the others to its own side, once.
  void SetUnrolled(uint64_t emitter_vars) { unrolled_ = emitter_vars; }
  // Bit n of the result: the value of the node changes with emitter variable
  // number n (the order of NewVar). All bits for what changes with a variable
  // of a fold inside a thread.
  uint64_t Varies(NodeId node);
  uint64_t VariesExpr(IndexId expr_over_kernel_vars);
  static uint64_t Bit(int64_t emitter_var) {
    return uint64_t{1} << emitter_var;
  }

  // ---- Text ----
  void Line(absl::string_view text);
  // A line that opens a block, and a scope; and the one that ends both.
  void Open(absl::string_view line);
  void Close(absl::string_view line = "}");
  std::string TakeText() { return std::move(text_); }
  // Another writer's text: give it this one's indent first.
  void Append(absl::string_view text) {
    text_.append(text.data(), text.size());
  }
  int indent() const { return indent_; }
  void set_indent(int indent) { indent_ = indent; }

  // ---- Nodes ----
  // The text of a node in scope.
  const std::string& Name(NodeId node) const;
  bool InScope(NodeId node) const;
  // Says that `node`'s value is `text` in the current scope.
  void Define(NodeId node, std::string text);
  // Emits what is needed for `node` here.
  absl::Status Emit(NodeId node);
  absl::Status Emit(absl::Span<const NodeId> nodes);
  // The store's value and the store itself, guarded where it has a guard.
  absl::Status EmitStore(const Store& store);
  // Everything in `store` but the store: value, guard, dynamic indices.
  absl::Status EmitStoreNeeds(const Store& store);
  // Divisions by `divisor`, as far as they may be within two units in the last
  // place, become multiplications in the current scope. For divisors of many
  // quotients; emits what is needed.
  absl::Status EmitReciprocal(NodeId divisor);
  // Divisors of f32 quotients among `nodes` for which EmitReciprocal pays:
  // those of quotients for which `many` holds and that do not themselves.
  std::vector<NodeId> Divisors(absl::Span<const NodeId> nodes,
                               const std::function<bool(NodeId)>& many) const;
  // Nodes that `roots` need, themselves included, in order, that are not in
  // scope; `stop` ends the walk at a node (which is not included).
  std::vector<NodeId> Needs(absl::Span<const NodeId> roots,
                            const std::function<bool(NodeId)>& stop);
  std::string BufferName(int32_t buffer) const;
  // The C declaration of each buffer as a parameter, in order.
  std::string ParameterText(absl::string_view restrict_keyword) const;
  // Helper functions of this kernel (reducers that are not one operation).
  absl::StatusOr<std::string> FunctionsText() const;
  // Folds: `acc` = combine(acc, values) for reduction node `node` and the
  // other results of the same fold (`group`, result numbers ascending).
  absl::StatusOr<std::string> CombineStatement(
      const std::vector<NodeId>& group, const std::vector<std::string>& acc,
      const std::vector<std::string>& values) const;
  // All results of the fold that `reduce` is a result of, one node a result
  // (-1: unused).
  std::vector<NodeId> FoldOf(NodeId reduce) const;

 private:
  bool IsQuotient(NodeId node) const;
  absl::Status EmitOne(NodeId node);
  // An (in)equality of an index and a value, with what unrolled loops change on
  // one side and all else on the other; empty where it is none.
  std::string SplitEquality(const Node& node);
  absl::Status EmitReduceLoop(NodeId node);
  absl::Status EmitUpdate(const Store& store, ElementType type,
                          const std::string& element);
  std::vector<NodeId> DirectNeeds(NodeId node) const;

  const Kernel& kernel_;
  Dialect dialect_;
  IndexPool pool_;
  std::string index_type_;
  int64_t var_count_;  // kernel variables; the emitter's follow
  std::vector<std::string> var_names_;
  std::vector<IndexId> binding_;
  std::string text_;
  int indent_ = 1;
  struct Scope {
    std::vector<NodeId> defined;
    std::vector<NodeId> inverted;
  };
  std::vector<Scope> scopes_;
  absl::flat_hash_map<NodeId, std::string> names_;
  // Variables of open reduction loops (bits of kernel variables).
  uint64_t loop_vars_ = 0;
  uint64_t unrolled_ = 0;
  absl::flat_hash_map<NodeId, uint64_t> varies_;
  ValuePrecision precision_;
  absl::flat_hash_set<NodeId> inverted_;  // divisors with a reciprocal
  int unique_ = 0;
};

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_BODY_WRITER_H_
