#!/usr/bin/env bash
# Looks at files of an encrypted database from outside the program that has them open: the first begins as Selenite's
# do, none is empty, and no file of the database has the text that the program wrote.
# usage: look.sh DATABASE [FILE]...
set -euo pipefail

[[ $(head -c 8 "$1") == Selenite ]] || { echo "look: $1 is not encrypted" >&2; exit 1; }
for file; do
  [[ -s $file ]] || { echo "look: $file is missing or empty" >&2; exit 1; }
done
if grep --files-with-matches --text 'attack at dawn' "$1"*; then
  echo "look: the text of the program is in these files" >&2
  exit 1
fi
