#!/usr/bin/env bash
# Runs the tests of one crate whose names contain a text, after `make build-tests`.
# usage: scripts/one-test.sh CRATE [NAME] [ARGUMENT FOR RUST'S TEST RUNNER]...
set -euo pipefail
cd "$(dirname "$0")/.."

if (($# == 0)); then
  echo 'usage: scripts/one-test.sh CRATE [NAME] [ARGUMENT]...' >&2
  exit 2
fi
crate=$1
shift
. scripts/test-environment.sh
exec cargo test --package "$crate" -- "$@"
