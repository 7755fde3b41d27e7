#!/usr/bin/env bash
# Builds what is given to others: the extension, the command, what they are made of (CycloneDX), and SHA-256 sums of all.
# The same commit, toolchain and C compiler give the same bytes in every folder: no path of the machine is in them.
# usage: scripts/release.sh [FOLDER]   target/release-files if none is named
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${1:-$PWD/target/release-files}
target=${CARGO_TARGET_DIR:-$PWD/target}/release-build
home=${CARGO_HOME:-$HOME/.cargo}
sysroot=$(rustc --print sysroot)

if ! cargo cyclonedx --version >/dev/null 2>&1; then
  cargo install --quiet --locked cargo-cyclonedx
fi

# What rustc and the C compiler would note of where the sources lie; the last that fits counts.
from=("$home/registry/src" "$sysroot" "$PWD" "$target")
to=(/cargo /rust /selenite /build)
rust_flags=() c_flags=()
for index in "${!from[@]}"; do
  rust_flags+=("--remap-path-prefix=${from[index]}=${to[index]}")
  c_flags+=("-ffile-prefix-map=${from[index]}=${to[index]}")
done
separator=$'\x1f'
CARGO_ENCODED_RUSTFLAGS=$(IFS=$separator && printf '%s' "${rust_flags[*]}")
export CARGO_ENCODED_RUSTFLAGS
export CFLAGS="${c_flags[*]} ${CFLAGS:-}"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
export CARGO_INCREMENTAL=0

CARGO_TARGET_DIR=$target cargo build --locked --release -p selenite-extension -p selenite-cli

mkdir -p "$folder"
cp "$target/release/selenite" "$target/release/libselenite.so" "$folder"
for crate in crates/cli crates/storage/extension; do
  name=selenite-${crate##*/}.cdx
  cargo cyclonedx --quiet --manifest-path "$crate/Cargo.toml" --format json --override-filename "$name"
  # It names our crates by their folders.
  bill=$(<"$crate/$name.json")
  printf '%s\n' "${bill//"file://$PWD"/file:///selenite}" >"$folder/$name.json"
done
# Each package of the workspace gets one; these are the two that are wanted.
find crates xtask -name 'selenite-*.cdx.json' -delete

(cd "$folder" && sha256sum selenite libselenite.so selenite-cli.cdx.json selenite-extension.cdx.json >SHA256SUMS)
cat "$folder/SHA256SUMS"
