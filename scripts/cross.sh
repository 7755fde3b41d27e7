#!/usr/bin/env bash
# Builds the extension (loadable and static), the command, and the small command of the wheels and npm packages (without
# serve, lab and plan) for this machine's platform or others, into target/cross/TARGET: docs/PLATFORMS.md. zig is C compiler and linker: it knows every libc by version.
# A target whose standard library the installed toolchain has is built here; any other in a chroot of Debian sid.
# usage: scripts/cross.sh [--tests] [TARGET...]
#   --tests: the tests of the crates below the extension instead; the paths of their programs go to target/cross/TARGET/tests
#   x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-unknown-linux-musl aarch64-unknown-linux-musl; all if none
set -euo pipefail
cd "$(dirname "$0")/.."

all=({x86_64,aarch64}-unknown-linux-{gnu,musl})
# The oldest glibc that the packages run on: that of Debian 10 and RHEL 8.
glibc=2.28
target_folder=${CARGO_TARGET_DIR:-$PWD/target}/cross
root=${SELENITE_CROSS_ROOT:-$target_folder/sid-root}
zig=$target_folder/zig

need_zig() {
  local asked
  asked=$(<scripts/cross-requirements.txt)
  if [[ ! -f $zig/selenite-requirements || $(<"$zig/selenite-requirements") != "$asked" ]]; then
    echo 'need: zig and cargo-zigbuild, from PyPI' >&2
    python3 -m venv --clear "$zig"
    "$zig/bin/python" -m pip install --quiet --disable-pip-version-check --requirement scripts/cross-requirements.txt
    printf '%s\n' "$asked" >"$zig/selenite-requirements"
  fi
}

# A chroot, because Debian's cross libraries are those of its own rustc. It takes 3 GB, and root to make.
need_chroot() {
  [[ -e $root/usr/bin/cargo ]] && return
  ((EUID)) && { echo 'cross: a chroot is needed, which only root can make' >&2 && exit 1; }
  command -v mmdebstrap >/dev/null || apt-get install -y -qq --no-install-recommends mmdebstrap >/dev/null
  echo "need: Debian sid's rustc, in $root" >&2
  local packages
  packages=rustc,cargo,rust-src,libstd-rust-dev,libstd-rust-dev:arm64,gcc,g++,libc6-dev,gcc-aarch64-linux-gnu
  packages+=,g++-aarch64-linux-gnu,libc6-dev-arm64-cross,gcc-mingw-w64-x86-64,cmake,make,pkg-config,nasm,ca-certificates,git
  mmdebstrap --quiet --mode=root --variant=minbase --architectures=amd64,arm64 \
    --aptopt='Acquire::Check-Valid-Until "false"' --include="$packages" sid "$root" \
    "deb ${DEBIAN_MIRROR:-http://deb.debian.org/debian} sid main"
}

# build TARGET SUFFIX FLAG...: what packages contain
build() {
  local target=$1 suffix=$2
  shift 2
  local common=(--locked --profile dist --target "$target$suffix" "$@")
  local made=$CARGO_TARGET_DIR/$target/dist to=$target_folder/$target
  mkdir -p "$to/small"
  if [[ $what == tests ]]; then
    # Without examples that are no tests, and without documentation's.
    cargo-zigbuild test --locked --target "$target$suffix" "$@" --no-run --tests --message-format json-render-diagnostics \
      -p selenite-cipher -p selenite-format -p selenite-vfs | sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' >"$to/tests"
    return
  fi
  cargo-zigbuild rustc "${common[@]}" -p selenite-extension --lib --crate-type cdylib,staticlib
  cp "$made/libselenite.so" "$made/libselenite.a" "$to/"
  cargo-zigbuild build "${common[@]}" -p selenite-cli --no-default-features --features s3
  cp "$made/selenite" "$to/small/"
  cargo-zigbuild build "${common[@]}" -p selenite-cli
  cp "$made/selenite" "$to/"
}

# What is called by this script itself in the chroot.
if [[ ${1:-} == --inside ]]; then
  what=$2 target=$3 suffix=''
  export PATH=$zig/bin:/usr/bin:/bin CARGO_TARGET_DIR=$target_folder/build
  case $target in
    # Debian has the standard library for these.
    *-gnu) suffix=.$glibc flags=() ;;
    # A shared library can't contain a libc, which is the target's default.
    *-musl)
      flags=("-Zbuild-std=std,panic_unwind")
      export RUSTC_BOOTSTRAP=1 RUSTFLAGS='-C target-feature=-crt-static -C link-self-contained=no'
      ;;
  esac
  build "$target" "$suffix" "${flags[@]}"
  exit
fi

in_chroot() {
  need_chroot
  # Mounts of its own, which end with it. Paths are the same inside as outside.
  # shellcheck disable=SC2016  # expanded there
  unshare --mount bash -c '
    root=$1 source=$2 folder=$3 home=$4
    shift 4
    for path in "$source" "$folder" "$home" /proc /dev; do
      mkdir -p "$root$path"
      mount --rbind "$path" "$root$path"
    done
    cp /etc/resolv.conf "$root/etc/resolv.conf"
    # A network may have a certificate authority of its own.
    [[ ! -e /etc/ssl/certs/ca-certificates.crt ]] || cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
    exec chroot "$root" "$@"' - "$root" "$PWD" "$target_folder" "${CARGO_HOME:-$HOME/.cargo}" \
    env "CARGO_HOME=${CARGO_HOME:-$HOME/.cargo}" "CARGO_TARGET_DIR=${target_folder%/cross}" \
    "CARGO_ZIGBUILD_ZIG_PATH=$CARGO_ZIGBUILD_ZIG_PATH" "$PWD/scripts/cross.sh" --inside "$what" "$1"
}

what=packages
[[ ${1:-} == --tests ]] && what=tests && shift
(($#)) || set -- "${all[@]}"
need_zig
CARGO_ZIGBUILD_ZIG_PATH=$(echo "$zig"/lib/python3*/site-packages/ziglang/zig)
export CARGO_ZIGBUILD_ZIG_PATH
for target in "$@"; do
  [[ " ${all[*]} " == *" $target "* ]] || { echo "cross: unknown target $target (${all[*]})" >&2 && exit 2; }
  echo "cross: $target" >&2
  if [[ $target == *-gnu && -d $(rustc --print sysroot)/lib/rustlib/$target/lib ]]; then
    PATH=$zig/bin:$PATH CARGO_TARGET_DIR=$target_folder/build build "$target" ".$glibc"
  else
    in_chroot "$target"
  fi
  [[ $what == tests ]] || (cd "$target_folder" && ls -l "$target"/{small/selenite,selenite,libselenite.so,libselenite.a})
done
