#include "backends/cpu/gemm.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "backends/cpu/thin_product.h"
#include "hlo/base/matrix_block.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/thread_pool.h"
#include "hlo/ir/small_float.h"

namespace ridge {
namespace {

// Elements handed to a thread at a time when types are converted.
constexpr int64_t kConvertGrain = 1 << 16;
// Rows and columns of a block of the product.
constexpr int64_t kBlockRows = 128;
constexpr int64_t kBlockColumns = 1024;

// What products of a type are computed in.
enum class Compute : uint8_t { kNone, kF32, kF64, kU32, kU64, kC64, kC128 };

Compute ComputeOf(ElementType d) {
  switch (Info(d).type_class) {
    case TypeClass::kFloat:
      return d == ElementType::kF64 ? Compute::kF64 : Compute::kF32;
    case TypeClass::kSigned:
    case TypeClass::kUnsigned:
      if (Info(d).bits < 8) return Compute::kNone;
      return Info(d).bits == 64 ? Compute::kU64 : Compute::kU32;
    case TypeClass::kComplex:
      return d == ElementType::kC64 ? Compute::kC64 : Compute::kC128;
    default:
      return Compute::kNone;
  }
}

template <typename T, typename S>
void ConvertFrom(const void* from, T* to, int64_t begin, int64_t end) {
  const S* source = static_cast<const S*>(from);
  for (int64_t k = begin; k < end; ++k) to[k] = static_cast<T>(source[k]);
}

// Values of every bit pattern of a float type of 16 bits or fewer.
const float* DecodeTable(ElementType type) {
  static const std::vector<float>* tables[64] = {};
  static const bool filled = [] {
    for (int t = 0; t < 64; ++t) {
      if (t > static_cast<int>(ElementType::kBuffer)) break;
      ElementType e = static_cast<ElementType>(t);
      if (!IsFloat(e) || Info(e).bits > 16) continue;
      auto* table = new std::vector<float>(size_t{1} << (8 * StorageBytes(e)));
      for (size_t bits = 0; bits < table->size(); ++bits) {
        (*table)[bits] = static_cast<float>(DecodeFloat(e, bits));
      }
      tables[t] = table;
    }
    return true;
  }();
  (void)filled;
  return tables[static_cast<int>(type)]->data();
}

template <typename T>
void ConvertRange(ElementType type, const void* from, T* to, int64_t begin,
                  int64_t end) {
  if (type == ElementType::kBF16) {
    const uint16_t* source = static_cast<const uint16_t*>(from);
    for (int64_t k = begin; k < end; ++k) {
      uint32_t bits = static_cast<uint32_t>(source[k]) << 16;
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      to[k] = static_cast<T>(value);
    }
    return;
  }
  if (IsFloat(type) && Info(type).bits <= 16) {
    const float* table = DecodeTable(type);
    if (StorageBytes(type) == 1) {
      const uint8_t* source = static_cast<const uint8_t*>(from);
      for (int64_t k = begin; k < end; ++k) {
        to[k] = static_cast<T>(table[source[k]]);
      }
    } else {
      const uint16_t* source = static_cast<const uint16_t*>(from);
      for (int64_t k = begin; k < end; ++k) {
        to[k] = static_cast<T>(table[source[k]]);
      }
    }
    return;
  }
  switch (type) {
    case ElementType::kF32:
      return ConvertFrom<T, float>(from, to, begin, end);
    case ElementType::kF64:
      return ConvertFrom<T, double>(from, to, begin, end);
    case ElementType::kS16:
      return ConvertFrom<T, int16_t>(from, to, begin, end);
    case ElementType::kS32:
      return ConvertFrom<T, int32_t>(from, to, begin, end);
    case ElementType::kS64:
      return ConvertFrom<T, int64_t>(from, to, begin, end);
    case ElementType::kU16:
      return ConvertFrom<T, uint16_t>(from, to, begin, end);
    case ElementType::kU32:
      return ConvertFrom<T, uint32_t>(from, to, begin, end);
    case ElementType::kU64:
      return ConvertFrom<T, uint64_t>(from, to, begin, end);
    case ElementType::kS1:
    case ElementType::kS2:
    case ElementType::kS4:
    case ElementType::kS8:
      return ConvertFrom<T, int8_t>(from, to, begin, end);
    default:
      return ConvertFrom<T, uint8_t>(from, to, begin, end);
  }
}

template <typename T>
constexpr bool kIsComplex = std::is_same_v<T, std::complex<float>> ||
                            std::is_same_v<T, std::complex<double>>;

// A matrix in the type of the computation: `from` itself where it is that.
template <typename T>
const T* Widen(ElementType type, ElementType computed, const void* from,
               int64_t count, std::unique_ptr<T[]>* storage) {
  if (type == computed || kIsComplex<T>) return static_cast<const T*>(from);
  if constexpr (!kIsComplex<T>) {
    storage->reset(new T[count]);  // not zeroed
    T* to = storage->get();
    ParallelFor(0, count, kConvertGrain, [&](int64_t begin, int64_t end) {
      ConvertRange<T>(type, from, to, begin, end);
    });
  }
  return storage->get();
}

// Whether MultiplyThin computes the product.
template <typename T>
bool IsThin(const GemmStep& g) {
  constexpr int64_t kLongRow = 64;  // of a transposed operand: worth a sum
  return std::is_same_v<T, float> && g.m <= kThinRows &&
         (!g.transpose_a || g.m == 1) && (!g.transpose_b || g.k >= kLongRow) &&
         (g.b_type == ElementType::kBF16 || g.b_type == ElementType::kF32);
}

template <typename B>
void MultiplyThinBlock(const MatrixBlock<float>& block, const void* b,
                       int64_t at, std::vector<float>* rows) {
  ThinProduct<B> thin;
  thin.m = block.m;
  thin.n = block.n;
  thin.k = block.k;
  thin.a = block.a;
  thin.b = static_cast<const B*>(b) + at;
  thin.ldb = block.ldb;
  thin.transpose_b = block.transpose_b;
  thin.d = rows->data();
  MultiplyThin(thin);
}

template <typename T>
T Activate(GemmStep::Activation activation, T x) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (activation) {
      case GemmStep::Activation::kNone:
        return x;
      case GemmStep::Activation::kRelu:
        return x > 0 || x != x ? x : T(0);
      case GemmStep::Activation::kGeluTanh: {
        // 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
        T inner = T(0.7978845608028654) * (x + T(0.044715) * x * x * x);
        return T(0.5) * x * (T(1) + std::tanh(inner));
      }
    }
  }
  return x;
}

