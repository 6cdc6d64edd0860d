# SPDX-License-Identifier: MIT
"""Limits of the lines of files and of functions."""

import unittest

import house

SOURCE_MAX, HEADER_MAX, FUNCTION_MAX = 1000, 250, 80
TEST_MAX, TEST_FUNCTION_MAX = 1000, 80

# Files that are longer, how long they are at the most, and why.
LONGER = {}


class Sizes(unittest.TestCase):
    def check(self, path, most, function_most):
        name = str(path.relative_to(house.ROOT))
        text = path.read_text()
        with self.subTest(file=name):
            self.assertLessEqual(len(text.splitlines()), LONGER.get(name, (most,))[0])
        for function in house.functions(text):
            with self.subTest(file=name, line=function.opens):
                self.assertLessEqual(function.closes - function.opens - 1, function_most)

    def test_files_and_functions_of_rooms_are_short(self):
        for folder in house.SEES:
            for path in (house.ROOT / folder).glob("*.[ch]"):
                self.check(path, SOURCE_MAX if path.suffix == ".c" else HEADER_MAX, FUNCTION_MAX)

    def test_files_and_functions_of_tests_are_not_long(self):
        for path in (house.ROOT / "tests").rglob("*.[ch]"):
            if "node_modules" not in path.parts:
                self.check(path, TEST_MAX, TEST_FUNCTION_MAX)

    def test_what_is_allowed_to_be_longer_is(self):
        for name in LONGER:
            most = SOURCE_MAX if name.endswith(".c") else HEADER_MAX
            with self.subTest(file=name):
                self.assertGreater(len((house.ROOT / name).read_text().splitlines()), most)


if __name__ == "__main__":
    unittest.main(verbosity=2)
