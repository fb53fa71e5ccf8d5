# Sourced by the fuzz scripts: builds a libFuzzer target with clang++, address
# and undefined behaviour sanitizers, outside of Bazel.
#
#   build_fuzzer NAME SOURCE... -- OPTION...
#
# Makes $work/NAME from the sources (tests, benchmarks and the like are left
# out) and Abseil; -I options are for compiling, -l options for linking.
# Objects stay in $work/obj and are compiled again only when they are older.
build_fuzzer() {
  local name="$1" source object option newest_header
  shift
  local sources=() objects=() includes=() libraries=()
  local flags=(-std=c++17 -O1 -g1 -I. -fno-omit-frame-pointer
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined)
  while [[ "$1" != -- ]]; do
    case "$1" in
      *_test.cc | */bench.cc | *benchmark.cc | */generate.cc) ;;
      *) sources+=("$1") ;;
    esac
    shift
  done
  shift
  for option in "$@"; do
    case "$option" in
      -I*) includes+=("$option") ;;
      *) libraries+=("$option") ;;
    esac
  done
  mkdir -p "$work/obj"
  newest_header=$(find hlo -name '*.h' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2-)
  for source in "${sources[@]}"; do
    object="$work/obj/${source//\//_}.o"
    objects+=("$object")
    if [[ ! "$object" -nt "$source" || ! "$object" -nt "$newest_header" ]]; then
      clang++ "${flags[@]}" "${includes[@]}" -c -o "$object" "$source"
    fi
  done
  clang++ -fsanitize=fuzzer,address,undefined -o "$work/$name" \
    "${objects[@]}" -Wl,--start-group /usr/lib/*/libabsl_*.a -Wl,--end-group \
    "${libraries[@]}" -lpthread
}
