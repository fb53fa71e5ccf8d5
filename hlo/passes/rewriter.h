// Rewriter: how rules make instructions and put them in place.
//
// A rule looks at one instruction, the target, and returns what computes the
// same value: an operand (of any depth) or something built here. Everything
// built is inserted right before the target, so operands precede users, and
// takes the target's source location and metadata.
#ifndef RIDGE_HLO_PASSES_REWRITER_H_
#define RIDGE_HLO_PASSES_REWRITER_H_

#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/module.h"
#include "hlo/passes/pass.h"

namespace ridge {

// Same type and dimensions, and buffers of the same element order: a layout
// that is absent means the default one.
bool SameShapeAndLayout(const Shape& a, const Shape& b);

class Rewriter {
 public:
  explicit Rewriter(const PassOptions& options) : options_(options) {}

  const PassOptions& options() const { return options_; }

  void set_target(Instruction* target) { target_ = target; }
  Instruction* target() const { return target_; }
  Computation* computation() const { return target_->parent(); }

  // An array shape for something made for the target: with a default layout
  // when the target has a layout.
  Shape ArrayShape(ElementType type, absl::Span<const int64_t> dims) const;

  Instruction* Add(Opcode opcode, const Shape& shape,
                   absl::Span<Instruction* const> operands);
  // Attributes of `like`; location and metadata of the target.
  Instruction* AddLike(const Instruction& like,
                       absl::Span<Instruction* const> operands,
                       const Shape& shape);
  Instruction* Constant(Literal literal);
  Instruction* Scalar(ElementType type, double value);
  // A constant, broadcast where dims is not empty.
  Instruction* Splat(ElementType type, absl::Span<const int64_t> dims,
                     double value);

  // These return `x` itself where nothing is to do.
  Instruction* Reshape(Instruction* x, absl::Span<const int64_t> dims);
  Instruction* Transpose(Instruction* x, absl::Span<const int64_t> permutation);
  // Operand dimension k of x becomes dimension map[k]; map ascends.
  Instruction* Broadcast(Instruction* x, absl::Span<const int64_t> map,
                         absl::Span<const int64_t> dims);
  Instruction* Slice(Instruction* x, SliceRanges ranges);
  Instruction* Convert(Instruction* x, ElementType type);
  // Shape of the first operand.
  Instruction* Unary(Opcode opcode, Instruction* x);
  Instruction* Binary(Opcode opcode, Instruction* x, Instruction* y);
  Instruction* Compare(ComparisonDirection direction, Instruction* x,
                       Instruction* y);

  // Everything made since the last call.
  std::vector<Instruction*> TakeAdded();

  // Puts `replacement` where `old` is used, and removes `old` if nothing else
  // keeps it. A replacement that was made for `old` takes its name. Returns
  // whether `old` was removed.
  static bool Replace(Instruction* old, Instruction* replacement,
                      bool takes_name);

 private:
  const PassOptions& options_;
  Instruction* target_ = nullptr;
  std::vector<Instruction*> added_;
};

}  // namespace ridge

#endif  // RIDGE_HLO_PASSES_REWRITER_H_
