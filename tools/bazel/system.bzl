"""@system: one cc_library for each library that the distribution provides.

The archives are linked statically (-l:libNAME.a), so that a tool built here
runs on another machine that has only libc, libm, libgcc, libstdc++ and libz.
"""

def _library_folder(ctx, archive):
    """Asks the compiler where it finds an archive; fails when it does not."""
    compiler = ctx.os.environ.get("CC", "") or "gcc"
    found = ctx.execute([compiler, "-print-file-name=" + archive])
    path = found.stdout.strip()
    if found.return_code != 0 or not path.startswith("/"):
        fail("%s is not installed (looked for %s); run ./setup.sh" %
             (archive.replace(".a", ""), archive))
    return ctx.path(path).dirname

def _system_repository_impl(ctx):
    # Abseil comes as some sixty archives, their number and names change from
    # one release to the next, and they refer to each other: all of them go
    # into one linker group.
    archives = sorted([
        "-l:" + path.basename
        for path in _library_folder(ctx, "libabsl_base.a").readdir()
        if path.basename.startswith("libabsl_") and
           path.basename.endswith(".a") and
           "test_util" not in path.basename
    ])

    eigen = ctx.path("/usr/include/eigen3")
    if not eigen.exists:
        fail("Eigen is not installed; run ./setup.sh")
    ctx.symlink(eigen.get_child("Eigen"), "eigen3/Eigen")
    ctx.symlink(eigen.get_child("unsupported"), "eigen3/unsupported")

    ctx.template("BUILD", ctx.attr._build, {
        "{ABSL_ARCHIVES}": ",\n        ".join(['"%s"' % a for a in archives]),
    }, executable = False)

system_repository = repository_rule(
    implementation = _system_repository_impl,
    attrs = {
        "_build": attr.label(
            default = "//tools/bazel:system.BUILD.tpl",
            allow_single_file = True,
        ),
    },
    configure = True,
    environ = ["CC"],
    local = True,
)
