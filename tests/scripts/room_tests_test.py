# SPDX-License-Identifier: MIT
"""tests/tools/room-tests: which tests a room or a label has, and what must be built for them.

    room_tests_test.py BUILD_DIR
"""

import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = sys.argv[1]
sys.path.insert(0, str(ROOT / "tests" / "house"))
import house  # noqa: E402


def ask(*rooms):
    return subprocess.run([ROOT / "tests/tools/room-tests", TREE, *rooms], text=True,
                          capture_output=True, check=False)


def found(*rooms):
    """The names of tests, and the targets."""
    done = ask(*rooms)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    names, targets = done.stdout.splitlines()
    return set(re.fullmatch(r"\^\((.*)\)\$", names)[1].split("|")), set(targets.split())


class RoomTests(unittest.TestCase):
    def test_the_tests_of_a_folder_are_found_with_their_programs(self):
        names, targets = found("core/base")
        self.assertIn("base_slab_test", names)
        self.assertEqual(targets, {f"tests/core/base/{name}" for name in names})

    def test_a_room_has_the_tests_of_its_parts(self):
        self.assertLess(found("core/base")[0], found("core")[0])

    def test_several_rooms_have_the_tests_of_each(self):
        self.assertEqual(found("access", "schedule/")[0], found("access")[0] | found("schedule")[0])

    def test_a_room_without_a_folder_has_the_tests_that_include_its_headers(self):
        self.assertTrue(found("server/io")[0])
        self.assertLess(found("server/io")[0], found("server")[0])

    def test_a_test_of_the_program_needs_the_program(self):
        self.assertIn("tests/tandemd_io2", found("docs")[1] | found("clients")[1])

    def test_a_test_of_the_whole_tree_needs_all_of_it(self):
        self.assertEqual(found("house")[1], {"all"})

    def test_each_room_has_tests(self):
        # The script fails for a room without any.
        self.assertEqual(ask(*house.SEES).stderr, "")

    def test_the_tests_with_a_label_are_found_without_those_of_another(self):
        process, twins = found("--label", "^process$")[0], found("--label", "^twin$")[0]
        self.assertTrue(process & twins)
        self.assertEqual(found("--label", "^process$", "--without", "^twin$")[0], process - twins)

    def test_an_unknown_room_is_refused_with_a_list_of_rooms(self):
        done = ask("core", "cellar")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("cellar: not a room with tests", done.stderr)
        self.assertIn("\n  journal/pg\n", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
