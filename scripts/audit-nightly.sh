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
    # What is `unsafe` without C, and what threads share: the pool and its memory, the log's index. Miri runs no C: calls of
    # SQLite and of the kernel (fork, madvise) are left out.
    cargo +nightly miri test --locked --package selenite-vfs --lib -- \
      change:: closing:: counters:: ffi::arena ffi::guard ffi::shm passage:: pool:: read_lock:: staged:: thread_io thread_refusal \
      --skip the_limit_is_kept --skip a_scan --skip pages_of_another_size "$@"
    # Crates without `unsafe` that read bytes of others: their dependencies' is run with them. What alters every byte of
    # something would take days, and a login wipes 128 KiB a byte at a time.
    cargo +nightly miri test --locked --package selenite-tds --lib -- \
      --skip mangled --skip anyhow --skip login::tests "$@"
    # What sorts thousands of averages and searches each takes more than ten minutes.
    cargo +nightly miri test --locked --package selenite-stats --lib -- --skip search_finds_what_sorting_does "$@"
    cargo +nightly miri test --locked --package selenite-tsql --lib -- "$@"
    ;;
  address | thread)
    component rust-src
    export CARGO_TARGET_DIR=$target
    export RUSTFLAGS="-Zsanitizer=$kind ${RUSTFLAGS:-}"
    # The crate `cc` builds C with the sanitizer of RUSTFLAGS, SQLite among it.
    # Two functions of SQLite have a static array of the same name each, which is no violation in C.
    export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:detect_odr_violation=0}
    export TSAN_OPTIONS=${TSAN_OPTIONS:-"suppressions=$PWD/scripts/thread-sanitizer.supp"}
    build_std=()
    skipped=()
    if [[ $kind == address ]]; then
      # It measures the process's memory, and would measure the sanitizer's.
      skipped=(--skip footprint::)
    fi
    if [[ $kind == thread ]]; then
      # The standard library is built with it: else its locks would be unknown to ThreadSanitizer.
      build_std=(-Zbuild-std)
    fi
    cargo +nightly test --locked "${build_std[@]}" --target "$host" --package selenite-vfs --lib --tests --no-fail-fast -- "${skipped[@]}" "$@"
    ;;
  *)
    echo "audit: $kind is not known" >&2
    exit 2
    ;;
esac
