// ragged-dot: rows of the lhs in groups (hlo/ir/ragged_dot.h has the modes).
#include "hlo/ir/ragged_dot.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo/base/status_macros.h"
#include "hlo/evaluator/dot.h"
#include "hlo/evaluator/handlers.h"
#include "hlo/evaluator/strided.h"

namespace ridge {
namespace eval {
namespace {

// Where a group lies along the ragged dimension of an operand or a result, at
// each index of the dimensions that group_sizes has in front.
struct GroupRange {
  int64_t dim;       // the ragged dimension
  DimVector prefix;  // those in front
};

class Groups {
 public:
  // `sizes` has one row of group sizes for each index of the prefix, one for
  // all if that is empty; `extent` is the size of the ragged dimension.
  Groups(const Literal& sizes, int64_t extent)
      : sizes_(sizes),
        extent_(extent),
        count_(sizes.shape().dims().back()),
        begin_(
            Product(sizes.shape().dims().subspan(0, sizes.shape().rank() - 1))),
        end_(begin_.size(), 0) {}

  int64_t count() const { return count_; }

  // Moves on to group `g`; call for 0, 1, 2 ... Sizes below zero count as
  // zero, and groups end where the dimension does.
  void Advance(int64_t g) {
    begin_ = end_;
    for (size_t row = 0; row < begin_.size(); ++row) {
      const int64_t size =
          IndexAt(sizes_, static_cast<int64_t>(row) * count_ + g);
      end_[row] = begin_[row] +
                  std::max<int64_t>(0, std::min(size, extent_ - begin_[row]));
    }
  }

  // Copies the group's elements to the same places.
  void Copy(const Interpreter& interpreter, const GroupRange& range,
            const Literal& from, Literal* to) const {
    const Shape& s = from.shape();
    if (s.ElementCount() == 0) return;
    const int width = StorageBytes(s.type());
    const DimVector strides = RowMajorStrides(s.dims());
    DimVector sizes(s.dims().begin(), s.dims().end());
    DimVector prefix_sizes;
    for (int64_t d : range.prefix) {
      prefix_sizes.push_back(s.dim(d));
      sizes[d] = 1;
    }
    Odometer at(prefix_sizes);
    size_t row = 0;
    do {
      int64_t offset = begin_[row] * strides[range.dim];
      for (size_t k = 0; k < range.prefix.size(); ++k) {
        offset += at.index()[k] * strides[range.prefix[k]];
      }
      sizes[range.dim] = end_[row] - begin_[row];
      if (sizes[range.dim] > 0) {
        StridedCopy(interpreter, sizes, width, from.bytes() + offset * width,
                    strides, to->mutable_bytes() + offset * width, strides);
      }
      ++row;
    } while (at.Next());
  }

