"""@cuda//:headers: CUDA's headers where they are installed.

Looks in CUDA_HOME, else in /usr/local/cuda. When cuda.h, nvrtc.h and
cublasLt.h are all there, the library carries them and defines
RIDGE_HAVE_CUDA_HEADERS=1; otherwise it is empty. Nothing is ever linked: the
driver, NVRTC and cuBLASLt are opened at run time, so one binary starts with
or without a GPU.
"""

_NEEDED = ["cuda.h", "nvrtc.h", "cublasLt.h"]

_BUILD = """\
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    {attributes}
)
"""

# The toolkit's own tree has thousands of headers; these are what the three
# entry points include.
_FOUND = """hdrs = glob([
        "include/*.h",
        "include/*.hpp",
        "include/crt/**",
    ]),
    defines = ["RIDGE_HAVE_CUDA_HEADERS=1"],
    includes = ["include"],"""

def _cuda_repository_impl(ctx):
    home = ctx.os.environ.get("CUDA_HOME", "") or "/usr/local/cuda"
    include = ctx.path(home).get_child("include")
    found = all([include.get_child(name).exists for name in _NEEDED])
    if found:
        ctx.symlink(include, "include")
    ctx.file(
        "BUILD",
        _BUILD.format(attributes = _FOUND if found else ""),
        executable = False,
    )

cuda_repository = repository_rule(
    implementation = _cuda_repository_impl,
    configure = True,
    environ = ["CUDA_HOME"],
    local = True,
)
