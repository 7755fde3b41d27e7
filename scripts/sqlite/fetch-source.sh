#!/usr/bin/env bash
# Fetches SQLite's source package from Debian, once: its test suite is in no other package. A list of sources and folders
# of our own, so the system's are left as they are, and no root is needed.
set -euo pipefail
cd "$(dirname "$0")/../.."

version=3.46.1
digest=d0cdd2ece271b29e7ce18095745d892517ee26d0f270065b3a25c2e9eb11639c
folder=${CARGO_TARGET_DIR:-$PWD/target}/sqlite-suite
source=$folder/sqlite3-$version
if [[ -f $source/test/veryquick.test ]]; then
  exit
fi

apt=$folder/apt
archive=sqlite3_$version.orig.tar.xz
mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial"
echo "need: SQLite $version's source package, from Debian 13"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
printf 'deb-src [signed-by=%s] http://deb.debian.org/debian trixie main\n' "$keys" >"$apt/sources.list"
cat >"$apt/apt.conf" <<END
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
APT::Sandbox::User "root";
END
export APT_CONFIG=$apt/apt.conf
apt-get update -qq
(cd "$apt" && apt-get source -qq --download-only sqlite3/trixie)
if ! sha256sum --check --status <<<"$digest  $apt/$archive"; then
  echo "need: $archive is not the one that is asked for: its SHA-256 is another" >&2
  exit 1
fi
rm -rf "$source" "$source.part"
mkdir "$source.part"
tar --extract --file "$apt/$archive" --directory "$source.part" --strip-components 1
# It moves SQLite's lock byte to 64 KiB, where an encrypted database has page 1: the format has it at 1 GiB, where SQLite has.
sed -i 's/^sqlite3_test_control_pending_byte 0x0010000$/# &/' "$source.part/test/tester.tcl"
mv "$source.part" "$source"
rm -rf "$apt"
