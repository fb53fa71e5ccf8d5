// What a compiler said of a plan's kernels, to and from protobuf.
#ifndef RIDGE_FUSION_BUILT_IO_H_
#define RIDGE_FUSION_BUILT_IO_H_

#include <vector>

#include "absl/status/statusor.h"
#include "fusion/plan.h"
#include "fusion/plan.pb.h"
#include "hlo/ir/module.h"

namespace ridge {

BuiltKernelProto BuiltToProto(const BuiltKernel& built);

// InvalidArgument: a kernel that the plan does not have or that comes twice, a
// value that no device can have (function, field, value and limits are named).
absl::StatusOr<std::vector<BuiltKernel>> BuiltFromProto(
    const google::protobuf::RepeatedPtrField<BuiltKernelProto>& protos,
    const Module& module, const Plan& plan);

}  // namespace ridge

#endif  // RIDGE_FUSION_BUILT_IO_H_
