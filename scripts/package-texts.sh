#!/usr/bin/env bash
# Makes the texts that every package has: manual pages, completions, the notices of the libraries.
# usage: scripts/package-texts.sh GENERATOR FOLDER   GENERATOR: a command that runs on this machine
set -euo pipefail
generator=$(realpath "$1")
mkdir -p "$2"/completions/{bash,zsh,fish}
folder=$(realpath "$2")
cd "$(dirname "$0")/.."

"$generator" man-pages "$folder/man"
"$generator" completions bash >"$folder/completions/bash/selenite"
"$generator" completions zsh >"$folder/completions/zsh/_selenite"
"$generator" completions fish >"$folder/completions/fish/selenite.fish"
scripts/notices.py >"$folder/NOTICES"
