#!/bin/bash
# Builds the fuzz target with clang++ (libFuzzer, address and undefined
# behaviour sanitizers) and runs it.
#
#   hlo/text/fuzz.sh [SECONDS [CORPUS_FOLDER]]
#
# Needs clang++ with its runtime (Debian: libclang-rt-14-dev). Seeds are the
# modules under tests/ and hlo/text/testdata, and those of RIDGE_SHARED where
# it is set; the dictionary comes from the tables of opcodes, attributes and
# types. What is found (crash-*, timeout-*, oom-*) is left in the work folder;
# put it into hlo/text/testdata/fuzz, where fuzz_regression_test replays it.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds="${1:-600}"
work="${TMPDIR:-/tmp}/ridge_text_fuzz"
corpus="${2:-$work/corpus}"
mkdir -p "$corpus" "$work/seeds"

. tools/dev/fuzz_build.sh
build_fuzzer text_fuzz hlo/base/file.cc hlo/ir/*.cc hlo/text/*.cc \
  hlo/verify/*.cc --

# Every quoted word of the tables is a word of the dictionary.
grep -ohE '"[^"\\]+"' hlo/ir/opcode.h hlo/ir/attribute.h \
  hlo/ir/element_type.h hlo/text/header_parser.cc hlo/text/raw_attributes.cc |
  grep -v '/' | sort -u > "$work/dictionary"
cat >> "$work/dictionary" << 'WORDS'
"ENTRY"
"HloModule"
"ROOT"
"{...}"
"nan(0x1)"
"-start("
"-update("
"-done("
"<=["
"]T(1,0)"
"control-predecessors={"
WORDS

find tests hlo/text/testdata -name '*.hlo' -size -8k \
  -exec cp -t "$work/seeds" {} + 2> /dev/null || true
if [[ -n "${RIDGE_SHARED:-}" ]]; then
  find "$RIDGE_SHARED/hlo/corpus/modules" -name '*.hlo' -size -3k \
    -exec cp -t "$work/seeds" {} +
fi
cd "$work"
exec ./text_fuzz -dict=dictionary -max_total_time="$seconds" -timeout=10 \
  -rss_limit_mb=2048 -max_len=8192 -print_final_stats=1 "$corpus" seeds