 private:
  const Literal& sizes_;
  int64_t extent_;
  int64_t count_;
  std::vector<int64_t> begin_, end_;  // by row of sizes
};

// Index `i` of dimension `dim`, which goes.
Literal TakeIndex(const Interpreter& interpreter, const Literal& in,
                  int64_t dim, int64_t i) {
  const Shape& s = in.shape();
  DimVector strides = RowMajorStrides(s.dims());
  DimVector sizes;
  DimVector src;
  for (int64_t d = 0; d < s.rank(); ++d) {
    if (d == dim) continue;
    sizes.push_back(s.dim(d));
    src.push_back(strides[d]);
  }
  Literal out = Literal::Zeros(Shape::Array(s.type(), sizes));
  const int width = StorageBytes(s.type());
  StridedCopy(interpreter, sizes, width, in.bytes() + i * strides[dim] * width,
              src, out.mutable_bytes(), RowMajorStrides(sizes));
  return out;
}

DimVector WithoutDim(absl::Span<const int64_t> dims, int64_t gone) {
  DimVector result;
  for (int64_t d : dims) result.push_back(d > gone ? d - 1 : d);
  return result;
}

int64_t IndexOf(Ints values, int64_t value) {
  return std::find(values.begin(), values.end(), value) - values.begin();
}

// A ragged-dot's attributes and its operands in their product type.
struct RaggedDot {
  const Interpreter& interpreter;
  Literal lhs, rhs;
  Ints lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
  GroupRange in_lhs;
};

absl::StatusOr<Literal> Plain(const RaggedDot& d, const Literal& lhs,
                              const Literal& rhs) {
  return DotProduct(d.interpreter, lhs, rhs, d.lhs_contracting,
                    d.rhs_contracting, d.lhs_batch, d.rhs_batch);
}

// Where a batch or free dimension of the lhs is in the result of a dot.
int64_t ResultDim(const RaggedDot& d, int64_t lhs_dim) {
  const int64_t batch = static_cast<int64_t>(d.lhs_batch.size());
  int64_t k = IndexOf(d.lhs_batch, lhs_dim);
  if (k < batch) return k;
  for (int64_t f = 0; f < lhs_dim; ++f) {
    const bool free = IndexOf(d.lhs_batch, f) == batch &&
                      IndexOf(d.lhs_contracting, f) ==
                          static_cast<int64_t>(d.lhs_contracting.size());
    k += free;
  }
  return k;
}

// Where a batch or contracting dimension of the lhs is in the rhs.
int64_t RhsDim(const RaggedDot& d, int64_t lhs_dim) {
  const size_t k = IndexOf(d.lhs_batch, lhs_dim);
  if (k < d.lhs_batch.size()) return d.rhs_batch[k];
  return d.rhs_contracting[IndexOf(d.lhs_contracting, lhs_dim)];
}

template <typename Map>
GroupRange Mapped(const GroupRange& range, const Map& map) {
  GroupRange result;
  result.dim = map(range.dim);
  for (int64_t d : range.prefix) result.prefix.push_back(map(d));
  return result;
}

// Each group of rows times its own matrix of the rhs; zero in no group.
absl::StatusOr<Literal> FreeMode(const RaggedDot& d, int64_t group_dim,
                                 Groups groups) {
  const GroupRange in_result =
      Mapped(d.in_lhs, [&](int64_t lhs_dim) { return ResultDim(d, lhs_dim); });
  const DimVector rhs_contracting = WithoutDim(d.rhs_contracting, group_dim);
  const DimVector rhs_batch = WithoutDim(d.rhs_batch, group_dim);
  Literal total;
  for (int64_t g = 0; g < groups.count(); ++g) {
    groups.Advance(g);
    RIDGE_ASSIGN_OR_RETURN(
        Literal product,
        DotProduct(d.interpreter, d.lhs,
                   TakeIndex(d.interpreter, d.rhs, group_dim, g),
                   d.lhs_contracting, rhs_contracting, d.lhs_batch, rhs_batch));
    if (g == 0) total = Literal::Zeros(product.shape());
    groups.Copy(d.interpreter, in_result, product, &total);
  }
  return total;
}

// One product for each group's part of the contracted dimension.
absl::StatusOr<Literal> ContractingMode(const RaggedDot& d, Groups groups) {
  const GroupRange in_rhs =
      Mapped(d.in_lhs, [&](int64_t lhs_dim) { return RhsDim(d, lhs_dim); });
  DimVector dims = {groups.count()};
  std::vector<uint8_t> stacked;
  for (int64_t g = 0; g < groups.count(); ++g) {
    groups.Advance(g);
    // Zeros on both sides, so that what is not in the group does not matter
    // even if it is infinite.
    Literal lhs = Literal::Zeros(d.lhs.shape());
    Literal rhs = Literal::Zeros(d.rhs.shape());
    groups.Copy(d.interpreter, d.in_lhs, d.lhs, &lhs);
    groups.Copy(d.interpreter, in_rhs, d.rhs, &rhs);
    RIDGE_ASSIGN_OR_RETURN(Literal product, Plain(d, lhs, rhs));
    stacked.insert(stacked.end(), product.bytes(),
                   product.bytes() + product.byte_size());
    if (g == 0) {
      dims.insert(dims.end(), product.shape().dims().begin(),
                  product.shape().dims().end());
    }
  }
  return Literal::FromBytes(Shape::Array(d.lhs.shape().type(), dims),
                            std::move(stacked));
}

absl::Status CheckGroupSizes(const Shape& sizes, const Shape& lhs,
                             absl::Span<const int64_t> prefix) {
  if (!IsInteger(sizes.type())) return Invalid("group sizes are no integers");
  if (sizes.rank() < 1) return Invalid("group sizes are a scalar");
  if (sizes.rank() == 1) return absl::OkStatus();
  DimVector expected;
  for (int64_t d : prefix) expected.push_back(lhs.dim(d));
  expected.push_back(sizes.dims().back());
  return CheckDims("group sizes", sizes, expected);
}

}  // namespace

absl::StatusOr<Literal> EvalRaggedDot(const Op& op) {
  RIDGE_RETURN_IF_ERROR(CheckArrays(op, 3));
  RIDGE_RETURN_IF_ERROR(op.interpreter.CheckFits(op.shape));
  const Instruction& i = op.instruction;
  const Shape& l = op.in(0).shape();
  const Shape& r = op.in(1).shape();
  const Shape& sizes = op.in(2).shape();
  const Ints ragged = i.ints(AttrId::kLhsRaggedDims);
  if (ragged.size() != 1 || ragged[0] < 0 || ragged[0] >= l.rank()) {
    return Invalid("lhs_ragged_dims must name one dimension");
  }
  const ElementType type = ProductType(l.type(), r.type());
  RaggedDot d{op.interpreter,
              AsProduct(op.in(0), type),
              AsProduct(op.in(1), type),
              i.ints(AttrId::kLhsContractingDims),
              i.ints(AttrId::kRhsContractingDims),
              i.ints(AttrId::kLhsBatchDims),
              i.ints(AttrId::kRhsBatchDims),
              {ragged[0], {}}};
  const RaggedMode mode = RaggedModeOf(i, ragged[0]);
  const Ints group = i.ints(AttrId::kRhsGroupDims);
  if (mode == RaggedMode::kFree) {
    if (group.size() != 1 || group[0] < 0 || group[0] >= r.rank() ||
        sizes.rank() < 1 || r.dim(group[0]) != sizes.dims().back()) {
      return Invalid("rhs_group_dims must name the dimension of the groups");
    }
  } else if (!group.empty()) {
    return Invalid("rhs_group_dims, though no dimension of rhs is the groups'");
  }
  RIDGE_RETURN_IF_ERROR(CheckDotNumbers(
      l, r, d.lhs_contracting, d.rhs_contracting, d.lhs_batch, d.rhs_batch));
  const DimVector prefix = GroupPrefixDims(i, ragged[0]);
  RIDGE_RETURN_IF_ERROR(CheckGroupSizes(sizes, l, prefix));
  if (sizes.rank() > 1) d.in_lhs.prefix = prefix;
  absl::StatusOr<Literal> product;
  switch (mode) {
    case RaggedMode::kBatch:
      product = Plain(d, d.lhs, d.rhs);
      break;
    case RaggedMode::kFree:
      if (sizes.dims().back() == 0) return Literal::Zeros(op.shape);
      product = FreeMode(d, group[0], Groups(op.in(2), l.dim(ragged[0])));
      break;
    case RaggedMode::kContracting:
      if (sizes.dims().back() == 0) return Literal::Zeros(op.shape);
      product = ContractingMode(d, Groups(op.in(2), l.dim(ragged[0])));
      break;
  }
  if (!product.ok()) return product.status();
  return FinishDot(op, *product);
}

}  // namespace eval
}  // namespace ridge
