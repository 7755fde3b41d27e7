#!/usr/bin/env bash
# Runs the study `quick` and prints where its report is. A study of before is replaced.
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
folder=$target/lab
store=$folder/quick.lab.db
mkdir -p "$folder"
rm -rf "$store" "$store"-* "${store%.db}.copies" "$store.copies"

"$target/release/selenite" lab run quick --store "$store"
"$target/release/selenite" lab report "$store"
"$target/release/selenite" lab report "$store" --html "$folder/quick.html"
printf '\nreport: %s\n' "$folder/quick.html"
