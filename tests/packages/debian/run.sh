#!/usr/bin/env bash
# Tests Debian packages in a minimal Debian 12 without Rust: installs, uses, upgrades, removes and purges them.
# systemd does not run in a chroot: its own tools check the unit, and the test starts the command that is in it.
# usage: tests/packages/debian/run.sh SELENITE.deb [LIBSELENITE-DEV.deb]   as root
set -euo pipefail
packages=()
for package in "${@:?usage: tests/packages/debian/run.sh SELENITE.deb [LIBSELENITE-DEV.deb]}"; do
  packages+=("$(realpath "$package")")
done
cd "$(dirname "$0")/../../.."
((EUID == 0)) || { echo 'tests/packages/debian: only root can make a chroot' >&2 && exit 1; }

root=${CARGO_TARGET_DIR:-$PWD/target}/debian-test-root
include=sqlite3,libsqlite3-dev,gcc,libc6-dev,pkg-config,mandoc,bash-completion,zsh,fish,freetds-bin,systemd
if [[ ! -f $root/selenite-include || $(<"$root/selenite-include") != "$include" ]]; then
  command -v mmdebstrap >/dev/null || apt-get install -y -qq --no-install-recommends mmdebstrap >/dev/null
  echo "need: Debian 12, in $root" >&2
  rm -rf "$root"
  mmdebstrap --quiet --mode=root --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --include="$include" \
    bookworm "$root" "deb ${DEBIAN_MIRROR:-http://deb.debian.org/debian} bookworm main"
  printf '%s\n' "$include" >"$root/selenite-include"
fi

if command -v lintian >/dev/null; then
  # What is built for this machine alone keeps its symbols.
  lintian --allow-root --fail-on error,warning --suppress-tags unstripped-binary-or-object,unstripped-static-library "${packages[@]}"
else
  echo 'left out: there is no lintian' >&2
fi

# The source of a SQLite that can be built without extensions, from a library that the workspace uses.
sqlite=$(cargo metadata --locked --format-version 1 |
  python3 -c 'import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["name"] == "libsqlite3-sys": print(package["manifest_path"].replace("Cargo.toml", "sqlite3"))')

# Mounts, processes and loopback of its own, which end with it. What the test changes is in a file system in memory.
# shellcheck disable=SC2016  # expanded there
unshare --mount --pid --fork --net bash -c '
  set -euo pipefail
  root=$1 sqlite=$2 files=$3
  shift 3
  mount -t tmpfs tmpfs /mnt
  mkdir /mnt/{upper,work,root}
  mount -t overlay overlay -o "lowerdir=$root,upperdir=/mnt/upper,workdir=/mnt/work" /mnt/root
  mount -t proc proc /mnt/root/proc
  mount --rbind /dev /mnt/root/dev
  ip link set lo up
  mkdir /mnt/root/test
  cp "$@" "$sqlite"/sqlite3{.c,.h,ext.h} "$files"/{inside.sh,static.c} /mnt/root/test
  exec env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    chroot /mnt/root bash /test/inside.sh
' - "$root" "$sqlite" "$PWD/tests/packages/debian" "${packages[@]}"
