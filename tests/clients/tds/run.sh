#!/usr/bin/env bash
# Runs SQL Server's clients, and tools on them, against `selenite serve`, and nothing else. The last line counts the tests.
# usage: tests/clients/tds/run.sh [ARGUMENT FOR PYTEST]...
#   SELENITE_TEST_CLIENTS=quick runs those alone that `make test` has.
set -euo pipefail
cd "$(dirname "$0")/../../.."

target=${CARGO_TARGET_DIR:-$PWD/target}
export SELENITE_TEST_CLIENTS=${SELENITE_TEST_CLIENTS:-all}
if [[ -z ${SELENITE_TEST_COMMAND:-} ]]; then
  cargo build --quiet -p selenite-cli
  export SELENITE_TEST_COMMAND=$target/debug/selenite
fi

status=0
.venv/bin/python -m pytest -p no:cacheprovider -q "$@" tests/clients/tds | tee "$target/tds-clients.log" || status=$?
tail -n 1 "$target/tds-clients.log" | awk '{
  for (i = 2; i <= NF; i++) count[substr($i, 1, 4)] += $(i - 1)
  printf "%d passed, %d failed, %d skipped\n", count["pass"], count["fail"] + count["erro"], count["skip"]
}'
exit "$status"
