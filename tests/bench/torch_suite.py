"""What the benchmark's memory-bound modules compute, written for PyTorch.

    python3 tests/bench/torch_suite.py MODULE.hlo...          # times each
    python3 tests/bench/torch_suite.py --check MODULE.hlo...  # needs no GPU

A module's shapes are read from the first line of its file, and a function's
results must have the shapes and types that stand there. --check runs the
functions on shapes alone and compares layouts as well. Without modules as
arguments the paths come from standard input, one a line: so kernels.py asks.
Each answer is one line of JSON: us, mode, compile_s; or error; or missing, for
a module that has no function here.

A function is compiled with max-autotune-no-cudagraphs (one that is all launches
with reduce-overhead too) and timed twice: called, and as a CUDA graph of the
call, which is how Ridge runs. The fastest counts. Gradients are written out, so
that the compiler sees all of a module at once. Random bits are PyTorch's own.
"""

import argparse
import json
import os
import re
import statistics
import sys
import time

import torch
import torch.nn.functional as F

BURSTS = 5
MODE = "max-autotune-no-cudagraphs"
LATENCY_MODE = "reduce-overhead"
LATENCY_BOUND = {"tiny_mlp_latency_f32"}

# Unsigned values here are small: a type that every operation knows will do.
TYPES = {
    "pred": torch.bool,
    "s32": torch.int32,
    "u32": torch.int32,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
}
SHAPE = re.compile(r"(\w+)\[([\d,]*)\](?:\{([\d,]*)\})?")

FUNCTIONS = {}


def module(*names):

    def register(function):
        for name in names:
            FUNCTIONS[name] = function
        return function

    return register


def gelu(x):
    return F.gelu(x, approximate="tanh")


def layer_norm(x, gain, bias):
    y = F.layer_norm(x.float(), x.shape[-1:], gain, bias)
    return y.to(x.dtype)


@module("gelu_scale_residual_f32")
def gelu_scale_residual(x, residual, scale):
    return gelu(x) * scale + residual


@module("gelu_scale_residual_bf16")
def erf_gelu_scale_residual(x, residual, scale):
    return F.gelu(x) * scale + residual


@module("bias_dropout_layernorm_bf16")
def bias_dropout_layernorm(x, bias, keep, gain, shift):
    kept = torch.where(keep, (x + bias) / 0.9, 0.0)
    return layer_norm(kept.to(x.dtype), gain, shift)


@module("bias_dropoutrng_layernorm_bf16")
def bias_dropout_random_layernorm(x, bias, _key, gain, shift):
    return layer_norm(F.dropout(x + bias, 0.1, training=True), gain, shift)


@module("residual_rmsnorm_bf16")
def residual_rmsnorm(x, residual, gain):
    total = x + residual
    wide = total.float()
    scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-6)
    return total, (wide * scale * gain).to(x.dtype)


@module("layernorm_fwd_f32")
def layernorm_forward(x, gain, bias):
    return layer_norm(x, gain, bias)


@module("layernorm_bwd_bf16")
def layernorm_backward(x, gain, dy):
    wide, dy = x.float(), dy.float()
    variance, mean = torch.var_mean(wide, -1, unbiased=False, keepdim=True)
    scale = torch.rsqrt(variance + 1e-5)
    normal = (wide - mean) * scale
    dnormal = dy * gain
    dx = scale * (dnormal - dnormal.mean(-1, keepdim=True) -
                  normal * (dnormal * normal).mean(-1, keepdim=True))
    return dx.to(x.dtype), (dy * normal).sum(0), dy.sum(0)


@module("softmax_f32_4k", "softmax_wide_bf16_128k")
def softmax(x):
    return torch.softmax(x.float(), -1).to(x.dtype)


@module("softmax_scale_mask_bf16")
def softmax_scale_mask(x, mask):
    scores = torch.where(mask, x.float() * 0.0884, -1e30)
    return torch.softmax(scores, -1).to(x.dtype)


@module("cross_entropy_128k_bf16")
def cross_entropy(x, labels):
    return F.cross_entropy(x.float(), labels.long())


