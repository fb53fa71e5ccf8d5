#!/usr/bin/env python3
"""Checks what Ridge writes against the real XLA, as text and as protobuf.

    pip install jax
    bazel build //tools:hlo
    python3 tests/proto/xla_roundtrip.py --hlo=bazel-bin/tools/hlo FILE.hlo...

For each module that XLA parses:
  text, short, canonical
           Ridge prints the text in this form, XLA parses that and prints it;
           the print must be that of the original (for canonical: the canonical
           print, the module's name aside).
  reading  XLA serialises the original, Ridge reads that and writes HLO text,
           XLA parses the text and prints it; the print must be that of XLA's
           own message read back. (XLA's message has no replica_count and the
           like, so that it differs from the original there.)
  writing  Ridge serialises the text, XLA reads that and prints it; the print
           must be that of XLA's own message read back.
Prints one line for each difference, and counts; exit code 2 where a difference
is not among KNOWN. XLA aborts its process on some modules and never comes back
from others: each is checked in a process of its own, with a time limit, and
what it died of is told (on its own output or on Ridge's). Not part of the test
suite: it needs JAX.
"""
import argparse
import collections
import json
import math
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile

from jaxlib import _hlo

# Files (parts of their names) on which Ridge and XLA differ, and why.
NAN_PARTS = ("XLA's parser reads the complex number (nan, x) as (nan, nan), "
             "which its message then holds")
PACKED = ("XLA's parser forgets the element size of constants, S4[2]{0:E(4)}; "
          "its reader of messages keeps it")
SLICE_SIZES = "XLA reads beyond the end of slice_sizes, whatever lies there"
KNOWN = {
    "HloConstantFoldingTest.FoldInt4Ops": PACKED,
    "OptimizedSubByteAllGatherOnDim0OutputIsCorrect": PACKED,
    "TupleInPlaceAsyncCollectivePermuteSameBuffer": SLICE_SIZES,
    "CpuCodegenTest.WhileDotDoesNotError": NAN_PARTS,
    "DivideComplexNumbersWithInfiniteNormRhs": NAN_PARTS,
    "DivideComplexNumbersWithFiniteNormRhs": NAN_PARTS,
    "DivideComplexNumbersWithZeroNormRhs": NAN_PARTS,
}


# XLA takes seconds to print constants of more elements.
MOST_ELEMENTS = 100000


def prints_constants(text):
    """Whether all constants have values, few enough to compare."""
    if "{...}" in text:  # XLA makes up other values for each parse
        return False
    return all(
        math.prod(int(d) for d in dims.split(",") if d) <= MOST_ELEMENTS
        for dims in re.findall(r"= *\w+\[([\d,]*)\]\S* constant\(", text))


def printed(module, constants, options=None):
    options = options or _hlo.HloPrintOptions()
    options.print_large_constants = constants
    text = module.to_string(options)
    if not constants:
        text = re.sub(r"constant\(.*?\)([,\n])", r"constant()\1", text)
    return text


def canonical(module, constants):
    """Without the names of the module and its computations, which XLA keeps."""
    text = printed(module, constants, _hlo.HloPrintOptions.canonical())
    text = text.replace("HloModule " + module.name, "HloModule module", 1)
    text = re.sub(r"^(ENTRY )?\S+ \{", r"\1c {", text, flags=re.M)
    return text


def from_message(message):
    return _hlo.XlaComputation(message).get_hlo_module()


def ridge(hlo, to, source, target):
    done = subprocess.run(
        [hlo, "--to=" + to, "--output=" + target, source],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        check=False)
    if done.returncode != 0:
        raise RuntimeError("Ridge: " + done.stderr.strip()[:300])


def read(path, mode="r"):
    with open(path, mode) as f:
        return f.read()


def first_difference(a, b):
    for x, y in zip(a.split("\n"), b.split("\n")):
        if x != y:
            at = 0
            while at < min(len(x), len(y)) and x[at] == y[at]:
                at += 1
            at = max(at - 60, 0)
            return f"\n  < {x[at:at + 200]}\n  > {y[at:at + 200]}"
    return " in length"


