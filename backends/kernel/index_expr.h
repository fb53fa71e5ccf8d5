// Integer expressions over a kernel's iteration variables: the offsets of its
// loads and stores. Hash-consed and kept in a normal form, so that equality is
// identity and the emitters see few divisions.
#ifndef RIDGE_BACKENDS_KERNEL_INDEX_EXPR_H_
#define RIDGE_BACKENDS_KERNEL_INDEX_EXPR_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
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

// Owns the expressions of one kernel. All functions simplify:
//  - sums are flattened, like terms collected, ordered by variable, constant
//    last;
//  - (x*c*k + y) div c = x*k + y div c and (x*c*k + y) mod c = y mod c where
//    the ranges allow; x div c = 0 and x mod c = x where 0 <= x < c;
//  - (x mod (c*d)) div c, (x div c) mod d and (x div c) div d are brought to
//    one form, and x div c * c + x mod c is folded back to x.
class IndexPool {
 public:
  // Declares iteration variable `n` (dense from 0) with values [0, extent).
  IndexId Var(int64_t n, int64_t extent);
  IndexId Const(int64_t value);
  IndexId Dynamic(int32_t ssa_node, IndexRange range);
  IndexId Add(IndexId a, IndexId b);
  IndexId Mul(IndexId a, int64_t factor);
  IndexId FloorDiv(IndexId a, int64_t divisor);
  IndexId Mod(IndexId a, int64_t divisor);

  const IndexNode& node(IndexId id) const { return nodes_[id]; }
  int64_t size() const { return nodes_.size(); }

  // `expr` with variable v replaced by replacement[v] (-1: kept).
  IndexId Substitute(IndexId expr, absl::Span<const IndexId> replacement);
  // Bit v set: `expr` depends on variable v. Dynamic nodes are not looked into.
  uint64_t VarMask(IndexId expr) const;
  bool HasDynamic(IndexId expr) const;
  // The constant k with expr = k*var + (something without var), if there is
  // one; 0 where var does not occur.
  std::optional<int64_t> StrideOf(IndexId expr, int64_t var) const;
  // The largest power of two (up to `limit`) that divides expr for all values.
  int64_t KnownAlignment(IndexId expr, int64_t limit) const;
  // Evaluates with the given variable values; dynamic nodes through `dynamic`.
  int64_t Evaluate(IndexId expr, absl::Span<const int64_t> vars,
                   absl::Span<const int64_t> dynamic = {}) const;
  // C text: names[v] for variables, "d<n>" for dynamic nodes.
  std::string ToString(IndexId expr,
                       absl::Span<const std::string> names = {}) const;

 private:
  std::vector<IndexNode> nodes_;
  absl::flat_hash_map<std::string, IndexId> interned_;
};

}  // namespace ridge

#endif  // RIDGE_BACKENDS_KERNEL_INDEX_EXPR_H_
