#!/usr/bin/env bash
# Runs the study docs/studies/gate.toml, and says whether a row costs more than recorded in docs/studies/gate.json, by
# more than both are unsure. Under three minutes. Its exit status is the gate's: 0 no worse, 10 worse, 11 not resolved,
# 12 the study cannot tell.
# usage: scripts/bench-gate.sh [--record]   --record writes gate.json again instead
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
selenite=$target/release/selenite
recorded=docs/studies/gate.json
folder=$target/lab
store=$folder/gate.lab.db
mkdir -p "$folder"
rm -rf "$store" "$store"-* "$store.copies"

SELENITE_CONFIG=/dev/null "$selenite" lab run docs/studies/gate.toml --store "$store"
if [[ ${1:-} == --record ]]; then
  "$selenite" lab report "$store" --json "$recorded"
  printf 'recorded: %s\n' "$recorded"
else
  "$selenite" lab gate "$store" --against "$recorded"
fi