// Narrows a row of results to the stored type.
template <typename T>
void StoreRow(ElementType type, const T* row, int64_t n, void* output,
              int64_t at) {
  if constexpr (std::is_floating_point_v<T>) {
    if (type == ElementType::kBF16) {
      uint16_t* to = static_cast<uint16_t*>(output) + at;
      for (int64_t j = 0; j < n; ++j) {
        float value = static_cast<float>(row[j]);
        uint32_t u;
        std::memcpy(&u, &value, sizeof(u));
        uint32_t rounded = (u + 0x7fffu + ((u >> 16) & 1u)) >> 16;
        to[j] =
            static_cast<uint16_t>(value != value ? (u >> 16) | 0x40u : rounded);
      }
      return;
    }
    if (Info(type).bits <= 16) {
      for (int64_t j = 0; j < n; ++j) {
        uint64_t bits = EncodeFloat(type, static_cast<double>(row[j]));
        std::memcpy(
            static_cast<uint8_t*>(output) + (at + j) * StorageBytes(type),
            &bits, StorageBytes(type));
      }
      return;
    }
  }
  const int width = StorageBytes(type);
  if (width == static_cast<int>(sizeof(T))) {
    std::memcpy(static_cast<uint8_t*>(output) + at * width, row, n * width);
    return;
  }
  // Integers: the low bytes are the wrapped result.
  for (int64_t j = 0; j < n; ++j) {
    std::memcpy(static_cast<uint8_t*>(output) + (at + j) * width, &row[j],
                width);
  }
}

