#include "backends/cuda/control_flow.h"

#include "hlo/base/status_macros.h"

namespace ridge::cuda {
namespace {

// As PTX: the driver, which compiles it, knows cudaGraphSetConditional; a
// cubin would need the toolkit's device library.
constexpr char kPtx[] = R"(
.version 7.0
.target sm_70
.address_size 64

.extern .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value);

.visible .entry rdg_set_if_true(.param .u64 condition, .param .u64 flag)
{
  .reg .b64 %condition, %flag;
  .reg .b32 %value;
  ld.param.u64 %condition, [condition];
  ld.param.u64 %flag, [flag];
  cvta.to.global.u64 %flag, %flag;
  ld.global.u8 %value, [%flag];
  {
    .param .b64 p0;
    st.param.b64 [p0], %condition;
    .param .b32 p1;
    st.param.b32 [p1], %value;
    call.uni cudaGraphSetConditional, (p0, p1);
  }
  ret;
}

.visible .entry rdg_set_if_chosen(.param .u64 condition, .param .u64 selector,
                                  .param .u32 is_pred, .param .u32 branch,
                                  .param .u32 count)
{
  .reg .b64 %condition, %selector;
  .reg .b32 %value, %is_pred, %branch, %count, %last, %chosen;
  .reg .pred %p, %low, %high, %same;
  ld.param.u64 %condition, [condition];
  ld.param.u64 %selector, [selector];
  ld.param.u32 %is_pred, [is_pred];
  ld.param.u32 %branch, [branch];
  ld.param.u32 %count, [count];
  cvta.to.global.u64 %selector, %selector;
  setp.ne.u32 %p, %is_pred, 0;
  @%p bra $of_pred;
  ld.global.s32 %value, [%selector];
  sub.s32 %last, %count, 1;
  setp.lt.s32 %low, %value, 0;
  setp.ge.s32 %high, %value, %count;
  selp.s32 %value, %last, %value, %low;
  selp.s32 %value, %last, %value, %high;
  bra $decide;
$of_pred:
  ld.global.u8 %value, [%selector];
  setp.ne.u32 %low, %value, 0;
  selp.s32 %value, 0, 1, %low;
$decide:
  setp.eq.s32 %same, %value, %branch;
  selp.u32 %chosen, 1, 0, %same;
  {
    .param .b64 p0;
    st.param.b64 [p0], %condition;
    .param .b32 p1;
    st.param.b32 [p1], %chosen;
    call.uni cudaGraphSetConditional, (p0, p1);
  }
  ret;
}
)";

}  // namespace

absl::StatusOr<ControlKernels> ControlKernels::Load(const Context& context) {
  RIDGE_ASSIGN_OR_RETURN(Module module, Module::Load(context, kPtx));
  ControlKernels kernels(std::move(module));
  RIDGE_ASSIGN_OR_RETURN(kernels.set_if_true_,
                         kernels.module_.GetFunction("rdg_set_if_true"));
  RIDGE_ASSIGN_OR_RETURN(kernels.set_if_chosen_,
                         kernels.module_.GetFunction("rdg_set_if_chosen"));
  return kernels;
}

absl::Status ControlKernels::SetIfTrue(ConditionHandle condition,
                                       DevicePtr flag,
                                       const Stream& stream) const {
  KernelArgs args;
  args.Add<uint64_t>(condition).Add<DevicePtr>(flag);
  return set_if_true_.Launch(LaunchConfig(), args, stream);
}

absl::Status ControlKernels::SetIfChosen(ConditionHandle condition,
                                         DevicePtr selector, bool is_pred,
                                         int32_t branch, int32_t count,
                                         const Stream& stream) const {
  KernelArgs args;
  args.Add<uint64_t>(condition)
      .Add<DevicePtr>(selector)
      .Add<uint32_t>(is_pred ? 1 : 0)
      .Add<int32_t>(branch)
      .Add<int32_t>(count);
  return set_if_chosen_.Launch(LaunchConfig(), args, stream);
}

}  // namespace ridge::cuda
