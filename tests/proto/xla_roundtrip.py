#!/usr/bin/env python3
"""Checks Ridge's protobuf code against the real XLA, both ways.

    pip install jax
    python3 tests/proto/xla_roundtrip.py --hlo=bazel-bin/tools/hlo/hlo FILE.hlo...

For each module that XLA parses:
  reading  XLA serialises it, Ridge reads that and writes HLO text, XLA parses
           the text and prints it; the print must be that of the original.
  writing  Ridge serialises the text, XLA reads that and prints it; the print
           must be that of XLA's own message read back. (XLA's message has no
           replica_count and the like, so that it differs from the original
           there.)
Prints one line for each difference, and counts. Not part of the test suite: it
needs JAX, and XLA aborts the process on some modules.
"""
import argparse
import collections
import os
import subprocess
import tempfile

from jaxlib import _hlo


def xla_text(message):
    return _hlo.XlaComputation(message).get_hlo_module().to_string()


def ridge(hlo, to, source, target):
    done = subprocess.run(
        [hlo, "--to=" + to, "--output=" + target, source],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise RuntimeError("ridge: " + done.stderr.strip()[:200])


def first_difference(a, b):
    for x, y in zip(a.split("\n"), b.split("\n")):
        if x != y:
            return f"\n  < {x[:200]}\n  > {y[:200]}"
    return " in length"


def compare(name, what, expected, found, counts):
    if expected == found:
        counts[what + " same"] += 1
    else:
        counts[what + " different"] += 1
        print(f"{name}: {what}{first_difference(expected, found)}")


def check(hlo, path, folder, counts):
    name = os.path.basename(path)
    with open(path, errors="replace") as f:
        text = f.read()
    try:
        module = _hlo.hlo_module_from_text(text)
    except Exception:
        counts["not read by XLA"] += 1
        return
    message = module.as_serialized_hlo_module_proto()
    source = os.path.join(folder, "xla.hlo.pb")
    target = os.path.join(folder, "ridge.hlo")
    with open(source, "wb") as f:
        f.write(message)
    try:
        again = xla_text(message)
    except Exception:
        counts["not read back by XLA itself"] += 1
        return
    try:
        ridge(hlo, "text", source, target)
        with open(target) as f:
            found = _hlo.hlo_module_from_text(f.read()).to_string()
        compare(name, "reading", again, found, counts)
        written = os.path.join(folder, "ridge.hlo.pb")
        ridge(hlo, "proto", path, written)
        with open(written, "rb") as f:
            found = xla_text(f.read())
        compare(name, "writing", again, found, counts)
    except Exception as error:
        counts["errors"] += 1
        print(f"{name}: {str(error)[:300]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hlo", required=True, help="the hlo tool")
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for path in arguments.files:
            check(arguments.hlo, path, folder, counts)
    for what, n in sorted(counts.items()):
        print(f"{n:6} {what}")


if __name__ == "__main__":
    main()
