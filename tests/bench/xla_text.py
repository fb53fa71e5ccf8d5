"""XLA's own parser and printer on the modules Ridge reads, side by side.

    pip install jax
    bazel build //hlo/text:bench
    python3 tests/bench/xla_text.py MODULE.hlo [--bench=PATH]

Runs XLA (hlo_module_from_text, to_string, serialisation) and Ridge's
bench in turn, several times, and prints the best wall time of each, the
least processor time, and their ratios. Turns alternate so that other load on
the machine falls on both alike.
"""

import argparse
import re
import subprocess
import time


def timed(function):
    """Milliseconds (wall, processor) of one call, and its result."""
    start = time.perf_counter(), time.process_time()
    result = function()
    end = time.perf_counter(), time.process_time()
    return ((end[0] - start[0]) * 1e3, (end[1] - start[1]) * 1e3), result


def xla_times(text):
    """Milliseconds XLA takes to parse, print and serialise."""
    from jaxlib import _hlo  # pylint: disable=import-outside-toplevel

    parse, module = timed(lambda: _hlo.hlo_module_from_text(text))
    printing, _ = timed(module.to_string)
    serialise, _ = timed(module.as_serialized_hlo_module_proto)
    return {"parse": parse, "print": printing, "serialise": serialise}


def ridge_times(bench, path):
    """Milliseconds that it reports for the file."""
    out = subprocess.run(
        [bench, "--once", path], check=True, capture_output=True, text=True
    ).stdout
    line = next(l for l in out.splitlines() if "instr" in l)
    number = r" +([\d.]+)(?: ms)? \( *([\d.]+)\)"
    return {
        step: tuple(map(float, re.search(step + number, line).groups()))
        for step in ("parse", "verify", "print")
    }


def main():
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("module")
    parser.add_argument("--bench", default="bazel-bin/hlo/text/bench")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    with open(args.module, encoding="utf-8") as file:
        text = file.read()
    xla, ridge = [], []
    for _ in range(args.rounds):
        xla.append(xla_times(text))
        ridge.append(ridge_times(args.bench, args.module))

    def best(samples, keys, clock):
        return min(sum(s[k][clock] for k in keys) for s in samples)

    rows = [
        ("parse", ["parse"], ["parse"]),
        ("print", ["print"], ["print"]),
        ("parse + print (Ridge: + verify)", ["parse", "print"],
         ["parse", "verify", "print"]),
    ]
    for clock, name in enumerate(("wall", "processor")):
        print(f"{name + ' ms, best':34} {'XLA':>9} {'Ridge':>9} {'ratio':>7}")
        for label, xla_keys, ridge_keys in rows:
            x, r = best(xla, xla_keys, clock), best(ridge, ridge_keys, clock)
            print(f"{label:34} {x:9.1f} {r:9.1f} {x / r:6.1f}x")
        print(f"{'serialise':34} {best(xla, ['serialise'], clock):9.1f}")


if __name__ == "__main__":
    main()
