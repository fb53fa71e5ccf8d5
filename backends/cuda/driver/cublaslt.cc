#include "backends/cuda/driver/cublaslt.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "backends/cuda/driver/status.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

void* AsPointer(DevicePtr ptr) {
  return reinterpret_cast<void*>(ptr);  // NOLINT(performance-no-int-to-ptr)
}

// alpha or beta in the type that the product is scaled in.
class Scalar {
 public:
  Scalar(double value, LtType type) {
    switch (type) {
      case LtType::kF64:
        value_.f64 = value;
        break;
      case LtType::kS32:
        value_.s32 = static_cast<int32_t>(value);
        break;
      default:
        value_.f32 = static_cast<float>(value);
    }
  }
  const void* get() const { return &value_; }

 private:
  union {
    double f64;
    float f32;
    int32_t s32;
  } value_ = {};
};

// Sets one attribute after another and keeps the first error.
class AttributeSetter {
 public:
  AttributeSetter(const CublasLtApi& api, LtMatmulDesc desc)
      : api_(api), desc_(desc) {}

  template <typename T>
  void Set(LtDescAttribute attribute, const T& value) {
    status_.Update(
        LtStatusToAbsl(api_.DescSet(desc_, attribute, &value, sizeof(T)),
                       absl::StrCat("cublasLtMatmulDescSetAttribute ",
                                    static_cast<int>(attribute))));
  }
  const absl::Status& status() const { return status_; }

 private:
  const CublasLtApi& api_;
  LtMatmulDesc desc_;
  absl::Status status_;
};

class Preference {
 public:
  explicit Preference(const CublasLtApi& api) : api_(api) {
    status_ = LtStatusToAbsl(api_.PreferenceCreate(&handle_),
                             "cublasLtMatmulPreferenceCreate");
  }
  ~Preference() {
    if (handle_ != nullptr) api_.PreferenceDestroy(handle_);
  }
  Preference(const Preference&) = delete;
  Preference& operator=(const Preference&) = delete;

  template <typename T>
  void Set(LtPreferenceAttribute attribute, T value) {
    if (!status_.ok()) return;
    status_ = LtStatusToAbsl(
        api_.PreferenceSet(handle_, attribute, &value, sizeof(T)),
        absl::StrCat("cublasLtMatmulPreferenceSetAttribute ",
                     static_cast<int>(attribute)));
  }
  LtPreference handle() const { return handle_; }
  const absl::Status& status() const { return status_; }

 private:
  const CublasLtApi& api_;
  LtPreference handle_ = nullptr;
  absl::Status status_;
};

template <typename T>
int ConfigOf(const CublasLtApi& api, const LtAlgo& algo,
             LtAlgoAttribute attribute) {
  T value = 0;
  size_t written = 0;
  if (api.AlgoConfigGet(&algo, attribute, &value, sizeof(T), &written) !=
      kLtSuccess) {
    return 0;
  }
  return static_cast<int>(value);
}

MatmulAlgo Describe(const CublasLtApi& api, const LtHeuristicResult& result) {
  MatmulAlgo algo;
  algo.algo = result.algo;
  algo.workspace_bytes = result.workspace_bytes;
  algo.waves = result.waves;
  const LtAlgo& lt = algo.algo;
  algo.id = ConfigOf<int32_t>(api, lt, LtAlgoAttribute::kId);
  algo.tile = ConfigOf<uint32_t>(api, lt, LtAlgoAttribute::kTile);
  algo.stages = ConfigOf<uint32_t>(api, lt, LtAlgoAttribute::kStages);
  algo.split_k = ConfigOf<int32_t>(api, lt, LtAlgoAttribute::kSplitK);
  algo.reduction_scheme =
      ConfigOf<uint32_t>(api, lt, LtAlgoAttribute::kReductionScheme);
  algo.swizzle = ConfigOf<uint32_t>(api, lt, LtAlgoAttribute::kSwizzle);
  algo.custom_option =
      ConfigOf<uint32_t>(api, lt, LtAlgoAttribute::kCustomOption);
  algo.cluster_shape =
      ConfigOf<uint16_t>(api, lt, LtAlgoAttribute::kClusterShape);
  return algo;
}

// cuBLASLt says only "not supported"; what usually is the reason.
std::string LikelyReason(const MatmulDesc& desc) {
  if (desc.compute == MatmulCompute::kS32) {
    return "s8 needs A stored as [m, k], B as [n, k], and rows in multiples of "
           "4 elements";
  }
  if (desc.epilogue != MatmulEpilogue::kNone) {
    return absl::StrCat("the ", FactsOf(desc.epilogue).name,
                        " epilogue is not there for these types, shapes or "
                        "alignments");
  }
  return "these types, strides or alignments have no kernel";
}

}  // namespace

