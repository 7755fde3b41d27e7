#!/usr/bin/env bash
# Writes docs/BENCHMARKS.md of docs/studies/*.json.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
page=docs/BENCHMARKS.md
order=(speed-scan speed-dml speed-hummer speed-mixes speed-check speed-readers growth growth-large online quick convert-scan rekey rekey-peers backup integrity-check tds-messages)

files=()
for study in "${order[@]}"; do
  [[ -e docs/studies/$study.json ]] && files+=("docs/studies/$study.json")
done
part=$(mktemp)
trap 'rm -f "$part"' EXIT
"$target/release/selenite" lab report "${files[@]}" --md "$part"
if [[ -e docs/studies/budget.json ]]; then
  printf '\n' >>"$part"
  cargo run --locked --quiet --release -p selenite-lab --example budget -- page docs/studies/budget.json >>"$part"
fi
{
  cat docs/studies/introduction.txt
  python3 scripts/goals.py docs/studies
  cat docs/studies/shortfalls.txt
  cat "$part"
} >"$page"
