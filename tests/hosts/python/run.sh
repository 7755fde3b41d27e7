#!/usr/bin/env bash
# Runs Python's hosts of the package `selenite`, and Django's own tests on its backend. It needs the internet: PyPI.
# usage: tests/hosts/python/run.sh WHEEL [ARGUMENT FOR PYTEST]...
#   PYTHON is the Python to test with [/usr/bin/python3].
#   SELENITE_DJANGO_SUITES are Django's suites ["basic queries migrations"]; empty: none.
set -euo pipefail
wheel=$(realpath "${1:?usage: tests/hosts/python/run.sh WHEEL}")
shift
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
folder=${CARGO_TARGET_DIR:-$root/target}/hosts/python
suites=${SELENITE_DJANGO_SUITES-basic queries migrations}

# Everything is new but what pip keeps: the wheel may be another one with the same version.
rm -rf "$folder"
mkdir -p "$folder"
"${PYTHON:-/usr/bin/python3}" -m venv "$folder/venv"
python=$folder/venv/bin/python
"$python" -m pip install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
"$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps "$wheel"
# An older SQLite than the oldest that is supported; it comes with a module of its own.
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: \
  --target "$folder/old" apsw==3.39.4.0 ||
  echo 'hosts: no module with an old SQLite for this Python: its test is skipped' >&2

cd "$folder"
export SELENITE_TEST_OLD_APSW=$folder/old
"$python" -m pytest -p no:cacheprovider "$@" "$here"
if [[ -n $suites ]]; then
  "$here/django_suites.sh" "$python" "$folder/django" "$suites"
fi
