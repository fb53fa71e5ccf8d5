#include "backends/cuda/driver/stream.h"

#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "hlo/base/status_macros.h"

namespace ridge::cuda {

// ---- Stream ---------------------------------------------------------------

absl::StatusOr<Stream> Stream::Create(const Context& context) {
  RIDGE_RETURN_IF_ERROR(context.Bind());
  StreamHandle handle = nullptr;
  RIDGE_RETURN_IF_ERROR(
      context.Check(context.api().StreamCreate(&handle, kStreamNonBlocking),
                    "cuStreamCreate"));
  return Stream(&context, handle);
}

Stream& Stream::operator=(Stream&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

Stream::~Stream() {
  if (handle_ == nullptr || !context_->Bind().ok()) return;
  context_->api().StreamDestroy(handle_);
}

absl::Status Stream::Synchronize() const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  return context_->Check(context_->api().StreamSynchronize(handle_),
                         "cuStreamSynchronize");
}

absl::StatusOr<bool> Stream::IsIdle() const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  const DriverResult result = context_->api().StreamQuery(handle_);
  if (result == kDriverNotReady) return false;
  RIDGE_RETURN_IF_ERROR(context_->Check(result, "cuStreamQuery"));
  return true;
}

absl::Status Stream::WaitFor(const Event& event) const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  return context_->Check(
      context_->api().StreamWaitEvent(handle_, event.handle(), 0),
      "cuStreamWaitEvent");
}

// ---- Event ----------------------------------------------------------------

absl::StatusOr<Event> Event::Create(const Context& context) {
  RIDGE_RETURN_IF_ERROR(context.Bind());
  EventHandle handle = nullptr;
  RIDGE_RETURN_IF_ERROR(
      context.Check(context.api().EventCreate(&handle, 0), "cuEventCreate"));
  return Event(&context, handle);
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

Event::~Event() {
  if (handle_ == nullptr || !context_->Bind().ok()) return;
  context_->api().EventDestroy(handle_);
}

absl::Status Event::Record(const Stream& stream) const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  return context_->Check(context_->api().EventRecord(handle_, stream.handle()),
                         "cuEventRecord");
}

absl::Status Event::Synchronize() const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  return context_->Check(context_->api().EventSynchronize(handle_),
                         "cuEventSynchronize");
}

absl::StatusOr<double> ElapsedMicros(const Event& begin, const Event& end) {
  RIDGE_RETURN_IF_ERROR(end.Synchronize());
  float milliseconds = 0;
  const Context& context = end.context();
  RIDGE_RETURN_IF_ERROR(
      context.Check(context.api().EventElapsedTime(
                        &milliseconds, begin.handle(), end.handle()),
                    "cuEventElapsedTime"));
  return milliseconds * 1e3;
}

// ---- Graph ----------------------------------------------------------------

GraphExec& GraphExec::operator=(GraphExec&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

GraphExec::~GraphExec() {
  if (handle_ == nullptr || !context_->Bind().ok()) return;
  context_->api().GraphExecDestroy(handle_);
}

absl::Status GraphExec::Launch(const Stream& stream) const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  return context_->Check(context_->api().GraphLaunch(handle_, stream.handle()),
                         "cuGraphLaunch");
}

absl::Status GraphExec::Upload(const Stream& stream) const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  return context_->Check(context_->api().GraphUpload(handle_, stream.handle()),
                         "cuGraphUpload");
}

absl::StatusOr<Graph> Graph::Capture(const Stream& stream,
                                     absl::FunctionRef<absl::Status()> body) {
  const Context& context = stream.context();
  const DriverApi& api = context.api();
  RIDGE_RETURN_IF_ERROR(context.Bind());
  // Relaxed: with the stricter modes, a module that loads during the capture,
  // even on another thread in the strictest, would spoil it.
  RIDGE_RETURN_IF_ERROR(
      context.Check(api.StreamBeginCapture(stream.handle(), kCaptureRelaxed),
                    "cuStreamBeginCapture"));
  const absl::Status body_status = body();
  // Capture must end even if the body failed, or the stream stays unusable.
  GraphHandle handle = nullptr;
  const absl::Status end_status = context.Check(
      api.StreamEndCapture(stream.handle(), &handle), "cuStreamEndCapture");
  Graph graph(&context, handle);
  RIDGE_RETURN_IF_ERROR(body_status);
  RIDGE_RETURN_IF_ERROR(end_status);
  return graph;
}

namespace {

// The graph that a stream is capturing to, and what its next node waits for.
struct CaptureState {
  GraphHandle graph = nullptr;
  std::vector<GraphNodeHandle> dependencies;
};
absl::StatusOr<CaptureState> StateOf(const Stream& capturing) {
  const Context& context = capturing.context();
  CaptureState state;
  int status = 0;
  uint64_t id = 0;
  const GraphNodeHandle* dependencies = nullptr;
  const void* edges = nullptr;
  size_t count = 0;
  RIDGE_RETURN_IF_ERROR(context.Check(
      context.api().StreamGetCaptureInfo(capturing.handle(), &status, &id,
                                         &state.graph, &dependencies, &edges,
                                         &count),
      "cuStreamGetCaptureInfo"));
  RIDGE_RET_CHECK(status == kCaptureActive) << "the stream captures nothing";
  state.dependencies.assign(dependencies, dependencies + count);
  return state;
}

}  // namespace

bool HasConditionalNodes(const Context& context) {
  const DriverApi& api = context.api();
  return api.GraphConditionalHandleCreate != nullptr &&
         api.GraphAddNode != nullptr && api.StreamGetCaptureInfo != nullptr &&
         api.StreamUpdateCaptureDependencies != nullptr &&
         api.StreamBeginCaptureToGraph != nullptr;
}

