// Helpers of generated host code beyond the scalar prelude.
#include <string>

#include "absl/strings/str_cat.h"
#include "backends/cpu/emit.h"
#include "backends/kernel/scalar_text.h"

namespace ridge {
namespace {

constexpr char kText[] = R"host(
// ---- Ridge host prelude: folds of blocks ----
#include <stdlib.h>
// Elements that are computed before they are folded.
enum { RDG_BLOCK = 1024 };
template <typename T, int N>
struct rdg_vector_of {
  typedef T type __attribute__((vector_size(N), aligned(sizeof(T))));
};
// Sums are taken in several lanes and added up in double, so that the error
// does not grow with the length.
template <typename T>
static inline double rdg_fold_add(double acc, const T* x, int64_t n) {
  typedef typename rdg_vector_of<T, 32>::type V;
  const int L = 32 / sizeof(T);
  int64_t k = 0;
  if (n >= 4 * L) {
    V a = {}, b = {}, c = {}, d = {};
    for (; k + 4 * L <= n; k += 4 * L) {
      a += *(const V*)(x + k);
      b += *(const V*)(x + k + L);
      c += *(const V*)(x + k + 2 * L);
      d += *(const V*)(x + k + 3 * L);
    }
    for (int j = 0; j < L; ++j) {
      acc += ((double)a[j] + (double)b[j]) + ((double)c[j] + (double)d[j]);
    }
  }
  for (; k < n; ++k) acc += (double)x[k];
  return acc;
}
template <typename T>
static inline double rdg_fold_mul(double acc, const T* x, int64_t n) {
  double a[4] = {acc, 1, 1, 1};
  int64_t k = 0;
  for (; k + 4 <= n; k += 4) {
    for (int j = 0; j < 4; ++j) a[j] *= (double)x[k + j];
  }
  for (; k < n; ++k) a[0] *= (double)x[k];
  return (a[0] * a[1]) * (a[2] * a[3]);
}
template <typename T>
static inline T rdg_fold_max(T acc, const T* x, int64_t n) {
  typedef typename rdg_vector_of<T, 32>::type V;
  const int L = 32 / sizeof(T);
  int64_t k = 0;
  if (n >= 2 * L) {
    V a = *(const V*)x, b = *(const V*)(x + L);
    for (k = 2 * L; k + 2 * L <= n; k += 2 * L) {
      V y = *(const V*)(x + k), z = *(const V*)(x + k + L);
      a = ((a >= y) | (a != a)) ? a : y;
      b = ((b >= z) | (b != b)) ? b : z;
    }
    for (int j = 0; j < L; ++j) acc = rdg_max(acc, rdg_max((T)a[j], (T)b[j]));
  }
  for (; k < n; ++k) acc = rdg_max(acc, x[k]);
  return acc;
}
template <typename T>
static inline T rdg_fold_min(T acc, const T* x, int64_t n) {
  typedef typename rdg_vector_of<T, 32>::type V;
  const int L = 32 / sizeof(T);
  int64_t k = 0;
  if (n >= 2 * L) {
    V a = *(const V*)x, b = *(const V*)(x + L);
    for (k = 2 * L; k + 2 * L <= n; k += 2 * L) {
      V y = *(const V*)(x + k), z = *(const V*)(x + k + L);
      a = ((a <= y) | (a != a)) ? a : y;
      b = ((b <= z) | (b != b)) ? b : z;
    }
    for (int j = 0; j < L; ++j) acc = rdg_min(acc, rdg_min((T)a[j], (T)b[j]));
  }
  for (; k < n; ++k) acc = rdg_min(acc, x[k]);
  return acc;
}
// Memory for one call of a stage.
template <typename T>
struct rdg_row {
  T* p;
  explicit rdg_row(int64_t n)
      : p((T*)aligned_alloc(64, (size_t)(n * sizeof(T) + 127) / 64 * 64)) {}
  ~rdg_row() { free(p); }
  rdg_row(const rdg_row&) = delete;
};
// ---- end of host prelude ----
)host";

}  // namespace

std::string HostPrelude() {
  return absl::StrCat(HostMath(), ScalarPrelude(Dialect::kHost), kText);
}

}  // namespace ridge
