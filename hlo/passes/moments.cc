#include "hlo/passes/moments.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo/passes/rewriter.h"
#include "hlo/passes/scope.h"
#include "hlo/passes/value_facts.h"

namespace ridge {
namespace {

// Bytes of x below which reading it again costs less than the arithmetic.
constexpr int64_t kLeastBytes = 1 << 20;
// A row of at most this many elements stays where it was loaded.
constexpr int64_t kRowElements = 1 << 17;
// And of one in pieces, each a multiple of what memory moves.
constexpr int64_t kRowElementsInPieces = 1 << 16;
constexpr int64_t kPieceBytes = 32;
// Narrower elements leave too little time to a byte for the divisions.
constexpr int kLeastBits = 32;
// How far a written 1/n may be from it: a rounding of float32.
constexpr double kRelativeError = 1e-6;

bool IsSum(const Instruction* i) {
  return i->opcode() == Opcode::kReduce && i->operand_count() == 2 &&
         IsAllZero(i->operand(1)) &&
         BinaryReducer(i->to_apply()) == Opcode::kAdd;
}

// The sum whose n-th part `mean` is, or null. Reshapes may lie between.
Instruction* SumOfMean(Instruction* mean, double n) {
  while (mean->opcode() == Opcode::kReshape) mean = mean->operand(0);
  Instruction* sum = nullptr;
  double factor = 0;
  if (mean->opcode() == Opcode::kDivide) {
    std::optional<double> by = SplatValue(mean->operand(1));
    if (!by.has_value() || *by == 0) return nullptr;
    factor = 1 / *by;
    sum = mean->operand(0);
  } else if (mean->opcode() == Opcode::kMultiply) {
    for (int k : {0, 1}) {
      std::optional<double> by = SplatValue(mean->operand(k));
      if (!by.has_value()) continue;
      factor = *by;
      sum = mean->operand(1 - k);
    }
  }
  if (sum == nullptr || !(std::abs(factor * n - 1) < kRelativeError)) {
    return nullptr;
  }
  while (sum->opcode() == Opcode::kReshape) sum = sum->operand(0);
  return IsSum(sum) ? sum : nullptr;
}

// Whether the row of elements that `reduce` adds up stays on the chip.
bool RowStays(const Instruction& reduce) {
  const Shape& shape = reduce.operand(0)->shape();
  const auto& dims = reduce.dimensions();
  int64_t row = 1, piece = 1;
  bool in_pieces = false;  // a kept dimension was met
  for (int64_t k = 0; k < shape.rank(); ++k) {
    const int64_t d = shape.has_layout() ? shape.layout().minor_to_major[k]
                                         : shape.rank() - 1 - k;
    if (shape.dim(d) == 1) continue;
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) {
      in_pieces = true;
      continue;
    }
    row *= shape.dim(d);
    if (!in_pieces) piece = row;
  }
  if (piece == row) return row <= kRowElements;
  return row <= kRowElementsInPieces &&
         piece * StorageBytes(shape.type()) % kPieceBytes == 0;
}

// The sum(x) that goes with `squares` = sum((x - mean)^2), or null.
Instruction* Matching(Instruction* squares) {
  if (!IsSum(squares)) return nullptr;
  Instruction* product = squares->operand(0);
  if (product->opcode() != Opcode::kMultiply ||
      product->operand(0) != product->operand(1) ||
      product->operand(0)->opcode() != Opcode::kSubtract) {
    return nullptr;
  }
  const Instruction* centred = product->operand(0);
  const Instruction* x = centred->operand(0);
  const Shape& shape = x->shape();
  if (!IsFloat(shape.type()) || Info(shape.type()).bits < kLeastBits ||
      shape.ByteSize() < kLeastBytes || squares->shape().ElementCount() == 0) {
    return nullptr;
  }
  Instruction* spread = centred->operand(1);
  if (spread->opcode() != Opcode::kBroadcast) return nullptr;
  const double n = static_cast<double>(shape.ElementCount()) /
                   static_cast<double>(squares->shape().ElementCount());
  Instruction* sum = SumOfMean(spread->operand(0), n);
  if (sum == nullptr || sum->operand(0) != x) return nullptr;
  const auto& dims = squares->dimensions();
  if (!std::equal(dims.begin(), dims.end(), sum->dimensions().begin(),
                  sum->dimensions().end()) ||
      sum->shape() != squares->shape() || RowStays(*squares)) {
    return nullptr;
  }
  // The mean goes back to where it came from, whatever units were reshaped.
  std::vector<int64_t> kept, at;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool reduced = std::find(dims.begin(), dims.end(), d) != dims.end();
    if (!reduced && shape.dim(d) != 1) kept.push_back(d);
  }
  for (int64_t d : spread->dimensions()) {
    if (shape.dim(d) != 1) at.push_back(d);
  }
  return kept == at ? sum : nullptr;
}

