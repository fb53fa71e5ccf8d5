#!/usr/bin/env bash
# Checks that every tracked C++ file is as clang-format lays it out.
# With --fix, lays them out so.
set -euo pipefail
cd "$(git -C "$(dirname "$0")" rev-parse --show-toplevel)"

mode=(--dry-run -Werror)
if [[ "${1:-}" == --fix ]]; then
  mode=(-i)
fi

# Files that are deleted but not yet committed are still listed.
mapfile -d '' files < <(git ls-files -z -- '*.h' '*.cc' '*.cu' '*.cuh' |
  while IFS= read -r -d '' file; do
    [[ -f "$file" ]] && printf '%s\0' "$file"
  done)
if ((${#files[@]} == 0)); then
  exit 0
fi
if ! printf '%s\0' "${files[@]}" |
  xargs -0 -P 2 -n 32 clang-format --style=file "${mode[@]}"; then
  echo "Not formatted; tools/dev/check_format.sh --fix does it." >&2
  exit 1
fi