size_t MatmulWorkspaceBytes(const DeviceFacts& facts) {
  return (facts.cc_major >= 9 ? size_t{32} : size_t{4}) << 20;
}

// ---- MatmulAlgo -----------------------------------------------------------

std::string MatmulAlgo::ToString() const {
  std::string text = absl::StrCat("id ", id, " tile ", tile, " stages ", stages,
                                  " split_k ", split_k);
  auto append_if = [&](const char* name, int value) {
    if (value != 0) absl::StrAppend(&text, " ", name, " ", value);
  };
  append_if("reduction", reduction_scheme);
  append_if("swizzle", swizzle);
  append_if("custom", custom_option);
  append_if("cluster", cluster_shape);
  return text;
}

std::string MatmulAlgo::ToHex() const {
  std::string hex;
  for (const uint64_t word : algo.data) {
    absl::StrAppend(&hex, absl::Hex(word, absl::kZeroPad16));
  }
  return hex;
}

absl::StatusOr<LtAlgo> MatmulAlgo::FromHex(absl::string_view hex) {
  LtAlgo algo;
  constexpr size_t kDigits = 16;
  bool ok = hex.size() == kDigits * 8;
  for (int i = 0; ok && i < 8; ++i) {
    ok = absl::SimpleHexAtoi(hex.substr(i * kDigits, kDigits), &algo.data[i]);
  }
  if (!ok) {
    return absl::InvalidArgumentError("an algorithm is 128 hexadecimal digits");
  }
  return algo;
}

// ---- MatmulPlan -----------------------------------------------------------

struct MatmulPlan::Handles {
  explicit Handles(const CublasLtApi& api) : api(api) {}
  ~Handles() {
    for (LtLayout layout : {a, b, c, d}) {
      if (layout != nullptr) api.LayoutDestroy(layout);
    }
    if (desc != nullptr) api.DescDestroy(desc);
  }

  absl::Status MakeLayout(const LtMatrix& matrix, int64_t batch,
                          LtLayout* layout) {
    RIDGE_RETURN_IF_ERROR(
        LtStatusToAbsl(api.LayoutCreate(layout, matrix.type, matrix.rows,
                                        matrix.cols, matrix.ld),
                       "cublasLtMatrixLayoutCreate"));
    if (batch == 1) return absl::OkStatus();
    const auto count = static_cast<int32_t>(batch);
    RIDGE_RETURN_IF_ERROR(
        LtStatusToAbsl(api.LayoutSet(*layout, LtLayoutAttribute::kBatchCount,
                                     &count, sizeof(count)),
                       "cublasLtMatrixLayoutSetAttribute BATCH_COUNT"));
    return LtStatusToAbsl(
        api.LayoutSet(*layout, LtLayoutAttribute::kBatchStride,
                      &matrix.batch_stride, sizeof(matrix.batch_stride)),
        "cublasLtMatrixLayoutSetAttribute STRIDED_BATCH_OFFSET");
  }

  // All but the addresses; those stand in with the promised alignment, which
  // the heuristic infers from them.
  absl::Status Fill(const MatmulDesc& matmul,
                    const MatmulPlanOptions& options) {
    const LtProblem problem = ToLtProblem(matmul);
    scale = problem.scale;
    RIDGE_RETURN_IF_ERROR(
        LtStatusToAbsl(api.DescCreate(&desc, problem.compute, problem.scale),
                       "cublasLtMatmulDescCreate"));
    AttributeSetter set(api, desc);
    set.Set(LtDescAttribute::kTransA, problem.transpose_a);
    set.Set(LtDescAttribute::kTransB, problem.transpose_b);
    set.Set(LtDescAttribute::kEpilogue, problem.epilogue);
    const EpilogueFacts& facts = FactsOf(matmul.epilogue);
    if (facts.bias != EpilogueFacts::Use::kNone) {
      set.Set(LtDescAttribute::kBiasPointer,
              DevicePtr{static_cast<uint64_t>(matmul.align_bias)});
      // Set only where it is not the default: some combinations accept the
      // default but refuse to hear it.
      if (matmul.BiasType() != matmul.d) {
        set.Set(LtDescAttribute::kBiasDataType, ToLtType(matmul.BiasType()));
      }
      if (matmul.batch > 1) {
        set.Set(LtDescAttribute::kBiasBatchStride, matmul.bias_stride);
      }
    }
    if (facts.aux != EpilogueFacts::Use::kNone) {
      set.Set(LtDescAttribute::kAuxPointer,
              DevicePtr{static_cast<uint64_t>(matmul.align_aux)});
      set.Set(LtDescAttribute::kAuxLd, matmul.AuxLd());
      if (matmul.batch > 1) {
        set.Set(LtDescAttribute::kAuxBatchStride, matmul.AuxStride());
      }
    }
    if (matmul.fast_accumulation) {
      set.Set(LtDescAttribute::kFastAccumulation, int8_t{1});
    }
    if (options.sm_count_target > 0) {
      set.Set(LtDescAttribute::kSmCountTarget,
              static_cast<int32_t>(options.sm_count_target));
    }
    RIDGE_RETURN_IF_ERROR(set.status());
    RIDGE_RETURN_IF_ERROR(MakeLayout(problem.a, problem.batch, &a));
    RIDGE_RETURN_IF_ERROR(MakeLayout(problem.b, problem.batch, &b));
    RIDGE_RETURN_IF_ERROR(MakeLayout(problem.c, problem.batch, &c));
    return MakeLayout(problem.d, problem.batch, &d);
  }

