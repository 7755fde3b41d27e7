#!/usr/bin/env bash
# Generates docs/BENCHMARKS.md, docs/OBSERVATORY.md and docs/studies/*.md from docs/studies/*.json.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
page=docs/BENCHMARKS.md
order=(speed-scan speed-dml speed-hummer speed-mixes speed-check speed-readers growth growth-large online quick convert-scan rekey rekey-peers keys backup integrity-check tds-messages
  mariadb-scan mariadb-dml mariadb-hummer mariadb-redo mariadb-tls mariadb-messages postgresql-messages duckdb-scan serve-tde
  garrison-2009 mcgiffen-2018 singh-2021 microsoft-2017 noveljic-2018 cybertec-2025 percona-2019 mdev-36024)

# title FILE: its first heading
title() {
  sed -n '1s/^# //p' "$1"
}

list=$(mktemp)
trap 'rm -f "$list"' EXIT
for study in "${order[@]}"; do
  [[ -e docs/studies/$study.json ]] || continue
  detail=docs/studies/$study.md
  "$target/release/selenite" lab report "docs/studies/$study.json" --md "$detail" >/dev/null
  # A page of its own begins with a heading of the first level.
  sed -i 's/^##/#/' "$detail"
  printf -- '- [%s](studies/%s.md)\n' "$(title "$detail")" "$study" >>"$list"
done
if [[ -e docs/studies/budget.json ]]; then
  cargo run --locked --quiet --release -p selenite-lab --example budget -- page docs/studies/budget.json |
    sed 's/^##/#/' >docs/studies/budget.md
  printf -- '- [%s](studies/budget.md)\n' "$(title docs/studies/budget.md)" >>"$list"
fi
{
  cat docs/studies/introduction.txt
  python3 scripts/goals.py docs/studies
  cat docs/studies/shortfalls.txt
  printf '## Detailed tables\n\n'
  cat "$list"
} >"$page"
"$target/release/selenite" lab observatory docs/studies --output docs/OBSERVATORY.md >/dev/null
