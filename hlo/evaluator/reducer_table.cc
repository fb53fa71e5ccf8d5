#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <type_traits>

#include "hlo/evaluator/reduce.h"

namespace ridge {
namespace eval {
namespace {

template <typename T>
using Wrapping =
    std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, uint8_t>,
                       std::make_unsigned<T>, std::common_type<T>>;

template <typename T>
T AddT(T a, T b) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return a | b;  // pred
  } else if constexpr (std::is_integral_v<T>) {
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  } else {
    return a + b;
  }
}
template <typename T>
T MultiplyT(T a, T b) {
  if constexpr (std::is_same_v<T, uint8_t>) {
    return a & b;
  } else if constexpr (std::is_integral_v<T>) {
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  } else if constexpr (block::kIsComplex<T>) {
    return T(a.real() * b.real() - a.imag() * b.imag(),
             a.real() * b.imag() + a.imag() * b.real());
  } else {
    return a * b;
  }
}

struct AddOp {
  template <typename T>
  static T Neutral() {
    return T(0);
  }
  template <typename T>
  static T Apply(T a, T b) {
    return AddT(a, b);
  }
};
struct MultiplyOp {
  template <typename T>
  static T Neutral() {
    return T(1);
  }
  template <typename T>
  static T Apply(T a, T b) {
    return MultiplyT(a, b);
  }
};
// NaN wins over everything.
struct MaximumOp {
  template <typename T>
  static T Neutral() {
    if constexpr (std::is_same_v<T, uint8_t>) return 0;
    if constexpr (std::is_floating_point_v<T>) {
      return -std::numeric_limits<T>::infinity();
    }
    return std::numeric_limits<T>::lowest();
  }
  template <typename T>
  static T Apply(T a, T b) {
    return a > b || a != a ? a : b;
  }
};
struct MinimumOp {
  template <typename T>
  static T Neutral() {
    if constexpr (std::is_same_v<T, uint8_t>) return 1;
    if constexpr (std::is_floating_point_v<T>) {
      return std::numeric_limits<T>::infinity();
    }
    return std::numeric_limits<T>::max();
  }
  template <typename T>
  static T Apply(T a, T b) {
    return a < b || a != a ? a : b;
  }
};
struct AndOp {
  template <typename T>
  static T Neutral() {
    return std::is_same_v<T, uint8_t> ? T(1) : static_cast<T>(~T(0));
  }
  template <typename T>
  static T Apply(T a, T b) {
    return a & b;
  }
};
struct OrOp {
  template <typename T>
  static T Neutral() {
    return T(0);
  }
  template <typename T>
  static T Apply(T a, T b) {
    return a | b;
  }
};
struct XorOp {
  template <typename T>
  static T Neutral() {
    return T(0);
  }
  template <typename T>
  static T Apply(T a, T b) {
    return a ^ b;
  }
};

template <typename Op, typename Acc>
void Clear(void* acc, int64_t n) {
  std::fill_n(static_cast<Acc*>(acc), n, Op::template Neutral<Acc>());
}
template <typename Op, typename In, typename Acc>
void Accumulate(void* acc, const void* x, int64_t n) {
  Acc* a = static_cast<Acc*>(acc);
  const In* v = static_cast<const In*>(x);
  for (int64_t i = 0; i < n; ++i) {
    a[i] = Op::template Apply<Acc>(a[i], static_cast<Acc>(v[i]));
  }
}

// Up to this many elements are folded in eight running totals.
constexpr int64_t kLeaf = 256;

template <typename Op, typename In, typename Acc>
Acc FoldTree(const In* x, int64_t n) {
  if (n > kLeaf) {
    int64_t half = (n / 2 + 7) / 8 * 8;
    return Op::template Apply<Acc>(FoldTree<Op, In, Acc>(x, half),
                                   FoldTree<Op, In, Acc>(x + half, n - half));
  }
  Acc total[8];
  for (Acc& t : total) t = Op::template Neutral<Acc>();
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int k = 0; k < 8; ++k) {
      total[k] = Op::template Apply<Acc>(total[k], static_cast<Acc>(x[i + k]));
    }
  }
  for (; i < n; ++i) {
    total[0] = Op::template Apply<Acc>(total[0], static_cast<Acc>(x[i]));
  }
  for (int step = 4; step > 0; step /= 2) {
    for (int k = 0; k < step; ++k) {
      total[k] = Op::template Apply<Acc>(total[k], total[k + step]);
    }
  }
  return total[0];
}
template <typename Op, typename In, typename Acc>
void Fold(void* acc, const void* x, int64_t n) {
  Acc* a = static_cast<Acc*>(acc);
  *a = Op::template Apply<Acc>(
      *a, FoldTree<Op, In, Acc>(static_cast<const In*>(x), n));
}

