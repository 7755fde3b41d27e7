#!/usr/bin/env bash
# Models what threads share with loom, which takes them through every order: the mark of the generation, and the counter of
# nonces. It is the real code, with loom's atomics and locks in it; the pool is built with them, and has no model yet.
set -euo pipefail
cd "$(dirname "$0")/.."

RUSTFLAGS="--cfg selenite_loom ${RUSTFLAGS:-}" CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/loom \
  cargo test --locked --package selenite-vfs --lib -- model::
