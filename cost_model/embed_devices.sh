#!/usr/bin/env bash
# Prints a C++ header that holds each text protobuf given: its id (the file's
# name without extension) and its text.
set -euo pipefail
echo '// Generated from cost_model/devices by embed_devices.sh.'
echo '#ifndef RIDGE_COST_MODEL_BUILT_IN_DEVICES_H_'
echo '#define RIDGE_COST_MODEL_BUILT_IN_DEVICES_H_'
echo 'namespace ridge {'
echo 'struct BuiltInDevice { const char* id; const char* text; };'
echo 'inline constexpr BuiltInDevice kBuiltInDevices[] = {'
for file in "$@"; do
  name="$(basename "$file" .textproto)"
  printf '{"%s", R"textproto(' "$name"
  cat "$file"
  echo ')textproto"},'
done
echo '};'
echo '}  // namespace ridge'
echo '#endif  // RIDGE_COST_MODEL_BUILT_IN_DEVICES_H_'
