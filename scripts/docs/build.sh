#!/usr/bin/env bash
# Builds the documents and the API of the crate `selenite` as one site in target/docs, and checks every link in it.
# A site that fails a check does not replace the former one.
set -euo pipefail
cd "$(dirname "$0")/../.."

target=${CARGO_TARGET_DIR:-$PWD/target}
work=$target/docs-build
here=scripts/docs
mkdir -p "$work"

asked=$(/usr/bin/python3 --version && cat $here/requirements.txt)
if [[ ! -f $work/venv/requirements || $(<"$work/venv/requirements") != "$asked" ]]; then
  echo "docs: $work/venv with $here/requirements.txt"
  /usr/bin/python3 -m venv --clear "$work/venv"
  "$work/venv/bin/python" -m pip install --quiet --require-virtualenv --requirement $here/requirements.txt
  printf '%s\n' "$asked" >"$work/venv/requirements"
fi

# Sphinx adds pages to its sources and walks all folders: it gets a copy, without what git ignores.
rm -rf "$work/sources" "$work/site"
mkdir "$work/sources"
git ls-files -z --cached --others --exclude-standard |
  tar --create --null --ignore-failed-read --files-from - | tar --extract --directory "$work/sources"
"$work/venv/bin/sphinx-build" --quiet --fresh-env --fail-on-warning --keep-going \
  --doctree-dir "$work/doctrees" --conf-dir $here "$work/sources" "$work/site"
# Links in it are relative, and README.html is beside it.
cp "$work/site/README.html" "$work/site/index.html"

# Of other crates, which `make lint` documents, nothing may be in the API's search.
rm -rf "$target/doc"
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --package selenite --no-deps --lib
cp -R "$target/doc" "$work/site/api"

"$work/venv/bin/python" $here/site_check.py "$work/site" "$work/external-links.txt"
rm -rf "$target/docs"
mv "$work/site" "$target/docs"
echo "docs: $target/docs/index.html"
