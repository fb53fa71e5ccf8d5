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
mkdir -p "$work/gen" "$work/corpus"

protoc -I. --cpp_out="$work/gen" hlo/proto/xla_data.proto hlo/proto/hlo.proto
sources=(hlo/base/file.cc "$work"/gen/hlo/proto/*.pb.cc
  hlo/ir/*.cc hlo/verify/*.cc hlo/proto/*.cc)
for source in hlo/text/*.cc; do
  [[ "$source" == *fuzz* ]] || sources+=("$source")
done
. tools/dev/fuzz_build.sh
build_fuzzer proto_fuzz "${sources[@]}" -- "-I$work/gen" -lprotobuf

cd "$work"
exec nice -n 19 ./proto_fuzz corpus ${seeds:+"$seeds"} \
  -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=16384
