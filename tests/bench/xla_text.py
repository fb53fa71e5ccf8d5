"""XLA's own parser and printer on the modules Ridge reads, side by side.

    pip install jax
    bazel build //hlo/text:parse_bench
    python3 tests/bench/xla_text.py MODULE.hlo [--bench=PATH]

Runs XLA (hlo_module_from_text, to_string, serialisation) and Ridge's
parse_bench in turn, several times, and prints the best and the median time of
each and their ratios. Turns alternate so that other load on the machine falls
on both alike.
"""

import argparse
import re
import statistics
import subprocess
import time


def timed(function):
    """Milliseconds of one call, and its result."""
    start = time.perf_counter()
    result = function()
    return (time.perf_counter() - start) * 1e3, result


def xla_times(text):
    """Milliseconds XLA takes to parse, print and serialise."""
    from jaxlib import _hlo  # pylint: disable=import-outside-toplevel

    parse, module = timed(lambda: _hlo.hlo_module_from_text(text))
    printing, _ = timed(module.to_string)
    serialise, _ = timed(module.as_serialized_hlo_module_proto)
    return {"parse": parse, "print": printing, "serialise": serialise}


def ridge_times(bench, path):
    """Milliseconds that parse_bench reports for the file."""
    out = subprocess.run(
        [bench, "--once", path], check=True, capture_output=True, text=True
    ).stdout
    line = next(l for l in out.splitlines() if "instr" in l)
    numbers = re.search(
        r"parse +([\d.]+) ms.*verify +([\d.]+).*print +([\d.]+)", line
    )
    return dict(zip(("parse", "verify", "print"), map(float, numbers.groups())))


def main():
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("module")
    parser.add_argument("--bench", default="bazel-bin/hlo/text/parse_bench")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    with open(args.module, encoding="utf-8") as file:
        text = file.read()
    xla, ridge = [], []
    for _ in range(args.rounds):
        xla.append(xla_times(text))
        ridge.append(ridge_times(args.bench, args.module))

    def both(samples, keys):
        sums = [sum(s[k] for k in keys) for s in samples]
        return min(sums), statistics.median(sums)

    rows = [
        ("parse", ["parse"], ["parse"]),
        ("print", ["print"], ["print"]),
        ("parse + print (Ridge: + verify)", ["parse", "print"],
         ["parse", "verify", "print"]),
    ]
    print(f"{'ms, best (median)':34} {'XLA':>18} {'Ridge':>18} {'ratio':>7}")
    for label, xla_keys, ridge_keys in rows:
        x, r = both(xla, xla_keys), both(ridge, ridge_keys)
        print(
            f"{label:34} {x[0]:9.1f} ({x[1]:6.1f}) {r[0]:9.1f} ({r[1]:6.1f})"
            f" {x[0] / r[0]:6.1f}x"
        )
    x = both(xla, ["serialise"])
    print(f"{'serialise':34} {x[0]:9.1f} ({x[1]:6.1f})")


if __name__ == "__main__":
    main()
