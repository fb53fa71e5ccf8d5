#include "backends/kernel/gemm.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fusion/gemm_epilogue.h"
#include "hlo/base/status_macros.h"

namespace ridge {
namespace {

enum class Role : uint8_t { kBatch, kContract, kFree };

// One dimension of a dot operand or result.
struct Axis {
  Role role;
  int64_t dim;  // logical number in its own shape
  int64_t size;
};

bool Contains(Ints dims, int64_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

// Dimensions from major to minor as they lie in memory, unit ones dropped
// (they can lie anywhere).
std::vector<Axis> PhysicalAxes(const Shape& shape, Ints batch, Ints contract) {
  DimVector order = shape.has_layout() ? shape.layout().minor_to_major
                                       : DescendingLayout(shape.rank());
  std::vector<Axis> axes;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    if (shape.dim(*it) == 1) continue;
    Role role = Contains(batch, *it)      ? Role::kBatch
                : Contains(contract, *it) ? Role::kContract
                                          : Role::kFree;
    axes.push_back({role, *it, shape.dim(*it)});
  }
  return axes;
}

// The stretch of axes with one role; false where they are not adjacent.
bool Together(const std::vector<Axis>& axes, Role role) {
  int runs = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i].role == role && (i == 0 || axes[i - 1].role != role)) ++runs;
  }
  return runs <= 1;
}

bool BatchFirst(const std::vector<Axis>& axes) {
  bool past = false;
  for (const Axis& a : axes) {
    if (a.role != Role::kBatch) past = true;
    if (a.role == Role::kBatch && past) return false;
  }
  return true;
}

// Positions of the axes of `role` in `numbering` (dim -> position).
std::vector<int64_t> OrderOf(const std::vector<Axis>& axes, Role role,
                             const std::vector<int64_t>& numbering) {
  std::vector<int64_t> order;
  for (const Axis& a : axes) {
    if (a.role == role) order.push_back(numbering[a.dim]);
  }
  return order;
}

// numbering[dim] = index of dim in `dims`, -1 elsewhere.
std::vector<int64_t> Number(Ints dims, int64_t rank) {
  std::vector<int64_t> numbering(rank, -1);
  for (size_t k = 0; k < dims.size(); ++k) {
    numbering[dims[k]] = static_cast<int64_t>(k);
  }
  return numbering;
}

std::vector<int64_t> FreeDims(int64_t rank, Ints batch, Ints contract) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(batch, d) && !Contains(contract, d)) free.push_back(d);
  }
  return free;
}

int64_t Product(const Shape& shape, absl::Span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) n = SaturatingMul(n, shape.dim(d));
  return n;
}

// Whether the operand lies as [batch, contract, free] rather than [batch,
// free, contract]. A vector counts as the latter.
bool ContractBeforeFree(const std::vector<Axis>& axes) {
  bool contract = false;
  for (const Axis& a : axes) {
    if (a.role == Role::kContract) contract = true;
    if (a.role == Role::kFree) return contract;
  }
  return false;
}

absl::Status No(const Instruction& dot, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat("line ", dot.location().line, ": dot %",
                   std::string(dot.name()), ": ", why));
}

}  // namespace