// The results of the one reduction. The sum is taken as it was: the combined
// means are rounded otherwise.
enum Part : int64_t { kCount, kMean, kSquares, kSum, kParts };
constexpr const char* kPartNames[kParts] = {"count", "mean", "squares", "sum"};

// Combines those of two sets of elements.
Computation* Combiner(ElementType type, Computation* caller) {
  Module* module = caller->module();
  Computation* c = module->AddComputation("combine_moments");
  const Shape scalar = Shape::Scalar(type);
  Instruction* part[2][kParts];
  for (int64_t k : {0, 1}) {
    for (int64_t p = 0; p < kParts; ++p) {
      part[k][p] = c->AddParameter(k * kParts + p, scalar,
                                   absl::StrCat(kPartNames[p], k));
    }
  }
  auto op = [&](Opcode opcode, Instruction* a, Instruction* b,
                absl::string_view name) {
    return c->Add(opcode, scalar, {a, b}, name);
  };
  auto add = [&](Part p) {
    return op(Opcode::kAdd, part[0][p], part[1][p], kPartNames[p]);
  };
  Instruction* count = add(kCount);
  Instruction* sum = add(kSum);
  // Two empty sets make an empty one.
  Instruction* one = c->AddConstant(FullLiteral(scalar, 1), nullptr, "one");
  Instruction* some = op(Opcode::kMaximum, count, one, "some");
  Instruction* share = op(Opcode::kDivide, part[1][kCount], some, "share");
  Instruction* distance =
      op(Opcode::kSubtract, part[1][kMean], part[0][kMean], "distance");
  Instruction* step = op(Opcode::kMultiply, distance, share, "step");
  Instruction* mean = op(Opcode::kAdd, part[0][kMean], step, "mean");
  Instruction* weight = op(Opcode::kMultiply, part[0][kCount], step, "weight");
  Instruction* between = op(Opcode::kMultiply, distance, weight, "between");
  Instruction* squares =
      op(Opcode::kAdd, add(kSquares), between, "squares_in_all");
  c->set_root(c->Add(Opcode::kTuple,
                     Shape::Tuple({scalar, scalar, scalar, scalar}),
                     {count, mean, squares, sum}, "moments"));
  module->MoveComputationBefore(c, caller);
  return c;
}

void Merge(Instruction* squares, Instruction* sum, Rewriter* r) {
  Instruction* x = sum->operand(0);
  const ElementType type = x->shape().type();
  const Shape shape = sum->shape();
  auto part_of = [&](Instruction* moments, Part p) {
    Instruction* part = r->Add(Opcode::kGetTupleElement, shape, {moments});
    part->SetAttr(AttrId::kIndex, static_cast<int64_t>(p));
    return part;
  };
  r->set_target(sum);
  Instruction* zero = r->Scalar(type, 0);
  Instruction* moments =
      r->Add(Opcode::kReduce, Shape::Tuple({shape, shape, shape, shape}),
             {r->Splat(type, x->shape().dims(), 1), x,
              r->Splat(type, x->shape().dims(), 0), x, zero, zero, zero, zero});
  moments->set_ints(AttrId::kDimensions, sum->dimensions());
  moments->SetAttr(AttrId::kToApply, Combiner(type, sum->parent()));
  Instruction* same_sum = part_of(moments, kSum);
  r->set_target(squares);
  // NaN where the sum is infinite or NaN, else 0.
  Instruction* nan_or_zero = r->Binary(Opcode::kSubtract, same_sum, same_sum);
  Instruction* result =
      r->Binary(Opcode::kAdd, part_of(moments, kSquares), nan_or_zero);
  r->TakeAdded();
  Rewriter::Replace(squares, result, /*takes_name=*/true);
  Rewriter::Replace(sum, same_sum, /*takes_name=*/true);
}

}  // namespace

absl::StatusOr<bool> MergeMoments(Module* module, const PassOptions& options) {
  bool changed = false;
  Rewriter r(options);
  for (Computation* c : ComputationsInScope(module, options)) {
    std::vector<std::pair<Instruction*, Instruction*>> matches;
    for (Instruction* i : c->instructions()) {
      if (Instruction* sum = Matching(i)) matches.emplace_back(i, sum);
    }
    std::set<const Instruction*> merged;
    for (auto [squares, sum] : matches) {
      if (!merged.insert(sum).second) continue;
      Merge(squares, sum, &r);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ridge
