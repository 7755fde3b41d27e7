#!/usr/bin/env bash
# Builds workers around other encryptions of SQLite into target/peers. Quick when nothing is to be done.
# usage: scripts/peers.sh [--test | --lint]
#   --test  builds them, and runs their tests
#   --lint  runs format and clippy over them
set -euo pipefail
cd "$(dirname "$0")/.."

# SQLite3 Multiple Ciphers is one source file in this package for Node. A new version changes both lines; the digest is
# that of the package.
version=13.0.3
digest=24a11e221247fc003f755ad0f82126bc6b0295d0be1c06f3cb3e48d9db8eb898

folder=$PWD/target/peers
package=better-sqlite3-multiple-ciphers-$version.tgz
address=https://registry.npmjs.org/better-sqlite3-multiple-ciphers/-/$package
source=$folder/sqlite3mc/$version

# What libsqlite3-sys gives to SQLite and SQLCipher in a release build, so that arms differ by their encryption. The
# package's own build has -O3 too, and no flags for instructions: AES and AEGIS choose them at run time.
options=(
  -O3 -fPIC -ffunction-sections -fdata-sections -w
  -DSQLITE_CORE
  -DSQLITE_DEFAULT_FOREIGN_KEYS=1
  -DSQLITE_ENABLE_API_ARMOR
  -DSQLITE_ENABLE_COLUMN_METADATA
  -DSQLITE_ENABLE_DBSTAT_VTAB
  -DSQLITE_ENABLE_FTS3
  -DSQLITE_ENABLE_FTS3_PARENTHESIS
  -DSQLITE_ENABLE_FTS5
  -DSQLITE_ENABLE_JSON1
  -DSQLITE_ENABLE_LOAD_EXTENSION=1
  -DSQLITE_ENABLE_RTREE
  -DSQLITE_ENABLE_STAT4
  -DSQLITE_SOUNDEX
  -DSQLITE_THREADSAFE=1
  -DSQLITE_USE_URI
  -DHAVE_USLEEP=1
  -DHAVE_ISNAN
  -DHAVE_LOCALTIME_R
  -D_POSIX_THREAD_SAFE_FUNCTIONS
  # The source was generated with it, and is to be compiled with it.
  -DSQLITE_ENABLE_UPDATE_DELETE_LIMIT
)

fail() {
  printf 'peers: %s\n' "$1" >&2
  exit 1
}

fetch() {
  local archive=$folder/sqlite3mc/$package
  mkdir -p "$source"
  if [[ ! -f $archive ]]; then
    echo "peers: fetching $address"
    curl --fail --silent --show-error --location --retry 3 --output "$archive.part" "$address" ||
      fail "there is no $archive, and it could not be fetched: put it there"
    mv "$archive.part" "$archive"
  fi
  echo "$digest  $archive" | sha256sum --check --status ||
    fail "$archive is not the file that was pinned: remove it and try again"
  tar -xzf "$archive" -C "$source" --strip-components=3 package/deps/sqlite3
}

# Built once for each version and set of options.
build_library() {
  local stamp
  stamp="$version ${options[*]} $(cc --version | sed -n 1p)"
  if [[ -f $source/libsqlite3.a && -f $source/stamp && $(<"$source/stamp") == "$stamp" ]]; then
    return
  fi
  fetch
  echo 'peers: compiling SQLite3 Multiple Ciphers (a minute)'
  cc "${options[@]}" -c "$source/sqlite3.c" -o "$source/sqlite3.o"
  rm -f "$source/libsqlite3.a"
  ar rcs "$source/libsqlite3.a" "$source/sqlite3.o"
  printf '%s\n' "$stamp" >"$source/stamp"
}

# in_peers CRATE COMMAND...: cargo in that workspace, where sqlite3mc links the library from above instead of SQLite.
in_peers() {
  local settings=()
  if [[ $1 == sqlite3mc ]]; then
    settings=(LIBSQLITE3_SYS_USE_PKG_CONFIG=1 SQLITE3_NO_PKG_CONFIG=1 SQLITE3_STATIC=1
      "SQLITE3_LIB_DIR=$source" "SQLITE3_INCLUDE_DIR=$source")
  fi
  (cd peers && env -u CARGO_TARGET_DIR "${settings[@]}" cargo "$2" --locked --package "selenite-worker-$1" "${@:3}")
}

scripts/need.sh rust peers
build_library
for peer in sqlcipher sqlite3mc; do
  case ${1:-} in
    --lint) in_peers "$peer" clippy --all-targets -- -D warnings ;;
    --test) in_peers "$peer" test --release --quiet ;;
  esac
  if [[ ${1:-} != --lint ]]; then
    in_peers "$peer" build --release --quiet
    worker=$folder/selenite-worker-$peer
    install -C "$folder/build/release/selenite-worker-$peer" "$worker"
    echo "peers: $worker"
  fi
done
