// What the emitters share: vectors of elements, parameters with defaults.
#ifndef RIDGE_BACKENDS_CUDA_EMIT_COMMON_H_
#define RIDGE_BACKENDS_CUDA_EMIT_COMMON_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "backends/cuda/emit/emit.h"
#include "backends/kernel/body_writer.h"
#include "backends/kernel/schedules/geometry.h"

namespace ridge::cuda {

// Prelude and helpers that every generated file starts with.
std::string FilePrelude();

// `rdg_vec<T, n>` of a buffer's storage type.
std::string VecType(ElementType type, int64_t n);

// How a load or store behaves along a lane variable.
enum class LaneAccess : uint8_t {
  kSame,    // one element for all lanes
  kVector,  // consecutive and aligned: one wide access
  kEach,    // a scalar access per lane
};

// `lane` is the emitter variable's number (order of NewVar), `lane_id` its
// expression, `n` the number of lanes. On kVector, `base` becomes the offset
// of lane 0.
LaneAccess AccessAlong(BodyWriter* w, IndexId offset_over_kernel_vars,
                       int64_t lane, int64_t n, IndexId* base);

// Whether pred node `n` is the same for all `count` lanes of an aligned vector:
// bounds of pieces and of padding that fall between vectors.
bool UniformAlong(BodyWriter* w, NodeId n, int64_t lane, int64_t count);

// The neutral element of a simple reducer, carried; empty where there is none.
std::string IdentityText(Opcode opcode, ElementType type);

// The text of everything but the body: prelude, helper functions, and `text`.
absl::StatusOr<std::string> WholeFile(const BodyWriter& w,
                                      absl::string_view functions);

// Binds the variables in `mask` to the digits of `linear`, the last fastest.
void BindOver(BodyWriter* w, uint64_t mask, IndexId linear);

// ---- The emitters: everything but the launches' arguments ----

// Each point of a set of variables on its own; serves every kernel.
absl::StatusOr<EmittedKernel> EmitPointwise(const Kernel& kernel,
                                            const ScheduleChoice& choice,
                                            const DeviceLimits& device);
absl::StatusOr<EmittedKernel> EmitRowReduce(const Kernel& kernel,
                                            const ScheduleChoice& choice,
                                            const DeviceLimits& device);
absl::StatusOr<EmittedKernel> EmitColumnReduce(const Kernel& kernel,
                                               const ScheduleChoice& choice,
                                               const DeviceLimits& device);
absl::StatusOr<EmittedKernel> EmitRowColumn(const Kernel& kernel,
                                            const ScheduleChoice& choice,
                                            const DeviceLimits& device);
absl::StatusOr<EmittedKernel> EmitMultiReduce(const Kernel& kernel,
                                              const ScheduleChoice& choice,
                                              const DeviceLimits& device);
absl::StatusOr<EmittedKernel> EmitTranspose(const Kernel& kernel,
                                            const ScheduleChoice& choice,
                                            const DeviceLimits& device);
absl::StatusOr<EmittedKernel> EmitSequential(const Kernel& kernel,
                                             const ScheduleChoice& choice,
                                             const DeviceLimits& device);

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_EMIT_COMMON_H_
