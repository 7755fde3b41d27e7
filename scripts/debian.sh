#!/usr/bin/env bash
# Makes Debian packages of what was built before (scripts/cross.sh): selenite, and libselenite-dev for programs that link
# SQLite themselves. The same input and commit give the same bytes.
# usage: scripts/debian.sh --from FOLDER --architecture amd64|arm64 [--generator COMMAND] [--output dist]
#   scripts/package-input.sh describes the arguments. Without libselenite.a there is no libselenite-dev.
set -euo pipefail
# shellcheck source=scripts/package-input.sh
. "$(dirname "$0")/package-input.sh"
case $platform in
  amd64) triple=x86_64-linux-gnu ;;
  arm64) triple=aarch64-linux-gnu ;;
  *) fail "$platform is none of Debian's architectures that are built: amd64 and arm64" ;;
esac
architecture=$platform
revision=$version-1
# The project has no mail address: reports go to the repository, and by SECURITY.md.
maintainer='Selenite developers <selenite@localhost>'
homepage=https://github.com/selenite/selenite

# needed FILE...: the packages of the libraries that these are linked with
needed() {
  local glibc
  if readelf --wide --version-info "$@" | grep -q musl || readelf --dynamic "$@" | grep -q libc.musl; then
    fail 'built for musl: Debian has glibc'
  fi
  glibc=$(readelf --wide --version-info "$@" | grep -o 'GLIBC_[0-9.]*' | sort -uV | tail -n 1)
  printf 'libc6 (>= %s)' "${glibc#GLIBC_}"
  if readelf --dynamic "$@" | grep -q 'NEEDED.*libgcc_s'; then
    printf ', libgcc-s1'
  fi
}