absl::StatusOr<ConditionHandle> NewCondition(const Stream& capturing) {
  const Context& context = capturing.context();
  RIDGE_ASSIGN_OR_RETURN(CaptureState state, StateOf(capturing));
  ConditionHandle condition = 0;
  RIDGE_RETURN_IF_ERROR(context.Check(
      context.api().GraphConditionalHandleCreate(
          &condition, state.graph, context.handle(), /*default_value=*/0,
          /*flags=*/0),
      "cuGraphConditionalHandleCreate"));
  return condition;
}

absl::Status CaptureConditional(const Stream& capturing,
                                ConditionHandle condition, ConditionalKind kind,
                                const Stream& inner,
                                absl::FunctionRef<absl::Status()> body) {
  const Context& context = capturing.context();
  const DriverApi& api = context.api();
  RIDGE_ASSIGN_OR_RETURN(CaptureState state, StateOf(capturing));
  ConditionalNodeAbi params = {};
  params.type = kGraphNodeConditional;
  params.handle = condition;
  params.conditional_type =
      kind == ConditionalKind::kIf ? kConditionalIf : kConditionalWhile;
  params.size = 1;
  params.context = context.handle();
  GraphNodeHandle node = nullptr;
  RIDGE_RETURN_IF_ERROR(context.Check(
      api.GraphAddNode(&node, state.graph, state.dependencies.data(), nullptr,
                       state.dependencies.size(), &params),
      "cuGraphAddNode"));
  RIDGE_RETURN_IF_ERROR(context.Check(
      api.StreamUpdateCaptureDependencies(capturing.handle(), &node, nullptr, 1,
                                          kCaptureSetDependencies),
      "cuStreamUpdateCaptureDependencies"));
  RIDGE_RETURN_IF_ERROR(context.Check(
      api.StreamBeginCaptureToGraph(inner.handle(), params.graphs[0], nullptr,
                                    nullptr, 0, kCaptureRelaxed),
      "cuStreamBeginCaptureToGraph"));
  const absl::Status body_status = body();
  // The body graph belongs to the node.
  GraphHandle captured = nullptr;
  const absl::Status end_status = context.Check(
      api.StreamEndCapture(inner.handle(), &captured), "cuStreamEndCapture");
  RIDGE_RETURN_IF_ERROR(body_status);
  return end_status;
}

Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(handle_, other.handle_);
  return *this;
}

Graph::~Graph() {
  if (handle_ == nullptr || !context_->Bind().ok()) return;
  context_->api().GraphDestroy(handle_);
}

absl::StatusOr<GraphExec> Graph::Instantiate() const {
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  GraphExecHandle exec = nullptr;
  RIDGE_RETURN_IF_ERROR(
      context_->Check(context_->api().GraphInstantiate(&exec, handle_, 0),
                      "cuGraphInstantiateWithFlags"));
  return GraphExec(context_, exec);
}

namespace {

GraphNode::Kind KindOf(int type) {
  switch (type) {
    case kGraphNodeKernel:
      return GraphNode::Kind::kKernel;
    case kGraphNodeMemcpy:
      return GraphNode::Kind::kMemcpy;
    case kGraphNodeMemset:
      return GraphNode::Kind::kMemset;
    default:
      return GraphNode::Kind::kOther;
  }
}

// Fills in what the driver is new enough to tell.
void DescribeKernel(const DriverApi& api, GraphNodeHandle handle,
                    GraphNode* node) {
  KernelNodeAbi params = {};
  if (api.GraphKernelNodeGetParams == nullptr ||
      api.GraphKernelNodeGetParams(handle, &params) != kDriverSuccess) {
    return;
  }
  const unsigned grid[3] = {params.grid_x, params.grid_y, params.grid_z};
  const unsigned block[3] = {params.block_x, params.block_y, params.block_z};
  for (int i = 0; i < 3; ++i) {
    node->grid[i] = grid[i];
    node->block[i] = block[i];
  }
  node->shared_bytes = params.shared_bytes;
  const char* name = nullptr;
  if (params.function != nullptr && api.FuncGetName != nullptr) {
    api.FuncGetName(&name, params.function);
  }
  if (name == nullptr && params.kernel != nullptr &&
      api.KernelGetName != nullptr) {
    api.KernelGetName(&name, params.kernel);
  }
  if (name != nullptr) node->kernel_name = name;
}

}  // namespace

absl::StatusOr<std::vector<GraphNode>> Graph::Nodes() const {
  const DriverApi& api = context_->api();
  RIDGE_RETURN_IF_ERROR(context_->Bind());
  size_t count = 0;
  RIDGE_RETURN_IF_ERROR(context_->Check(
      api.GraphGetNodes(handle_, nullptr, &count), "cuGraphGetNodes"));
  std::vector<GraphNodeHandle> handles(count);
  if (count > 0) {
    RIDGE_RETURN_IF_ERROR(context_->Check(
        api.GraphGetNodes(handle_, handles.data(), &count), "cuGraphGetNodes"));
  }
  std::vector<GraphNode> nodes(count);
  for (size_t i = 0; i < count; ++i) {
    int type = 0;
    RIDGE_RETURN_IF_ERROR(context_->Check(
        api.GraphNodeGetType(handles[i], &type), "cuGraphNodeGetType"));
    nodes[i].kind = KindOf(type);
    if (nodes[i].kind == GraphNode::Kind::kKernel) {
      DescribeKernel(api, handles[i], &nodes[i]);
    }
  }
  return nodes;
}

}  // namespace ridge::cuda
