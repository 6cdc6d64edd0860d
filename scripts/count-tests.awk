# SPDX-License-Identifier: MIT
# Reads ctest's LastTest.log and prints how many test functions passed and how many failed: cmocka
# and Node.js say how many they ran, and anything else counts as one. A program that failed without
# saying which function did counts as one failure.

function close_test() {
    if (!open)
        return
    if (good + bad == 0)
        good = ok ? 1 : 0
    if (!ok && bad == 0)
        bad = 1
    passed += good
    failed += bad
}

/^[0-9]+\/[0-9]+ Testing: / { close_test(); open = 1; good = bad = ok = 0 }
/^\[  PASSED  \] [0-9]+ test/ { good += $4 }
/^\[  FAILED  \] [0-9]+ test/ { bad += $4 }
/^# pass [0-9]+$/ { good += $3 }
/^# fail [0-9]+$/ { bad += $3 }
/^Test Passed\.$/ { ok = 1 }
END { close_test(); print passed + 0, failed + 0 }