@module("cross_entropy_grad_128k_bf16")
def cross_entropy_gradient(x, labels):
    log_p = torch.log_softmax(x.float(), -1)
    labels = labels.long()[:, None]
    loss = -log_p.gather(1, labels).mean()
    hit = torch.arange(x.shape[1], device=x.device) == labels
    return loss, ((log_p.exp() - hit.float()) / x.shape[0]).to(x.dtype)


@module("column_reduce_bias_grad_bf16")
def column_reduce(dy, x):
    return (dy * (x > 0)).float().sum(0)


@module("full_reduce_sumsq_f32")
def norm(x):
    return (x * x).sum().sqrt()


@module("reduce_multi_output_f32")
def reduce_multi_output(x):
    return (x.sum(-1), (x * x).sum(-1), x.amax(-1),
            torch.tanh(x).to(torch.bfloat16))


@module("argmax_topk_f32")
def argmax_max(x):
    return x.argmax(-1).to(torch.int32), x.amax(-1)


@module("transpose_add_bf16")
def transpose_add(x, y):
    return x.permute(0, 2, 1, 3) * 2 + y


@module("transpose_2d_gelu_f32")
def transpose_gelu(x, y):
    return gelu(x.t()) + y  # x first: the result takes its layout


@module("rope_concat_bf16")
def rope(x, cosine, sine):
    low, high = x.float().chunk(2, -1)
    cosine, sine = cosine[None, :, None], sine[None, :, None]
    turned = (low * cosine - high * sine, high * cosine + low * sine)
    return torch.cat(turned, -1).to(x.dtype)


@module("shared_expensive_producer_f32")
def shared_producer(x):
    e = torch.exp(torch.sin(x) * torch.tanh(x))
    return e.sum(0), e.sum(1), e.sum(2), e * 2, torch.log1p(e)


