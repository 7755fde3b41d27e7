#!/usr/bin/env bash
# Runs the test suites of others against `selenite serve`, and compares with what is known of the tests that fail.
# It needs the internet the first time: PyPI, the Go proxy, crates.io.
# usage: tests/clients/tds/suites/run.sh [SUITE]...
#   SUITE is one of sqlalchemy, go_mssqldb, tiberius [all]. What a test said is in target/suites/SUITE.log.
set -euo pipefail
cd "$(dirname "$0")/../../../.."

target=${CARGO_TARGET_DIR:-$PWD/target}
mkdir -p "$target/suites"
if [[ -z ${SELENITE_TEST_COMMAND:-} ]]; then
  cargo build --quiet --workspace --bins
  export SELENITE_TEST_COMMAND=$target/debug/selenite
fi
# A commit that waits for the disk makes hours of them, and no power fails here.
slow=()
if command -v eatmydata >/dev/null; then
  slow=(eatmydata)
fi

[[ $# -gt 0 ]] || set -- sqlalchemy go_mssqldb tiberius
status=0
for suite; do
  "${slow[@]}" .venv/bin/python "tests/clients/tds/suites/${suite}_suite.py" || status=$?
done
exit "$status"
