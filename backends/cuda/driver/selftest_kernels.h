// CUDA source of the kernels that device_selftest runs. They are written to be
// plainly right, not fast.

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_SELFTEST_KERNELS_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_SELFTEST_KERNELS_H_

namespace ridge::cuda {

// Basics: launches, shared memory, clusters, copies.
inline constexpr char kBasicKernels[] = R"cuda(
extern "C" __global__ void vector_add(const float* a, const float* b, float* c,
                                      int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void increment(int* p) {
  if (threadIdx.x == 0) *p += 1;
}

// Reverses each block's `count` words through dynamic shared memory.
extern "C" __global__ void reverse_dynamic(const int* in, int* out, int count) {
  extern __shared__ int words[];
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    words[i] = in[blockIdx.x * count + i];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    out[blockIdx.x * count + i] = words[count - 1 - i];
  }
}

#if __CUDA_ARCH__ >= 900
// Each block writes what the next block of its cluster holds in its shared
// memory: the other's block index.
extern "C" __global__ void cluster_neighbour(int* out) {
  __shared__ int mine;
  if (threadIdx.x == 0) mine = blockIdx.x;
  asm volatile("barrier.cluster.arrive.aligned;\n"
               "barrier.cluster.wait.aligned;\n" ::: "memory");
  if (threadIdx.x == 0) {
    unsigned rank, size;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    const unsigned local = (unsigned)__cvta_generic_to_shared(&mine);
    unsigned remote;
    int value;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(remote) : "r"(local), "r"((rank + 1) % size));
    asm volatile("ld.shared::cluster.s32 %0, [%1];"
                 : "=r"(value) : "r"(remote));
    out[blockIdx.x] = value;
  }
  // No block may leave while another still reads its shared memory.
  asm volatile("barrier.cluster.arrive.aligned;\n"
               "barrier.cluster.wait.aligned;\n" ::: "memory");
}
#endif

// 16 bytes a thread and step; the loop covers any size.
extern "C" __global__ void copy16(const uint4* in, uint4* out, long long n) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += step) {
    out[i] = in[i];
  }
}

extern "C" __global__ void fill_random_words(unsigned* p, long long n,
                                             unsigned seed) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += step) {
    unsigned h = (unsigned)i * 2654435761u ^ seed;
    h = (h ^ h >> 16) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    p[i] = h ^ h >> 16;
  }
}

extern "C" __global__ void count_different(const unsigned* a, const unsigned* b,
                                           long long n,
                                           unsigned long long* count) {
  const long long step = (long long)gridDim.x * blockDim.x;
  unsigned long long mine = 0;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += step) {
    mine += a[i] != b[i];
  }
  if (mine) atomicAdd(count, mine);
}
)cuda";

// More static shared memory than the 48 KiB that a kernel gets unasked: does
// it load? (NVRTC compiles it without a word.)
inline constexpr char kBigStaticShared[] = R"cuda(
extern "C" __global__ void big_static_shared(float* p) {
  __shared__ float s[20000];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
)cuda";

// A reference for matrix products of any type, in double. Types are numbered
// as ridge::cuda::MatmulType.
inline constexpr char kMatmulKernels[] = R"cuda(
enum Type { kF64, kF32, kF16, kBF16, kF8E4M3, kF8E5M2, kS8, kS32 };

__device__ double Load(const void* p, int type, long long i) {
  switch (type) {
    case kF64: return ((const double*)p)[i];
    case kF32: return ((const float*)p)[i];
    case kF16: {
      float f;
      const unsigned short h = ((const unsigned short*)p)[i];
      asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
      return f;
    }
    case kBF16:
      return __uint_as_float((unsigned)((const unsigned short*)p)[i] << 16);
    case kF8E4M3: {
      const unsigned v = ((const unsigned char*)p)[i];
      const int e = v >> 3 & 15, m = v & 7;
      if (e == 15 && m == 7) return __uint_as_float(0x7fffffffu);
      const double x = e ? ldexp(8.0 + m, e - 10) : ldexp((double)m, -9);
      return v >> 7 ? -x : x;
    }
    case kF8E5M2: {
      float f;
      const unsigned short h = ((const unsigned char*)p)[i] << 8;
      asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
      return f;
    }
    case kS8: return ((const signed char*)p)[i];
    default: return ((const int*)p)[i];
  }
}

