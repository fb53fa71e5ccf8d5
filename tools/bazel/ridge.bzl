"""Ridge's build rules.

    load("//tools/bazel:ridge.bzl", "ridge_cc_library", "ridge_cc_test")

    ridge_cc_library(
        name = "fingerprint",
        srcs = ["fingerprint.cc"],
        hdrs = ["fingerprint.h"],
        deps = ["@system//:absl"],
    )

    ridge_cc_test(
        name = "fingerprint_test",
        srcs = ["fingerprint_test.cc"],
        deps = [":fingerprint"],
    )

tools/bazel/selftest has a working use of each rule.

Each rule takes the attributes of the native rule of the same name, and adds
Ridge's warnings (as errors) and static linking: the distribution's archives
are not position-independent, so no target may make a shared library. Targets
are public unless they say otherwise.
"""

# System headers are found with -isystem or on the compiler's own path, so
# these apply to Ridge's code alone.
_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",
    # GCC 12 sees uses of uninitialised members in optional and variant that
    # are not there once it has inlined them.
    "-Wno-maybe-uninitialized",
] + select({
    # Instrumented code confuses GCC's analysis even more.
    "//tools/bazel:sanitizer": [],
    "//conditions:default": ["-Werror"],
})

def _common(kwargs):
    kwargs = dict(kwargs)
    kwargs["copts"] = _WARNINGS + kwargs.get("copts", [])
    kwargs.setdefault("linkstatic", 1)
    kwargs.setdefault("visibility", ["//visibility:public"])
    return kwargs

def ridge_cc_library(name, **kwargs):
    native.cc_library(name = name, **_common(kwargs))

def ridge_cc_binary(name, **kwargs):
    native.cc_binary(name = name, **_common(kwargs))

def ridge_cc_test(name, deps = [], main = True, **kwargs):
    """A GoogleTest (and GoogleMock) test.

    Args:
      name: the target's name, ending in _test.
      deps: libraries under test; GoogleTest is added.
      main: whether to link GoogleTest's main(); False if srcs has its own.
      **kwargs: as for cc_test; size is "small" unless given.
    """
    kwargs = _common(kwargs)
    kwargs.setdefault("size", "small")
    gtest = "@system//:gtest_main" if main else "@system//:gtest"
    native.cc_test(name = name, deps = deps + [gtest], **kwargs)

def ridge_cc_benchmark(name, deps = [], **kwargs):
    """A Google Benchmark program with its main(); built with the rest, run by hand.

        bazel run //hlo/base:fingerprint_benchmark
    """
    native.cc_binary(
        name = name,
        deps = deps + ["@system//:benchmark_main"],
        testonly = 1,
        **_common(kwargs)
    )

def _source_target(label):
    """The filegroup with the .proto files of another ridge_proto_library."""
    if ":" not in label:
        label += ":" + label.split("/")[-1]
    return label + "_src"

def ridge_proto_library(name, src, deps = [], **kwargs):
    """C++ code of one .proto file, as a library.

    A file x/y.proto is imported by other .proto files, and included from C++
    (x/y.pb.h), by its path from the root of the repository.

    Args:
      name: the library's name, such as "plan_proto".
      src: the .proto file.
      deps: the ridge_proto_library targets whose files src imports.
      **kwargs: as for cc_library.
    """
    if not src.endswith(".proto"):
        fail("ridge_proto_library %s: src must end in .proto" % name)
    stem = src[:-len(".proto")]
    visibility = kwargs.pop("visibility", ["//visibility:public"])
    native.filegroup(
        name = name + "_src",
        srcs = [src] + [_source_target(dep) for dep in deps],
        visibility = visibility,
    )
    native.genrule(
        name = name + "_gen",
        srcs = [src, ":" + name + "_src"],
        outs = [stem + ".pb.h", stem + ".pb.cc"],
        cmd = "protoc -I. --cpp_out=$(GENDIR) $(location %s)" % src,
    )
    native.cc_library(
        name = name,
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h"],
        copts = ["-w"],
        linkstatic = 1,
        visibility = visibility,
        deps = deps + ["@system//:protobuf"],
        **kwargs
    )
