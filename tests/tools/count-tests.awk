# SPDX-License-Identifier: MIT
# Reads ctest's LastTest.log and prints how many test functions passed, how many failed and how many
# were skipped: cmocka, Node.js and our own scripts say how many they ran, and any other program
# counts as one. A program that failed without saying which function did counts as one failure, and
# so does one that says that it ran nothing; one whose functions were all skipped has not passed.
# Which these are is told to standard error.

function tell(what) {
    print "count-tests: " name " " what > "/dev/stderr"
}

function close_test() {
    if (!open)
        return
    if (!counts)
        good = ok ? 1 : 0
    if (ok && counts && good + bad + left == 0) {
        bad = 1
        tell("ran nothing")
    }
    if (ok && left > 0 && good + bad == 0)
        tell("skipped all that it has")
    if (!ok && bad == 0)
        bad = 1
    passed += good
    failed += bad
    skipped += left
}

/^[0-9]+\/[0-9]+ Testing: / { close_test(); open = 1; name = $3; good = bad = left = ok = counts = 0 }
/^\[  PASSED  \] [0-9]+ test/ { good += $4; counts = 1 }
/^\[  FAILED  \] [0-9]+ test/ { bad += $4; counts = 1 }
/^\[  SKIPPED \] [0-9]+ test/ { left += $4; counts = 1 }
/^# pass [0-9]+$/ { good += $3; counts = 1 }
/^# fail [0-9]+$/ { bad += $3; counts = 1 }
/^# skipped [0-9]+$/ { left += $3; counts = 1 }
/^Test Passed\.$/ { ok = 1 }
END { close_test(); print passed + 0, failed + 0, skipped + 0 }
