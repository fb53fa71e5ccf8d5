#include "hlo/ir/literal.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "hlo/ir/small_float.h"

namespace ridge {

Literal Literal::Zeros(Shape shape) {
  Literal l;
  if (shape.IsTuple()) {
    for (const Shape& t : shape.tuple_shapes()) {
      l.elements_.push_back(Zeros(t));
    }
  } else if (shape.IsArray()) {
    l.data_ = std::make_shared<std::vector<uint8_t>>(
        shape.ElementCount() * StorageBytes(shape.type()));
  }
  l.shape_ = std::move(shape);
  return l;
}

Literal Literal::FromBytes(Shape shape, std::vector<uint8_t> data) {
  Literal l;
  l.shape_ = std::move(shape);
  l.data_ = std::make_shared<std::vector<uint8_t>>(std::move(data));
  return l;
}

Literal Literal::Tuple(std::vector<Literal> elements) {
  Literal l;
  std::vector<Shape> shapes;
  for (const Literal& e : elements) shapes.push_back(e.shape());
  l.shape_ = Shape::Tuple(std::move(shapes));
  l.elements_ = std::move(elements);
  return l;
}

uint8_t* Literal::mutable_bytes() {
  if (data_ == nullptr) return nullptr;
  if (data_.use_count() > 1) {
    data_ = std::make_shared<std::vector<uint8_t>>(*data_);
  }
  return data_->data();
}

bool Literal::operator==(const Literal& o) const {
  if (!shape_.Compatible(o.shape_)) return false;
  if (elements_.size() != o.elements_.size()) return false;
  for (size_t i = 0; i < elements_.size(); ++i) {
    if (!(elements_[i] == o.elements_[i])) return false;
  }
  if (data_ == o.data_) return true;
  return byte_size() == o.byte_size() &&
         (byte_size() == 0 ||
          std::memcmp(bytes(), o.bytes(), byte_size()) == 0);
}

namespace {

uint64_t LoadBits(const Literal& l, int64_t i, int width) {
  uint64_t bits = 0;
  std::memcpy(&bits, l.bytes() + i * width, width);
  return bits;
}

int64_t SignExtend(uint64_t bits, int width_bytes) {
  int shift = 64 - 8 * width_bytes;
  return static_cast<int64_t>(bits << shift) >> shift;
}

int64_t SaturateToInt(double value, int64_t lo, int64_t hi) {
  if (std::isnan(value)) return 0;
  double t = std::trunc(value);
  if (t <= static_cast<double>(lo)) return lo;
  if (t >= static_cast<double>(hi)) return hi;
  return static_cast<int64_t>(t);
}

}  // namespace

double GetDouble(const Literal& l, int64_t i) {
  ElementType t = l.shape().type();
  if (IsComplex(t)) {
    if (t == ElementType::kC64) return l.data<float>()[2 * i];
    return l.data<double>()[2 * i];
  }
  uint64_t bits = LoadBits(l, i, StorageBytes(t));
  if (IsFloat(t)) return DecodeFloat(t, bits);
  if (IsSigned(t)) {
    return static_cast<double>(SignExtend(bits, StorageBytes(t)));
  }
  return static_cast<double>(bits);
}

int64_t GetInt(const Literal& l, int64_t i) {
  ElementType t = l.shape().type();
  if (IsFloat(t) || IsComplex(t)) {
    return SaturateToInt(GetDouble(l, i), std::numeric_limits<int64_t>::min(),
                         std::numeric_limits<int64_t>::max());
  }
  uint64_t bits = LoadBits(l, i, StorageBytes(t));
  if (IsSigned(t)) return SignExtend(bits, StorageBytes(t));
  return static_cast<int64_t>(bits);
}

void SetDouble(Literal* l, int64_t i, double value) {
  ElementType t = l->shape().type();
  if (t == ElementType::kC64) {
    l->mutable_data<float>()[2 * i] = static_cast<float>(value);
    l->mutable_data<float>()[2 * i + 1] = 0;
    return;
  }
  if (t == ElementType::kC128) {
    l->mutable_data<double>()[2 * i] = value;
    l->mutable_data<double>()[2 * i + 1] = 0;
    return;
  }
  uint64_t bits;
  int n = Info(t).bits;
  if (IsFloat(t)) {
    bits = EncodeFloat(t, value);
  } else if (IsPred(t)) {
    bits = value != 0;
  } else if (IsSigned(t)) {
    int64_t hi = static_cast<int64_t>((~uint64_t{0} >> 1) >> (64 - n));
    bits = static_cast<uint64_t>(SaturateToInt(value, -hi - 1, hi));
  } else if (n == 64) {
    // 2^64 does not fit a signed saturation.
    double top = 18446744073709551616.0;
    bits = !(value > 0)   ? 0
           : value >= top ? ~uint64_t{0}
                          : static_cast<uint64_t>(value);
  } else {
    bits =
        static_cast<uint64_t>(SaturateToInt(value, 0, (int64_t{1} << n) - 1));
  }
  int width = StorageBytes(t);
  std::memcpy(l->mutable_bytes() + i * width, &bits, width);
}

Literal FullLiteral(const Shape& shape, double value) {
  Literal l = Literal::Zeros(shape);
  int64_t n = shape.ElementCount();
  if (n == 0) return l;
  SetDouble(&l, 0, value);
  int width = StorageBytes(shape.type());
  uint8_t* p = l.mutable_bytes();
  for (int64_t i = 1; i < n; ++i) std::memcpy(p + i * width, p, width);
  return l;
}

bool IsSplat(const Literal& l) {
  if (!l.shape().IsArray()) return false;
  int64_t n = l.shape().ElementCount();
  if (n == 0) return false;
  int width = StorageBytes(l.shape().type());
  // Every element equals its successor.
  return std::memcmp(l.bytes(), l.bytes() + width, (n - 1) * width) == 0;
}

}  // namespace ridge
