// Integer expressions over a kernel's iteration variables: the offsets of its
// loads and stores. Hash-consed and kept in a normal form, so that equality is
// identity and the emitters see few divisions.
//
// Normal form. Every expression is a sum: factor * atom + ... + constant,
// where an atom is a variable, a dynamic node, a floor division or a
// remainder. Sums are left-deep chains of kAdd: variables first by number,
// then dynamic nodes, then the rest by age; the constant last.
//
// Not safe for concurrent use: even queries that look read-only from outside
// (Substitute) append. Threads that work on copies of one Kernel copy the pool.
#ifndef RIDGE_BACKENDS_KERNEL_INDEX_EXPR_H_
#define RIDGE_BACKENDS_KERNEL_INDEX_EXPR_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"

namespace ridge {

using IndexId = int32_t;

// Inclusive bounds of an expression's value.
struct IndexRange {
  int64_t lo = 0;
  int64_t hi = 0;
};

enum class IndexKind : uint8_t {
  kConst,     // value
  kVar,       // iteration variable number `value`
  kDynamic,   // the integer SSA node number `value` (gather, dynamic-slice)
  kAdd,       // a + b
  kMul,       // a * value (a constant factor)
  kFloorDiv,  // floor(a / value), value > 0
  kMod,       // a mod value, value > 0, result in [0, value)
};

struct IndexNode {
  IndexKind kind;
  int64_t value = 0;
  IndexId a = -1;
  IndexId b = -1;
  IndexRange range;
};

// A sum in parts; see the normal form above.
struct IndexTerm {
  IndexId atom;
  int64_t factor;
};
struct IndexSum {
  absl::InlinedVector<IndexTerm, 4> terms;
  int64_t constant = 0;
};

// Owns the expressions of one kernel. All functions simplify:
//  - sums are flattened, like terms collected, ordered by variable, constant
//    last;
//  - (x*c*k + y) div c = x*k + y div c and (x*c*k + y) mod c = y mod c where
//    the ranges allow; x div c = 0 and x mod c = x where 0 <= x < c;
//  - (x*g + y) div (g*c) = x div c and (x*g + y) mod (g*c) = (x mod c)*g + y
//    where 0 <= y < g: what makes a vector access provable, with x*g + y the
//    index of lane y of vector x;
//  - (x mod (c*d)) div c, (x div c) mod d and (x div c) div d are brought to
//    one form, and x div c * c + x mod c is folded back to x.
class IndexPool {
 public:
  // Declares iteration variable `n` (dense from 0, below 64) with values
  // [0, extent). A variable with one value (or none) is the constant 0.
  IndexId Var(int64_t n, int64_t extent);
  IndexId Const(int64_t value);
  IndexId Dynamic(int32_t ssa_node, IndexRange range);
  IndexId Add(IndexId a, IndexId b);
  IndexId Sub(IndexId a, IndexId b) { return Add(a, Mul(b, -1)); }
  IndexId AddConst(IndexId a, int64_t c) { return Add(a, Const(c)); }
  IndexId Mul(IndexId a, int64_t factor);
  IndexId FloorDiv(IndexId a, int64_t divisor);
  IndexId Mod(IndexId a, int64_t divisor);

  const IndexNode& node(IndexId id) const { return nodes_[id]; }
  const IndexRange& range(IndexId id) const { return nodes_[id].range; }
  int64_t size() const { return nodes_.size(); }
  bool IsConst(IndexId id, int64_t value) const {
    return nodes_[id].kind == IndexKind::kConst && nodes_[id].value == value;
  }
  // The parts of a sum; an atom is a sum of one term.
  IndexSum Decompose(IndexId id) const;

  // `expr` with variable v replaced by replacement[v] (-1, or beyond the end:
  // kept).
  IndexId Substitute(IndexId expr, absl::Span<const IndexId> replacement);
  // `expr` with dynamic node d renamed to[d].
  IndexId RenameDynamic(IndexId expr, absl::Span<const int32_t> to);
  // Bit v set: `expr` depends on variable v. Dynamic nodes are not looked into.
  uint64_t VarMask(IndexId expr) const { return facts_[expr].vars; }
  bool HasDynamic(IndexId expr) const { return facts_[expr].dynamic; }
  // The SSA nodes of the dynamic nodes in `expr`, ascending, once each.
  std::vector<int32_t> DynamicNodes(IndexId expr) const;
  // Nodes of `expr` written out as a tree; saturates. Bounds the depth of
  // recursions over it.
  int32_t TreeSize(IndexId expr) const { return facts_[expr].tree_size; }
  // The constant k with expr = k*var + (something without var), if there is
  // one; 0 where var does not occur.
  std::optional<int64_t> StrideOf(IndexId expr, int64_t var) const;
  // True if `expr` depends on variables `major` and `minor` only through
  // major*minor_extent + minor, so that the two can be one variable.
  bool CanMerge(IndexId expr, int64_t major, int64_t minor,
                int64_t minor_extent) const;
  // The largest power of two (up to `limit`) that divides expr for all values.
  int64_t KnownAlignment(IndexId expr, int64_t limit) const;
  // Evaluates with the given variable values; dynamic nodes through `dynamic`.
  int64_t Evaluate(IndexId expr, absl::Span<const int64_t> vars,
                   absl::Span<const int64_t> dynamic = {}) const;
  // C text: names[v] for variables ("v<n>" beyond the end), "d<n>" for dynamic
  // nodes. Divisions of what may be negative are calls of floor_div(a, c) and
  // floor_mod(a, c).
  std::string ToString(IndexId expr,
                       absl::Span<const std::string> names = {}) const;

 private:
  using Key = std::tuple<IndexKind, int64_t, IndexId, IndexId, int64_t,
                         int64_t>;  // the last two: range of leaves
  struct Facts {
    uint64_t vars = 0;
    int32_t tree_size = 1;
    bool dynamic = false;
  };

  IndexId Intern(const IndexNode& node);
  // The normal form of a sum with terms in any order.
  IndexId FromSum(IndexSum sum);
  void Collect(IndexSum* sum) const;  // like terms, order, zeros
  bool FoldDivMod(IndexSum* sum);
  IndexRange RangeOf(const IndexSum& sum) const;
  bool TermBefore(const IndexTerm& x, const IndexTerm& y) const;
  IndexId DivideReduced(const IndexSum& rest, int64_t divisor);
  IndexId RemainderReduced(const IndexSum& rest, int64_t divisor);
  // Writes rest = g*high + low with 0 <= low < g for the largest fitting
  // divisor g > 1 of `divisor`; false if there is none.
  bool SplitByFactor(const IndexSum& rest, int64_t divisor, int64_t* g,
                     IndexSum* high, IndexSum* low) const;
  // `expr` rebuilt from leaves (variables and dynamic nodes) that `leaf`
  // replaces.
  IndexId Rewrite(IndexId expr, const std::function<IndexId(IndexId)>& leaf);

  std::vector<IndexNode> nodes_;
  std::vector<Facts> facts_;
  absl::flat_hash_map<Key, IndexId> interned_;
  // Results of FloorDiv and Mod.
  absl::flat_hash_map<std::tuple<IndexKind, IndexId, int64_t>, IndexId> memo_;
};

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_INDEX_EXPR_H_