template <typename T>
void Run(const GemmStep& g, ElementType computed, const void* const* inputs,
         void* output) {
  const bool thin = IsThin<T>(g);
  std::unique_ptr<T[]> a_storage;
  std::unique_ptr<T[]> b_storage;
  const T* a =
      Widen<T>(g.a_type, computed, inputs[0], g.batch * g.m * g.k, &a_storage);
  const T* b = thin ? nullptr
                    : Widen<T>(g.b_type, computed, inputs[1],
                               g.batch * g.k * g.n, &b_storage);
  std::unique_ptr<T[]> c_storage;
  std::unique_ptr<T[]> bias_storage;
  int next = 2;
  const T* c = nullptr;
  if (g.beta != 0) {
    c = Widen<T>(g.d_type, computed, inputs[next++], g.batch * g.m * g.n,
                 &c_storage);
  }
  const T* bias = nullptr;
  if (g.has_bias) {
    bias = Widen<T>(g.d_type, computed, inputs[next++], g.n, &bias_storage);
  }
  const int64_t row_blocks = (g.m + kBlockRows - 1) / kBlockRows;
  const int64_t block_columns = thin ? ThinColumns(g.m, g.n) : kBlockColumns;
  const int64_t column_blocks = (g.n + block_columns - 1) / block_columns;
  const int64_t per_matrix = row_blocks * column_blocks;
  const bool direct = g.d_type == computed && g.alpha == 1 && c == nullptr &&
                      bias == nullptr &&
                      g.activation == GemmStep::Activation::kNone;
  const double work = 2.0 * static_cast<double>(std::min(g.m, kBlockRows)) *
                      static_cast<double>(std::min(g.n, block_columns)) *
                      static_cast<double>(std::max<int64_t>(1, g.k));
  const int64_t grain = std::max<int64_t>(1, static_cast<int64_t>(2e5 / work));
  ParallelFor(0, g.batch * per_matrix, grain, [&](int64_t begin, int64_t end) {
    std::vector<T> rows;
    for (int64_t u = begin; u < end; ++u) {
      const int64_t matrix = u / per_matrix;
      const int64_t i0 = u % per_matrix / column_blocks * kBlockRows;
      const int64_t j0 = u % column_blocks * block_columns;
      MatrixBlock<T> block;
      block.m = std::min(kBlockRows, g.m - i0);
      block.n = std::min(block_columns, g.n - j0);
      block.k = g.k;
      block.transpose_a = g.transpose_a;
      block.transpose_b = g.transpose_b;
      block.lda = g.transpose_a ? g.m : g.k;
      block.ldb = g.transpose_b ? g.k : g.n;
      block.a = a + matrix * g.m * g.k + (g.transpose_a ? i0 : i0 * g.k);
      const int64_t b_at = matrix * g.k * g.n + (g.transpose_b ? j0 * g.k : j0);
      const int64_t at = matrix * g.m * g.n + i0 * g.n + j0;
      if (!thin) block.b = b + b_at;
      if (direct && !thin) {
        block.d = static_cast<T*>(output) + at;
        block.ldd = g.n;
        MultiplyBlock(block);
        continue;
      }
      rows.resize(block.m * block.n);
      block.d = rows.data();
      block.ldd = block.n;
      if constexpr (std::is_same_v<T, float>) {
        if (thin && g.b_type == ElementType::kBF16) {
          MultiplyThinBlock<uint16_t>(block, inputs[1], b_at, &rows);
        } else if (thin) {
          MultiplyThinBlock<float>(block, inputs[1], b_at, &rows);
        } else {
          MultiplyBlock(block);
        }
      } else {
        MultiplyBlock(block);
      }
      for (int64_t i = 0; i < block.m; ++i) {
        T* row = rows.data() + i * block.n;
        const int64_t place = at + i * g.n;
        for (int64_t j = 0; j < block.n; ++j) {
          T x = row[j];
          if constexpr (!std::is_integral_v<T>) {
            if (g.alpha != 1) x *= T(g.alpha);
            if (c != nullptr) x += T(g.beta) * c[place + j];
          }
          if (bias != nullptr) x += bias[j0 + j];
          row[j] = Activate(g.activation, x);
        }
        StoreRow<T>(g.d_type, row, block.n, output, place);
      }
    }
  });
}

}  // namespace

absl::Status CheckGemm(const GemmStep& g) {
  Compute compute = ComputeOf(g.d_type);
  auto fits = [&](ElementType t) {
    if (IsComplex(g.d_type) || IsComplex(t)) return t == g.d_type;
    if (IsFloat(g.d_type)) return IsFloat(t) || IsInteger(t) || IsPred(t);
    return IsInteger(t) || IsPred(t);
  };
  bool integer = compute == Compute::kU32 || compute == Compute::kU64;
  if (compute == Compute::kNone || !fits(g.a_type) || !fits(g.b_type) ||
      (integer && (g.alpha != 1 || g.beta != 0 ||
                   g.activation != GemmStep::Activation::kNone))) {
    return absl::UnimplementedError(absl::StrCat(
        "no matrix product of ", std::string(Name(g.a_type)), " and ",
        std::string(Name(g.b_type)), " into ", std::string(Name(g.d_type))));
  }
  return absl::OkStatus();
}

absl::string_view GemmSchedule(const GemmStep& g) {
  return ComputeOf(g.d_type) == Compute::kF32 && IsThin<float>(g) ? "thin"
                                                                  : "eigen";
}

absl::Status RunGemm(const GemmStep& g, const void* const* inputs,
                     void* output) {
  RIDGE_RETURN_IF_ERROR(CheckGemm(g));
  if (g.batch == 0 || g.m == 0 || g.n == 0) return absl::OkStatus();
  switch (ComputeOf(g.d_type)) {
    case Compute::kF32:
      Run<float>(g, ElementType::kF32, inputs, output);
      break;
    case Compute::kF64:
      Run<double>(g, ElementType::kF64, inputs, output);
      break;
    case Compute::kU32:
      Run<uint32_t>(g, ElementType::kU32, inputs, output);
      break;
    case Compute::kU64:
      Run<uint64_t>(g, ElementType::kU64, inputs, output);
      break;
    case Compute::kC64:
      Run<std::complex<float>>(g, ElementType::kC64, inputs, output);
      break;
    case Compute::kC128:
      Run<std::complex<double>>(g, ElementType::kC128, inputs, output);
      break;
    case Compute::kNone:
      break;
  }
  return absl::OkStatus();
}

}  // namespace ridge
