#!/usr/bin/env bash
# Writes compile_commands.json for clangd and clang-tidy, from Bazel's action
# graph. Build first (bazel build //...), so that generated headers exist.
#
#   tools/dev/compile_commands.sh [TARGETS]     # default //...
set -euo pipefail
cd "$(git -C "$(dirname "$0")" rev-parse --show-toplevel)"

actions=$(mktemp)
trap 'rm -f "$actions"' EXIT
targets=${1:-//...}
bazel aquery --output=jsonproto "mnemonic(CppCompile, deps($targets))" \
  >"$actions"

python3 - "$actions" "$(bazel info execution_root)" <<'EOF'
import json
import os
import sys

actions_path, execution_root = sys.argv[1:]
# Flags that clang does not know.
gcc_only = {'-fno-canonical-system-headers', '-Wno-free-nonheap-object',
            '-Wno-error=maybe-uninitialized',
            '-Wunused-but-set-parameter'}
commands = {}
with open(actions_path, encoding='utf-8') as file:
  for action in json.load(file).get('actions', []):
    arguments = [a for a in action['arguments'] if a not in gcc_only]
    at = arguments.index('-c') + 1
    source = arguments[at]
    if source.startswith('external/'):
      continue
    # An editor knows a file by its place in the checkout, not in Bazel's
    # execution root, to which the other paths refer.
    arguments[at] = os.path.abspath(source)
    commands[source] = {'directory': execution_root, 'file': arguments[at],
                        'arguments': arguments}
with open('compile_commands.json', 'w', encoding='utf-8') as file:
  json.dump([commands[key] for key in sorted(commands)], file, indent=1)
print(f'compile_commands.json: {len(commands)} files')
EOF
