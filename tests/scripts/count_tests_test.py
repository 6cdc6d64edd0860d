# SPDX-License-Identifier: MIT
"""tests/tools/count-tests.awk: what it makes of ctest's log."""

import pathlib
import subprocess
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[1] / "tools" / "count-tests.awk"


def program(*lines, ok=True, name="some_test"):
    """The log of ctest for a program with this output."""
    return "\n".join([f"1/2 Testing: {name}", f"1/2 Test: {name}", 'Command: "some"', "Output:",
                      "-" * 58, *lines, "<end of output>", "Test time =   0.01 sec", "-" * 58,
                      "Test Passed." if ok else "Test Failed.", ""])


def cmocka(passed, skipped=0, failed=0):
    lines = [f"[==========] {passed + skipped + failed} test(s) run.",
             f"[  PASSED  ] {passed} test(s)."]
    for word, count in (("SKIPPED ", skipped), ("FAILED  ", failed)):
        if count:
            lines += [f"[  {word}] {count} test(s), listed below:"]
            lines += [f"[  {word}] number_{i}" for i in range(count)]
    return lines


def count(*programs):
    """Passed, failed and skipped, and what is said beside."""
    done = subprocess.run(["awk", "-f", SCRIPT], input="\n".join(programs), text=True,
                          capture_output=True, check=True)
    return tuple(map(int, done.stdout.split())), done.stderr


class Counting(unittest.TestCase):
    def counts(self, *programs):
        return count(*programs)[0]

    def test_test_functions_count_each_for_itself(self):
        self.assertEqual(self.counts(program(*cmocka(7)), program("# pass 4", "# fail 0")),
                         (11, 0, 0))

    def test_a_program_that_counts_nothing_counts_as_one(self):
        self.assertEqual(self.counts(program("all is well"), program(ok=False)), (1, 1, 0))

    def test_failed_functions_are_counted(self):
        self.assertEqual(self.counts(program(*cmocka(3, failed=2), ok=False)), (3, 2, 0))

    def test_a_program_that_fails_without_saying_where_is_a_failure(self):
        self.assertEqual(self.counts(program(*cmocka(3), ok=False)), (3, 1, 0))

    def test_a_program_whose_tests_are_all_skipped_has_not_passed(self):
        counts, said = count(program(*cmocka(0, skipped=3), name="idle"), program("# pass 0",
                             "# fail 0", "# skipped 2", name="lazy"))
        self.assertEqual(counts, (0, 0, 5))
        self.assertIn("idle skipped all", said)
        self.assertIn("lazy skipped all", said)

    def test_some_that_are_skipped_are_counted_beside_the_others(self):
        self.assertEqual(self.counts(program(*cmocka(4, skipped=3)),
                                     program(*cmocka(0, skipped=1, failed=1), ok=False)),
                         (4, 1, 4))

    def test_a_program_that_ran_nothing_is_a_failure(self):
        counts, said = count(program(*cmocka(0), name="empty"), program("# pass 0", "# fail 0"))
        self.assertEqual(counts, (0, 2, 0))
        self.assertIn("empty ran nothing", said)

    def test_a_log_without_programs_has_no_tests(self):
        self.assertEqual(self.counts(""), (0, 0, 0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
