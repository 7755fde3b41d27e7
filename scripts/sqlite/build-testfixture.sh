#!/usr/bin/env bash
# Builds the Tcl interpreter in which SQLite's own tests run, with its default VFS chosen by tests/sqlite-suite/extra_init.c.
# Built once for each version of that, of the control VFS and of this script. The last line printed is its path.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=${CARGO_TARGET_DIR:-$PWD/target}/sqlite-suite
source=$folder/sqlite3-3.46.1
own=$PWD/tests/sqlite-suite
digest=$(cat "$0" "$own/extra_init.c" "$own/geometry.c" | sha256sum | cut -c 1-12)
build=$folder/build-$digest
if [[ ! -d $source ]]; then
  echo "sqlite-suite: SQLite's source is missing: run scripts/need.sh suite" >&2
  exit 1
fi
if [[ ! -x $build/testfixture ]]; then
  rm -rf "$folder"/build-*
  mkdir -p "$build.part"
  (
    cd "$build.part"
    CFLAGS=-O1 "$source/configure" --enable-all --disable-shared >configure.log 2>&1
    {
      echo 'TESTFIXTURE_FLAGS += -DSQLITE_EXTRA_INIT=suite_extra_init -I.'
      echo "TESTSRC += $own/extra_init.c $own/geometry.c"
    } >>Makefile
    make -j"$(nproc)" sqlite3.c sqlite3.h has_tclsh85 >build.log 2>&1
    make testfixture >>build.log 2>&1
  ) || {
    echo "sqlite-suite: the testfixture was not built; see $build.part/build.log" >&2
    exit 1
  }
  mv "$build.part" "$build"
fi
echo "$build/testfixture"