__device__ void Store(void* p, int type, long long i, float x) {
  switch (type) {
    case kF64: ((double*)p)[i] = x; break;
    case kF32: ((float*)p)[i] = x; break;
    case kF16: {
      unsigned short h;
      asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
      ((unsigned short*)p)[i] = h;
      break;
    }
    case kBF16: {
      const unsigned u = __float_as_uint(x);
      ((unsigned short*)p)[i] = (u + 0x7fff + (u >> 16 & 1)) >> 16;
      break;
    }
    case kF8E4M3: {  // eighths below 2 in magnitude are exact in e4m3
      const int q = min(15, (int)(fabsf(x) * 8));
      int v = 0;
      if (q) {
        const int e = 31 - __clz(q);
        v = (e - 3 + 7) << 3 | ((q << (3 - e)) & 7);
      }
      ((unsigned char*)p)[i] = v | (x < 0 ? 0x80 : 0);
      break;
    }
    case kF8E5M2: {  // quarters below 1
      const int q = min(3, (int)(fabsf(x) * 4));
      int v = 0;
      if (q) {
        const int e = 31 - __clz(q);
        v = (e - 2 + 15) << 2 | ((q << (2 - e)) & 3);
      }
      ((unsigned char*)p)[i] = v | (x < 0 ? 0x80 : 0);
      break;
    }
    case kS8: ((signed char*)p)[i] = (signed char)(int)(x * 100); break;
    default: ((int*)p)[i] = (int)(x * 100);
  }
}

// Uniform in (-1, 1).
extern "C" __global__ void fill_random(void* p, int type, long long n,
                                       unsigned seed) {
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += step) {
    unsigned h = (unsigned)i * 2654435761u ^ seed;
    h = (h ^ h >> 16) * 2246822519u;
    h = (h ^ h >> 13) * 3266489917u;
    h ^= h >> 16;
    Store(p, type, i, ((int)(h >> 8) - (1 << 23)) * 0x1p-23f);
  }
}

// acc = op(A) op(B) and mag = the same of magnitudes, which bounds the error.
extern "C" __global__ void reference_product(
    const void* a, const void* b, int type_a, int type_b, int m, int n, int k,
    long long a_row, long long a_col, long long b_row, long long b_col,
    long long stride_a, long long stride_b, double* acc, float* mag) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= m || col >= n) return;
  const long long batch = blockIdx.z;
  double sum = 0, sum_mag = 0;
  for (int l = 0; l < k; ++l) {
    const double x =
        Load(a, type_a, batch * stride_a + row * a_row + l * a_col);
    const double y =
        Load(b, type_b, batch * stride_b + l * b_row + col * b_col);
    sum += x * y;
    sum_mag += fabs(x * y);
  }
  const long long at = (batch * m + row) * n + col;
  acc[at] = sum;
  mag[at] = (float)sum_mag;
}

__device__ double Gelu(double x) {
  return 0.5 * x * (1 + tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
}
__device__ double GeluSlope(double x) {
  const double c = 0.7978845608028654;
  const double t = tanh(c * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) +
         0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x);
}

