#!/usr/bin/env bash
# Runs the extension in real clients on real files, and nothing else. The last line counts the tests.
# usage: tests/clients/run.sh [ARGUMENT FOR PYTEST]...
#   SELENITE_SOAK=1 runs those too that write 4 GiB.
set -euo pipefail
cd "$(dirname "$0")/../.."

scripts/need.sh rust tests
scripts/sqlite/build-shell.sh
cargo build --quiet -p selenite-extension -p selenite-cli
target=${CARGO_TARGET_DIR:-$PWD/target}
export SELENITE_TEST_EXTENSION=${SELENITE_TEST_EXTENSION:-$target/debug/libselenite.so}
export SELENITE_TEST_COMMAND=${SELENITE_TEST_COMMAND:-$target/debug/selenite}
export SELENITE_TEST_SQLITE_NEW=$PWD/target/stock/libsqlite3-new.so

status=0
.venv/bin/python -m pytest -p no:cacheprovider -q "$@" tests/clients | tee "$target/clients.log" || status=$?
tail -n 1 "$target/clients.log" | awk '{
  for (i = 2; i <= NF; i++) count[substr($i, 1, 4)] += $(i - 1)
  printf "%d passed, %d failed, %d skipped\n", count["pass"], count["fail"] + count["erro"], count["skip"]
}'
exit "$status"
