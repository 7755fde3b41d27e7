#!/usr/bin/env bash
# Runs every test in one profile, against the extension built in the same one.
# The last line counts the tests of all runners.
# usage: scripts/test.sh [ARGUMENT FOR RUST'S TEST RUNNER]...   with one, Rust's tests alone run
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
log=$target/test.log
mkdir -p "$target"
: >"$log"

# Asking for the tests too makes cargo choose the same features for both commands: with others it
# would build dependencies twice.
cargo build --workspace --lib --bins --tests
scripts/sqlite/build-shell.sh
export SELENITE_TEST_EXTENSION=$target/debug/libselenite.so
export SELENITE_TEST_COMMAND=$target/debug/selenite
browser=$(command -v google-chrome chromium-browser chromium | head -n 1 || true)
export SELENITE_TEST_BROWSER=${SELENITE_TEST_BROWSER:-$browser}
export SELENITE_TEST_SQLITE_NEW=$PWD/target/stock/libsqlite3-new.so

cargo test --workspace -- "$@" | tee -a "$log"

folders=(testdata/reader tests/clients)
if (($#)); then
  folders=()
fi
for folder in "${folders[@]}"; do
  if [[ -n $(find "$folder" -name 'test_*.py' -print -quit 2>/dev/null) ]]; then
    echo
    echo "$folder"
    .venv/bin/python -m pytest -p no:cacheprovider "$folder" | tee -a "$log"
  fi
done

awk '
  # cargo: "test result: ok. 5 passed; 0 failed; 1 ignored; .."  pytest: "== 5 passed, 1 skipped in 0.1s =="
  /^test result: / || /^=+ .* in [0-9.]+s/ {
    for (i = 2; i <= NF; i++) {
      if ($i ~ /^passed/) passed += $(i - 1)
      if ($i ~ /^(failed|error)/) failed += $(i - 1)
      if ($i ~ /^(ignored|skipped)/) skipped += $(i - 1)
    }
  }
  END { printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped }
' "$log"
