"""Ridge's kernels beside XLA's and torch.compile's, on this machine.

    pip install 'jax[cuda]'   # or jax, for the CPU; torch for --torch
    bazel build //tools:run
    python3 tests/bench/kernels.py MODULE.hlo... [--backend=cuda|cpu]
        [--run=PATH] [--csv=FILE] [--only=NAMES] [--torch[=NAMES]]
        [--rounds=N]

For each module: the time of Ridge (`run`: on a GPU a graph replay, with the
last-level cache flushed between samples; median) and of XLA (the same text,
compiled for this device, median of five bursts after a warm-up, arrays from the
same distribution), the floor (every argument read once and every result written
once, at the bandwidth that a large copy reaches in the same process), and both
as multiples of it. On a GPU, modules whose data fits the cache flatter XLA,
which is not timed with a cold one; on a CPU neither is. Where other work runs
on the machine, --rounds measures XLA and Ridge in turn, and the least counts.

The last two times are seconds: Ridge's from the file to the first result (its
kernel cache empty, the arguments in place, the back end open), and what XLA
takes to compile the module, which it has parsed.

--torch adds torch.compile, in a process of its own, for the modules that
torch_suite.py has (or those named); it takes some ten seconds a module to
compile. The last lines are the geometric means of each peer's time, and of the
best peer's, over Ridge's; a row where the best peer is faster ends with the
peer's name.

The suite at sizes for a CPU: tests/bench/reduced.py.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

# Other processes use the device too.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

# pylint: disable=wrong-import-position
import jax
import jax.numpy as jnp
import numpy
from jaxlib import _hlo
from jaxlib import _jax
from jaxlib import xla_client

COPY_BYTES = 1 << 30
BURSTS = 5


def bursts(call):
    """Median microseconds of a call, in bursts of some 50 ms."""

    def burst(count):
        start = time.perf_counter()
        for _ in range(count):
            result = call()
        jax.block_until_ready(result)
        return (time.perf_counter() - start) / count * 1e6

    burst(2)
    count = max(3, min(200, int(5e4 / burst(1))))
    return statistics.median(burst(count) for _ in range(BURSTS))


def host_copy_bandwidth():
    """The same, with a thread on each core, between arrays that are there."""
    threads = len(os.sched_getaffinity(0))
    count = COPY_BYTES // 16 // threads
    pairs = [(numpy.ones(count, numpy.float32), numpy.ones(count, numpy.float32))
             for _ in range(threads)]
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:

        def copy():
            list(pool.map(lambda pair: numpy.copyto(*pair), pairs))

        samples = []
        for _ in range(10 * BURSTS):
            start = time.perf_counter()
            copy()
            samples.append(time.perf_counter() - start)
    return 2 * 4 * count * threads / min(samples)


def copy_bandwidth():
    """Bytes a second that a copy reads and writes."""
    if jax.devices()[0].platform == "cpu":
        return host_copy_bandwidth()
    source = jnp.ones((COPY_BYTES // 4,), jnp.float32)
    copy = jax.jit(lambda x: x + 1)
    return 2 * COPY_BYTES / bursts(lambda: copy(source)) * 1e6


def geometric_mean(ratios):
    return math.exp(statistics.mean(math.log(r) for r in ratios))


def random_array(shape, key):
    dims, dtype = shape.dimensions(), shape.numpy_dtype()
    if dtype == jnp.bool_:
        return jax.random.bernoulli(key, 0.9, dims)
    if jnp.issubdtype(dtype, jnp.integer):
        return jax.random.randint(key, dims, 0, 10).astype(dtype)
    return jax.random.normal(key, dims, jnp.float32).astype(dtype)


def leaves(shape):
    return [leaf for part in shape.tuple_shapes() for leaf in leaves(part)
           ] if shape.is_tuple() else [shape]


def xla(path):
    """Microseconds on XLA, seconds to compile, bytes of arguments and results."""
    with open(path, encoding="utf-8") as file:
        module = _hlo.hlo_module_from_text(file.read())
    computation = _hlo.XlaComputation(
        module.as_serialized_hlo_module_proto())
    shape = computation.program_shape()
    device = jax.devices()[0]
    text = _jax.mlir.xla_computation_to_mlir_module(computation)
    start = time.perf_counter()
    executable = device.client.compile_and_load(
        text, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    compile_s = time.perf_counter() - start
    arguments = [
        random_array(s, jax.random.key(k))
        for k, parameter in enumerate(shape.parameter_shapes())
        for s in leaves(parameter)
    ]
    results = leaves(shape.result_shape())
    moved = sum(a.nbytes for a in arguments) + sum(
        s.numpy_dtype().itemsize * int(jnp.prod(jnp.array(s.dimensions() or (1,))))
        for s in results)
    us = bursts(lambda: executable.execute_sharded(arguments)
                .disassemble_into_single_device_arrays())
    return us, compile_s, moved


def ridge(run, backend, path):
    """Microseconds, kernels and seconds to the first result of Ridge."""
    command = [run, path, f"--backend={backend}", "--format=json"]
    if backend == "cpu":
        command.append("--nocold")
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False,
            env={**os.environ, "RIDGE_CACHE_DIR": cache})
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    report = json.loads(done.stdout)
    return (report["total_us"], len(report["kernels"]),
            report["first_result"]["total_s"])


class TorchPeer:
    """torch_suite.py in a process of its own, asked for a module at a time."""

    def __init__(self, python, script, limit_s):
        self.command = [python, script]
        self.limit_s = limit_s
        self.child = None

    def time(self, path):
        """Its answer for a module; raises if there is none within the limit."""
        if self.child is None:
            # A session of its own, so that its compile workers end with it.
            self.child = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                text=True, start_new_session=True)
        try:
            self.child.stdin.write(path + "\n")
            self.child.stdin.flush()
            ready, _, _ = select.select([self.child.stdout], [], [],
                                        self.limit_s)
            line = self.child.stdout.readline() if ready else None
        except BrokenPipeError:
            line = ""
        if not line:
            self.close()
            raise RuntimeError("torch.compile: the process ended" if line == ""
                               else "torch.compile: no answer within "
                               f"{self.limit_s:.0f} s")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError("torch.compile: " + answer["error"])
        return answer

    def close(self):
        if self.child is None:
            return
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()
        self.child = None


FIELDS = ["module", "floor_us", "ridge_us", "kernels", "ridge_first_result_s",
          "xla_us", "xla_compile_s", "torch_us", "torch_mode",
          "torch_compile_s", "best_peer", "faster_peer"]
PEERS = {"XLA": "xla_us", "torch.compile": "torch_us"}


def measure(path, flags, bandwidth, torch_peer):
    """A row of the table, and what went wrong."""
    row = dict.fromkeys(FIELDS)
    row["module"] = module_name(path)
    problems = []

    def attempt(step):
        try:
            step()
        except Exception as error:  # pylint: disable=broad-except
            problems.append((str(error).splitlines() or [repr(error)])[0])

    def least(field, us):
        row[field] = min(row[field] or us, us)

    def time_xla():
        us, row["xla_compile_s"], moved = xla(path)
        least("xla_us", us)
        row["floor_us"] = moved / bandwidth * 1e6

    def time_ridge():
        us, row["kernels"], row["ridge_first_result_s"] = ridge(
            flags.run, flags.backend, path)
        least("ridge_us", us)

    def time_torch():
        answer = torch_peer.time(path)
        if "missing" in answer:
            if row["module"] in flags.torch:
                raise RuntimeError("torch.compile: " + answer["missing"])
            return
        row["torch_us"] = answer["us"]
        row["torch_mode"] = answer["mode"]
        row["torch_compile_s"] = answer["compile_s"]

    for _ in range(flags.rounds):
        attempt(time_xla)
        attempt(time_ridge)
    if torch_peer is not None:
        attempt(time_torch)
    times = {peer: row[field] for peer, field in PEERS.items() if row[field]}
    if times:
        row["best_peer"] = min(times, key=times.get)
        if row["ridge_us"] and times[row["best_peer"]] < row["ridge_us"]:
            row["faster_peer"] = row["best_peer"]
    return row, problems


def module_name(path):
    return path.rsplit("/", 1)[-1].removesuffix(".hlo")


def names(text):
    return set(filter(None, text.split(",")))


def header(with_torch):
    peers = "".join(f"{name:>9} {'x':>5} " for name in
                    ["Ridge", "XLA"] + ["torch"] * with_torch)
    return (f"{'module':36} {'floor us':>9} {peers}kernels {'first s':>7} "
            f"{'XLA s':>6}  slower than")


def line(row, with_torch):
    floor = row["floor_us"]

    def cell(us):
        if not us:
            return f"{'-':>9} {'-':>5} "
        return f"{us:9.1f} " + (f"{us / floor:5.2f} " if floor else "    - ")

    def seconds(value, width):
        return f"{'-':>{width}}" if value is None else f"{value:{width}.2f}"

    columns = ["ridge_us", "xla_us"] + ["torch_us"] * with_torch
    first = f"{floor:9.1f}" if floor else f"{'-':>9}"
    return (f"{row['module']:36} {first} "
            f"{''.join(cell(row[column]) for column in columns)}"
            f"{row['kernels'] or '-':>7} "
            f"{seconds(row['ridge_first_result_s'], 7)} "
            f"{seconds(row['xla_compile_s'], 6)}  "
            f"{row['faster_peer'] or ''}").rstrip()


def summary(rows):
    lines = []

    def mean(name, ratios):
        if ratios:
            lines.append(f"{name} time over Ridge's, geometric mean of "
                         f"{len(ratios)}: {geometric_mean(ratios):.2f}")

    done = [row for row in rows if row["ridge_us"] and row["best_peer"]]
    for peer, field in PEERS.items():
        mean(f"{peer}'s", [row[field] / row["ridge_us"] for row in done
                           if row[field]])
    if any(row["torch_us"] for row in done):
        mean("Best peer's", [row[PEERS[row["best_peer"]]] / row["ridge_us"]
                             for row in done])
    slower = [row["module"] for row in done if row["faster_peer"]]
    lines.append(f"{len(slower)} of {len(done)} slower than the best peer" +
                 (": " + ", ".join(slower) if slower else ""))
    both = [row for row in done
            if row["ridge_first_result_s"] and row["xla_compile_s"]]
    if both:
        first = sum(row["ridge_first_result_s"] for row in both)
        compiled = sum(row["xla_compile_s"] for row in both)
        late = [row["module"] for row in both
                if row["ridge_first_result_s"] > row["xla_compile_s"]]
        lines.append(f"File to first result {first:.1f} s in all, XLA's "
                     f"compilation {compiled:.1f} s; {len(late)} of "
                     f"{len(both)} later" +
                     (": " + ", ".join(late) if late else ""))
    return lines


def parse_flags():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--backend", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--run", default="bazel-bin/tools/run")
    parser.add_argument("--csv")
    parser.add_argument("--only", type=names, default=set(), metavar="NAMES",
                        help="the modules to time, separated by commas")
    parser.add_argument("--torch", type=names, default=set(), metavar="NAMES",
                        help="the modules to time with torch.compile too; "
                        "without names: all")
    parser.add_argument("--torch_limit", type=float, default=180,
                        metavar="SECONDS",
                        help="for torch.compile to compile and time one module")
    parser.add_argument("--torch_python", default=sys.executable,
                        help="a Python that has torch")
    parser.add_argument("--rounds", type=int, default=1, metavar="N",
                        help="times that XLA and Ridge are measured in turn")
    # A bare --torch would take the next argument for its names.
    flags = parser.parse_args(["--torch=all" if argument == "--torch" else
                               argument for argument in sys.argv[1:]])
    if flags.rounds < 1:
        parser.error(f"--rounds={flags.rounds}: at least one")
    if flags.torch and flags.backend == "cpu":
        parser.error("--torch needs --backend=cuda")
    unknown = (flags.only | flags.torch) - {"all"} - set(
        map(module_name, flags.modules))
    if unknown:
        parser.error("not among the modules: " + ", ".join(sorted(unknown)))
    return flags


def main():
    flags = parse_flags()
    device = jax.devices()[0]
    if device.platform != {"cuda": "gpu", "cpu": "cpu"}[flags.backend]:
        sys.exit(f"kernels.py: --backend={flags.backend}, but JAX finds a "
                 f"{device.platform} here (JAX_PLATFORMS chooses)")
    bandwidth = copy_bandwidth()
    print(f"{device.device_kind}, copy {bandwidth * 1e-9:.0f} GB/s, "
          f"{time.strftime('%Y-%m-%d %H:%M')}")
    peer = TorchPeer(flags.torch_python,
                     os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                  "torch_suite.py"), flags.torch_limit)
    print(header(bool(flags.torch)), flush=True)
    rows = []
    try:
        for path in flags.modules:
            name = module_name(path)
            if flags.only and name not in flags.only:
                continue
            with_torch = name in flags.torch or "all" in flags.torch
            row, problems = measure(path, flags, bandwidth,
                                    peer if with_torch else None)
            rows.append(row)
            print(line(row, bool(flags.torch)), flush=True)
            for problem in problems:
                print(f"  {problem[:100]}", flush=True)
            if flags.csv:  # after each: whatever ends the program, they stay
                write_csv(flags.csv, rows)
    finally:
        peer.close()
    print("\n".join(summary(rows)))
    if not any(row["ridge_us"] for row in rows):
        sys.exit("kernels.py: no module was timed")


def write_csv(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
