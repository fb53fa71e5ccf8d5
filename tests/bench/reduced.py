"""Writes the suite's modules at sizes that suit a CPU.

    python3 tests/bench/reduced.py SUITE_FOLDER OUTPUT_FOLDER

Each module of the table touches 8 to 64 MB, more than the caches hold and less
than a second's work; products have some 2 to 20 GFLOP. Numbers inside brackets
and braces (shapes, slices, sizes) are replaced, nothing else.
"""

import pathlib
import re
import sys

# Module: what to replace, longest first where one holds another.
SIZES = {
    "argmax_topk_f32": {"8192": "128"},
    "attention_causal_bf16": {"4,16,4096": "1,4,1024", "64,4096": "4,1024",
                              "4096": "1024"},
    "attention_full_bf16": {"4,16,4096": "1,4,1024", "64,4096": "4,1024",
                            "4096": "1024"},
    "batchnorm_train_f32": {"256": "16"},
    "bias_dropout_layernorm_bf16": {"32768": "1024"},
    "bias_dropoutrng_layernorm_bf16": {"134217728": "2097152",
                                       "67108864": "1048576", "32768": "512"},
    "column_reduce_bias_grad_bf16": {"65536": "2048"},
    "cross_entropy_128k_bf16": {"4096": "64"},
    "cross_entropy_grad_128k_bf16": {"4096": "64"},
    "cumsum_scan_while_f32": {},
    "full_reduce_sumsq_f32": {"100000000": "4000000"},
    "gather_embed_scale_bf16": {"50257": "5025", "32768": "1024",
                                "8,4096,1,4096": "2,512,1,4096",
                                "4096,1,4096": "512,1,4096",
                                "4096,4096": "512,4096"},
    "gelu_scale_residual_bf16": {"8,4096,4096": "1,1024,4096"},
    "gelu_scale_residual_f32": {"100000000": "4000000"},
    "gemv_decode_bf16": {"28672": "4096", "8192": "4096"},
    "groupnorm_silu_f32": {"16,64,64": "2,64,64", "16,4096": "2,4096",
                           "16,32": "2,32", "16,1": "2,1"},
    "layernorm_bwd_bf16": {"32768": "1024"},
    "layernorm_fwd_f32": {"16384": "512"},
    "matmul_bias_gelu_add_norm_bf16": {"8192": "512", "4096": "1024"},
    "matmul_bias_gelu_bf16": {"8192": "512", "4096": "1024"},
    "matmul_erf_gelu_f32": {"4096": "1024"},
    "reduce_multi_output_f32": {"32768": "1024"},
    "residual_rmsnorm_bf16": {"32768": "1024"},
    "rope_concat_bf16": {"4096": "256"},
    "shared_expensive_producer_f32": {"64,1024": "4,1024", "64": "4"},
    "softmax_f32_4k": {"32768": "1024"},
    "softmax_scale_mask_bf16": {"4,32": "1,4", "2048": "1024"},
    "softmax_wide_bf16_128k": {"2048": "32"},
    "transpose_2d_gelu_f32": {"16384": "2048", "8192": "1024"},
    "transpose_add_bf16": {"8,4096,32": "2,512,32", "8,32,4096": "2,32,512"},
}

BRACKETS = re.compile(r"\[[^\]\n]*\]|\{[^{}\n]*\}")


def reduced(text, sizes):
    if not sizes:
        return text
    numbers = re.compile("|".join(
        rf"(?<![\d.]){re.escape(old)}(?![\d.])" for old in sizes))
    return BRACKETS.sub(
        lambda part: numbers.sub(lambda m: sizes[m.group()], part.group()), text)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    suite, output = (pathlib.Path(folder) for folder in sys.argv[1:])
    output.mkdir(parents=True, exist_ok=True)
    for name, sizes in SIZES.items():
        text = (suite / f"{name}.hlo").read_text(encoding="utf-8")
        (output / f"{name}.hlo").write_text(reduced(text, sizes),
                                            encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"reduced.py: {error}")
