# System libraries; see tools/bazel/system.bzl. Their headers lie on the
# compiler's own include path, except Eigen's.
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "absl",
    linkopts = [
        "-Wl,--start-group",
        {ABSL_ARCHIVES},
        "-Wl,--end-group",
        "-pthread",
    ],
)

cc_library(
    name = "protobuf",
    linkopts = [
        "-l:libprotobuf.a",
        "-lz",
        "-pthread",
    ],
)

cc_library(
    name = "gflags",
    linkopts = [
        "-l:libgflags.a",
        "-pthread",
    ],
)

cc_library(
    name = "eigen",
    hdrs = glob([
        "eigen3/Eigen/**",
        "eigen3/unsupported/Eigen/**",
    ]),
    includes = ["eigen3"],
)

# GoogleTest and GoogleMock, for a test that has its own main().
cc_library(
    name = "gtest",
    linkopts = [
        "-l:libgmock.a",
        "-l:libgtest.a",
        "-pthread",
    ],
)

cc_library(
    name = "gtest_main",
    linkopts = ["-l:libgmock_main.a"],
    deps = [":gtest"],
)

# The distribution has this one as a shared library only; benchmarks are run
# where they are built.
cc_library(
    name = "benchmark",
    linkopts = [
        "-lbenchmark",
        "-pthread",
    ],
)

cc_library(
    name = "benchmark_main",
    linkopts = ["-l:libbenchmark_main.a"],
    deps = [":benchmark"],
)

cc_library(
    name = "sqlite",
    linkopts = [
        "-l:libsqlite3.a",
        "-lz",
        "-lm",
        "-ldl",
        "-pthread",
    ],
)

# nlohmann/json; headers only: #include <nlohmann/json.hpp>.
cc_library(name = "json")

cc_library(
    name = "xxhash",
    linkopts = ["-l:libxxhash.a"],
)

cc_library(
    name = "zlib",
    linkopts = ["-lz"],
)

# dlopen() and friends; empty with a recent glibc.
cc_library(
    name = "dl",
    linkopts = ["-ldl"],
)
