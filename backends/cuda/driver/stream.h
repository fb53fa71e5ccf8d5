// Streams, events for timing, and graphs: a stream's work recorded once and
// replayed with one call.
//
//   RIDGE_ASSIGN_OR_RETURN(Graph graph, Graph::Capture(stream, [&] {
//     return kernel.Launch(config, args, stream);
//   }));
//   RIDGE_ASSIGN_OR_RETURN(GraphExec exec, graph.Instantiate());
//   RIDGE_RETURN_IF_ERROR(exec.Launch(stream));

#ifndef RIDGE_BACKENDS_CUDA_DRIVER_STREAM_H_
#define RIDGE_BACKENDS_CUDA_DRIVER_STREAM_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "backends/cuda/driver/device.h"

namespace ridge::cuda {

class Event;

// A stream that does not wait for the null stream. Movable; an empty one only
// after a move.
class Stream {
 public:
  static absl::StatusOr<Stream> Create(const Context& context);
  Stream(Stream&& other) noexcept { *this = std::move(other); }
  Stream& operator=(Stream&& other) noexcept;
  ~Stream();

  // Waits until the stream is idle; a fault of its kernels comes out here.
  absl::Status Synchronize() const;
  // Whether the stream is idle, without waiting.
  absl::StatusOr<bool> IsIdle() const;
  // Work given to the stream from here on waits for the event.
  absl::Status WaitFor(const Event& event) const;

  StreamHandle handle() const { return handle_; }
  const Context& context() const { return *context_; }

 private:
  Stream(const Context* context, StreamHandle handle)
      : context_(context), handle_(handle) {}

  const Context* context_ = nullptr;
  StreamHandle handle_ = nullptr;
};

class Event {
 public:
  static absl::StatusOr<Event> Create(const Context& context);
  Event(Event&& other) noexcept { *this = std::move(other); }
  Event& operator=(Event&& other) noexcept;
  ~Event();

  absl::Status Record(const Stream& stream) const;
  absl::Status Synchronize() const;

  EventHandle handle() const { return handle_; }
  const Context& context() const { return *context_; }

 private:
  Event(const Context* context, EventHandle handle)
      : context_(context), handle_(handle) {}

  const Context* context_ = nullptr;
  EventHandle handle_ = nullptr;
};

// Device time between two events in µs, good to about 0.5 µs; waits for the
// second. Both must have been recorded.
absl::StatusOr<double> ElapsedMicros(const Event& begin, const Event& end);

class GraphExec {
 public:
  GraphExec(GraphExec&& other) noexcept { *this = std::move(other); }
  GraphExec& operator=(GraphExec&& other) noexcept;
  ~GraphExec();

  absl::Status Launch(const Stream& stream) const;
  // Puts the graph on the device ahead of its first launch.
  absl::Status Upload(const Stream& stream) const;

 private:
  friend class Graph;
  GraphExec(const Context* context, GraphExecHandle handle)
      : context_(context), handle_(handle) {}

  const Context* context_ = nullptr;
  GraphExecHandle handle_ = nullptr;
};

// ---- Loops and branches of a graph ----

// A value on the device that decides whether the body of a conditional node
// runs; a kernel of the same graph sets it (0: no).
using ConditionHandle = uint64_t;

// Whether the driver has conditional nodes (12.3).
bool HasConditionalNodes(const Context& context);
// For use during a capture, by nodes of the captured graph from here on.
absl::StatusOr<ConditionHandle> NewCondition(const Stream& capturing);
// Appends to what is being captured: `body` once if the condition holds, or
// again and again as long as it does. `body` gives its work to `inner`, a
// stream that captures nothing yet.
enum class ConditionalKind { kIf, kWhile };
absl::Status CaptureConditional(const Stream& capturing,
                                ConditionHandle condition, ConditionalKind kind,
                                const Stream& inner,
                                absl::FunctionRef<absl::Status()> body);

struct GraphNode {
  enum class Kind { kKernel, kMemcpy, kMemset, kOther };
  Kind kind = Kind::kOther;
  // For kernels. The name is empty if the driver is too old to say (before
  // 12.3).
  std::string kernel_name;
  unsigned grid[3] = {0, 0, 0};
  unsigned block[3] = {0, 0, 0};
  unsigned shared_bytes = 0;
};

class Graph {
 public:
  // Records what `body` gives to the stream, without running it. Only this
  // thread may give it work meanwhile. Whatever a library loads lazily at its
  // first call must have been loaded: run the body once before.
  static absl::StatusOr<Graph> Capture(const Stream& stream,
                                       absl::FunctionRef<absl::Status()> body);
  Graph(Graph&& other) noexcept { *this = std::move(other); }
  Graph& operator=(Graph&& other) noexcept;
  ~Graph();

  absl::StatusOr<GraphExec> Instantiate() const;
  // What was recorded: tells how many kernels a library call really is.
  absl::StatusOr<std::vector<GraphNode>> Nodes() const;

 private:
  Graph(const Context* context, GraphHandle handle)
      : context_(context), handle_(handle) {}

  const Context* context_ = nullptr;
  GraphHandle handle_ = nullptr;
};

}  // namespace ridge::cuda

#endif  // RIDGE_BACKENDS_CUDA_DRIVER_STREAM_H_
