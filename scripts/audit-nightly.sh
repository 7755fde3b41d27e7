#!/usr/bin/env bash
# What a nightly compiler finds: undefined behaviour by Miri, wrong memory by AddressSanitizer, races by ThreadSanitizer.
# usage: scripts/audit-nightly.sh miri|address|thread [ARGUMENT FOR RUST'S TEST RUNNER]...
set -euo pipefail
cd "$(dirname "$0")/.."

kind=$1
shift
target=${CARGO_TARGET_DIR:-$PWD/target}/$kind
host=$(rustc +nightly --version --verbose 2>/dev/null | sed -n 's/^host: //p') || true
if [[ -z $host ]]; then
  echo 'audit: needs a nightly toolchain: rustup toolchain install nightly' >&2
  exit 1
fi

# component NAME: installs it where it is missing, as far as the network lets it
component() {
  if ! rustup component list --toolchain nightly --installed | grep -q "^$1"; then
    rustup component add --toolchain nightly "$1"
  fi
}

case $kind in
  miri)
    component miri
    component rust-src
    # Random tests do a few cases: each step takes a thousand times as long.
    export PROPTEST_CASES=${PROPTEST_CASES:-4}
    export MIRIFLAGS="-Zmiri-disable-isolation ${MIRIFLAGS:-}"
    export CARGO_TARGET_DIR=$target
    # Crates without C: what reads bytes of others.
    cargo +nightly miri test --locked --package selenite-tds --lib -- "$@"
    cargo +nightly miri test --locked --package selenite-stats --lib -- "$@"
    cargo +nightly miri test --locked --package selenite-tsql --lib -- "$@"
    # The pool's memory: its shards, the filter, and the arena that they lie in.
    cargo +nightly miri test --locked --package selenite-vfs --lib -- \
      pool::shard pool::filter ffi::arena ffi::shm --skip threads "$@"
    ;;
  address | thread)
    component rust-src
    export CARGO_TARGET_DIR=$target
    export RUSTFLAGS="-Zsanitizer=$kind ${RUSTFLAGS:-}"
    # SQLite, which is C, is not instrumented: its allocations are seen, and its accesses are not.
    export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0}
    export TSAN_OPTIONS=${TSAN_OPTIONS:-"suppressions=$PWD/scripts/thread-sanitizer.supp"}
    # The standard library is built with it: else its locks would be unknown to ThreadSanitizer.
    cargo +nightly test --locked -Zbuild-std --target "$host" --package selenite-vfs --no-fail-fast -- "$@"
    ;;
  *)
    echo "audit: $kind is not known" >&2
    exit 2
    ;;
esac
