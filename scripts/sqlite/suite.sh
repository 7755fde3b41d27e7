#!/usr/bin/env bash
# Runs SQLite's own tests with an extension of ours as the default VFS: as an ordinary user, which some of them want.
# usage: scripts/sqlite/suite.sh EXTENSION [ARGUMENT OF tests/sqlite-suite/run.py]...
set -euo pipefail
cd "$(dirname "$0")/../.."

extension=$(realpath "$1")
shift
testfixture=$(scripts/sqlite/build-testfixture.sh | tail -n 1)
source=${CARGO_TARGET_DIR:-$PWD/target}/sqlite-suite/sqlite3-3.46.1
as_user=()
if ((EUID == 0)); then
  as_user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  if ! "${as_user[@]}" test -x "$testfixture" -a -r "$extension"; then
    echo "sqlite-suite: only root can read this folder: tests of file permissions may differ" >&2
    as_user=()
  fi
fi
exec "${as_user[@]}" /usr/bin/python3 tests/sqlite-suite/run.py "$testfixture" "$source" "$extension" "$@"
