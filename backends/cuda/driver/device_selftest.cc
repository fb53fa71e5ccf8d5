// Exercises the CUDA driver layer on the device at hand: facts, memory,
// run-time compilation, launches, clusters, graphs, copy bandwidth, and
// cuBLASLt against a plain kernel. Run it on a new machine before anything
// else, and after a change of driver or toolkit.
//
//   device_selftest [device]
//
// Exit status: 0 all as it should be, 1 no usable device, 2 a wrong result.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "backends/cuda/driver/device.h"
#include "backends/cuda/driver/library.h"
#include "backends/cuda/driver/memory.h"
#include "backends/cuda/driver/module.h"
#include "backends/cuda/driver/nvrtc.h"
#include "backends/cuda/driver/selftest_kernels.h"
#include "backends/cuda/driver/selftest_report.h"
#include "backends/cuda/driver/stream.h"
#include "hlo/base/status_macros.h"
#include "hlo/base/table.h"

namespace ridge::cuda {

absl::StatusOr<double> MedianMicros(const Stream& stream, int repeats,
                                    absl::FunctionRef<absl::Status()> body) {
  RIDGE_ASSIGN_OR_RETURN(Event begin, Event::Create(stream.context()));
  RIDGE_ASSIGN_OR_RETURN(Event end, Event::Create(stream.context()));
  for (int i = 0; i < 2; ++i) RIDGE_RETURN_IF_ERROR(body());
  std::vector<double> samples;
  for (int sample = 0; sample < 5; ++sample) {
    RIDGE_RETURN_IF_ERROR(begin.Record(stream));
    for (int i = 0; i < repeats; ++i) RIDGE_RETURN_IF_ERROR(body());
    RIDGE_RETURN_IF_ERROR(end.Record(stream));
    RIDGE_ASSIGN_OR_RETURN(double micros, ElapsedMicros(begin, end));
    samples.push_back(micros / repeats);
  }
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

namespace {

template <typename T>
absl::StatusOr<std::vector<T>> Download(const Stream& stream, DevicePtr from,
                                        size_t count) {
  std::vector<T> host(count);
  RIDGE_RETURN_IF_ERROR(
      CopyToHost(stream, host.data(), from, count * sizeof(T)));
  RIDGE_RETURN_IF_ERROR(stream.Synchronize());
  return host;
}

absl::Status Expect(bool condition, const std::string& what) {
  return condition ? absl::OkStatus() : absl::InternalError(what);
}

// What every check below works with.
struct Bench {
  const Context& context;
  const Stream& stream;
  Module& module;  // kBasicKernels
};

absl::StatusOr<std::string> CheckMemory(const Bench& b) {
  constexpr size_t kBytes = 1'000'003;
  RIDGE_ASSIGN_OR_RETURN(MemoryInfo before, b.context.Memory());
  RIDGE_ASSIGN_OR_RETURN(Arena arena, Arena::Create(b.context, 4 * kBytes));
  RIDGE_ASSIGN_OR_RETURN(DevicePtr first, arena.Allocate(kBytes));
  RIDGE_ASSIGN_OR_RETURN(DevicePtr second, arena.Allocate(kBytes));
  RIDGE_RETURN_IF_ERROR(
      Expect(first % kDeviceAlignment == 0 && second % kDeviceAlignment == 0,
             "arena parts are not aligned"));

  RIDGE_RETURN_IF_ERROR(Poison(b.stream, first, kBytes));
  RIDGE_ASSIGN_OR_RETURN(std::vector<uint8_t> bytes,
                         Download<uint8_t>(b.stream, first, kBytes));
  for (const uint8_t byte : bytes) {
    RIDGE_RETURN_IF_ERROR(Expect(byte == kPoisonByte, "poison has a gap"));
  }
  RIDGE_RETURN_IF_ERROR(Fill(b.stream, first, kBytes, 0x04030201));
  RIDGE_ASSIGN_OR_RETURN(bytes, Download<uint8_t>(b.stream, first, kBytes));
  for (size_t i = 0; i < kBytes; ++i) {
    RIDGE_RETURN_IF_ERROR(Expect(bytes[i] == 1 + i % 4, "fill is wrong"));
  }
  RIDGE_ASSIGN_OR_RETURN(PinnedBuffer pinned,
                         PinnedBuffer::Allocate(b.context, kBytes));
  for (size_t i = 0; i < kBytes; ++i) {
    pinned.as<uint8_t>()[i] = static_cast<uint8_t>(i * 7 + i / 251);
  }
  RIDGE_RETURN_IF_ERROR(CopyToDevice(b.stream, first, pinned.data(), kBytes));
  RIDGE_RETURN_IF_ERROR(CopyOnDevice(b.stream, second, first, kBytes));
  RIDGE_ASSIGN_OR_RETURN(bytes, Download<uint8_t>(b.stream, second, kBytes));
  RIDGE_RETURN_IF_ERROR(
      Expect(std::equal(bytes.begin(), bytes.end(), pinned.as<uint8_t>()),
             "the copy differs"));
  const absl::Status huge =
      DeviceBuffer::Allocate(b.context, size_t{1} << 50).status();
  RIDGE_RETURN_IF_ERROR(Expect(absl::IsResourceExhausted(huge),
                               absl::StrCat("1 PiB: ", huge.ToString())));
  return absl::StrCat("alloc, poison, fill, copies; ",
                      HumanBytes(before.free_bytes), " of ",
                      HumanBytes(before.total_bytes), " free");
}

absl::StatusOr<std::string> CheckVectorAdd(const Bench& b,
                                           const CompiledKernel& compiled) {
  constexpr int kCount = 100'003;
  RIDGE_ASSIGN_OR_RETURN(Function add, b.module.GetFunction("vector_add"));
  RIDGE_ASSIGN_OR_RETURN(FunctionFacts facts, add.Facts());
  const KernelResources* said = compiled.Find("vector_add");
  RIDGE_RETURN_IF_ERROR(Expect(
      said != nullptr && said->registers == facts.registers,
      absl::StrCat("ptxas and driver disagree: ", facts.registers,
                   " registers, ", said == nullptr ? -1 : said->registers)));
  std::vector<float> x(kCount);
  std::vector<float> y(kCount);
  for (int i = 0; i < kCount; ++i) {
    x[i] = 0.5f * static_cast<float>(i);
    y[i] = 3.0f - static_cast<float>(i % 97);
  }
  constexpr size_t kBytes = kCount * sizeof(float);
  RIDGE_ASSIGN_OR_RETURN(Arena arena,
                         Arena::Create(b.context, 3 * kBytes + 999));
  RIDGE_ASSIGN_OR_RETURN(DevicePtr dx, arena.Allocate(kBytes));
  RIDGE_ASSIGN_OR_RETURN(DevicePtr dy, arena.Allocate(kBytes));
  RIDGE_ASSIGN_OR_RETURN(DevicePtr dz, arena.Allocate(kBytes));
  RIDGE_RETURN_IF_ERROR(CopyToDevice(b.stream, dx, x.data(), kBytes));
  RIDGE_RETURN_IF_ERROR(CopyToDevice(b.stream, dy, y.data(), kBytes));
  RIDGE_RETURN_IF_ERROR(Poison(b.stream, dz, kBytes));
  LaunchConfig config;
  config.grid.x = (kCount + 255) / 256;
  config.block.x = 256;
  KernelArgs args;
  args.Add(dx).Add(dy).Add(dz).Add(kCount);
  RIDGE_RETURN_IF_ERROR(add.Launch(config, args, b.stream));
  RIDGE_ASSIGN_OR_RETURN(std::vector<float> z,
                         Download<float>(b.stream, dz, kCount));
  for (int i = 0; i < kCount; ++i) {
    RIDGE_RETURN_IF_ERROR(
        Expect(z[i] == x[i] + y[i], absl::StrCat("element ", i, " is wrong")));
  }
  RIDGE_ASSIGN_OR_RETURN(int blocks, add.MaxBlocksPerSm(256, 0));
  // Errors that must be clear rather than fatal.
  config.block.x = 4096;
  const absl::Status too_wide = add.Launch(config, args, b.stream);
  RIDGE_RETURN_IF_ERROR(Expect(!too_wide.ok(), "4096 threads were accepted"));
  const absl::Status unknown = b.module.GetFunction("nothing").status();
  RIDGE_RETURN_IF_ERROR(Expect(absl::IsNotFound(unknown),
                               absl::StrCat("lookup: ", unknown.ToString())));
  return absl::StrFormat(
      "%d registers, %d blocks of 256 per SM, compiled in "
      "%.0f ms%s; refused launch: %s",
      facts.registers, blocks, compiled.compile_ms,
      compiled.from_cache ? " (cached)" : "", std::string(too_wide.message()));
}

absl::StatusOr<std::string> CheckDynamicShared(const Bench& b) {
  const auto bytes =
      static_cast<size_t>(b.context.facts().shared_per_block_optin);
  const int count = static_cast<int>(bytes / sizeof(int));
  constexpr int kBlocks = 3;
  RIDGE_ASSIGN_OR_RETURN(Function f, b.module.GetFunction("reverse_dynamic"));
  RIDGE_RETURN_IF_ERROR(f.SetMaxDynamicShared(bytes));
  RIDGE_RETURN_IF_ERROR(Expect(!f.SetMaxDynamicShared(bytes + 1024).ok(),
                               "more than the device's limit was accepted"));
  RIDGE_ASSIGN_OR_RETURN(DeviceBuffer in,
                         DeviceBuffer::Allocate(b.context, kBlocks * bytes));
  RIDGE_ASSIGN_OR_RETURN(DeviceBuffer out,
                         DeviceBuffer::Allocate(b.context, kBlocks * bytes));
  std::vector<int> host(size_t{kBlocks} * count);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<int>(i * 3);
  RIDGE_RETURN_IF_ERROR(
      CopyToDevice(b.stream, in.ptr(), host.data(), kBlocks * bytes));
  LaunchConfig config;
  config.grid.x = kBlocks;
  config.block.x = 512;
  config.dynamic_shared_bytes = bytes;
  KernelArgs args;
  args.Add(in.ptr()).Add(out.ptr()).Add(count);
  RIDGE_RETURN_IF_ERROR(f.Launch(config, args, b.stream));
  RIDGE_ASSIGN_OR_RETURN(std::vector<int> got,
                         Download<int>(b.stream, out.ptr(), host.size()));
  for (size_t i = 0; i < got.size(); ++i) {
    const size_t block = i / count;
    RIDGE_RETURN_IF_ERROR(
        Expect(got[i] == host[block * count + count - 1 - i % count],
               absl::StrCat("word ", i, " is wrong")));
  }
  return absl::StrCat(bytes, " B per block");
}

absl::StatusOr<std::string> CheckClusters(const Bench& b, unsigned size) {
  RIDGE_ASSIGN_OR_RETURN(Function f, b.module.GetFunction("cluster_neighbour"));
  if (size > 8) RIDGE_RETURN_IF_ERROR(f.AllowLargeClusters());
  LaunchConfig config;
  config.cluster.x = size;
  config.grid.x = size * 10;
  config.block.x = 64;
  RIDGE_ASSIGN_OR_RETURN(int active, f.MaxActiveClusters(config));
  RIDGE_ASSIGN_OR_RETURN(
      DeviceBuffer out,
      DeviceBuffer::Allocate(b.context, config.grid.x * sizeof(int)));
  RIDGE_RETURN_IF_ERROR(Poison(b.stream, out.ptr(), out.size()));
  KernelArgs args;
  args.Add(out.ptr());
  RIDGE_RETURN_IF_ERROR(f.Launch(config, args, b.stream));
  RIDGE_ASSIGN_OR_RETURN(std::vector<int> got,
                         Download<int>(b.stream, out.ptr(), config.grid.x));
  for (unsigned i = 0; i < config.grid.x; ++i) {
    const unsigned next = i / size * size + (i + 1) % size;
    RIDGE_RETURN_IF_ERROR(Expect(got[i] == static_cast<int>(next),
                                 absl::StrCat("block ", i, " read ", got[i])));
  }
  return absl::StrCat("distributed shared memory; ", active,
                      " clusters of 64-thread blocks at once");
}

absl::StatusOr<std::string> CheckGraph(const Bench& b) {
  constexpr int kLaunches = 20;
  constexpr int kReplays = 50;
  RIDGE_ASSIGN_OR_RETURN(Function f, b.module.GetFunction("increment"));
  RIDGE_ASSIGN_OR_RETURN(DeviceBuffer word,
                         DeviceBuffer::Allocate(b.context, sizeof(int)));
  RIDGE_RETURN_IF_ERROR(Fill(b.stream, word.ptr(), sizeof(int), 0));
  LaunchConfig config;
  config.block.x = 32;
  KernelArgs args;
  args.Add(word.ptr());
  auto launches = [&]() -> absl::Status {
    for (int i = 0; i < kLaunches; ++i) {
      RIDGE_RETURN_IF_ERROR(f.Launch(config, args, b.stream));
    }
    return absl::OkStatus();
  };
  RIDGE_ASSIGN_OR_RETURN(Graph graph, Graph::Capture(b.stream, launches));
  RIDGE_ASSIGN_OR_RETURN(GraphExec exec, graph.Instantiate());
  RIDGE_ASSIGN_OR_RETURN(std::vector<GraphNode> nodes, graph.Nodes());
  RIDGE_RETURN_IF_ERROR(Expect(
      nodes.size() == kLaunches && nodes[0].kind == GraphNode::Kind::kKernel,
      absl::StrCat("graph of ", nodes.size(), " nodes")));
  for (int i = 0; i < kReplays; ++i) {
    RIDGE_RETURN_IF_ERROR(exec.Launch(b.stream));
  }
  RIDGE_ASSIGN_OR_RETURN(std::vector<int> got,
                         Download<int>(b.stream, word.ptr(), 1));
  RIDGE_RETURN_IF_ERROR(
      Expect(got[0] == kLaunches * kReplays, absl::StrCat("counted ", got[0])));
  RIDGE_ASSIGN_OR_RETURN(double direct, MedianMicros(b.stream, 20, launches));
  RIDGE_ASSIGN_OR_RETURN(double replayed, MedianMicros(b.stream, 20, [&] {
                           return exec.Launch(b.stream);
                         }));
  return absl::StrFormat("per launch %.2f µs, %.2f µs replayed; node name '%s'",
                         direct / kLaunches, replayed / kLaunches,
                         nodes[0].kernel_name);
}

absl::Status CheckBandwidth(const Bench& b, SelftestReport* report) {
  RIDGE_ASSIGN_OR_RETURN(MemoryInfo memory, b.context.Memory());
  // Each buffer is some 80 times Hopper's L2, so that no pass finds the last
  // one's data there; less where the device is small or in use.
  const auto bytes = static_cast<size_t>(
      std::min<int64_t>(int64_t{4} << 30, memory.free_bytes / 3) / 256 * 256);
  RIDGE_ASSIGN_OR_RETURN(DeviceBuffer in,
                         DeviceBuffer::Allocate(b.context, bytes));
  RIDGE_ASSIGN_OR_RETURN(DeviceBuffer out,
                         DeviceBuffer::Allocate(b.context, bytes));
  RIDGE_ASSIGN_OR_RETURN(DeviceBuffer wrong,
                         DeviceBuffer::Allocate(b.context, 8));
  RIDGE_ASSIGN_OR_RETURN(Function random,
                         b.module.GetFunction("fill_random_words"));
  RIDGE_ASSIGN_OR_RETURN(Function copy, b.module.GetFunction("copy16"));
  RIDGE_ASSIGN_OR_RETURN(Function compare,
                         b.module.GetFunction("count_different"));
  LaunchConfig config;
  config.block.x = 512;
  config.grid.x = static_cast<unsigned>(b.context.facts().sm_count) * 16;
  const auto words = static_cast<int64_t>(bytes / 4);
  KernelArgs random_args;
  random_args.Add(in.ptr()).Add(words).Add(uint32_t{1});
  RIDGE_RETURN_IF_ERROR(random.Launch(config, random_args, b.stream));
  KernelArgs copy_args;
  copy_args.Add(in.ptr()).Add(out.ptr()).Add(words / 4);

  struct Case {
    const char* name;
    absl::FunctionRef<absl::Status()> body;
    double bytes_moved;
  };
  auto by_kernel = [&] { return copy.Launch(config, copy_args, b.stream); };
  auto by_driver = [&] {
    return CopyOnDevice(b.stream, out.ptr(), in.ptr(), bytes);
  };
  auto fill = [&] { return Poison(b.stream, out.ptr(), bytes); };
  const double size = static_cast<double>(bytes);
  const Case cases[] = {{"copy kernel, 16 B per thread", by_kernel, 2 * size},
                        {"cuMemcpyDtoD", by_driver, 2 * size},
                        {"cuMemsetD8 (writes only)", fill, size}};
  for (const Case& c : cases) {
    RIDGE_ASSIGN_OR_RETURN(double micros, MedianMicros(b.stream, 3, c.body));
    const double rate = c.bytes_moved / (micros * 1e-6);
    report->Info(absl::StrCat("bandwidth: ", c.name),
                 absl::StrFormat(
                     "%.3f TB/s, %.1f%% of peak, %s moved in %s", rate * 1e-12,
                     100 * rate / b.context.facts().PeakBytesPerSecond(),
                     HumanBytes(static_cast<int64_t>(c.bytes_moved)),
                     HumanMicros(micros)));
  }
  // The copies must also have copied.
  for (int i = 0; i < 2; ++i) {
    RIDGE_RETURN_IF_ERROR(Poison(b.stream, out.ptr(), bytes));
    RIDGE_RETURN_IF_ERROR(cases[i].body());
    RIDGE_RETURN_IF_ERROR(Fill(b.stream, wrong.ptr(), 8, 0));
    KernelArgs args;
    args.Add(in.ptr()).Add(out.ptr()).Add(words).Add(wrong.ptr());
    RIDGE_RETURN_IF_ERROR(compare.Launch(config, args, b.stream));
    RIDGE_ASSIGN_OR_RETURN(std::vector<uint64_t> count,
                           Download<uint64_t>(b.stream, wrong.ptr(), 1));
    RIDGE_RETURN_IF_ERROR(Expect(
        count[0] == 0, absl::StrCat(cases[i].name, ": ", count[0], " wrong")));
  }
  report->Pass("bandwidth: copies are exact", HumanBytes(words * 4));
  return absl::OkStatus();
}

void ProbeBigStaticShared(const Bench& b, SelftestReport* report) {
  const std::string name = "80,000 B of static shared memory";
  CompileRequest request;
  request.name = "big_static_shared";
  request.source = kBigStaticShared;
  request.arch = b.context.facts().Arch();
  const absl::StatusOr<CompiledKernel> compiled =
      Compile(request, &KernelCache());
  if (!compiled.ok()) {
    report->Info(name, compiled.status().ToString());
    return;
  }
  const absl::Status loaded = Module::Load(b.context, compiled->cubin).status();
  report->Info(name, loaded.ok() ? "compiles and loads"
                                 : "compiles, but: " + loaded.ToString());
}

void RunBasics(const Context& context, const Stream& stream,
               SelftestReport* report) {
  CompileRequest request;
  request.name = "selftest";
  request.source = kBasicKernels;
  request.arch = context.facts().Arch();
  const absl::StatusOr<CompiledKernel> compiled =
      Compile(request, &KernelCache());
  if (!compiled.ok()) {
    report->Fail("compile", compiled.status().ToString());
    return;
  }
  absl::StatusOr<Module> module = Module::Load(context, compiled->cubin);
  if (!module.ok()) {
    report->Fail("load", module.status().ToString());
    return;
  }
  const Bench bench = {context, stream, *module};
  report->Note("memory", CheckMemory(bench));
  report->Note("vector add", CheckVectorAdd(bench, *compiled));
  report->Note("dynamic shared memory", CheckDynamicShared(bench));
  for (const unsigned size : {2u, 8u, 16u}) {
    const std::string name = absl::StrCat("clusters of ", size);
    if (context.facts().cluster_launch) {
      report->Note(name, CheckClusters(bench, size));
    } else {
      report->None(name, "before compute capability 9.0");
    }
  }
  report->Note("graph replay", CheckGraph(bench));
  ProbeBigStaticShared(bench, report);
  const absl::Status bandwidth = CheckBandwidth(bench, report);
  if (!bandwidth.ok()) report->Fail("bandwidth", bandwidth.ToString());
}

int Main(int ordinal) {
  const absl::StatusOr<std::unique_ptr<Context>> context =
      Context::Create(ordinal);
  if (!context.ok()) {
    std::fprintf(stderr, "device_selftest: %s\n",
                 std::string(context.status().message()).c_str());
    return 1;
  }
  std::printf("%s", (*context)->facts().ToString().c_str());
  const absl::StatusOr<const NvrtcApi*> nvrtc = Nvrtc();
  const absl::StatusOr<const CublasLtApi*> lt = CublasLt();
  std::printf("driver: %s\n", (*context)->api().path.c_str());
  std::printf("NVRTC: %s\n",
              nvrtc.ok() ? absl::StrCat((*nvrtc)->path, ", ", (*nvrtc)->major,
                                        ".", (*nvrtc)->minor)
                               .c_str()
                         : nvrtc.status().ToString().c_str());
  std::printf("cuBLASLt: %s\n\n",
              lt.ok() ? absl::StrCat((*lt)->path, ", ", (*lt)->version).c_str()
                      : lt.status().ToString().c_str());
  SelftestReport report;
  const absl::StatusOr<Stream> stream = Stream::Create(**context);
  if (!stream.ok()) {
    report.Fail("stream", stream.status().ToString());
    return report.Finish();
  }
  RunBasics(**context, *stream, &report);
  RunMatmulSelftest(**context, &report);
  const absl::Status last = (*context)->Synchronize();
  if (!last.ok()) report.Fail("the device afterwards", last.ToString());
  return report.Finish();
}

}  // namespace
}  // namespace ridge::cuda

int main(int argc, char** argv) {
  return ridge::cuda::Main(argc > 1 ? std::atoi(argv[1]) : 0);
}
