#!/usr/bin/env bash
# Runs every test in one profile, against the extension built in the same one. What fails keeps nothing else from running.
# At the end it says how many tests each part had and how long it took; the last line counts the tests of all runners,
# however the run ends: scripts/test-total.awk says what counts.
# usage: scripts/test.sh [ARGUMENT FOR RUST'S TEST RUNNER]...   with one, Rust's tests alone run
set -uo pipefail
cd "$(dirname "$0")/.." || exit

target=${CARGO_TARGET_DIR:-$PWD/target}
log=$target/test.log
log_beside=$target/test-beside.log
mkdir -p "$target"
: >"$log"
: >"$log_beside"
status=0
stopped_by=0
job=
job_beside=
# What cargo says goes through a pipe.
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  export CARGO_TERM_COLOR=${CARGO_TERM_COLOR:-always}
fi

# step NAME COMMAND...: its output goes into the log, too. It is a job with a process group of its own, so that an
# interrupt ends it with all that it started.
step() {
  local name=$1 started=$SECONDS ended
  shift
  printf '\n== step %s\n' "$name" >>"$log"
  set -m
  # The copy goes on until all that was said is in the log, and the job does not end before it.
  { trap : INT TERM HUP; "$@" 2>&1 | (trap '' INT TERM HUP; exec tee -a "$log"); } </dev/null &
  job=$!
  set +m
  wait "$job"
  ended=$?
  job=
  printf '\n== ended %d after %d s\n' "$ended" $((SECONDS - started)) >>"$log"
  if ((ended && !status)); then
    status=$ended
  fi
  return "$ended"
}

# shellcheck disable=SC2317  # traps call both
stop() {
  stopped_by=$1
  # Who asks twice waits for nothing more.
  trap 'kill -KILL -- "-$job" 2>/dev/null' INT TERM HUP
  if [[ -n $job ]]; then
    kill -TERM -- "-$job" 2>/dev/null
    wait "$job" 2>/dev/null
  fi
  if [[ -n $job_beside ]]; then
    kill -TERM "$job_beside" 2>/dev/null
    end_beside
  fi
  exit $((128 + stopped_by))
}

# shellcheck disable=SC2317
print_total() {
  awk -v is_interrupted="$((stopped_by > 0))" -f scripts/test-total.awk "$log"
}

trap print_total EXIT
trap 'stop 1' HUP
trap 'stop 2' INT
trap 'stop 15' TERM

# Asking for the tests too makes cargo choose the same features for both commands: with others it
# would build dependencies twice. Tests start examples.
step build cargo build --workspace --lib --bins --tests --examples || exit "$status"
step shell scripts/sqlite/build-shell.sh
. scripts/test-environment.sh

# What is synced need not reach the disk: a kill leaves what the kernel has, and a loss of power is simulated. `make soak`,
# SQLite's own tests and single tests wait for the disk.
unsynced=()
if ((!$#)) && command -v eatmydata >/dev/null; then
  unsynced=(eatmydata)
fi
# Everything but Rust's tests, one step after the other, in a log of its own: neither keeps two cores busy by itself.
steps_beside() {
  trap 'stop 15' TERM
  log=$log_beside
  status=0
  for folder in tests/clients tests/fleet tests/scripts testdata/reader; do
    if [[ -n $(find "$folder" -name 'test_*.py' -print -quit 2>/dev/null) ]]; then
      printf '\n%s\n' "$folder" >>"$log"
      step "$folder" "${unsynced[@]}" .venv/bin/python -m pytest -p no:cacheprovider "$folder"
    fi
  done
  # Some of SQLite's own tests; `make sqlite-suite` runs all.
  step sqlite-suite scripts/sqlite/suite.sh "$SELENITE_TEST_EXTENSION" --files tests/sqlite-suite/chosen.txt
  exit "$status"
}

# Waits for them, and says what they said.
end_beside() {
  wait "$job_beside"
  local ended=$?
  job_beside=
  cat "$log_beside"
  cat "$log_beside" >>"$log"
  if ((ended && !status)); then
    status=$ended
  fi
}

if ((!$#)); then
  steps_beside </dev/null >/dev/null 2>&1 &
  job_beside=$!
fi
step rust "${unsynced[@]}" cargo test --workspace --no-fail-fast -- "$@"
if ((!$#)); then
  end_beside
fi
exit "$status"