  const CublasLtApi& api;
  LtMatmulDesc desc = nullptr;
  LtLayout a = nullptr;  // our B
  LtLayout b = nullptr;  // our A
  LtLayout c = nullptr;
  LtLayout d = nullptr;
  LtType scale = LtType::kF32;
  // The addresses that `desc` holds, to set again only what has changed.
  MatmulBuffers set;
};

MatmulPlan::MatmulPlan(const MatmulLibrary* library, const MatmulDesc& desc,
                       std::unique_ptr<Handles> handles)
    : library_(library), desc_(desc), handles_(std::move(handles)) {}

MatmulPlan::MatmulPlan(MatmulPlan&& other) noexcept = default;
MatmulPlan& MatmulPlan::operator=(MatmulPlan&& other) noexcept = default;
MatmulPlan::~MatmulPlan() = default;

absl::StatusOr<int> MatmulPlan::AddAlgo(const LtAlgo& algo) {
  const CublasLtApi& api = library_->api();
  RIDGE_RETURN_IF_ERROR(library_->context().Bind());
  LtHeuristicResult result = {};
  const LtStatus status =
      api.AlgoCheck(library_->handle(), handles_->desc, handles_->a,
                    handles_->b, handles_->c, handles_->d, &algo, &result);
  if (status != kLtSuccess || result.state != kLtSuccess ||
      result.workspace_bytes > library_->workspace_bytes()) {
    return absl::UnimplementedError(absl::StrCat(
        "the algorithm does not fit ", desc_.ToString(), " (cuBLAS status ",
        status, ", ", result.workspace_bytes, " B of workspace)"));
  }
  // AlgoCheck reports sizes; the configuration is the caller's.
  result.algo = algo;
  algos_.push_back(Describe(api, result));
  return static_cast<int>(algos_.size()) - 1;
}

absl::Status MatmulPlan::SetPointers(const MatmulBuffers& buffers) {
  const EpilogueFacts& facts = FactsOf(desc_.epilogue);
  AttributeSetter setter(library_->api(), handles_->desc);
  MatmulBuffers& held = handles_->set;
  auto set = [&](LtDescAttribute attribute, DevicePtr value, DevicePtr* known) {
    if (value == *known) return;
    setter.Set(attribute, value);
    *known = value;
  };
  if (facts.bias != EpilogueFacts::Use::kNone) {
    if (buffers.bias == 0) return absl::InvalidArgumentError("no bias given");
    set(LtDescAttribute::kBiasPointer, buffers.bias, &held.bias);
  }
  if (facts.aux != EpilogueFacts::Use::kNone) {
    if (buffers.aux == 0) return absl::InvalidArgumentError("no aux given");
    set(LtDescAttribute::kAuxPointer, buffers.aux, &held.aux);
  }
  // cuBLASLt's A is our B.
  set(LtDescAttribute::kAScalePointer, buffers.scale_b, &held.scale_b);
  set(LtDescAttribute::kBScalePointer, buffers.scale_a, &held.scale_a);
  set(LtDescAttribute::kDScalePointer, buffers.scale_d, &held.scale_d);
  return setter.status();
}

