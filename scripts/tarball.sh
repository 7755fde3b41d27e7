#!/usr/bin/env bash
# Makes a tarball of what was built before (scripts/cross.sh), and the SHA-256 sums of all that is in the output folder.
# The same input and commit give the same bytes.
# usage: scripts/tarball.sh --from FOLDER --target TARGET [--generator COMMAND] [--output dist]
#   scripts/package-input.sh describes the arguments.
set -euo pipefail
# shellcheck source=scripts/package-input.sh
. "$(dirname "$0")/package-input.sh"

name=selenite-$version-$platform
folder=$work/$name
mkdir -p "$folder"/{bin,lib,share/doc,share/man}
install -m 755 "$from/selenite" "$folder/bin/"
install -m 644 "$from/libselenite.so" "$folder/lib/"
if [[ -f $from/libselenite.a ]]; then
  install -m 644 "$from/libselenite.a" "$folder/lib/"
  install -D -m 644 packages/c/selenite.h --target-directory="$folder/include"
  install -D -m 644 packages/c/selenite.c --target-directory="$folder/share/selenite"
fi
scripts/package-texts.sh "$generator" "$work/texts"
cp -r "$work/texts/man" "$folder/share/man/man1"
cp -r "$work/texts/completions" "$folder/share/"
cp "$work/texts/NOTICES" README.md CHANGELOG.md LICENSE-APACHE LICENSE-MIT SECURITY.md "$folder/"
cp docs/{BACKUP,CONFIGURATION,FORMAT,PACKAGES,THREAT_MODEL,TSQL}.md "$folder/share/doc/"
chmod -R u=rwX,go=rX "$folder"

tar --create --sort=name --format=posix --pax-option=delete=atime,delete=ctime --mtime="@$SOURCE_DATE_EPOCH" \
  --owner=0 --group=0 --numeric-owner --directory "$work" "$name" | gzip -9n >"$output/$name.tar.gz"
scripts/sums.sh "$output"
ls -l "$output/$name.tar.gz"
