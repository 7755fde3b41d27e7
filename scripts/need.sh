#!/usr/bin/env bash
# Checks what the given work needs and installs what is missing. Quick when nothing is.
# usage: scripts/need.sh [rust] [python] [tests] [node] [suite] [tsql] [clients] [hosts] [lint] [docs] [peers] [perf]
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
tds=tests/clients/tds
built=${SELENITE_TEST_TDS_CLIENTS:-${CARGO_TARGET_DIR:-$PWD/target}/tds-clients}

# need_command COMMAND PACKAGE...
need_command() {
  command -v "$1" >/dev/null || packages+=("${@:2}")
}

# need_library NAME PACKAGE
need_library() {
  [[ $(ldconfig -p) == *"$1"* ]] || packages+=("$2")
}

# Debian's own: a stock host of SQLite 3.40.
need_python() {
  need_command /usr/bin/python3 python3
}

# A Python that can make virtual environments.
need_venv_module() {
  need_python
  /usr/bin/python3 -c 'import ensurepip, venv' 2>/dev/null || packages+=(python3-venv)
}

need_tsql() {
  need_command tsql freetds-bin
}

need_tests() {
  need_venv_module
  need_command /usr/bin/sqlite3 sqlite3
  # What backups are compared with.
  need_command zstd zstd
  need_command age age
  # SQL Server's clients: FreeTDS, and what Microsoft's ODBC driver is linked with.
  need_tsql
  need_scripting_hosts
  need_library libgssapi_krb5.so.2 libgssapi-krb5-2
  need_library libltdl.so.7 libltdl7
  # What is written, synced and renamed, for power failures.
  need_command strace strace
  # Tokens for keys.
  need_command softhsm2-util softhsm2
  need_command swtpm swtpm
  need_library libtpm2_pkcs11.so.1 libtpm2-pkcs11-1
  # Reports are looked at in a browser; which one does not matter.
  if [[ -z ${SELENITE_TEST_BROWSER:-} ]] && ! command -v google-chrome chromium-browser >/dev/null; then
    need_command chromium chromium
  fi
  if compgen -G 'tests/clients/*/package.json' >/dev/null; then
    need_node_programs
  fi
}

need_node_programs() {
  need_command node nodejs
  need_command npm npm
}

# need_go FILE: what builds the module of a go.mod.
need_go() {
  local floor found
  floor=$(sed -n 's/^go \([0-9.]*\)$/\1/p' "$1")
  found=$(GOTOOLCHAIN=local go env GOVERSION 2>/dev/null | sed 's/^go//') || true
  # From 1.21 on it fetches the version that a module asks for.
  if [[ -z $found ]] || ! printf '%s\n' 1.21 "$found" | sort -C -V; then
    fail "Go $floor or newer is needed, and there is ${found:-none}: see https://go.dev/dl"
  fi
}

# Those of SQL Server's clients that `make test` leaves out: each in its own language.
need_clients() {
  need_go "$tds/go/go.mod"
  need_command javac default-jdk-headless
  need_command mvn maven
}

# The hosts of docs/HOSTS.md in other languages than Python.
need_hosts() {
  need_go tests/hosts/go/go.mod
  need_command javac default-jdk-headless
  need_command mvn maven
  need_command sqlite3 sqlite3
  need_scripting_hosts
}

# Those of which Debian has all that they need: `make test` runs these, too.
need_scripting_hosts() {
  perl -MDBD::SQLite -e 1 2>/dev/null || packages+=(libdbd-sqlite3-perl)
  php -r 'exit(class_exists("SQLite3") && class_exists("PDO") ? 0 : 1);' 2>/dev/null || packages+=(php-cli php-sqlite3)
  ruby -W0 -r sqlite3 -r active_record -e 1 2>/dev/null || packages+=(ruby-sqlite3 ruby-activerecord)
}

need_lint() {
  need_command shellcheck shellcheck
  cargo fmt --version >/dev/null 2>&1 || fail 'rustfmt is missing: rustup component add rustfmt'
  cargo clippy --version >/dev/null 2>&1 || fail 'clippy is missing: rustup component add clippy'
}

# SQLite's own tests are in its source package; they run in a Tcl interpreter.
need_suite() {
  need_command tclsh8.6 tcl8.6
  compgen -G '/usr/include/tcl8.6/tcl.h' >/dev/null || packages+=(tcl8.6-dev)
  need_command make make
  need_command xz xz-utils
}

# OpenSSL is SQLCipher's; curl fetches the source of the other.
need_peers() {
  need_command curl curl ca-certificates
  printf '#include <openssl/evp.h>\n' | cc -E -xc - >/dev/null 2>&1 || packages+=(libssl-dev)
}

# Without it every commit of a test waits for the disk: tests run without it, but slowly.
need_eatmydata() {
  command -v eatmydata >/dev/null && return
  packages=(eatmydata)
  (install_packages) || echo 'need: eatmydata did not install: tests wait for the disk'
}

