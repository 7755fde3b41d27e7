#!/usr/bin/env bash
# Makes the npm packages of an extension and a command that were built before: see packages/npm/build_packages.mjs.
# usage: scripts/npm.sh --extension FILE --command FILE [--platform x86_64|aarch64] [--libc glibc|musl] [--output DIR]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

built=${CARGO_TARGET_DIR:-$root/target}/npm-build
lock=$root/packages/npm/package-lock.json
if ! cmp -s "$lock" "$built/selenite-lock"; then
  echo 'need: what builds the npm packages, from npm' >&2
  mkdir -p "$built"
  cp "$root/packages/npm/package.json" "$lock" "$built"
  # Without scripts: types alone are needed of what is compiled.
  npm ci --prefix "$built" --ignore-scripts --no-audit --no-fund --loglevel=error
  cp "$lock" "$built/selenite-lock"
fi
NODE_PATH=$built/node_modules exec node "$root/packages/npm/build_packages.mjs" "$@"
