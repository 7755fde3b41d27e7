#!/usr/bin/env bash
# Runs the hosts of docs/HOSTS.md other than Python's and Node's. Each writes to a database from four connections at
# once, in both kinds of journal, looks at the files, and then tries another key. It needs the internet: the Go proxy,
# Maven Central, crates.io.
# usage: tests/hosts/run.sh EXTENSION COMMAND [HOST]...
#   HOST is one of go java perl php ruby rust shell [all].
set -euo pipefail
usage='usage: tests/hosts/run.sh EXTENSION COMMAND [HOST]...'
extension=$(realpath "${1:?$usage}")
command=$(realpath "${2:?$usage}")
shift 2
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$(realpath "$here/../..")/target}
export SELENITE_TEST_LOOK=$here/look.sh
# As SQLite takes it: it adds the suffix itself.
export SELENITE_TEST_EXTENSION=${extension%.so}

fail() {
  printf 'hosts: %s: %s\n' "$1" "$2" >&2
  exit 1
}

run_host() {
  case $1 in
    go)
      (cd "$here/go" && go build -o "$target/hosts/go-host" .)
      "$target/hosts/go-host"
      ;;
    java)
      mvn --quiet --batch-mode --file "$here/java/pom.xml" dependency:copy-dependencies \
        -DoutputDirectory="$target/hosts/jars"
      java -cp "$target/hosts/jars/*" "$here/java/Host.java"
      ;;
    perl) perl "$here/perl/host.pl" ;;
    php) php -d "sqlite3.extension_dir=$(dirname "$extension")" "$here/php/host.php" ;;
    ruby) ruby -W0 "$here/ruby/host.rb" ;;
    rust)
      (cd "$here/rust" && cargo build --quiet --target-dir "$target")
      "$target/debug/selenite-rust-hosts"
      SELENITE_IDENTITY=key.txt "$target/debug/selenite-rust-hosts" 'sqlite:app.db?vfs=selenite' |
        grep --fixed-strings '200 rows'
      ;;
    shell) "$here/shell/host.sh" ;;
    *) echo "hosts: unknown: $1" >&2 && return 2 ;;
  esac
}

# new_folder NAME: is the current folder then, with two identities and nothing else.
new_folder() {
  rm -rf "$target/hosts/$1.d"
  mkdir -p "$target/hosts/$1.d"
  cd "$target/hosts/$1.d"
  "$command" keygen --output key.txt >/dev/null 2>&1
  "$command" keygen --output other.txt >/dev/null 2>&1
}

while IFS= read -r name; do
  unset "$name"
done < <(compgen -e SELENITE_ | grep -v '^SELENITE_TEST_' || true)

# What looks at the files must find the text where it is.
new_folder plain
sqlite3 app.db "CREATE TABLE note AS SELECT 'attack at dawn' AS body"
{ printf Selenite; cat app.db; } >with_magic.db
for file in app.db with_magic.db; do
  if "$SELENITE_TEST_LOOK" "$file" >/dev/null 2>&1; then
    fail "$file" 'a text that is not encrypted was not found'
  fi
done

[[ $# -gt 0 ]] || set -- go java perl php ruby rust shell
for host; do
  new_folder "$host"
  # Not in a condition, where bash would not stop at an error.
  run_host "$host" >said
  [[ $(<said) == *'wrong key: '*'none of the keys given opens this database'* ]] || fail "$host" 'the reason is not shown'
  count=$(SELENITE_IDENTITY=key.txt "$command" exec --json app.db 'SELECT count(*) AS n FROM note')
  [[ $count == *200* ]] || fail "$host" "there are other than 200 rows: $count"
  SELENITE_IDENTITY=key.txt "$command" verify app.db >/dev/null
  # A URI that is taken for the name of a file makes one.
  files=$(echo *)
  [[ $files =~ ^app.db(\ app.db-(journal|shm|wal))*\ key.txt\ other.txt\ said$ ]] || fail "$host" "files: $files"
  echo "$host: $(head -n 1 said): encrypted"
done
