#!/usr/bin/env bash
# Checks that the storage crates compile for x86_64-pc-windows-gnu: nothing is linked and nothing runs. As root: Debian sid's
# rustc, which has the sources of the standard library, works in a folder of its own, which is made by mmdebstrap (3 GB) if
# SELENITE_CROSS_ROOT names none.
# usage: scripts/check-windows.sh [CARGO-ARGUMENT...]   e.g. -p selenite-keyring; the storage crates if none is given
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
root=${SELENITE_CROSS_ROOT:-$target/cross/sid-root}
home=${CARGO_HOME:-$HOME/.cargo}
triple=x86_64-pc-windows-gnu
packages=rustc,cargo,rust-src,gcc,g++,libc6-dev,gcc-mingw-w64-x86-64,g++-mingw-w64-x86-64,cmake,make,nasm,ca-certificates
crates=("$@")
if [[ $# -eq 0 ]]; then
  for manifest in crates/storage/*/Cargo.toml; do
    crates+=(-p "$(sed -n 's/^name = "\(.*\)"$/\1/p;T;q' "$manifest")")
  done
fi

if [[ $(id -u) -ne 0 ]]; then
  echo 'check-windows: only root may change the root folder (chroot)' >&2
  exit 1
fi
if [[ ! -d $root/usr/lib/gcc/x86_64-w64-mingw32 ]]; then
  if [[ -e $root ]]; then
    echo "check-windows: $root has no MinGW-w64: install $packages there, or remove it" >&2
    exit 1
  fi
  command -v mmdebstrap >/dev/null || apt-get install -qq -y --no-install-recommends mmdebstrap
  mmdebstrap --mode=root --variant=minbase --aptopt='Acquire::Check-Valid-Until "false"' \
    --include="$packages" sid "$root.part" "deb ${SELENITE_CROSS_MIRROR:-http://deb.debian.org/debian} sid main"
  mv "$root.part" "$root"
fi

# The sources of all targets are fetched outside: what is in the folder needs no network.
cargo fetch --quiet --locked
RUSTC_BOOTSTRAP=1 cargo fetch --quiet --locked --manifest-path "$root/usr/lib/rustlib/src/rust/library/Cargo.toml"
mkdir -p "$target/windows" "$root/mnt/selenite-windows"/{source,cargo,target}
# shellcheck disable=SC2016 # the inner shell's words
unshare --mount -- sh -euc '
  mount --make-rprivate /
  here=$1/mnt/selenite-windows
  mount --bind "$PWD" "$here/source"
  mount --bind "$2" "$here/cargo"
  mount --bind "$3" "$here/target"
  mount -t proc proc "$1/proc"
  root=$1
  shift 3
  exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root RUSTC_BOOTSTRAP=1 \
    CARGO_HOME=/mnt/selenite-windows/cargo CARGO_TARGET_DIR=/mnt/selenite-windows/target \
    sh -euc "cd /mnt/selenite-windows/source; exec cargo check \"\$@\"" check "$@"
' unshare "$root" "$home" "$target/windows" \
  --locked --offline -Zbuild-std=std,panic_unwind --target "$triple" \
  --config 'profile.dev.package.libsqlite3-sys.opt-level=0' "${crates[@]}"
