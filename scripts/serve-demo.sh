#!/usr/bin/env bash
# Starts `selenite serve`, runs the scripts of sources 000 and 002 with tsql, and prints what they show beside the sources' own figures.
# usage: scripts/serve-demo.sh [ITERATIONS]   of source 000's loop; 10,000,000 if nothing is said
set -euo pipefail
cd "$(dirname "$0")/.."

# Whatever the caller has configured has no part in this; the command may be another one.
command=${SELENITE_TEST_COMMAND:-$(realpath "${CARGO_TARGET_DIR:-target}")/release/selenite}
unset "${!SELENITE_@}"
export SELENITE_TEST_COMMAND=$command PYTHONDONTWRITEBYTECODE=1
exec /usr/bin/python3 tests/clients/tds/figures/sources.py "$@"
