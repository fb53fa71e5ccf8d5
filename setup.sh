#!/usr/bin/env bash
# Installs what Ridge is built from: packages of the distribution, nothing
# else. A second run finds them all there and changes nothing.
set -euo pipefail

packages=(
  bazel-bootstrap
  bazel-platforms
  bazel-rules-java
  bazel-rules-proto
  bazel-skylib
  clang-format
  g++
  git
  libabsl-dev
  libbenchmark-dev
  libeigen3-dev
  libgflags-dev
  libgmock-dev
  libgtest-dev
  libprotobuf-dev
  libsqlite3-dev
  libxxhash-dev
  nlohmann-json3-dev
  protobuf-compiler
  python3
  zlib1g-dev
)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup.sh: needs a Debian-like system; install the equivalents of:" >&2
  echo "  ${packages[*]}" >&2
  exit 1
fi

installed=$(dpkg-query -W -f='${db:Status-Abbrev} ${Package}\n' \
  "${packages[@]}" 2>/dev/null | sed -n 's/^ii  *//p' || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "setup.sh: not root and no sudo; as root, run:" >&2
    echo "  apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

install() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
    --no-install-recommends "${missing[@]}" >"$log" 2>&1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "setup.sh: installing ${missing[*]}"
# The list of packages may be missing or too old; only then is it fetched.
if ! install; then
  if ! "${as_root[@]}" apt-get update -qq >"$log" 2>&1 || ! install; then
    cat "$log" >&2
    echo "setup.sh: could not install ${missing[*]}" >&2
    exit 1
  fi
fi
