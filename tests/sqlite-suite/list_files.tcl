# Prints the test files of a permutation, one a line: testfixture list_files.tcl TEST_FOLDER PERMUTATION
set testdir [lindex $argv 0]
set permutation [lindex $argv 1]
set argv0 $testdir/list_files.tcl
set argv {}
source $testdir/permutations.test
array set parts $testspec($permutation)
foreach file [lsort -unique $parts(-files)] {
  puts [file normalize [file join $testdir $file]]
}
exit
