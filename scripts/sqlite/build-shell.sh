#!/usr/bin/env bash
# Builds the newest SQLite as a stock shared library, without anything of ours:
#   LD_PRELOAD=target/stock/libsqlite3-new.so /usr/bin/python3 ...
# makes Debian's Python a host of that version. The source is the amalgamation that the crate
# libsqlite3-sys carries. Built once for each version of SQLite and of this script.
set -euo pipefail
cd "$(dirname "$0")/../.."

# Debian's choices, so that version alone tells the two hosts apart.
options=(
  -DSQLITE_THREADSAFE=1
  -DSQLITE_USE_URI=1
  -DSQLITE_SECURE_DELETE
  -DSQLITE_MAX_VARIABLE_NUMBER=250000
  -DSQLITE_ENABLE_COLUMN_METADATA
  -DSQLITE_ENABLE_DBSTAT_VTAB
  -DSQLITE_ENABLE_FTS3
  -DSQLITE_ENABLE_FTS3_PARENTHESIS
  -DSQLITE_ENABLE_FTS4
  -DSQLITE_ENABLE_FTS5
  -DSQLITE_ENABLE_MATH_FUNCTIONS
  -DSQLITE_ENABLE_RTREE
  -DSQLITE_ENABLE_UNLOCK_NOTIFY
)

# The lock file names the version: nothing is asked of cargo when the library is there.
version=$(sed -n '/^name = "libsqlite3-sys"$/{n;s/^version = "\(.*\)"$/\1/p}' Cargo.lock)
digest=$(sha256sum "$0" | cut -c 1-12)
library=target/stock/libsqlite3-$version-$digest.so
current=target/stock/libsqlite3-new.so

if [[ ! -f $library ]]; then
  manifest=$(cargo metadata --format-version 1 --locked |
    grep -o '"manifest_path":"[^"]*/libsqlite3-sys-[^"/]*/Cargo.toml"' | sed -n 1p | cut -d '"' -f 4)
  source=${manifest%/Cargo.toml}/sqlite3/sqlite3.c
  mkdir -p target/stock
  # Renamed when whole: another test run may be waiting for the same file.
  unfinished=$library.$$
  cc -O1 -fPIC -shared -Wl,-soname,libsqlite3.so.0 "${options[@]}" \
    -o "$unfinished" "$source" -ldl -lpthread -lm
  mv "$unfinished" "$library"
fi
ln -sfn "$(basename "$library")" "$current"