absl::StatusOr<GemmLowering> LowerDot(const Instruction& dot) {
  if (dot.opcode() != Opcode::kDot || dot.operand_count() != 2) {
    return No(dot, "not a plain two-operand dot");
  }
  const Shape& lhs = dot.operand(0)->shape();
  const Shape& rhs = dot.operand(1)->shape();
  const Shape& out = dot.shape();
  Ints lhs_batch = dot.ints(AttrId::kLhsBatchDims);
  Ints rhs_batch = dot.ints(AttrId::kRhsBatchDims);
  Ints lhs_contract = dot.ints(AttrId::kLhsContractingDims);
  Ints rhs_contract = dot.ints(AttrId::kRhsContractingDims);
  std::vector<int64_t> lhs_free = FreeDims(lhs.rank(), lhs_batch, lhs_contract);
  std::vector<int64_t> rhs_free = FreeDims(rhs.rank(), rhs_batch, rhs_contract);

  std::vector<Axis> a = PhysicalAxes(lhs, lhs_batch, lhs_contract);
  std::vector<Axis> b = PhysicalAxes(rhs, rhs_batch, rhs_contract);
  // The result's logical dimensions are batch, lhs free, rhs free.
  std::vector<int64_t> out_batch;
  std::vector<int64_t> out_left;
  for (size_t k = 0; k < lhs_batch.size(); ++k) out_batch.push_back(k);
  for (size_t k = 0; k < lhs_free.size(); ++k) {
    out_left.push_back(static_cast<int64_t>(lhs_batch.size() + k));
  }
  std::vector<int64_t> out_right;
  for (int64_t d = out_batch.size() + out_left.size(); d < out.rank(); ++d) {
    out_right.push_back(d);
  }
  // Here kContract stands for "from the left operand".
  std::vector<Axis> d = PhysicalAxes(out, out_batch, out_left);

  for (const auto* axes : {&a, &b, &d}) {
    if (!BatchFirst(*axes) || !Together(*axes, Role::kContract) ||
        !Together(*axes, Role::kFree)) {
      return No(dot,
                "batch, free and contracting dimensions are interleaved in "
                "memory");
    }
  }
  std::vector<int64_t> batch_order =
      OrderOf(d, Role::kBatch, Number(out_batch, out.rank()));
  if (OrderOf(a, Role::kBatch, Number(lhs_batch, lhs.rank())) != batch_order ||
      OrderOf(b, Role::kBatch, Number(rhs_batch, rhs.rank())) != batch_order) {
    return No(dot, "batch dimensions lie in different orders");
  }
  if (OrderOf(a, Role::kContract, Number(lhs_contract, lhs.rank())) !=
      OrderOf(b, Role::kContract, Number(rhs_contract, rhs.rank()))) {
    return No(dot, "contracting dimensions lie in different orders");
  }
  if (OrderOf(a, Role::kFree, Number(lhs_free, lhs.rank())) !=
          OrderOf(d, Role::kContract, Number(out_left, out.rank())) ||
      OrderOf(b, Role::kFree, Number(rhs_free, rhs.rank())) !=
          OrderOf(d, Role::kFree, Number(out_right, out.rank()))) {
    return No(dot, "free dimensions lie in another order in the result");
  }

  GemmLowering lowered;
  GemmStep& g = lowered.step;
  g.batch = Product(lhs, lhs_batch);
  g.m = Product(lhs, lhs_free);
  g.n = Product(rhs, rhs_free);
  g.k = Product(lhs, lhs_contract);
  g.transpose_a = ContractBeforeFree(a);
  g.transpose_b = !ContractBeforeFree(b);
  g.a_type = lhs.type();
  g.b_type = rhs.type();
  g.d_type = out.type();
  Ints precisions = dot.ints(AttrId::kOperandPrecision);
  for (int64_t p : precisions) {
    g.precision = std::max(g.precision, static_cast<Precision>(p));
  }
  lowered.operands = {dot.operand(0), dot.operand(1)};
  // The result lies as [batch, right, left]: compute the transposed product.
  bool right_first = !d.empty();
  for (const Axis& axis : d) {
    if (axis.role == Role::kContract) {
      right_first = false;
      break;
    }
    if (axis.role == Role::kFree) break;
  }
  bool has_left = std::any_of(d.begin(), d.end(), [](const Axis& x) {
    return x.role == Role::kContract;
  });
  if (right_first && has_left) {
    std::swap(g.m, g.n);
    std::swap(g.a_type, g.b_type);
    bool old_a = g.transpose_a;
    g.transpose_a = !g.transpose_b;
    g.transpose_b = !old_a;
    std::swap(lowered.operands[0], lowered.operands[1]);
  }
  return lowered;
}

absl::StatusOr<GemmLowering> LowerGemm(const Group& group) {
  if (group.hero == nullptr || group.roots.size() != 1) {
    return absl::UnimplementedError(
        absl::StrCat("group ", group.name, ": not a product with one result"));
  }
  const Instruction& dot = *group.hero;
  RIDGE_ASSIGN_OR_RETURN(GemmLowering lowered, LowerDot(dot));
  if (group.members.size() == 1) return lowered;
  // Where the library may round is what the planner decided when it formed the
  // group; here only the form counts.
  GemmEpilogueMatch m =
      MatchGemmGroup(dot, group.members, group.roots, Numerics::kFusedEpilogue);
  if (!m.decision.allowed()) return No(dot, m.decision.ToString());
  GemmStep& g = lowered.step;
  if (m.bias != nullptr && m.bias->shape().ElementCount() != g.n) {
    // The minor dimension of the result is but a part of the matrix's n.
    return No(dot, absl::StrCat("a bias of ", m.bias->shape().ElementCount(),
                                " elements for rows of ", g.n));
  }
  g.alpha = m.alpha;
  g.beta = m.beta;
  g.has_bias = m.bias != nullptr;
  g.activation = m.activation;
  g.d_type = m.root->shape().type();
  if (m.c != nullptr) lowered.operands.push_back(m.c);
  if (m.bias != nullptr) lowered.operands.push_back(m.bias);
  return lowered;
}

}  // namespace ridge
