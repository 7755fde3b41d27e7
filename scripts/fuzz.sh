#!/usr/bin/env bash
# Fuzzes every target for a minute (FUZZ_SECONDS), with what earlier runs found as a start.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo +nightly --version >/dev/null 2>&1; then
  echo 'fuzz: skipped: no nightly toolchain (rustup toolchain install nightly)'
  exit 0
fi
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
  cargo install --quiet --locked cargo-fuzz
fi
cargo +nightly fuzz build

# One target a core at a time; what a target says is shown when it ends.
fuzz_one() {
  local log=target/fuzz-$1.log
  mkdir -p target
  if cargo +nightly fuzz run "$1" -- -max_total_time="${FUZZ_SECONDS:-60}" >"$log" 2>&1; then
    printf 'fuzz: %s: %s\n' "$1" "$(grep -E '^Done [0-9]+ runs' "$log" || tail -n 1 "$log")"
  else
    tail -n 40 "$log"
    printf 'fuzz: %s: failed\n' "$1"
    return 1
  fi
}
export -f fuzz_one
cargo +nightly fuzz list | xargs -P "$(nproc)" -I{} bash -euo pipefail -c 'fuzz_one {}'
