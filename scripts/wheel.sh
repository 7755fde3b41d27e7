#!/usr/bin/env bash
# Makes a wheel for Python of an extension and a command that were built before: see packages/python/build_wheel.py.
# usage: scripts/wheel.sh --extension FILE --command FILE [--platform x86_64|aarch64] [--libc glibc|musl] [--output DIR]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

venv=${CARGO_TARGET_DIR:-$root/target}/wheel-venv
asked=$(cat "$root/packages/python/build-requirements.txt")
if [[ ! -f $venv/selenite-requirements || $(<"$venv/selenite-requirements") != "$asked" ]]; then
  echo 'need: what builds a wheel, from PyPI' >&2
  python3 -m venv --clear "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --requirement "$root/packages/python/build-requirements.txt"
  printf '%s\n' "$asked" >"$venv/selenite-requirements"
fi
exec "$venv/bin/python" "$root/packages/python/build_wheel.py" "$@"
