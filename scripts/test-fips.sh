#!/usr/bin/env bash
# Builds the FIPS build in target/fips and the normal one, and tests the first alone and beside the second.
# usage: scripts/test-fips.sh [ARGUMENT OF PYTEST...]
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
fips=$target/fips
packages=(-p selenite-cli -p selenite-extension)
cargo build --locked "${packages[@]}"
CARGO_TARGET_DIR=$fips cargo build --locked "${packages[@]}" --features selenite-cli/fips,selenite-extension/fips
CARGO_TARGET_DIR=$fips cargo test --locked -p selenite-cipher --features fips
# shellcheck source=scripts/test-environment.sh
. scripts/test-environment.sh
export SELENITE_FIPS_COMMAND=$fips/debug/selenite
export SELENITE_FIPS_EXTENSION=$fips/debug/libselenite.so
.venv/bin/python -m pytest -p no:cacheprovider -q tests/fips "$@"
