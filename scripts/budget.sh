#!/usr/bin/env bash
# Measures where each nanosecond of a page and of a commit goes, and writes docs/studies/budget.json: some four minutes.
# usage: scripts/budget.sh [TURNS]
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
record=docs/studies/budget.json
budget=$target/release/examples/budget
cargo build --locked --release -p selenite-lab --example budget

# On the disk of the build: what lies in memory has no page cache to be read from.
folder=$(mktemp -d "$target/budget.XXXXXX")
trap 'rm -rf "$folder"' EXIT
# A page that comes from the pool is not read: here each is.
export SELENITE_POOL_SIZE=0
"$budget" measure "$folder" "${1:-5}" "$record"
"$budget" page "$record"
printf '\nby function: %s symbols %s\n' "$budget" "$record"
