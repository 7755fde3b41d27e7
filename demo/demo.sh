#!/usr/bin/env bash
# Encrypts a database, searches its bytes, and uses it as before.
#   make demo                     with a database of payment cards, made here
#   DB=path/to/any.db make demo   with a copy of yours, which is only read
# Everything it makes lies in target/demo. NO_COLOR=1 leaves the colours out.
set -euo pipefail

given=${DB:+$(realpath "$DB")}
cd "$(dirname "$0")/.."
target=$(realpath "${CARGO_TARGET_DIR:-target}")
here=$PWD/demo
folder=$target/demo
started=$SECONDS

# Debian's own Python with Debian's own SQLite: a host that knows nothing of encryption.
python=/usr/bin/python3
export SELENITE_EXTENSION=$target/release/libselenite.so
export PATH=$target/release:$PATH
# Whatever the caller has configured has no part in this.
unset "${!SELENITE_@}"
export SELENITE_EXTENSION=$target/release/libselenite.so
export XDG_CONFIG_HOME=$folder/config
export PYTHONDONTWRITEBYTECODE=1

strong='' dim='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} && ${TERM:-dumb} != dumb ]]; then
  strong=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
fi

number=0
# headline TEXT
headline() {
  number=$((number + 1))
  printf '\n%s%2d  %s%s\n\n' "$strong" "$number" "$1" "$plain"
}

say() {
  printf '%s\n' "${1:+    $1}"
}

# show COMMAND...: as a reader would type it.
show() {
  local word words=''
  for word; do
    [[ $word == *[' (*']* ]] && word="\"$word\""
    words+=" $word"
  done
  printf '    %s$%s%s\n' "$dim" "$words" "$plain"
}

# run COMMAND...: shows the command and its output. Standard error is shown only if it fails.
run() {
  show "$@"
  local status=0
  "$@" 2>stderr.txt | sed 's/^./      &/' || status=$?
  finish "$status"
}

# run_long COMMAND...: the same, but it may show its progress on a terminal.
run_long() {
  if [[ ! -t 2 ]]; then
    run "$@"
    return
  fi
  show "$@"
  "$@" | sed 's/^./      &/'
}

finish() {
  if (($1)); then
    cat stderr.txt >&2
    exit "$1"
  fi
  rm stderr.txt
}

# refused COMMAND...: shows a command that has to fail, and what it says.
refused() {
  show "$@"
  if "$@" >refused.txt 2>&1; then
    echo 'demo: this had to fail' >&2
    exit 1
  fi
  sed 's/^./      &/' refused.txt
  rm refused.txt
}

mkdir -p "$folder"
cd "$folder"
rm -rf plain.db* encrypted.db* ./*.key ./*.txt temporary config

printf '%sSelenite%s encrypts SQLite databases; applications keep their SQLite and their SQL.\n' \
  "$strong" "$plain"
say "host       $("$python" -c 'import sys, sqlite3
print(f"Python {sys.version.split()[0]} with SQLite {sqlite3.sqlite_version}, as Debian has them")')"
say "extension  $SELENITE_EXTENSION"
say "folder     $folder"

headline 'An unencrypted database'
if [[ -n $given ]]; then
  say "a copy of $given"
  "$python" "$here/copy.py" "$given" plain.db
else
  cards=cards-$(sha256sum "$here/cards.py" | cut -c 1-8).db
  if [[ ! -f $cards ]]; then
    rm -f cards-*.db
    "$python" "$here/cards.py" "$cards"
  fi
  say 'vendors, their customers'\'' payment cards, purchases: made up, and the same every time'
  "$python" "$here/copy.py" "$cards" plain.db
fi

headline 'Encrypt it'
run selenite keygen -o first.key
export SELENITE_IDENTITY=$folder/first.key
run_long selenite encrypt plain.db --to encrypted.db
run selenite status encrypted.db

headline 'Look for its values in its files'
"$python" "$here/look.py" plain.db encrypted.db

headline 'Read it through a stock SQLite that loads the extension'
say "connection.load_extension('libselenite.so')"
say "sqlite3.connect('file:encrypted.db?vfs=selenite', uri=True)"
say
"$python" "$here/read_through.py" plain.db encrypted.db

headline 'Append from two processes at once'
"$python" "$here/append.py" encrypted.db

headline 'Flip one bit'
"$python" "$here/flip.py" encrypted.db
run_long selenite verify encrypted.db

headline 'Replace the identity'
run selenite keygen -o second.key
slot=$(selenite keys list encrypted.db --json |
  "$python" -c 'import json, sys; print(json.load(sys.stdin)["slots"][0]["id"][:8])')
run selenite keys replace encrypted.db "$slot" second.key
say 'The holder of the old identity may still know the master key: selenite keys renew replaces it.'
say
refused selenite --identity first.key exec encrypted.db 'SELECT count(*) FROM sqlite_schema'
run selenite --identity second.key exec encrypted.db 'SELECT count(*) FROM sqlite_schema'
export SELENITE_IDENTITY=$folder/second.key

headline 'Re-encrypt every page under a new data key, while another process writes'
show selenite reencrypt encrypted.db --new-key
"$python" "$here/rotate.py" encrypted.db selenite reencrypt encrypted.db --new-key
say

headline 'What it costs'
"$python" "$here/compare.py" plain.db encrypted.db

rm -rf temporary
printf '\n%sDone in %d s.%s Everything is in %s:\n' \
  "$strong" $((SECONDS - started)) "$plain" "$folder"
say 'plain.db, encrypted.db, first.key (removed), second.key (opens encrypted.db)'
