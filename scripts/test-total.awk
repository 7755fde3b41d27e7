# Adds up the tests in the log of scripts/test.sh: N passed, N failed, N skipped.
#
# A test executable that ends without its result has crashed, or was killed: its tests that said nothing count as failed, and
# so does a step that failed without a failed test. After an interrupt what did not run is not counted.

# Adds the executable, or pytest's run, that has just ended.
function close_section() {
  if (!in_section) return
  if (!has_result) {
    passed += lines_passed; failed += lines_failed; skipped += lines_skipped
    missing = announced - lines_passed - lines_failed - lines_skipped
    if (!is_interrupted) failed += (missing > 0) ? missing : (lines_failed == 0)
  } else {
    passed += section_passed; failed += section_failed; skipped += section_skipped
  }
  in_section = 0
}

function open_section() {
  close_section()
  in_section = 1; has_result = 0; announced = 0
  lines_passed = 0; lines_failed = 0; lines_skipped = 0
}

# "5 passed; 0 failed; 1 ignored;" or "5 passed, 1 skipped in 0.1s"
function take_result(    i) {
  section_passed = 0; section_failed = 0; section_skipped = 0
  for (i = 2; i <= NF; i++) {
    if ($i ~ /^passed/) section_passed += $(i - 1)
    if ($i ~ /^(failed|error)/) section_failed += $(i - 1)
    if ($i ~ /^(ignored|skipped)/) section_skipped += $(i - 1)
  }
  has_result = 1
}

{ gsub(/\033\[[0-9;]*m/, "") }

/^== step / { failed_before = failed; next }

/^== ended / {
  close_section()
  if ($3 != 0 && failed == failed_before && !is_interrupted) failed++
  next
}

# Cargo's, one before each executable. A test that runs its own executable prints lines as below, too: the last counts.
/^ +Running .*\(.*\)$/ || /^ +Doc-tests / { open_section(); next }
/^=+ test session starts =+$/ { open_section(); next }

in_section && /^running [0-9]+ tests?$/ && !announced { announced = $2 }
in_section && /^test .* \.\.\. ok$/ { lines_passed++ }
in_section && /^test .* \.\.\. FAILED$/ { lines_failed++ }
in_section && /^test .* \.\.\. ignored/ { lines_skipped++ }
in_section && (/^test result: / || /^=+ .* in [0-9.]+s/) { take_result() }

END {
  close_section()
  printf "\n%d passed, %d failed, %d skipped\n", passed, failed, skipped
}
