# shellcheck shell=bash
# What scripts/debian.sh and scripts/tarball.sh begin with: sourced with their arguments. Sets from, platform, generator,
# output, machine, version, SOURCE_DATE_EPOCH and work, a folder that is removed at the end.
#   --from FOLDER         what was built before: selenite, libselenite.so and perhaps libselenite.a (scripts/cross.sh)
#   --target TARGET       such as x86_64-unknown-linux-gnu; for Debian packages --architecture amd64|arm64
#   --generator COMMAND   a selenite that runs on this machine, if that in FOLDER does not
#   --output FOLDER       dist if none is named

fail() {
  echo "${0##*/}: $1" >&2
  exit 2
}

root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/..")
from='' platform='' generator='' output=$root/dist
while (($#)); do
  (($# > 1)) || fail "$1 needs a value"
  case $1 in
    --from) from=$(realpath --canonicalize-missing "$2") ;;
    --target | --architecture) platform=$2 ;;
    --generator) generator=$(realpath --canonicalize-missing "$2") ;;
    --output) output=$(realpath --canonicalize-missing "$2") ;;
    *) fail "unknown argument $1; the beginning of scripts/package-input.sh describes them" ;;
  esac
  shift 2
done
case $platform in
  amd64 | x86_64-*) machine='Advanced Micro Devices X86-64' ;;
  arm64 | aarch64-*) machine=AArch64 ;;
  *) fail "unknown platform ${platform:-(none)}" ;;
esac
for file in selenite libselenite.so; do
  [[ -f $from/$file ]] || fail "$from/$file is missing: scripts/cross.sh makes it"
  readelf --file-header "$from/$file" | grep -q "Machine: *$machine\$" || fail "$from/$file is not for $platform"
done
generator=${generator:-$from/selenite}
mkdir -p "$output"
cd "$root" || exit
# shellcheck disable=SC2034  # read by those who source this
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022