install_packages() {
  ((${#packages[@]})) || return 0
  local how="apt-get install ${packages[*]}" as_root=()
  command -v apt-get >/dev/null || fail "missing; on Debian: $how"
  if ((EUID)); then
    as_root=(sudo)
    # Without a terminal no one can answer a question for a password.
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
  .venv/bin/python -m pip install --quiet --target .venv/sqlite3mc --requirement tests/requirements-sqlite3mc.txt
  .venv/bin/python -m pip install --quiet --requirement tests/requirements-optional.txt ||
    echo 'need: an optional package did not install: its tests are skipped'
  printf '%s\n' "$asked" >"$stamp"
}

# need_node FOLDER
need_node() {
  local folder=$1
  local stamp=$folder/node_modules/selenite-lock
  if cmp -s "$folder/package-lock.json" "$stamp"; then
    return
  fi
  echo "need: $folder/node_modules with package-lock.json"
  # Without scripts: what is compiled, they bring with them.
  npm ci --prefix "$folder" --ignore-scripts --no-audit --no-fund --loglevel=error
  cp "$folder/package-lock.json" "$stamp"
}

# need_jar GROUP:ARTIFACT:VERSION SHA-256   by Maven's own client, so that a configured mirror is used
need_jar() {
  local artifact version
  IFS=: read -r _ artifact version <<<"$1"
  local jar=$built/java/$artifact-$version.jar
  if [[ ! -f $jar ]]; then
    echo "need: $1"
    mvn --quiet --batch-mode dependency:copy -Dartifact="$1" -DoutputDirectory="$built/java"
  fi
  if ! sha256sum --check --status <<<"$2  $jar"; then
    rm -f "$jar"
    fail "$1 is not the one that is asked for: its SHA-256 is another"
  fi
}

# Builds SQL Server's clients where the tests look for them. What is there already is left as it is.
build_clients() {
  local jdbc=com.microsoft.sqlserver:mssql-jdbc:13.6.2.jre11 gson=com.google.code.gson:gson:2.13.2
  mkdir -p "$built/java"
  need_jar "$jdbc" 5fbc0a70fe4d1d563d431a41b23f493d68807571f0bb49db0bb1737e83e9161f
  need_jar "$gson" dd0ce1b55a3ed2080cb70f9c655850cda86c206862310009dcb5e5c95265a5e0
  if [[ ! $built/java/JdbcClient.class -nt $tds/java/JdbcClient.java ]]; then
    javac -cp "$built/java/*" -d "$built/java" "$tds/java/JdbcClient.java"
  fi
  # As `make build` for the server's own: both leave alone what has not changed.
  (cd "$tds/go" && go build -mod=readonly -o "$built/go-client" .)
  (cd "$tds/go" && go build -mod=readonly -o "$built/go-migrate" ./migrate)
  (cd "$tds/tiberius" && CARGO_TARGET_DIR=$built/tiberius cargo build --quiet --locked)
  ln -sf tiberius/debug/selenite-tiberius-client "$built/tiberius-client"
}

# The tools whose flows the tests run, beside those that npm and Go have brought.
build_tools() {
  local stamp=$built/python/selenite-requirements
  if ! cmp -s "$tds/java/jars.sha256" "$built/tools/selenite-jars"; then
    echo "need: the jars of $tds/java/pom.xml"
    rm -rf "$built/tools"
    mvn --quiet --batch-mode --file "$tds/java/pom.xml" dependency:copy-dependencies \
      -DincludeScope=runtime -DoutputDirectory="$built/tools"
    (cd "$built/tools" && sha256sum --check --quiet) <"$tds/java/jars.sha256" || fail 'a jar of a tool is not the one that is asked for'
    cp "$tds/java/jars.sha256" "$built/tools/selenite-jars"
  fi
  if [[ ! $built/tools/Flow.class -nt $tds/java/Flow.java || ! $built/tools/FlywayFlow.class -nt $tds/java/FlywayFlow.java ||
    ! $built/tools/LiquibaseFlow.class -nt $tds/java/LiquibaseFlow.java ]]; then
    javac -nowarn -cp "$built/tools/*:$built/java/*" -d "$built/tools" "$tds"/java/*Flow.java
  fi
  if ! cmp -s "$tds/python/requirements.txt" "$stamp"; then
    echo "need: $built/python with $tds/python/requirements.txt"
    /usr/bin/python3 -m venv --clear "$built/python"
    "$built/python/bin/python" -m pip install --quiet --requirement "$tds/python/requirements.txt"
    cp "$tds/python/requirements.txt" "$stamp"
  fi
}

for group in "$@"; do
  case $group in
    rust) need_rust ;;
    python) need_python ;;
    tests) need_tests ;;
    node)
      need_node_programs
      # What is packed says what it is made for.
      need_command readelf binutils
      ;;
    suite) need_suite ;;
    tsql) need_tsql ;;
    clients) need_clients ;;
    hosts) need_hosts ;;
    lint) need_lint ;;
    docs) need_venv_module ;;
    peers) need_peers ;;
    perf) need_perf ;;
    *) fail "unknown: $group (rust, python, tests, node, suite, tsql, clients, hosts, lint, docs, peers and perf are known)" ;;
  esac
done
install_packages
if [[ " $* " == *' suite '* ]]; then
  scripts/sqlite/fetch-source.sh
fi
if [[ " $* " == *' tests '* ]]; then
  need_eatmydata
  need_venv
  need_node tests/clients/node
fi
if [[ " $* " == *' clients '* ]]; then
  need_node "$tds/node"
  build_clients
  build_tools
fi
