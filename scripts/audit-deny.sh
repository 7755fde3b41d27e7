#!/usr/bin/env bash
# Licences, sources and duplicates of the dependencies by deny.toml; what is known against them where its database can be had.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! cargo deny --version >/dev/null 2>&1; then
  cargo install --quiet --locked cargo-deny
fi
cargo deny --all-features --locked check bans licenses sources
if cargo deny fetch db 2>/dev/null; then
  cargo deny --all-features --locked check --disable-fetch advisories
else
  echo 'audit-deny: advisories were not checked: their database cannot be fetched here' >&2
fi
