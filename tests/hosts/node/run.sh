#!/usr/bin/env bash
# Tests the programs and libraries of docs/HOSTS.md that run in Node.js, on encrypted databases.
# usage: tests/hosts/node/run.sh PACKAGE.tgz PLATFORM_PACKAGE.tgz [ARGUMENT FOR node --test]...
set -euo pipefail
usage='usage: tests/hosts/node/run.sh PACKAGE.tgz PLATFORM_PACKAGE.tgz'
packages=("$(realpath "${1:?$usage}")" "$(realpath "${2:?$usage}")")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)

folder=${CARGO_TARGET_DIR:-$root/target}/host-test-npm
node_22=$folder/node_modules/node-22
if ! cmp -s "$here/package-lock.json" "$folder/selenite-lock"; then
  echo 'need: the hosts, from npm; better-sqlite3 is compiled where its binaries are out of reach: three minutes' >&2
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$here/package.json" "$here/package-lock.json" "$folder"
  npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error
  # Node.js brings the headers that it is compiled against.
  PATH=$node_22/bin:$PATH npm_config_nodedir=$node_22 \
    npm rebuild --prefix "$folder" --foreground-scripts better-sqlite3 >"$folder/compiled.log" 2>&1 ||
    { tail "$folder/compiled.log" >&2 && exit 1; }
  cp "$here/package-lock.json" "$folder/selenite-lock"
fi

# On the same file system: what is installed is linked.
fresh=$(mktemp -d "$(dirname "$folder")/hosts-XXXXXX")
trap 'rm -rf "$fresh"' EXIT
cd "$fresh"
echo '{"name": "application", "private": true}' >package.json
npm install --offline --cache "$fresh/cache" --no-audit --no-fund --loglevel=error "${packages[@]}"
# A link would lead `require` to the folder that it names: the packages would not find each other.
cp -al "$folder/node_modules/"* node_modules/
cp "$here"/*.mjs "$here"/*.ts "$here"/*.prisma .
export HOME=$fresh XDG_CONFIG_HOME=$fresh/.config SELENITE_TEST_HOSTS=$root/docs/HOSTS.md
unset SELENITE_IDENTITY SELENITE_DEFAULT SELENITE_CONFIG NODE_OPTIONS

# better-sqlite3 12 is what Prisma and TypeORM ask for, and aborts with Node.js 24 when statements are collected.
echo '== Node.js 22, better-sqlite3 12'
PATH=$node_22/bin:$PATH node --disable-warning=ExperimentalWarning --test --test-concurrency=1 "$@"
echo '== Node.js 24, better-sqlite3 13 by "overrides"'
rm -rf node_modules/better-sqlite3
mv node_modules/better-sqlite3-13 node_modules/better-sqlite3
PATH=$folder/node_modules/node-24/bin:$PATH node --test --test-concurrency=1 "$@"
