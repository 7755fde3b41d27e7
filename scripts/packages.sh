#!/usr/bin/env bash
# Makes what users install of each target, in dist/: a wheel and npm packages with the small command, a tarball with the
# whole one, and Debian packages of those with glibc. Builds the targets that scripts/cross.sh has not built.
# usage: scripts/packages.sh TARGET...
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${CARGO_TARGET_DIR:-$PWD/target}/cross
declare -A debian=([x86_64]=amd64 [aarch64]=arm64)
scripts/need.sh node
for target in "$@"; do
  scripts/cross.sh "$target"
  machine=${target%%-*} libc=glibc
  [[ $target == *-musl ]] && libc=musl
  binaries=(--extension "$folder/$target/libselenite.so" --command "$folder/$target/small/selenite")
  scripts/wheel.sh "${binaries[@]}" --platform "$machine" --libc "$libc" --strict
  scripts/npm.sh "${binaries[@]}" --platform "$machine" --libc "$libc" --strict
  # What is run to write man pages and completions is this machine's.
  [[ $libc == musl ]] || scripts/debian.sh --from "$folder/$target" --architecture "${debian[$machine]}" \
    --generator "$folder/$(uname -m)-unknown-linux-gnu/selenite"
  scripts/tarball.sh --from "$folder/$target" --target "$target" --generator "$folder/$(uname -m)-unknown-linux-gnu/selenite"
done
