#!/usr/bin/env bash
# Models what threads share with loom, which takes them through every order: the mark of the generation, the counter of
# nonces and the page pool. It is the real code, with loom's atomics and locks in it.
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTFLAGS="--cfg selenite_loom ${RUSTFLAGS:-}" CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/loom \
  cargo test --locked --package selenite-vfs --lib -- model::
