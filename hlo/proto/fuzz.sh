#!/bin/bash
# Builds the protobuf fuzz target with clang++ (libFuzzer, address and
# undefined behaviour sanitizers) and runs it.
#
#   hlo/proto/fuzz.sh [SECONDS [SEED_FOLDER]]
#
# Needs clang++ with its runtime (Debian: libclang-rt-14-dev). SEED_FOLDER
# holds serialised modules, as `hlo --to=proto` writes them. What is found
# (crash-*, timeout-*, oom-*) is left in the work folder; put it into
# hlo/proto/testdata/fuzz, where fuzz_regression_test replays it.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds="${1:-600}"
work="${TMPDIR:-/tmp}/ridge_proto_fuzz"
seeds="${2:-}"
mkdir -p "$work/obj" "$work/gen" "$work/corpus"

protoc -I. --cpp_out="$work/gen" hlo/proto/xla_data.proto hlo/proto/hlo.proto
flags=(-std=c++17 -O1 -g1 -I. "-I$work/gen" -fno-omit-frame-pointer
  -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
sources=(hlo/base/file.cc "$work"/gen/hlo/proto/*.pb.cc)
for source in hlo/ir/*.cc hlo/text/*.cc hlo/verify/*.cc hlo/proto/*.cc; do
  case "$source" in
    *_test.cc | *_bench.cc | *benchmark.cc | */generate.cc) ;;
    hlo/text/*fuzz*) ;;
    *) sources+=("$source") ;;
  esac
done
objects=()
newest_header=$(find hlo -name '*.h' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-)
for source in "${sources[@]}"; do
  object="$work/obj/${source//\//_}.o"
  objects+=("$object")
  if [[ ! "$object" -nt "$source" || ! "$object" -nt "$newest_header" ]]; then
    clang++ "${flags[@]}" -c -o "$object" "$source"
  fi
done
clang++ -fsanitize=fuzzer,address,undefined -o "$work/proto_fuzz" \
  "${objects[@]}" -Wl,--start-group /usr/lib/*/libabsl_*.a -Wl,--end-group \
  -lprotobuf -lpthread

cd "$work"
exec nice -n 19 ./proto_fuzz corpus ${seeds:+"$seeds"} \
  -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384
