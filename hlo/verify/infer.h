// What the files of shape inference share: the signature of a rule and small
// checks. Internal to hlo/verify.
#ifndef RIDGE_HLO_VERIFY_INFER_H_
#define RIDGE_HLO_VERIFY_INFER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo/base/status_macros.h"
#include "hlo/ir/module.h"

namespace ridge::infer {

template <typename... Args>
absl::Status Invalid(const Args&... args) {
  return absl::InvalidArgumentError(absl::StrCat(args...));
}

inline std::string Text(const Shape& shape) { return shape.ToString(); }
std::string Braced(absl::Span<const int64_t> values);  // {1,2,3}

// ---- Checks ----------------------------------------------------------------

absl::Status ExpectArray(const Shape& shape, absl::string_view what);
absl::Status ExpectScalar(const Shape& shape, absl::string_view what);
absl::Status ExpectToken(const Shape& shape, absl::string_view what);
absl::Status ExpectOperands(const Instruction& i, int64_t count);
absl::Status ExpectAtLeast(const Instruction& i, int64_t count);
absl::Status ExpectDimension(int64_t dim, int64_t rank, absl::string_view what);
// Each in [0, rank), none twice.
absl::Status ExpectDimensions(absl::Span<const int64_t> dims, int64_t rank,
                              absl::string_view what);
// The computation under `id`; an error where the instruction has none, or the
// computation no root.
absl::StatusOr<const Computation*> Callee(const Instruction& i, AttrId id);
absl::Status ExpectParameters(const Computation& callee, int64_t count,
                              absl::string_view what);
// One integer of a `dimensions={d}` attribute.
absl::StatusOr<int64_t> OneDimension(const Instruction& i);

// ---- Types -----------------------------------------------------------------

// Equal, or both floats (whose precision may differ).
bool SameTypeIgnoringPrecision(ElementType a, ElementType b);
// Same types and sizes; layouts and dynamic-ness are ignored; recursive.
bool Compatible(const Shape& a, const Shape& b);
// Compatible but for the precision of floats.
bool CompatibleIgnoringPrecision(const Shape& a, const Shape& b);
// The wider of two floats; `a` for other types.
ElementType HigherPrecision(ElementType a, ElementType b);
// Same dimensions where neither is unbounded; bounds count, dynamic or not.
bool SameBounds(const Shape& a, const Shape& b);
// `a` with a dimension dynamic where it is in `a` or in `b` (of one rank).
Shape MergeDynamic(Shape a, const Shape& b);

// A shape of the given dimensions, each dynamic where `dynamic` says so.
Shape MakeArray(ElementType type, absl::Span<const int64_t> dims,
                absl::Span<const bool> dynamic);
// A list of shapes as a tuple; the shape itself where there is but one.
Shape TupleOrOne(std::vector<Shape> shapes);
// Every operand's shape as a tuple; the operand's own where there is but one.
Shape OperandsAsShape(const Instruction& i, int64_t first, int64_t count);

// ---- Rules (one or more opcodes each) --------------------------------------

using Rule = absl::StatusOr<Shape> (*)(const Instruction&);

// clang-format off
#define RIDGE_INFER_RULES(V) \
  V(Unary) V(Binary) V(Compare) V(Complex) V(Select) V(Clamp) V(Convert) \
  V(BitcastConvert) V(StochasticConvert) V(ReducePrecision) V(Copy) \
  V(Bitcast) V(Broadcast) V(Concatenate) V(Reverse) V(Transpose) V(Reshape) \
  V(DynamicReshape) V(Slice) V(Pad) V(Iota) V(Reduce) V(ReduceWindow) \
  V(SelectAndScatter) V(Dot) V(RaggedDot) V(ScaledDot) V(Convolution) \
  V(DynamicSlice) V(DynamicUpdateSlice) V(Gather) V(Scatter) V(Sort) \
  V(TopK) V(Rng) V(RngBitGenerator) V(RngGetAndUpdateState) V(Fft) \
  V(Cholesky) V(TriangularSolve) V(BatchNormTraining) V(BatchNormInference) \
  V(BatchNormGrad) V(While) V(Conditional) V(Call) V(Fusion) V(Map) \
  V(CustomCall) V(Tuple) V(GetTupleElement) V(Parameter) V(Constant) \
  V(FirstOperand) V(AfterAll) V(AddDependency) V(GetDimensionSize) \
  V(SetDimensionSize) V(AllGather) V(AllGatherStart) V(AllGatherDone) \
  V(AllReduce) V(AllReduceDone) V(ReduceScatter) V(AllToAll) \
  V(RaggedAllToAll) V(CollectiveBroadcast) V(CollectivePermute) \
  V(CollectivePermuteStart) V(CollectivePermuteDone) V(DeviceId) \
  V(AsyncStart) V(AsyncUpdate) V(AsyncDone) V(CopyStart) V(CopyDone) \
  V(Send) V(SendDone) V(Recv) V(RecvDone) V(Infeed) V(Outfeed)
// clang-format on

#define V(name) absl::StatusOr<Shape> name(const Instruction& i);
RIDGE_INFER_RULES(V)
#undef V

// Broadcast against the shape the instruction holds (its dimensions say where
// each operand dimension goes). `Broadcast` above is what text without a shape
// means, where `dimensions` are sizes in front of the operand's.
absl::Status CheckBroadcast(const Instruction& i);

// What a window makes of `base`; the type is the caller's business.
absl::StatusOr<Shape> WindowedShape(const Shape& base, const Window& window);

// The reducer of reduce, reduce-window and select-and-scatter: 2N scalars in
// (N accumulators, N values), N scalars out, types as given.
absl::Status CheckReducer(const Computation& reducer,
                          absl::Span<const ElementType> init,
                          absl::Span<const ElementType> input);

}  // namespace ridge::infer

#endif  // RIDGE_HLO_VERIFY_INFER_H_
