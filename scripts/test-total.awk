# Adds up the tests in the log of scripts/test.sh: a table of its parts, with Rust's by crate, then
# N passed, N failed, N skipped.
#
# A test executable that ends without its result has crashed, or was killed: its tests that said nothing count as failed, and
# so does a step that failed without a failed test. After an interrupt what did not run is not counted.

function count_tests() { return passed + failed + skipped }

# Adds the executable, or pytest's run, that has just ended.
function close_section(    before, missing) {
  if (!in_section) return
  before = count_tests()
  if (!has_result) {
    passed += lines_passed; failed += lines_failed; skipped += lines_skipped
    missing = announced - lines_passed - lines_failed - lines_skipped
    if (!is_interrupted) failed += (missing > 0) ? missing : (lines_failed == 0)
  } else {
    passed += section_passed; failed += section_failed; skipped += section_skipped
  }
  if (crate != "") {
    add_row("  " crate)
    tests["  " crate] += count_tests() - before
    if (has_result) seconds["  " crate] += section_seconds
  }
  in_section = 0
}

function open_section(of_crate) {
  close_section()
  crate = of_crate
  in_section = 1; has_result = 0; announced = 0
  lines_passed = 0; lines_failed = 0; lines_skipped = 0
}

# "5 passed; 0 failed; 1 ignored; finished in 0.12s" or "5 passed, 1 skipped in 0.1s"
function take_result(    i) {
  section_passed = 0; section_failed = 0; section_skipped = 0; section_seconds = 0
  for (i = 2; i <= NF; i++) {
    if ($i ~ /^passed/) section_passed += $(i - 1)
    if ($i ~ /^(failed|error)/) section_failed += $(i - 1)
    if ($i ~ /^(ignored|skipped)/) section_skipped += $(i - 1)
    if ($i ~ /^[0-9.]+s$/) section_seconds = $i + 0
  }
  has_result = 1
}

# An executable of unit tests is named selenite_CRATE, the one of integration tests CRATE; behind both is a hash.
function crate_of(path) {
  sub(/\)$/, "", path)
  if (path ~ /\/examples\//) return "examples"
  sub(/^.*\//, "", path); sub(/-[^-]*$/, "", path); sub(/^selenite_/, "", path)
  return path
}

function add_row(name) {
  if (name in seconds) return
  rows[++row_count] = name
  seconds[name] = 0
}

function end_step() {
  close_section()
  if (step != "") tests[step] = count_tests() - tests_before
}

{ gsub(/\033\[[0-9;]*m/, "") }

/^== step / { end_step(); step = $3; add_row(step); failed_before = failed; tests_before = count_tests(); next }

/^== ended / {
  close_section()
  if ($3 != 0 && failed == failed_before && !is_interrupted) failed++
  seconds[step] = $5
  next
}

# Cargo's, one before each executable. A test that runs its own executable prints lines as below, too: the last counts.
/^ +Running .*\(.*\)$/ { open_section(crate_of($NF)); next }
/^ +Doc-tests / { open_section(crate_of($NF "-")); next }
/^=+ test session starts =+$/ { open_section(""); next }

in_section && /^running [0-9]+ tests?$/ && !announced { announced = $2 }
in_section && /^test .* \.\.\. ok$/ { lines_passed++ }
in_section && /^test .* \.\.\. FAILED$/ { lines_failed++ }
in_section && /^test .* \.\.\. ignored/ { lines_skipped++ }
in_section && (/^test result: / || /^=+ .* in [0-9.]+s/) { take_result() }

END {
  end_step()
  printf "\n%-24s %7s %8s\n", "part", "tests", "seconds"
  for (i = 1; i <= row_count; i++) {
    name = rows[i]
    if (name ~ /^  / && !tests[name]) continue
    printf "%-24s %7s %8.0f\n", name, tests[name] ? tests[name] : "", seconds[name]
  }
  printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
