#!/usr/bin/env bash
# Runs what scripts/cross.sh built for other platforms beside this machine's own: under qemu-user where the processor is
# another, with Debian's Python of that platform, or with musl.
# usage: tests/platforms/run.sh [--no-unit-tests | --unit-tests] [TARGET...] [-- ARGUMENT OF PYTEST...]
#   --unit-tests: those alone, for which scripts/cross.sh need not have built anything
#   QEMU_PAGESIZE=16384 or 65536 in the environment is the size of a page of memory that the emulator gives aarch64.
set -euo pipefail
cd "$(dirname "$0")/../.."

here=$PWD/tests/platforms
folder=${CARGO_TARGET_DIR:-$PWD/target}/cross
native=x86_64-unknown-linux-gnu
targets=() exchange=1 tests=1
case ${1:-} in
  --no-unit-tests) tests=0 && shift ;;
  --unit-tests) exchange=0 && shift ;;
esac
while (($#)) && [[ $1 != -- ]]; do
  targets+=("$1")
  shift
done
shift "$(($# > 0))"
((${#targets[@]})) || targets=(x86_64-unknown-linux-musl aarch64-unknown-linux-{gnu,musl})

# Tests of what the emulator does not do. They run on the other platforms.
not_emulated=(
  # It reports success for MADV_DONTDUMP and MADV_WIPEONFORK, and does neither (7.2: target_madvise, linux-user/mmap.c).
  ffi::arena::tests::the_kernel_keeps_it_from_core_dumps_and_from_children
  ffi::arena::tests::a_forked_child_finds_zeros
  # It measures the memory of the process, and would measure the emulator's.
  footprint::memory_stays_within_what_is_promised
)

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
  mkdir -p "$folder"
  [[ $1 == aarch64-* ]] && architecture=arm64
  [[ $1 == *-gnu ]] && wanted=libc6,libgcc-s1,libstdc++6,zlib1g,libsqlite3-0,python3-minimal,libpython3-stdlib
  mmdebstrap --quiet --mode=root --variant=extract --architectures="$architecture" --include="$wanted" \
    bookworm "$2" "deb ${DEBIAN_MIRROR:-http://deb.debian.org/debian} bookworm main"
}

# run_tests TARGET ROOT: those of the crates below the extension: vectors, contracts of SQLite, crashes in their short form
run_tests() {
  local program name status=0 started=$SECONDS log=$folder/$1/tests.log
  local runner=() skipped=() environment=(SELENITE_CRASH_POINTS=200 PROPTEST_CASES=8)
  scripts/cross.sh --tests "$1"
  if [[ $1 == aarch64-* ]]; then
    runner=("$(command -v qemu-aarch64-static)" -L "$2")
    for name in "${not_emulated[@]}"; do
      skipped+=(--skip "$name")
    done
    # A backtrace ends by SIGSEGV then: docs/PLATFORMS.md.
    [[ -z ${QEMU_PAGESIZE:-} ]] || environment+=(RUST_BACKTRACE=0)
  fi
  # Tests with musl are static programs.
  ((${#runner[@]} == 0)) || environment+=("SELENITE_TEST_RUNNER=$(printf '%s\n' "${runner[@]}")")
  : >"$log"
  while read -r program; do
    echo "platforms: $1: ${program##*/}"
    env "${environment[@]}" "${runner[@]}" "$program" --exact "${skipped[@]}" --test-threads=2 </dev/null 2>&1 |
      tee -a "$log" || status=1
  done <"$folder/$1/tests"
  awk -v name="platforms: $1:" -v seconds=$((SECONDS - started)) '
    /^test result: / { passed += $4; failed += $6; ignored += $8; skipped += $12 }
    END { print name, passed, "tests passed,", failed, "failed,", ignored, "ignored,", skipped, "left out, in", seconds, "s" }
  ' "$log"
  return "$status"
}

# exchange_files TARGET ROOT PYTEST-ARGUMENT...: with a build for this machine
exchange_files() {
  scripts/need.sh tests
  build_program "$native"
  build_program "$1"
  SELENITE_TEST_TARGET=$1 SELENITE_TEST_TARGET_ROOT=$2 SELENITE_TEST_TARGET_FILES=$folder/$1 \
    SELENITE_TEST_NATIVE_FILES=$folder/$native .venv/bin/python -m pytest -q -p no:cacheprovider "$here" "${@:3}"
}

scripts/need.sh rust
for target in "${targets[@]}"; do
  root=$folder/root-$target
  need_root "$target" "$root"
  echo "platforms: $target"
  ((exchange == 0)) || exchange_files "$target" "$root" "$@"
  ((tests == 0)) || run_tests "$target" "$root"
done