struct Check {
  const double* acc;
  const float* mag;
  const void* c;
  const void* d;
  const void* bias;
  const void* aux;
  double* expected;  // D before rounding, for column sums
  unsigned long long* wrong;  // of D, of aux
  unsigned* worst;            // error over tolerance, float bits: D, aux
  long long ldc, ldd, stride_c, stride_d, aux_ld, aux_stride;
  double alpha, beta;
  double sum_eps;    // relative to mag: of the products' sum
  double round_eps;  // relative to the value: of the result's type
  double act_eps;    // relative to the input of GELU: of its tanh
  int m, n, type_c, type_d, type_bias;
  // How the epilogue works: bias added; 0 none, 1 ReLU, 2 GELU, 3 ReLU's
  // backward, 4 GELU's; aux: 0 none, 1 written, 2 read.
  int has_bias, activation, aux_use;
};

__device__ void Note(const Check& p, int which, double got, double want,
                     double tolerance) {
  const double error = fabs(got - want);
  if (!(error <= tolerance)) atomicAdd(p.wrong + which, 1ull);
  const float ratio = error <= 1e30 ? (float)(error / tolerance) : 1e30f;
  atomicMax(p.worst + which, __float_as_uint(ratio));
}

extern "C" __global__ void check_product(const Check p) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= p.m || col >= p.n) return;
  const long long batch = blockIdx.z;
  const long long at = (batch * p.m + row) * p.n + col;
  double x = p.alpha * p.acc[at];
  if (p.beta != 0) {
    x += p.beta * Load(p.c, p.type_c, batch * p.stride_c + row * p.ldc + col);
  }
  if (p.has_bias) x += Load(p.bias, p.type_bias, col);
  // The magnitude of all that was summed bounds what rounding can do.
  double tolerance =
      p.sum_eps * (fabs(p.alpha) * p.mag[at] + fabs(x)) + 1e-30;
  const bool bits = p.activation == 1 || p.activation == 3;
  const long long aux_at = batch * p.aux_stride + row * p.aux_ld + col;
  bool bit = false;
  if (p.aux_use != 0 && bits) {
    bit = ((const unsigned char*)p.aux)[aux_at / 8] >> (aux_at % 8) & 1;
  }
  if (p.aux_use == 1) {
    if (!bits) {
      Note(p, 1, Load(p.aux, p.type_d, aux_at), x,
           tolerance + p.round_eps * fabs(x));
    } else if (fabs(x) > tolerance) {  // the sign is certain
      Note(p, 1, bit, x > 0, 0.5);
    }
  }
  double want = x;
  if (p.activation == 1) want = fmax(x, 0.0);
  if (p.activation == 2) {
    want = Gelu(x);
    tolerance += p.act_eps * fabs(x) + p.round_eps * fabs(x);
  }
  if (p.activation == 3) want = bit ? x : 0;
  if (p.activation == 4) {
    want = x * GeluSlope(Load(p.aux, p.type_d, aux_at));
    tolerance += tolerance + 8 * p.act_eps * fabs(x);
  }
  tolerance += p.round_eps * fabs(want);
  p.expected[at] = want;
  const double got =
      Load(p.d, p.type_d, batch * p.stride_d + row * p.ldd + col);
  Note(p, 0, got, want, tolerance);
}

// got[i] = the sum over j of values[i * outer + j * inner], for i < count.
extern "C" __global__ void check_sums(const void* values, int type_values,
                                      long long outer, long long inner,
                                      int count, int terms, const void* got,
                                      int type_got, double sum_eps,
                                      double round_eps,
                                      unsigned long long* wrong,
                                      unsigned* worst) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  double sum = 0, mag = 0;
  for (int j = 0; j < terms; ++j) {
    const double x = Load(values, type_values, i * outer + j * inner);
    sum += x;
    mag += fabs(x);
  }
  const double tolerance = sum_eps * mag + round_eps * fabs(sum) + 1e-30;
  const double error = fabs(Load(got, type_got, i) - sum);
  if (!(error <= tolerance)) atomicAdd(wrong, 1ull);
  const float ratio = error <= 1e30 ? (float)(error / tolerance) : 1e30f;
  atomicMax(worst, __float_as_uint(ratio));
}
)cuda";

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_SELFTEST_KERNELS_H_
