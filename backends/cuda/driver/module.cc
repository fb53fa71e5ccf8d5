#include "backends/cuda/driver/module.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// CUlaunchConfig and the attributes that it points to.
class NativeConfig {
 public:
  NativeConfig(const LaunchConfig& config, StreamHandle stream) {
    native_.grid_x = config.grid.x;
    native_.grid_y = config.grid.y;
    native_.grid_z = config.grid.z;
    native_.block_x = config.block.x;
    native_.block_y = config.block.y;
    native_.block_z = config.block.z;
    native_.shared_bytes = static_cast<unsigned>(config.dynamic_shared_bytes);
    native_.stream = stream;
    native_.attributes = attributes_;
    native_.num_attributes = 0;
    if (config.cluster.Count() > 1) {
      auto& cluster = Add(kLaunchClusterDimension).cluster;
      cluster.x = config.cluster.x;
      cluster.y = config.cluster.y;
      cluster.z = config.cluster.z;
    }
    if (config.cooperative) Add(kLaunchCooperative).flag = 1;
    if (config.programmatic_dependent) {
      Add(kLaunchProgrammaticSerialization).flag = 1;
    }
  }
  NativeConfig(const NativeConfig&) = delete;
  NativeConfig& operator=(const NativeConfig&) = delete;

  const LaunchConfigAbi* get() const { return &native_; }

 private:
  LaunchAttributeAbi& Add(int id) {
    LaunchAttributeAbi& attribute = attributes_[native_.num_attributes++];
    attribute = {};
    attribute.id = id;
    return attribute;
  }

  LaunchConfigAbi native_ = {};
  LaunchAttributeAbi attributes_[3];
};

std::string DescribeLaunch(const LaunchConfig& config) {
  auto dims = [](const Dim3& d) {
    return absl::StrCat(d.x, "x", d.y, "x", d.z);
  };
  std::string text = absl::StrCat(
      "grid ", dims(config.grid), ", block ", dims(config.block),
      ", dynamic shared memory ", config.dynamic_shared_bytes, " B");
  if (config.cluster.Count() > 1) {
    absl::StrAppend(&text, ", cluster ", dims(config.cluster));
  }
  return text;
}

}  // namespace

// ---- Arguments ------------------------------------------------------------

void KernelArgs::AddBytes(const void* bytes, size_t size, size_t alignment) {
  const size_t offset = (used_ + alignment - 1) / alignment * alignment;
  used_ = offset + size;
  storage_.resize((used_ + sizeof(Chunk) - 1) / sizeof(Chunk));
  offsets_.push_back(offset);
  std::memcpy(reinterpret_cast<char*>(storage_.data()) + offset, bytes, size);
}

void KernelArgs::SetBytes(int index, const void* bytes, size_t size) {
  std::memcpy(reinterpret_cast<char*>(storage_.data()) + offsets_[index], bytes,
              size);
}

std::vector<void*> KernelArgs::Pointers() const {
  std::vector<void*> pointers;
  pointers.reserve(offsets_.size());
  char* base =
      const_cast<char*>(reinterpret_cast<const char*>(storage_.data()));
  for (const size_t offset : offsets_) pointers.push_back(base + offset);
  return pointers;
}

// ---- Function -------------------------------------------------------------

absl::StatusOr<FunctionFacts> Function::Facts() const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  absl::Status status;
  auto get = [&](FunctionAttribute attribute) {
    int value = 0;
    status.Update(context_->Check(
        context_->api().FuncGetAttribute(&value, attribute, handle_),
        "cuFuncGetAttribute"));
    return value;
  };
  FunctionFacts facts;
  facts.registers = get(FunctionAttribute::kRegisters);
  facts.local_bytes = get(FunctionAttribute::kLocalBytes);
  facts.static_shared_bytes = get(FunctionAttribute::kStaticSharedBytes);
  facts.const_bytes = get(FunctionAttribute::kConstBytes);
  facts.max_threads_per_block = get(FunctionAttribute::kMaxThreadsPerBlock);
  facts.binary_version = get(FunctionAttribute::kBinaryVersion);
  if (!status.ok()) return Annotate(status, *name_);
  return facts;
}

absl::Status Function::SetMaxDynamicShared(size_t bytes) const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  const absl::Status status =
      context_->Check(context_->api().FuncSetAttribute(
                          handle_, FunctionAttribute::kMaxDynamicSharedBytes,
                          static_cast<int>(bytes)),
                      "cuFuncSetAttribute MAX_DYNAMIC_SHARED_SIZE_BYTES");
  return Annotate(status,
                  absl::StrCat(*name_, ": ", bytes,
                               " B of dynamic shared memory; a block can have ",
                               context_->facts().shared_per_block_optin,
                               " B with the static part"));
}

