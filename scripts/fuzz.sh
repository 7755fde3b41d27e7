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
for name in $(cargo +nightly fuzz list); do
  echo "fuzz: $name"
  cargo +nightly fuzz run "$name" -- -max_total_time="${FUZZ_SECONDS:-60}"
done
