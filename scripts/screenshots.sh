#!/usr/bin/env bash
# Draws the report of a published study for the documents: docs/images/report-{light,dark,narrow}.png. Needs chromium.
# usage: scripts/screenshots.sh [STUDY]
set -euo pipefail
cd "$(dirname "$0")/.."

target=${CARGO_TARGET_DIR:-$PWD/target}
study=${1:-speed-dml}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p docs/images

"$target/release/selenite" lab report "docs/studies/$study.json" --html "$folder/page.html"
# A window has a least width; a frame has none.
printf '<!DOCTYPE html><body style="margin:0"><iframe src="page.html" style="border:0;width:390px;height:1700px"></iframe>' \
  >"$folder/narrow.html"

# draw PAGE PICTURE WIDTH HEIGHT [OPTION...]
draw() {
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --allow-file-access-from-files \
    --user-data-dir="$folder/profile" --window-size="$3,$4" --screenshot="$PWD/docs/images/$2" "${@:5}" \
    "file://$folder/$1" >/dev/null 2>&1
}

draw page.html report-light.png 1280 1500
draw page.html report-dark.png 1280 1500 --blink-settings=preferredColorScheme=0
draw narrow.html report-narrow.png 390 1700