template <typename Op, typename In, typename Acc>
constexpr Reducer Make(ElementType accumulator) {
  return {accumulator,
          Clear<Op, Acc>,
          Accumulate<Op, In, Acc>,
          Accumulate<Op, Acc, Acc>,
          Fold<Op, In, Acc>,
          Fold<Op, Acc, Acc>};
}

// By lane, in the order of Lane; `accumulator` null where undefined.
using Row = std::array<Reducer, kLaneCount>;

template <typename Op>
constexpr void SetInts(Row* row) {
  (*row)[0] = Make<Op, uint8_t, uint8_t>(ElementType::kPred);
  (*row)[1] = Make<Op, int32_t, int32_t>(ElementType::kS32);
  (*row)[2] = Make<Op, uint32_t, uint32_t>(ElementType::kU32);
  (*row)[3] = Make<Op, int64_t, int64_t>(ElementType::kS64);
  (*row)[4] = Make<Op, uint64_t, uint64_t>(ElementType::kU64);
}

template <typename Op>
Row SumRow() {
  Row row = {};
  SetInts<Op>(&row);
  row[5] = Make<Op, float, double>(ElementType::kF64);
  row[6] = Make<Op, double, double>(ElementType::kF64);
  row[7] =
      Make<Op, std::complex<float>, std::complex<double>>(ElementType::kC128);
  row[8] =
      Make<Op, std::complex<double>, std::complex<double>>(ElementType::kC128);
  return row;
}
template <typename Op>
Row OrderRow() {
  Row row = {};
  SetInts<Op>(&row);
  row[5] = Make<Op, float, float>(ElementType::kF32);
  row[6] = Make<Op, double, double>(ElementType::kF64);
  return row;
}
template <typename Op>
Row BitRow() {
  Row row = {};
  SetInts<Op>(&row);
  return row;
}

}  // namespace

const Reducer* FindReducer(Opcode opcode, Lane lane) {
  static const Row kAdd = SumRow<AddOp>();
  static const Row kMultiply = SumRow<MultiplyOp>();
  static const Row kMaximum = OrderRow<MaximumOp>();
  static const Row kMinimum = OrderRow<MinimumOp>();
  static const Row kAnd = BitRow<AndOp>();
  static const Row kOr = BitRow<OrOp>();
  static const Row kXor = BitRow<XorOp>();
  const Row* row = nullptr;
  switch (opcode) {
    case Opcode::kAdd:
      row = &kAdd;
      break;
    case Opcode::kMultiply:
      row = &kMultiply;
      break;
    case Opcode::kMaximum:
      row = &kMaximum;
      break;
    case Opcode::kMinimum:
      row = &kMinimum;
      break;
    case Opcode::kAnd:
      row = &kAnd;
      break;
    case Opcode::kOr:
      row = &kOr;
      break;
    case Opcode::kXor:
      row = &kXor;
      break;
    default:
      return nullptr;
  }
  const Reducer& r = (*row)[static_cast<int>(lane)];
  return r.fold == nullptr ? nullptr : &r;
}

}  // namespace eval
}  // namespace ridge
