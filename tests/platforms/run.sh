#!/usr/bin/env bash
# Runs what scripts/cross.sh built for other platforms beside this machine's own: under qemu-user where the processor is
# another, with Debian's Python of that platform, or with musl.
# usage: tests/platforms/run.sh [--no-unit-tests] [TARGET...] [-- ARGUMENT OF PYTEST...]
set -euo pipefail
cd "$(dirname "$0")/../.."

here=$PWD/tests/platforms
folder=${CARGO_TARGET_DIR:-$PWD/target}/cross
native=x86_64-unknown-linux-gnu
targets=() tests=1
[[ ${1:-} == --no-unit-tests ]] && tests=0 && shift
while (($#)) && [[ $1 != -- ]]; do
  targets+=("$1")
  shift
done
shift "$(($# > 0))"
((${#targets[@]})) || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-{gnu,musl})

packages=()
command -v mmdebstrap >/dev/null || packages+=(mmdebstrap)
command -v qemu-aarch64-static >/dev/null || packages+=(qemu-user-static)
((${#packages[@]})) && apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
zig=$(echo "$folder"/zig/lib/python3*/site-packages/ziglang/zig)
manifest=$(cargo metadata --format-version 1 --locked |
  grep -o '"manifest_path":"[^"]*/libsqlite3-sys-[^"/]*/Cargo.toml"' | sed -n 1p | cut -d '"' -f 4)
sqlite=${manifest%/Cargo.toml}/sqlite3

# build_program TARGET: run_sql, with the SQLite that the workspace has
build_program() {
  local to=$folder/$1 how=(-target "${1/-unknown/}")
  # A program of musl that loads extensions can't be static.
  [[ $1 == *-musl ]] && how+=(-dynamic)
  [[ $to/run_sql -nt $here/run_sql.c ]] ||
    "$zig" cc "${how[@]}" -O1 -DSQLITE_THREADSAFE=1 -I "$sqlite" -o "$to/run_sql" "$here/run_sql.c" "$sqlite/sqlite3.c"
}

# need_root TARGET ROOT: the libc of that platform, and Python where Debian has one for it
need_root() {
  local architecture=amd64 wanted=musl
  [[ -d $2 ]] && return
  [[ $1 == aarch64-* ]] && architecture=arm64
  [[ $1 == *-gnu ]] && wanted=libc6,libgcc-s1,libstdc++6,zlib1g,libsqlite3-0,python3-minimal,libpython3-stdlib
  mmdebstrap --quiet --mode=root --variant=extract --architectures="$architecture" --include="$wanted" \
    bookworm "$2" "deb ${DEBIAN_MIRROR:-http://deb.debian.org/debian} bookworm main"
}

# run_tests TARGET ROOT: those of the crates below the extension: vectors, contracts of SQLite, crashes in their short form
run_tests() {
  local program runner=()
  scripts/cross.sh --tests "$1"
  [[ $1 == aarch64-* ]] && runner=(qemu-aarch64-static -L "$2")
  [[ $1 == *-musl ]] && runner+=("$2/lib/ld-musl-${1%%-*}.so.1")
  while read -r program; do
    echo "platforms: $1: ${program##*/}"
    SELENITE_CRASH_POINTS=200 PROPTEST_CASES=8 "${runner[@]}" "$program" --test-threads=2
  done <"$folder/$1/tests"
}

scripts/need.sh rust tests
build_program "$native"
for target in "${targets[@]}"; do
  root=$folder/root-$target
  need_root "$target" "$root"
  build_program "$target"
  echo "platforms: $target"
  SELENITE_TEST_TARGET=$target SELENITE_TEST_TARGET_ROOT=$root SELENITE_TEST_TARGET_FILES=$folder/$target \
    SELENITE_TEST_NATIVE_FILES=$folder/$native .venv/bin/python -m pytest -q -p no:cacheprovider "$here" "$@"
  ((tests == 0)) || run_tests "$target" "$root"
done
