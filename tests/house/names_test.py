# SPDX-License-Identifier: MIT
"""A name of the product means one thing: functions, statics too, the tags of structs, unions and enums,
and the names of headers are unique over the tree, so that grep and ctags find one place.

    names_test.py            fails for each name that has several places
    names_test.py --list     prints these names
"""

import collections
import re
import sys
import unittest

import house

# Each program has one.
EXEMPT = {("function", "main")}

TAG = re.compile(r"^\s*(?:typedef )?(?:static )?(?:const )?(?:struct|union|enum) (\w+) \{", re.M)
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def places():
    """(kind, name) -> the files that define it."""
    found = collections.defaultdict(set)
    for folder in house.SEES:
        for path in sorted((house.ROOT / folder).glob("*.[ch]")):
            text = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), path.read_text())
            name = str(path.relative_to(house.ROOT))
            if path.suffix == ".h":
                found["header", path.name].add(name)
            for function in house.functions(text):
                if function.name:
                    found["function", function.name].add(name)
            for tag in TAG.findall(text):
                found["tag", tag].add(name)
    return found


def namesakes():
    """(kind, name) -> its files, where these are several."""
    return {key: sorted(files) for key, files in sorted(places().items())
            if len(files) > 1 and key not in EXEMPT}


class Names(unittest.TestCase):
    def test_functions_are_found_with_their_names(self):
        self.assertGreater(sum(kind == "function" for kind, _ in places()), 2000)

    def test_a_name_has_one_place(self):
        for (kind, name), files in namesakes().items():
            with self.subTest(kind=kind, name=name):
                self.assertEqual(len(files), 1, files)


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        for key, files in namesakes().items():
            print(*key, *files)
    else:
        unittest.main(verbosity=2)
