"""Ridge's kernels beside XLA's, on the GPU or the CPU of this machine.

    pip install 'jax[cuda]'   # or jax, for the CPU
    bazel build //tools:run
    python3 tests/bench/kernels.py MODULE.hlo... [--backend=cuda|cpu]
        [--run=PATH] [--csv=FILE] [--rounds=N]

For each module: the time of Ridge (`run`: on a GPU a graph replay, with the
last-level cache flushed between samples; median) and of XLA (the same text,
compiled for this device, median of five bursts after a warm-up, arrays from the
same distribution), the floor (every argument read once and every result written
once, at the bandwidth that a large copy reaches in the same process), and both
as multiples of it. On a GPU, modules whose data fits the cache flatter XLA,
which is not timed with a cold one; on a CPU neither is. Where other work runs
on the machine, --rounds measures the two in turn, and the least counts. The
last line is the geometric mean of XLA's time over Ridge's.

The suite at sizes for a CPU: tests/bench/reduced.py.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import os
import statistics
import subprocess
import sys
import time

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
    """Microseconds and kernels of Ridge."""
    command = [run, path, f"--backend={backend}", "--format=json"]
    if backend == "cpu":
        command.append("--nocold")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    report = json.loads(done.stdout)
    return report["total_us"], len(report["kernels"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="+")
    parser.add_argument("--backend", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--run", default="bazel-bin/tools/run")
    parser.add_argument("--csv")
    parser.add_argument("--rounds", type=int, default=1)
    flags = parser.parse_args()
    device = jax.devices()[0]
    if device.platform != {"cuda": "gpu", "cpu": "cpu"}[flags.backend]:
        sys.exit(f"kernels.py: --backend={flags.backend}, but JAX finds a "
                 f"{device.platform} here (JAX_PLATFORMS chooses)")
    bandwidth = copy_bandwidth()
    print(f"{device.device_kind}, copy {bandwidth * 1e-9:.0f} GB/s, "
          f"{time.strftime('%Y-%m-%d %H:%M')}")
    fields = ["module", "floor_us", "ridge_us", "kernels", "xla_us",
              "xla_compile_s"]
    print(f"{'module':36} {'floor us':>9} {'Ridge':>9} {'x':>5} "
          f"{'XLA':>9} {'x':>5}  kernels")
    rows = []
    for path in flags.modules:
        name = path.rsplit("/", 1)[-1].removesuffix(".hlo")
        row = dict.fromkeys(fields)
        row["module"] = name
        try:
            rounds = [(xla(path), ridge(flags.run, flags.backend, path))
                      for _ in range(flags.rounds)]
            row["xla_us"], row["xla_compile_s"], moved = min(
                theirs for theirs, _ in rounds)
            row["floor_us"] = moved / bandwidth * 1e6
            row["ridge_us"], row["kernels"] = min(ours for _, ours in rounds)
        except Exception as error:  # pylint: disable=broad-except
            print(f"{name:36} {str(error).splitlines()[0][:80]}")
        else:
            floor = row["floor_us"]
            print(f"{name:36} {floor:9.1f} {row['ridge_us']:9.1f} "
                  f"{row['ridge_us'] / floor:5.2f} {row['xla_us']:9.1f} "
                  f"{row['xla_us'] / floor:5.2f}  {row['kernels']}", flush=True)
        rows.append(row)
    ratios = [row["xla_us"] / row["ridge_us"] for row in rows
              if row["ridge_us"] and row["xla_us"]]
    if ratios:
        print(f"XLA's time over Ridge's, geometric mean of {len(ratios)}: "
              f"{geometric_mean(ratios):.2f}")
    if flags.csv:
        with open(flags.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fields)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
