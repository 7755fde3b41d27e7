#!/usr/bin/env bash
# Writes the SHA-256 sums of all files of a folder into its SHA256SUMS: `sha256sum --check SHA256SUMS`.
# usage: scripts/sums.sh [dist]
set -euo pipefail
cd "${1:-$(dirname "$0")/../dist}"
find . -type f ! -name SHA256SUMS -printf '%P\0' | LC_ALL=C sort -z | xargs -0 -r sha256sum >SHA256SUMS.new
mv SHA256SUMS.new SHA256SUMS
