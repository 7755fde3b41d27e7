#!/usr/bin/env bash
# Tests fleets on this machine and on a Ray cluster of two nodes on it.
# usage: tests/fleet/run.sh [ARGUMENT FOR PYTEST]...
set -euo pipefail
cd "$(dirname "$0")/../.."

venv=${CARGO_TARGET_DIR:-$PWD/target}/fleet-venv
asked=$(cat tests/fleet/requirements.txt)
if [[ ! -f $venv/selenite-requirements || $(<"$venv/selenite-requirements") != "$asked" ]]; then
  echo 'need: Ray, from PyPI' >&2
  /usr/bin/python3 -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement tests/fleet/requirements.txt
  printf '%s\n' "$asked" >"$venv/selenite-requirements"
fi
RAY_USAGE_STATS_ENABLED=0 exec "$venv/bin/python" -m pytest -p no:cacheprovider -q "$@" tests/fleet
