#!/usr/bin/env bash
# Checks what the given work needs and installs what is missing. Quick when nothing is.
# usage: scripts/need.sh [rust] [python] [tests] [lint] [peers] [perf]
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  local red='' plain=''
  if [[ -t 2 && -z ${NO_COLOR:-} ]]; then
    red=$'\e[31m' plain=$'\e[0m'
  fi
  printf '%sneed: %s%s\n' "$red" "$1" "$plain" >&2
  exit 1
}

# Debian's cargo is older than rust-version, and stumbles over the manifests before it says so.
need_rust() {
  local floor tool found
  floor=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
  for tool in cargo rustc; do
    found=$("$tool" --version 2>/dev/null | cut -d ' ' -f 2) || true
    if [[ -z $found ]]; then
      fail "Rust $floor or newer is needed, and there is no $tool: see https://rustup.rs"
    fi
    if ! printf '%s\n' "$floor" "$found" | sort -C -V; then
      fail "Rust $floor or newer is needed, and $tool is $found: see https://rustup.rs"
    fi
  done
  need_command cc gcc libc6-dev
}

packages=()

# need_command COMMAND PACKAGE...
need_command() {
  command -v "$1" >/dev/null || packages+=("${@:2}")
}

# Debian's own: a stock host of SQLite 3.40.
need_python() {
  need_command /usr/bin/python3 python3
}

need_tests() {
  need_python
  need_command /usr/bin/sqlite3 sqlite3
  # What backups are compared with.
  need_command zstd zstd
  need_command age age
  # Reports are looked at in a browser; which one does not matter.
  if [[ -z ${SELENITE_TEST_BROWSER:-} ]] && ! command -v google-chrome chromium-browser >/dev/null; then
    need_command chromium chromium
  fi
  /usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3-venv)
  if compgen -G 'tests/clients/*/package.json' >/dev/null; then
    need_command node nodejs
    need_command npm npm
  fi
}

need_lint() {
  need_command shellcheck shellcheck
  cargo fmt --version >/dev/null 2>&1 || fail 'rustfmt is missing: rustup component add rustfmt'
  cargo clippy --version >/dev/null 2>&1 || fail 'clippy is missing: rustup component add clippy'
}

# OpenSSL is SQLCipher's; curl fetches the source of the other.
need_peers() {
  need_command curl curl ca-certificates
  printf '#include <openssl/evp.h>\n' | cc -E -xc - >/dev/null 2>&1 || packages+=(libssl-dev)
}

install_packages() {
  ((${#packages[@]})) || return 0
  local how="apt-get install ${packages[*]}" as_root=()
  command -v apt-get >/dev/null || fail "missing; on Debian: $how"
  if ((EUID)); then
    as_root=(sudo)
    # Without a terminal nobody can answer a question for a password.
    if ! sudo -n true 2>/dev/null && ! { [[ -t 0 ]] && command -v sudo >/dev/null; }; then
      fail "missing, and this user may not install it: $how"
    fi
  fi
  echo "need: $how"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${packages[@]}" >/dev/null
}

# The names of the C library's own functions are in a package of their own.
need_perf() {
  need_command perf linux-perf
  need_command readelf binutils
  compgen -G '/usr/lib/debug/.build-id/*' >/dev/null || packages+=(libc6-dbg)
}

need_venv() {
  local asked stamp=.venv/selenite-requirements
  /usr/bin/python3 -c 'import sqlite3; sqlite3.connect(":memory:").enable_load_extension(True)' \
    2>/dev/null || fail '/usr/bin/python3 cannot load SQLite extensions: use Debian'\''s python3'
  asked=$(/usr/bin/python3 --version && cat tests/requirements*.txt)
  if [[ -f $stamp && $(<"$stamp") == "$asked" ]]; then
    return
  fi
  echo 'need: .venv with tests/requirements.txt'
  /usr/bin/python3 -m venv --clear .venv
  .venv/bin/python -m pip install --quiet --requirement tests/requirements.txt
  .venv/bin/python -m pip install --quiet --requirement tests/requirements-optional.txt ||
    echo 'need: an optional package did not install: its tests are skipped'
  printf '%s\n' "$asked" >"$stamp"
}

need_node() {
  local folder=tests/clients/node
  local stamp=$folder/node_modules/selenite-lock
  if cmp -s "$folder/package-lock.json" "$stamp"; then
    return
  fi
  echo "need: $folder/node_modules with package-lock.json"
  # Without scripts: better-sqlite3 brings its binaries with it, and so does Node.
  npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error
  cp "$folder/package-lock.json" "$stamp"
}

for group in "$@"; do
  case $group in
    rust) need_rust ;;
    python) need_python ;;
    tests) need_tests ;;
    lint) need_lint ;;
    peers) need_peers ;;
    perf) need_perf ;;
    *) fail "unknown: $group (rust, python, tests, lint, peers and perf are known)" ;;
  esac
done
install_packages
if [[ " $* " == *' tests '* ]]; then
  need_venv
  need_node
fi
