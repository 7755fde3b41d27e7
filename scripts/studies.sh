#!/usr/bin/env bash
# Runs the published studies, docs/studies/*.toml, and writes docs/studies/*.json and docs/BENCHMARKS.md.
# usage: scripts/studies.sh [--full | STUDY...]   without a name all of them; a study that was cut off goes on
#   --full  the parts of the full study: what encryption costs beside stock SQLite, and beside suite NONE
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
selenite=$target/release/selenite
folder=$target/lab
mkdir -p "$folder"

full=(speed-scan speed-dml speed-hummer speed-mixes speed-check speed-readers growth growth-large)
studies=("$@")
if [[ ${1:-} == --full ]]; then
  studies=("${full[@]}")
fi
if ((${#studies[@]} == 0)); then
  for file in docs/studies/*.toml; do
    case $(basename "$file") in
      gate.toml) ;; # scripts/bench-gate.sh records that one
      *) studies+=("$(basename "$file" .toml)") ;;
    esac
  done
fi

for study in "${studies[@]}"; do
  store=$folder/$study.lab.db
  printf '\n== %s\n' "$study"
  if [[ ! -e $store ]]; then
    "$selenite" lab run "docs/studies/$study.toml" --store "$store"
  elif ! "$selenite" lab status "$store" | grep -q '^state *over'; then
    "$selenite" lab resume "$store"
  fi
  "$selenite" lab report "$store" --json "docs/studies/$study.json"
done

scripts/benchmarks.sh