absl::Status Function::AllowLargeClusters() const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  return Annotate(
      context_->Check(
          context_->api().FuncSetAttribute(
              handle_, FunctionAttribute::kNonPortableClusterSize, 1),
          "cuFuncSetAttribute NON_PORTABLE_CLUSTER_SIZE_ALLOWED"),
      *name_);
}

absl::StatusOr<int> Function::MaxBlocksPerSm(
    int threads_per_block, size_t dynamic_shared_bytes) const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  int blocks = 0;
  RIDGE_RETURN_IF_ERROR(context_->Check(
      context_->api().OccupancyMaxActiveBlocks(
          &blocks, handle_, threads_per_block, dynamic_shared_bytes),
      "cuOccupancyMaxActiveBlocksPerMultiprocessor"));
  return blocks;
}

absl::StatusOr<int> Function::MaxActiveClusters(
    const LaunchConfig& config) const {
  if (context_->api().OccupancyMaxActiveClusters == nullptr) {
    return absl::UnimplementedError(
        "the driver has no cuOccupancyMaxActiveClusters");
  }
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  const NativeConfig native(config, nullptr);
  int clusters = 0;
  RIDGE_RETURN_IF_ERROR(
      context_->Check(context_->api().OccupancyMaxActiveClusters(
                          &clusters, handle_, native.get()),
                      "cuOccupancyMaxActiveClusters"));
  return clusters;
}

absl::Status Function::Launch(const LaunchConfig& config,
                              const KernelArgs& args,
                              const Stream& stream) const {
  return Launch(config, args.Pointers().data(), stream);
}

absl::Status Function::Launch(const LaunchConfig& config, void** params,
                              const Stream& stream) const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  const NativeConfig native(config, stream.handle());
  const DriverResult result =
      context_->api().LaunchKernelEx(native.get(), handle_, params, nullptr);
  if (result == kDriverSuccess) return absl::OkStatus();
  return Annotate(
      context_->Check(result, "cuLaunchKernelEx"),
      absl::StrCat("kernel ", *name_, " (", DescribeLaunch(config), ")"));
}

// ---- Module ---------------------------------------------------------------

absl::StatusOr<Module> Module::Load(const Context& context,
                                    absl::string_view image) {
  if (image.empty()) return absl::InvalidArgumentError("empty kernel image");
  RIDGE_RETURN_IF_ERROR(context.Bind());
  // PTX is read up to its final zero; a cubin's size is in its header.
  const std::string terminated(image);
  ModuleHandle handle = nullptr;
  const absl::Status status =
      context.Check(context.api().ModuleLoadData(&handle, terminated.c_str()),
                    "cuModuleLoadData");
  if (!status.ok()) {
    const DeviceFacts& facts = context.facts();
    return Annotate(
        status, absl::StrCat("loading ", image.size(), " B for ", facts.Arch(),
                             ", driver for CUDA ", facts.driver_version / 1000,
                             ".", facts.driver_version % 1000 / 10));
  }
  return Module(&context, handle);
}

Module::Module(const Context* context, ModuleHandle handle)
    : context_(context), handle_(handle) {}

Module& Module::operator=(Module&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  std::swap(names_, other.names_);
  return *this;
}

Module::~Module() {
  if (handle_ == nullptr || !context_->Bind().ok()) return;
  context_->api().ModuleUnload(handle_);
}

absl::StatusOr<Function> Module::GetFunction(const std::string& name) {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  FunctionHandle handle = nullptr;
  const absl::Status status = context_->Check(
      context_->api().ModuleGetFunction(&handle, handle_, name.c_str()),
      "cuModuleGetFunction");
  if (!status.ok()) return Annotate(status, absl::StrCat("kernel ", name));
  names_.push_back(std::make_unique<const std::string>(name));
  return Function(context_, handle, names_.back().get());
}

absl::StatusOr<Module::Global> Module::GetGlobal(
    const std::string& name) const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  Global global;
  const absl::Status status =
      context_->Check(context_->api().ModuleGetGlobal(
                          &global.ptr, &global.bytes, handle_, name.c_str()),
                      "cuModuleGetGlobal");
  if (!status.ok()) return Annotate(status, absl::StrCat("variable ", name));
  return global;
}

}  // namespace ridge::cuda