absl::Status MatmulPlan::Run(int algo, const MatmulBuffers& buffers,
                             const Stream& stream) {
  if (algo < 0 || algo >= static_cast<int>(algos_.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("algorithm ", algo, " of ", algos_.size()));
  }
  if (desc_.beta != 0 && buffers.c == 0) {
    return absl::InvalidArgumentError("beta is not 0, but there is no C");
  }
  RIDGE_RETURN_IF_ERROR(library_->context().Bind());
  RIDGE_RETURN_IF_ERROR(SetPointers(buffers));
  const MatmulAlgo& chosen = algos_[algo];
  const Scalar alpha(desc_.alpha, handles_->scale);
  const Scalar beta(desc_.beta, handles_->scale);
  const DevicePtr workspace =
      buffers.workspace != 0 ? buffers.workspace : library_->workspace();
  // C must be an address even where beta is 0; D's is never read then.
  const DevicePtr c = desc_.beta != 0 ? buffers.c : buffers.d;
  const LtStatus status = library_->api().Matmul(
      library_->handle(), handles_->desc, alpha.get(), AsPointer(buffers.b),
      handles_->a, AsPointer(buffers.a), handles_->b, beta.get(), AsPointer(c),
      handles_->c, AsPointer(buffers.d), handles_->d, &chosen.algo,
      AsPointer(workspace), chosen.workspace_bytes, stream.handle());
  if (status == kLtSuccess) return absl::OkStatus();
  return LtStatusToAbsl(status,
                        absl::StrCat("cublasLtMatmul ", desc_.ToString(), " (",
                                     chosen.ToString(), ")"));
}

// ---- MatmulLibrary --------------------------------------------------------

absl::StatusOr<std::unique_ptr<MatmulLibrary>> MatmulLibrary::Create(
    const Context& context) {
  RIDGE_ASSIGN_OR_RETURN(const CublasLtApi* api, CublasLt());
  RIDGE_ASSIGN_OR_RETURN(
      DeviceBuffer workspace,
      DeviceBuffer::Allocate(context, MatmulWorkspaceBytes(context.facts())));
  LtHandle handle = nullptr;
  RIDGE_RETURN_IF_ERROR(LtStatusToAbsl(api->Create(&handle), "cublasLtCreate"));
  return std::unique_ptr<MatmulLibrary>(
      new MatmulLibrary(context, api, handle, std::move(workspace)));
}

MatmulLibrary::MatmulLibrary(const Context& context, const CublasLtApi* api,
                             LtHandle handle, DeviceBuffer workspace)
    : context_(context),
      api_(api),
      handle_(handle),
      workspace_(std::move(workspace)) {}

MatmulLibrary::~MatmulLibrary() {
  if (context_.Bind().ok()) api_->Destroy(handle_);
}

absl::StatusOr<MatmulPlan> MatmulLibrary::Plan(
    const MatmulDesc& desc, const MatmulPlanOptions& options) const {
  RIDGE_RETURN_IF_ERROR(ValidateMatmul(desc));
  RIDGE_RETURN_IF_ERROR(context_.Bind());
  auto handles = std::make_unique<MatmulPlan::Handles>(*api_);
  RIDGE_RETURN_IF_ERROR(
      Annotate(handles->Fill(desc, options), desc.ToString()));

  Preference preference(*api_);
  preference.Set(LtPreferenceAttribute::kMaxWorkspaceBytes,
                 uint64_t{workspace_bytes()});
  preference.Set(LtPreferenceAttribute::kReductionSchemeMask,
                 options.reduction_schemes);
  auto alignment = [](int bytes) {
    // 256 is the most that the heuristic asks about.
    return static_cast<uint32_t>(std::min(bytes, 256));
  };
  // cuBLASLt's A is our B.
  preference.Set(LtPreferenceAttribute::kMinAlignmentA,
                 alignment(desc.align_b));
  preference.Set(LtPreferenceAttribute::kMinAlignmentB,
                 alignment(desc.align_a));
  preference.Set(LtPreferenceAttribute::kMinAlignmentC,
                 alignment(desc.beta != 0 ? desc.align_c : desc.align_d));
  preference.Set(LtPreferenceAttribute::kMinAlignmentD,
                 alignment(desc.align_d));
  RIDGE_RETURN_IF_ERROR(preference.status());

  std::vector<LtHeuristicResult> results(std::max(1, options.max_algos));
  int count = 0;
  const LtStatus status = api_->AlgoGetHeuristic(
      handle_, handles->desc, handles->a, handles->b, handles->c, handles->d,
      preference.handle(), static_cast<int>(results.size()), results.data(),
      &count);
  MatmulPlan plan(this, desc, std::move(handles));
  for (int i = 0; i < count && status == kLtSuccess; ++i) {
    if (results[i].state != kLtSuccess) continue;
    plan.algos_.push_back(Describe(*api_, results[i]));
  }
  if (plan.algos_.empty()) {
    return absl::UnimplementedError(
        absl::StrCat("cuBLASLt has no kernel for ", desc.ToString(), " on ",
                     context_.facts().name, " (status ", status, "): probably ",
                     LikelyReason(desc)));
  }
  return plan;
}

}  // namespace ridge::cuda
