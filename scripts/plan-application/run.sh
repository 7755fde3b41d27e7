#!/usr/bin/env bash
# Predicts what encryption costs a third-party application, then measures it. It needs the internet: PyPI.
# usage: scripts/plan-application/run.sh [SESSIONS [CALIBRATION]]
set -euo pipefail
cd "$(dirname "$0")/../.."
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
folder=$target/plan-application
calibration=${2:+$(realpath "$2")}

cargo build --locked --release --package selenite-extension --package selenite-cli
rm -rf "$folder"
mkdir -p "$folder"
# Debian's Python: others may lack enable_load_extension.
"${PYTHON:-/usr/bin/python3}" -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install --quiet --disable-pip-version-check \
  --requirement scripts/plan-application/requirements.txt
mkdir "$folder/study"
exec "$folder/venv/bin/python" scripts/plan-application/study.py run "$folder/study" \
  "$target/release/libselenite.so" "$target/release/selenite" "${1:-10}" "$calibration"
