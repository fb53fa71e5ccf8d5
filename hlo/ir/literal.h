// Literals: values of array or tuple shape, held densely on the host.
#ifndef RIDGE_HLO_IR_LITERAL_H_
#define RIDGE_HLO_IR_LITERAL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "hlo/ir/shape.h"

namespace ridge {

// Elements are stored in row-major logical order whatever the shape's layout
// says (the layout is kept, and only describes device buffers). One element
// takes StorageBytes(type): pred is 0 or 1; sub-byte integers are held sign-
// or zero-extended in one byte; f4e2m1fn holds its bits in the low nibble;
// fp8, f16 and bf16 hold their bits; complex is (re, im).
// Array data is shared between copies and copied on the first mutable access.
class Literal {
 public:
  Literal() = default;
  // Zero-filled. The caller has checked that the shape is static and fits.
  static Literal Zeros(Shape shape);
  // Takes row-major element bytes; data.size() must be
  // ElementCount * StorageBytes.
  static Literal FromBytes(Shape shape, std::vector<uint8_t> data);
  static Literal Tuple(std::vector<Literal> elements);

  const Shape& shape() const { return shape_; }
  Shape* mutable_shape() { return &shape_; }

  const uint8_t* bytes() const { return data_ ? data_->data() : nullptr; }
  uint8_t* mutable_bytes();
  size_t byte_size() const { return data_ ? data_->size() : 0; }
  // No other literal shares the data: mutable_bytes() will not copy.
  bool unique() const { return data_ != nullptr && data_.use_count() == 1; }
  template <typename T>
  absl::Span<const T> data() const {
    return {reinterpret_cast<const T*>(bytes()), byte_size() / sizeof(T)};
  }
  template <typename T>
  absl::Span<T> mutable_data() {
    return {reinterpret_cast<T*>(mutable_bytes()), byte_size() / sizeof(T)};
  }

  absl::Span<const Literal> elements() const { return elements_; }
  absl::Span<Literal> mutable_elements() { return absl::MakeSpan(elements_); }

  // True for `constant({...})`: the dump left the values out. The data are
  // then a deterministic fill and mean nothing.
  // Large ones have no data at all: byte_size() is 0 (see FillBudget in
  // hlo/text/literal_parser.h).
  bool elided() const { return elided_; }
  void set_elided(bool elided) { elided_ = elided; }
  // True for an array whose text gives its first element alone, as in
  // `f32[8] constant(1)`, which XLA reads as that element and then zeros.
  bool abbreviated() const { return abbreviated_; }
  void set_abbreviated(bool abbreviated) { abbreviated_ = abbreviated; }

  // Same shape (layout ignored) and the same bits.
  bool operator==(const Literal& o) const;

 private:
  Shape shape_;
  std::shared_ptr<std::vector<uint8_t>> data_;
  std::vector<Literal> elements_;
  bool elided_ = false;
  bool abbreviated_ = false;
};

// Element `i` (row-major) of an array literal, converted. Complex values give
// their real part. Integers beyond 2^53 lose digits in GetDouble.
double GetDouble(const Literal& literal, int64_t i);
int64_t GetInt(const Literal& literal, int64_t i);
// Rounds to nearest even into the element type (integers truncate and
// saturate).
void SetDouble(Literal* literal, int64_t i, double value);
// A scalar or array literal filled with `value`.
Literal FullLiteral(const Shape& shape, double value);
// True when every element has the same bits (and there is at least one).
bool IsSplat(const Literal& literal);

}  // namespace ridge

#endif  // RIDGE_HLO_IR_LITERAL_H_
