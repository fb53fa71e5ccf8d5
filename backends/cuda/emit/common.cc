#include "backends/cuda/emit/common.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "backends/kernel/conditions.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

constexpr char kHelpers[] = R"cuda(
// N elements that move as one access (up to 16 bytes each).
template <typename T, int N>
struct alignas(sizeof(T) * N > 16 ? 16 : sizeof(T) * N) rdg_vec {
  T x[N];
};
template <typename T, int N>
RDG_FN rdg_vec<T, N> rdg_load_vec(const T* p) {
  return *reinterpret_cast<const rdg_vec<T, N>*>(p);
}
template <typename T, int N>
RDG_FN void rdg_store_vec(T* p, const rdg_vec<T, N>& v) {
  *reinterpret_cast<rdg_vec<T, N>*>(p) = v;
}
// f32 as bf16, two an instruction.
template <int N>
RDG_FN rdg_vec<uint16_t, N> rdg_pack_bf16(const float (&x)[N]) {
  uint32_t words[N / 2];
#pragma unroll
  for (int i = 0; i < N / 2; ++i) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
        : "=r"(words[i]) : "f"(x[2 * i + 1]), "f"(x[2 * i]));
  }
  rdg_vec<uint16_t, N> v;
  memcpy(&v, words, sizeof(v));
  return v;
}
// Elements 2*i and 2*i + 1 of 16 bits, the first one in the lower half.
template <int N>
RDG_FN uint32_t rdg_pair(const rdg_vec<uint16_t, N>& v, int i) {
  return v.x[2 * i] | (uint32_t)v.x[2 * i + 1] << 16;
}
RDG_FN uint32_t rdg_max_bf16x2(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
RDG_FN uint32_t rdg_min_bf16x2(uint32_t a, uint32_t b) {
  uint32_t r;
  asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
  return r;
}
// The same of what is touched once: it is the first to leave the caches.
template <typename T, int N>
RDG_FN rdg_vec<T, N> rdg_stream_load(const T* p) {
  rdg_vec<T, N> v;
  if constexpr (sizeof(v) % 16 == 0) {
#pragma unroll
    for (int i = 0; i < (int)sizeof(v) / 16; ++i) {
      const uint4 part = __ldcs((const uint4*)p + i);
      memcpy((char*)&v + 16 * i, &part, 16);
    }
  } else if constexpr (sizeof(v) == 8) {
    const uint2 part = __ldcs((const uint2*)p);
    memcpy(&v, &part, 8);
  } else if constexpr (sizeof(v) == 4) {
    const unsigned part = __ldcs((const unsigned*)p);
    memcpy(&v, &part, 4);
  } else {
    v = rdg_load_vec<T, N>(p);
  }
  return v;
}
template <typename T, int N>
RDG_FN void rdg_stream_store(T* p, const rdg_vec<T, N>& v) {
  if constexpr (sizeof(v) % 16 == 0) {
#pragma unroll
    for (int i = 0; i < (int)sizeof(v) / 16; ++i) {
      uint4 part;
      memcpy(&part, (const char*)&v + 16 * i, 16);
      __stcs((uint4*)p + i, part);
    }
  } else if constexpr (sizeof(v) == 8) {
    uint2 part;
    memcpy(&part, &v, 8);
    __stcs((uint2*)p, part);
  } else if constexpr (sizeof(v) == 4) {
    unsigned part;
    memcpy(&part, &v, 4);
    __stcs((unsigned*)p, part);
  } else {
    rdg_store_vec(p, v);
  }
}
// Another lane's value, `mask` away; any type of 1 to 16 bytes.
template <typename T>
RDG_FN T rdg_shuffle(T value, int mask) {
  constexpr int n = (sizeof(T) + 3) / 4;
  int words[n] = {};
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (int i = 0; i < n; ++i) {
    words[i] = __shfl_xor_sync(0xffffffffu, words[i], mask);
  }
  memcpy(&value, words, sizeof(T));
  return value;
}
)cuda";

}  // namespace

std::string FilePrelude() {
  return absl::StrCat(ScalarPrelude(Dialect::kCuda), kHelpers);
}

std::string VecType(ElementType type, int64_t n) {
  return absl::StrCat("rdg_vec<", StorageType(type), ", ", n, ">");
}