# documents PACKAGE FILE...: what each package has in /usr/share/doc
documents() {
  local folder=$work/$1/usr/share/doc/$1 package=$1
  mkdir -p "$folder"
  shift
  awk 'NR > 4 { print ($0 == "" ? " ." : " " $0) }' LICENSE-MIT >"$work/expat"
  sed -e "/@EXPAT@/r $work/expat" -e '/@EXPAT@/d' packages/debian/copyright >"$folder/copyright"
  gzip -9n <CHANGELOG.md >"$folder/changelog.gz"
  gzip -9n >"$folder/changelog.Debian.gz" <<END
selenite ($revision) unstable; urgency=medium

  * Packaged by the project itself. What changed is in changelog.gz.

 -- $maintainer  $(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
END
  gzip -9n <"$work/texts/NOTICES" >"$folder/NOTICES.gz"
  (($# == 0)) || cp "$@" "$folder"
  install -D -m 644 packages/debian/lintian-overrides "$work/$package/usr/share/lintian/overrides/$package"
  chmod -R u=rwX,go=rX "$work/$package"
}

# control PACKAGE SECTION DEPENDS DESCRIPTION...
control() {
  local folder=$work/$1
  mkdir -p "$folder/DEBIAN"
  {
    printf '%s\n' "Package: $1" 'Source: selenite' "Version: $revision" "Architecture: $architecture" \
      "Maintainer: $maintainer" "Installed-Size: $(du --apparent-size --summarize --block-size=1024 "$folder" | cut -f 1)"
    printf '%s\n' "${@:3}" | grep -v '^Description:\|^ '
    printf '%s\n' "Section: $2" 'Priority: optional' "Homepage: $homepage"
    printf '%s\n' "${@:3}" | grep '^Description:\|^ '
  } >"$folder/DEBIAN/control"
}

# pack PACKAGE: with what dpkg compares, and in the order and with the times that every run has
pack() {
  local folder=$work/$1
  (cd "$folder" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | LC_ALL=C sort -z | xargs -0 md5sum) \
    >"$work/md5sums"
  mv "$work/md5sums" "$folder/DEBIAN/md5sums"
  dpkg-deb --root-owner-group -Zxz --build "$folder" "$output/$1_${version}_$architecture.deb"
}

main_package() {
  local folder=$work/selenite script
  mkdir -p "$folder"/usr/{bin,lib/$triple,lib/systemd/system,lib/sysusers.d,share/man/man1} "$folder"/etc/selenite \
    "$folder"/usr/share/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d} "$folder/DEBIAN"
  install -m 755 "$from/selenite" "$folder/usr/bin/"
  install -m 644 "$from/libselenite.so" "$folder/usr/lib/$triple/"
  cp packages/debian/selenite-serve.service "$folder/usr/lib/systemd/system/"
  cp packages/debian/selenite.sysusers "$folder/usr/lib/sysusers.d/selenite.conf"
  cp packages/debian/serve.toml "$folder/etc/selenite/"
  cp "$work"/texts/man/*.1 "$folder/usr/share/man/man1/"
  gzip -9n "$folder"/usr/share/man/man1/*
  cp "$work/texts/completions/bash/selenite" "$folder/usr/share/bash-completion/completions/"
  cp "$work/texts/completions/zsh/_selenite" "$folder/usr/share/zsh/vendor-completions/"
  cp "$work/texts/completions/fish/selenite.fish" "$folder/usr/share/fish/vendor_completions.d/"
  documents selenite README.md SECURITY.md docs/{FORMAT,THREAT_MODEL,CONFIGURATION,BACKUP,PACKAGES,TSQL}.md
  # It is loaded by its name, and no program is linked with it: SQLite derives the entry point's name from the file's.
  echo 'sharedobject-in-library-directory-missing-soname' >>"$folder/usr/share/lintian/overrides/selenite"
  control selenite database \
    "Depends: $(needed "$folder/usr/bin/selenite" "$folder/usr/lib/$triple/libselenite.so"), systemd-standalone-sysusers | systemd-sysusers" \
    'Recommends: libsqlite3-0 (>= 3.40)' 'Suggests: sqlite3, age' \
    'Description: transparent encryption for SQLite' \
    ' An extension for SQLite that encrypts and authenticates all that SQLite writes' \
    ' to disk, for the SQLite of this system as it is; a command that encrypts,' \
    ' verifies and backs up databases; and a server that gives SQL Server clients' \
    ' access to them (the service selenite-serve, which is not started by itself).'
  for script in postinst prerm postrm; do
    install -m 755 "packages/debian/$script" "$folder/DEBIAN/"
  done
  echo /etc/selenite/serve.toml >"$folder/DEBIAN/conffiles"
  pack selenite
}

dev_package() {
  local folder=$work/libselenite-dev
  mkdir -p "$folder"/usr/{include,lib/$triple/pkgconfig,share/selenite}
  install -m 644 "$from/libselenite.a" "$folder/usr/lib/$triple/"
  cp packages/c/selenite.h "$folder/usr/include/"
  cp packages/c/selenite.c "$folder/usr/share/selenite/"
  sed -e "s|@LIBDIR@|/usr/lib/$triple|" -e "s|@VERSION@|$version|" packages/c/selenite.pc \
    >"$folder/usr/lib/$triple/pkgconfig/selenite.pc"
  documents libselenite-dev docs/{CONFIGURATION,PACKAGES}.md
  control libselenite-dev libdevel 'Recommends: libsqlite3-dev (>= 3.40), libc6-dev' 'Multi-Arch: same' \
    'Description: transparent encryption for SQLite (static library)' \
    ' The header and the library for programs in C and C++ that link SQLite' \
    ' themselves, also one that is built without extensions. Programs that load' \
    ' extensions need the package selenite alone.'
  pack libselenite-dev
}

scripts/package-texts.sh "$generator" "$work/texts"
main_package
if [[ -f $from/libselenite.a ]]; then
  dev_package
else
  echo "debian: there is no $from/libselenite.a, and so no libselenite-dev" >&2
fi