def steps(hlo, path, folder):
    """Yields (step, expected, found) as functions of nothing."""
    with open(path, errors="replace") as f:
        text = f.read()
    constants = prints_constants(text)
    original = _hlo.hlo_module_from_text(text)
    target = os.path.join(folder, "ridge.hlo")
    for form, show in (("text", printed), ("short", printed),
                       ("canonical", canonical)):
        def found(form=form, show=show):
            ridge(hlo, form, path, target)
            return show(_hlo.hlo_module_from_text(read(target)), constants)
        yield form, lambda show=show: show(original, constants), found
    message = original.as_serialized_hlo_module_proto()
    source = os.path.join(folder, "xla.hlo.pb")
    with open(source, "wb") as f:
        f.write(message)

    def reading():
        ridge(hlo, "text", source, target)
        return printed(_hlo.hlo_module_from_text(read(target)), constants)

    def writing():
        ridge(hlo, "proto", path, target + ".pb")
        return printed(from_message(read(target + ".pb", "rb")), constants)

    def again():
        return printed(from_message(message), constants)
    yield "reading", again, reading
    yield "writing", again, writing


def check(hlo, path, folder, report):
    """Runs in a process of its own; report(...) takes a list of two texts."""
    report("stage", "not read by XLA")
    try:
        for step, expected, found in steps(hlo, path, folder):
            report("stage", step + ": XLA refuses its own")
            want = expected()
            report("stage", step + ": XLA refuses Ridge's")
            have = found()
            report("stage", "not read by XLA")
            if have == want:
                report("count", step + " same")
            else:
                report("count", step + " different")
                report("say", step + ": " + first_difference(want, have))
    except Exception as error:  # pylint: disable=broad-except
        report("error", str(error)[:300])


def check_apart(hlo, path, folder, limit, counts):
    """Forks, and counts what the child reports; returns what is to be said."""
    receive, send = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        signal.alarm(20 * limit)  # where it waits for what never comes
        os.close(receive)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # XLA's last words
        with os.fdopen(send, "w") as out:
            def report(*what):
                out.write(json.dumps(what) + "\n")
                out.flush()
            check(hlo, path, folder, report)
        os._exit(0)
    os.close(send)
    stage, error, says = "", None, []
    with os.fdopen(receive) as lines:
        for line in lines:
            kind, what = json.loads(line)
            if kind == "stage":
                stage = what
            elif kind == "count":
                counts[what] += 1
            elif kind == "say":
                says.append(what)
            else:
                error = what
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        out_of_time = signal.SIGALRM, signal.SIGXCPU, signal.SIGKILL
        error = (f"no end after {limit} s" if number in out_of_time
                 else f"signal {number}")
    if error is not None:
        counts[stage] += 1
        if stage.endswith("Ridge's"):
            says.append(stage + ": " + error)
        else:
            print(f"{os.path.basename(path)}: {stage} ({error[:60]})",
                  flush=True)
    return says


def reason_of(path):
    for name, reason in KNOWN.items():
        if name in path:
            return reason
    return None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--hlo", default="bazel-bin/tools/hlo",
                        help="the hlo tool")
    parser.add_argument("--limit", type=int, default=60,
                        help="processor seconds for each file")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    counts = collections.Counter()
    surprises = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in arguments.files:
            says = check_apart(arguments.hlo, path, folder, arguments.limit,
                               counts)
            reason = reason_of(path)
            if says and reason:
                counts["files that differ for a known reason"] += 1
                continue
            if reason:
                says.append("no longer differs: " + reason)
            surprises += bool(says)
            for say in says:
                print(f"{os.path.basename(path)}: {say}", flush=True)
    for what, n in sorted(counts.items()):
        print(f"{n:6} {what}")
    sys.exit(2 if surprises else 0)


if __name__ == "__main__":
    main()
