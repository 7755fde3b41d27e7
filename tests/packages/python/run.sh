#!/usr/bin/env bash
# Tests a wheel in fresh virtual environments, for Debian's Python and for those of pyenv that cannot load extensions.
# usage: tests/packages/python/run.sh WHEEL [ARGUMENT FOR PYTEST]...
#   SELENITE_TEST_EXTENSION and SELENITE_TEST_COMMAND, if set, are what the script that makes wheels is tested with.
set -euo pipefail
wheel=$(realpath "${1:?usage: tests/packages/python/run.sh WHEEL}")
shift
root=$(cd "$(dirname "$0")/../../.." && pwd)

venv=${CARGO_TARGET_DIR:-$root/target}/package-test-venv
asked=$(cat "$root/packages/python/build-requirements.txt" "$root/tests/packages/python/requirements.txt")
if [[ ! -f $venv/selenite-requirements || $(<"$venv/selenite-requirements") != "$asked" ]]; then
  echo 'need: what tests a wheel, from PyPI' >&2
  /usr/bin/python3 -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --requirement "$root/packages/python/build-requirements.txt" \
    --requirement "$root/tests/packages/python/requirements.txt"
  printf '%s\n' "$asked" >"$venv/selenite-requirements"
fi
export SELENITE_TEST_WHEEL=$wheel
exec "$venv/bin/python" -m pytest -p no:cacheprovider "$@" "$root/tests/packages/python"