LaneAccess AccessAlong(BodyWriter* w, IndexId offset, int64_t lane, int64_t n,
                       IndexId* base) {
  IndexId bound = w->Bound(offset);
  *base = bound;
  int64_t lane_var = static_cast<int64_t>(w->kernel().vars.size()) + lane;
  for (int32_t d : w->pool().DynamicNodes(bound)) {
    if (w->Varies(d) & BodyWriter::Bit(lane)) return LaneAccess::kEach;
  }
  std::optional<int64_t> stride = w->pool().StrideOf(bound, lane_var);
  if (!stride.has_value()) return LaneAccess::kEach;
  std::vector<IndexId> zero(lane_var + 1, -1);
  zero[lane_var] = w->pool().Const(0);
  *base = w->pool().Substitute(bound, zero);
  if (*stride == 0) return LaneAccess::kSame;
  if (*stride == 1 && w->pool().KnownAlignment(*base, n) >= n) {
    return LaneAccess::kVector;
  }
  return LaneAccess::kEach;
}

bool UniformAlong(BodyWriter* w, NodeId n, int64_t lane, int64_t count) {
  // Conditions are conjunctions of few bounds: a short walk.
  std::vector<NodeId> stack = {n};
  while (!stack.empty()) {
    const NodeId at = stack.back();
    stack.pop_back();
    if ((w->Varies(at) & BodyWriter::Bit(lane)) == 0) continue;
    const Node& node = w->kernel().nodes[at];
    if (node.kind != NodeKind::kOp) return false;
    if (node.opcode == Opcode::kAnd || node.opcode == Opcode::kOr ||
        node.opcode == Opcode::kNot) {
      stack.insert(stack.end(), node.operands.begin(), node.operands.end());
      continue;
    }
    const std::optional<IndexBound> bound = BoundOf(w->kernel(), at);
    if (!bound.has_value()) return false;
    IndexId base;
    if (AccessAlong(w, bound->index, lane, count, &base) !=
        LaneAccess::kVector) {
      return false;
    }
    if (bound->first % count != 0) return false;
  }
  return true;
}

std::string IdentityText(Opcode opcode, ElementType type) {
  bool low = opcode == Opcode::kMaximum;
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kOr:
    case Opcode::kXor:
      return ZeroText(type);
    case Opcode::kMultiply:
      if (IsPred(type)) return "true";
      if (IsComplex(type)) {
        return absl::StrCat(CarryType(type), "{1, 0}");
      }
      return absl::StrCat("(", CarryType(type), ")1");
    case Opcode::kAnd:
      return IsPred(type) ? "true" : absl::StrCat("(", CarryType(type), ")-1");
    case Opcode::kMaximum:
    case Opcode::kMinimum:
      if (IsPred(type)) return low ? "false" : "true";
      if (type == ElementType::kF64) {
        return low ? "rdg_f64(0xfff0000000000000ULL)"
                   : "rdg_f64(0x7ff0000000000000ULL)";
      }
      if (IsFloat(type)) {
        return low ? "rdg_f32(0xff800000u)" : "rdg_f32(0x7f800000u)";
      }
      if (IsUnsigned(type)) {
        return low ? ZeroText(type)
                   : ConstText(type, (~uint64_t{0}) >> (64 - Info(type).bits));
      }
      if (IsSigned(type)) {
        uint64_t top = (~uint64_t{0} >> 1) >> (64 - Info(type).bits);
        return ConstText(type, low ? ~top : top);
      }
      return "";
    default:
      return "";
  }
}

absl::StatusOr<std::string> WholeFile(const BodyWriter& w,
                                      absl::string_view functions) {
  RIDGE_ASSIGN_OR_RETURN(std::string helpers, w.FunctionsText());
  return absl::StrCat(FilePrelude(), helpers, functions);
}

void BindOver(BodyWriter* w, uint64_t mask, IndexId linear) {
  const Kernel& kernel = w->kernel();
  int64_t stride = 1;
  for (int64_t v = static_cast<int64_t>(kernel.vars.size()) - 1; v >= 0; --v) {
    if (((mask >> v) & 1) == 0) continue;
    const int64_t extent = kernel.vars[v].extent;
    w->Bind(v, w->pool().Mod(w->pool().FloorDiv(linear, stride), extent));
    stride *= extent;
  }
}

}  // namespace ridge::cuda
