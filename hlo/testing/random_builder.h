// What the operations of the random-program generator are made with. Private
// to hlo/testing.
#ifndef RIDGE_HLO_TESTING_RANDOM_BUILDER_H_
#define RIDGE_HLO_TESTING_RANDOM_BUILDER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hlo/ir/module.h"
#include "hlo/testing/random_program.h"

namespace ridge::testing {

// SplitMix64: small, and the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // In [0, n); n > 0.
  int64_t Below(int64_t n) {
    return static_cast<int64_t>(Next() % static_cast<uint64_t>(n));
  }
  // In [low, high].
  int64_t Between(int64_t low, int64_t high) {
    return low + Below(high - low + 1);
  }
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  bool Chance(double probability) { return Unit() < probability; }
  template <typename C>
  const auto& Pick(const C& values) {
    return values[Below(static_cast<int64_t>(values.size()))];
  }

 private:
  uint64_t state_;
};

// An instruction and an interval that holds its elements. Intervals are kept
// for floating-point values; others have no use for them.
struct Value {
  Instruction* i = nullptr;
  double low = 0;
  double high = 0;

  const Shape& shape() const { return i->shape(); }
  ElementType type() const { return i->shape().type(); }
  double magnitude() const { return std::max(-low, high); }
};

using Filter = std::function<bool(const Value&)>;

// Builds one computation; nested ones get builders of their own.
class RandomBuilder {
 public:
  RandomBuilder(Computation* computation, Random* random,
                const RandomProgramOptions& options, int depth)
      : computation_(computation),
        random_(*random),
        options_(options),
        depth_(depth) {}

  Computation* computation() { return computation_; }
  Random& random() { return random_; }
  const RandomProgramOptions& options() const { return options_; }
  int depth() const { return depth_; }  // 0 for the entry
  std::vector<Value>& pool() { return pool_; }

  // ---- Choices ----
  Shape RandomShape(ElementType type);
  ElementType RandomType();
  bool Uses(ElementType type) const;  // options().types
  std::vector<ElementType> TypesWhere(bool (*predicate)(ElementType)) const;
  // A value of the pool, recent ones more likely.
  std::optional<Value> Pick(const Filter& filter = nullptr);
  // A value of this type and shape, from the pool or made for the purpose.
  Value Like(const Shape& shape);
  // Another operand for something with `v`.
  Value Partner(const Value& v) { return Like(v.shape()); }
  // A permutation of [0, n).
  DimVector Permutation(int64_t n);

  // ---- Making ----
  Instruction* Add(Opcode opcode, const Shape& shape,
                   absl::Span<Instruction* const> operands) {
    return computation_->Add(opcode, shape, operands);
  }
  // Adds to the pool.
  Value Push(Instruction* i, double low, double high);
  Value Push(Instruction* i, const Value& like) {
    return Push(i, like.low, like.high);
  }
  Value Scalar(ElementType type, double value);
  Value Splat(const Shape& shape, double value);
  Value RandomConstant(const Shape& shape);
  // Fitted into [low, high] by clamp where it might lie outside.
  Value Clamped(const Value& v, double low, double high);
  // Magnitudes that its type can compute with.
  Value Tame(const Value& v);
  // |v| + offset.
  Value Positive(const Value& v, double offset);
  // Integers below `limit`, s32, of these dimensions; may be out of range by a
  // little, which HLO defines.
  Value Indices(absl::Span<const int64_t> dims, int64_t limit);

  // A computation placed before this one.
  Computation* NewComputation(absl::string_view name);
  // to_apply of two scalars.
  Computation* Reducer(Opcode opcode, ElementType type);

 private:
  Computation* computation_;
  Random& random_;
  const RandomProgramOptions& options_;
  int depth_;
  std::vector<Value> pool_;
};

// The largest magnitude that values of `type` are let grow to.
double Limit(ElementType type);

// One row per operation of the generator. `make` returns whether it found
// operands and added something.
struct RandomOperation {
  absl::string_view name;
  int weight;
  bool fusible;
  bool (*make)(RandomBuilder&);
};
absl::Span<const RandomOperation> ElementwiseOperations();
absl::Span<const RandomOperation> ShapeOperations();
absl::Span<const RandomOperation> ReduceOperations();
absl::Span<const RandomOperation> IndexedOperations();
absl::Span<const RandomOperation> ContractionOperations();
absl::Span<const RandomOperation> LinalgOperations();
absl::Span<const RandomOperation> ControlOperations();
absl::Span<const RandomOperation> DeviceOperations();

// Draws `count` operations into the builder.
void DrawOperations(RandomBuilder& b, int count);

}  // namespace ridge::testing

#endif  // RIDGE_HLO_TESTING_RANDOM_BUILDER_H_
