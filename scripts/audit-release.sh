#!/usr/bin/env bash
# Makes a release twice, in two folders and from two copies of the sources, and compares the bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
for name in one another-name; do
  mkdir "$place/$name"
  git archive HEAD | tar -x -C "$place/$name"
  (
    cd "$place/$name"
    SOURCE_DATE_EPOCH=$(git -C "$OLDPWD" log -1 --format=%ct) CARGO_TARGET_DIR=$PWD/target \
      scripts/release.sh "$place/$name.files" >/dev/null
  )
done
for file in selenite libselenite.so selenite-cli.cdx.json selenite-extension.cdx.json SHA256SUMS; do
  cmp "$place/one.files/$file" "$place/another-name.files/$file"
  # Nothing of where it was built is left.
  if grep -aF -m 1 -e "$place" -e "${CARGO_HOME:-$HOME/.cargo}" "$place/one.files/$file" >/dev/null; then
    echo "audit-release: $file names a folder of this machine" >&2
    exit 1
  fi
done
echo 'audit-release: two builds are the same'