@module("groupnorm_silu_f32")
def groupnorm_silu(x, gain, bias):
    groups = x.view(x.shape[0], -1, 32, x.shape[-1] // 32)
    variance, mean = torch.var_mean(groups, (1, 3), unbiased=False,
                                    keepdim=True)
    normal = ((groups - mean) * torch.rsqrt(variance + 1e-5)).view(x.shape)
    return F.silu(normal * gain + bias)


@module("batchnorm_train_f32")
def batchnorm_train(x, gain, bias):
    variance, mean = torch.var_mean(x, (0, 1, 2), unbiased=False)
    normal = (x - mean) * torch.rsqrt(variance + 1e-5)
    return F.relu(normal * gain + bias), mean, variance


@module("adam_80_params_f32")
def adam(*arguments):
    step = arguments[-1]
    count = (len(arguments) - 1) // 4
    parts = [arguments[k * count:(k + 1) * count] for k in range(4)]
    weights, means, variances = [], [], []
    for weight, gradient, mean, variance in zip(*parts):
        mean = 0.9 * mean + 0.1 * gradient
        variance = 0.999 * variance + 0.001 * gradient * gradient
        divisor = (variance / (1 - 0.999**step)).sqrt() + 1e-8
        weights.append(weight - 1e-3 * (mean / (1 - 0.9**step)) / divisor)
        means.append(mean)
        variances.append(variance)
    return (*weights, *means, *variances)


@module("gather_embed_scale_bf16")
def gather_embed(table, indices, position):
    repeats = indices.shape[0] // position.shape[0]
    return table[indices.long()] * 64 + position.repeat(repeats, 1)


@module("tiny_mlp_latency_f32")
def tiny_mlp(x, *weights):
    for weight in weights:
        x = torch.tanh(F.layer_norm(x @ weight, x.shape[-1:])) + x
    return torch.softmax(x, -1)


def entry_shapes(header):
    """Arguments and results of a module's first line: (type, dims, order)."""
    layout = re.sub(r"/\*.*?\*/", "", header.split("layout={", 1)[1])
    arguments, results = layout.split("->", 1)

    def shapes(text):
        return [(TYPES[name], numbers(dims), numbers(order))
                for name, dims, order in SHAPE.findall(text)]

    return shapes(arguments), shapes(results)


def numbers(text):
    return tuple(int(n) for n in text.split(",") if n)


def random_tensor(shape, device):
    dtype, dims, _ = shape
    if dtype == torch.bool:
        return torch.rand(dims, device=device) < 0.9
    if not dtype.is_floating_point:
        return torch.randint(0, 10, dims, device=device, dtype=dtype)
    return torch.randn(dims, device=device, dtype=dtype)


def strides(dims, minor_to_major):
    steps, step = [0] * len(dims), 1
    for d in minor_to_major:
        steps[d], step = step, step * dims[d]
    return tuple(steps)


def check_results(results, expected, layouts):
    """Raises unless the results are what the module's first line says."""
    results = results if isinstance(results, tuple) else (results,)
    if len(results) != len(expected):
        raise ValueError(f"{len(results)} results, not {len(expected)}")
    for k, (result, (dtype, dims, order)) in enumerate(zip(results, expected)):
        found, wanted = [result.dtype, tuple(result.shape)], [dtype, dims]
        if layouts:
            found.append(result.stride())
            wanted.append(strides(dims, order))
        if found != wanted:
            raise ValueError(f"result {k} is {found}, not {wanted}")


def read_module(path):
    """The function of a module, its arguments' and its results' shapes."""
    with open(path, encoding="utf-8") as file:
        return FUNCTIONS[module_name(path)], *entry_shapes(file.readline())


def module_name(path):
    return os.path.basename(path).removesuffix(".hlo")


def check(path):
    function, arguments, expected = read_module(path)
    results = function(*[random_tensor(s, "meta") for s in arguments])
    check_results(results, expected, layouts=True)
    return {"arguments": len(arguments), "results": len(expected)}


def bursts(call):
    """Median microseconds of a call, in bursts of some 50 ms."""

    def burst(count):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(count):
            call()
        torch.cuda.synchronize()
        return (time.perf_counter() - start) / count * 1e6

    burst(2)
    count = max(3, min(200, int(5e4 / burst(1))))
    return statistics.median(burst(count) for _ in range(BURSTS))


def graph_of(call):
    """A CUDA graph of one call."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        call()
    return graph


def time_mode(function, arguments, expected, mode):
    torch.compiler.reset()
    compiled = torch.compile(function, mode=mode, dynamic=False)
    start = time.perf_counter()
    results = compiled(*arguments)
    torch.cuda.synchronize()
    compile_s = time.perf_counter() - start
    check_results(results, expected, layouts=False)
    del results
    answer = {
        "us": bursts(lambda: compiled(*arguments)),
        "mode": mode,
        "compile_s": compile_s,
    }
    if mode == LATENCY_MODE:  # a graph already
        return answer
    try:
        graph = graph_of(lambda: compiled(*arguments))
        graph_us = bursts(graph.replay)
    except Exception as error:  # pylint: disable=broad-except
        answer["graph_error"] = first_line(error)
    else:
        if graph_us < answer["us"]:
            answer.update(us=graph_us, mode=mode + ", graph")
    return answer


def measure(path):
    function, shapes, expected = read_module(path)
    modes = [MODE] + [LATENCY_MODE] * (module_name(path) in LATENCY_BOUND)
    try:
        with torch.no_grad():
            arguments = [random_tensor(s, "cuda") for s in shapes]
            timed = [time_mode(function, arguments, expected, mode)
                     for mode in modes]
        return min(timed, key=lambda answer: answer["us"])
    finally:
        arguments = None
        torch.cuda.empty_cache()


def first_line(error):
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("modules", nargs="*")
    parser.add_argument("--check", action="store_true",
                        help="compares shapes, types and layouts; no GPU")
    flags = parser.parse_args()
    failed = False
    # Libraries print what they like to standard output: only answers belong
    # there.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for path in flags.modules or iter(sys.stdin.readline, ""):
        path = path.strip()
        try:
            if module_name(path) not in FUNCTIONS:
                answer = {"missing": "not written for PyTorch"}
            else:
                answer = check(path) if flags.check else measure(path)
        except Exception as error:  # pylint: disable=broad-except
            answer = {"error": first_line(error)}
            failed = True
        print(json.dumps({"module": path, **answer}), file=answers, flush=True)
    sys.exit(2 if failed and flags.modules else 0)


if __name__ == "__main__":
    main()
