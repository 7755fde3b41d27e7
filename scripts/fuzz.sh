#!/usr/bin/env bash
# Fuzzes every target for a minute (FUZZ_SECONDS), or those that are named (FUZZ_TARGETS). It begins with the corpus in
# fuzz/corpus and with what earlier runs found, which is kept in fuzz/found.
# With FUZZ_KEEP=1 what is found joins the corpus, as small as its coverage lets it be.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo +nightly --version >/dev/null 2>&1; then
  echo 'fuzz: needs a nightly toolchain: rustup toolchain install nightly' >&2
  exit 1
fi
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
  cargo install --quiet --locked cargo-fuzz
fi
cargo +nightly fuzz build

# One target a core at a time; what a target says is shown when it ends.
fuzz_one() {
  local name=$1 log=target/fuzz-$1.log
  mkdir -p target "fuzz/found/$name"
  if cargo +nightly fuzz run "$name" "fuzz/found/$name" "fuzz/corpus/$name" -- \
    -max_total_time="${FUZZ_SECONDS:-60}" -timeout=60 -rss_limit_mb=4096 >"$log" 2>&1; then
    printf 'fuzz: %s: %s\n' "$name" "$(grep -E '^Done [0-9]+ runs' "$log" || tail -n 1 "$log")"
  else
    tail -n 40 "$log"
    printf 'fuzz: %s: failed\n' "$name"
    return 1
  fi
  if [[ -n ${FUZZ_KEEP:-} ]]; then
    cargo +nightly fuzz run "$name" "fuzz/corpus/$name" "fuzz/found/$name" -- -merge=1 -max_len=4096 >>"$log" 2>&1
  fi
}
export -f fuzz_one
if [[ -n ${FUZZ_TARGETS:-} ]]; then
  tr -s " " "\n" <<<"$FUZZ_TARGETS"
else
  cargo +nightly fuzz list
fi | xargs -P "$(nproc)" -I{} bash -euo pipefail -c 'fuzz_one {}'
