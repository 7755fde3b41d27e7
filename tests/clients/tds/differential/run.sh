#!/usr/bin/env bash
# Compares a server's answers with a model of SQL Server's: random expressions, queries and changes.
# usage: tests/clients/tds/differential/run.sh [--count N] [--seed N] [--only expressions|queries|changes]
set -euo pipefail
cd "$(dirname "$0")/../../../.."

target=${CARGO_TARGET_DIR:-$PWD/target}
if [[ -z ${SELENITE_TEST_COMMAND:-} ]]; then
  cargo build --quiet -p selenite-cli
  export SELENITE_TEST_COMMAND=$target/debug/selenite
fi
export PYTHONDONTWRITEBYTECODE=1
exec .venv/bin/python tests/clients/tds/differential/differential_run.py "$@"
