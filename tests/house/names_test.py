# SPDX-License-Identifier: MIT
"""A name of the product means one thing: functions, statics too, the tags of structs, unions and enums,
and the names of headers are unique over the tree, so that grep and ctags find one place.

    names_test.py            fails for each name that has more places than tests/house/namesakes allows
    names_test.py --prune    removes from that list the rows that are no longer needed
    names_test.py --list     prints every name that has several places

The list holds the namesakes that were there when the rule came, with their number of places. It only
shrinks, and is absent when it is empty."""

import collections
import re
import sys
import unittest

import house

ALLOWED = house.ROOT / "tests/house/namesakes"
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


def allowed():
    """(kind, name) -> the number of places that it may have."""
    rows = ALLOWED.read_text().splitlines() if ALLOWED.exists() else []
    return {(kind, name): int(count) for kind, name, count in map(str.split, rows)}


def prune():
    found = namesakes()
    rows = [f"{kind} {name} {min(count, len(found[kind, name]))}\n"
            for (kind, name), count in sorted(allowed().items()) if (kind, name) in found]
    if rows:
        ALLOWED.write_text("".join(rows))
    else:
        ALLOWED.unlink(missing_ok=True)


class Names(unittest.TestCase):
    def test_functions_are_found_with_their_names(self):
        self.assertGreater(sum(kind == "function" for kind, _ in places()), 2000)

    def test_a_name_has_one_place(self):
        found, allowance = namesakes(), allowed()
        for (kind, name), files in found.items():
            with self.subTest(kind=kind, name=name, files=" ".join(files)):
                self.assertLessEqual(len(files), allowance.get((kind, name), 1))
        stale = [name for (kind, name), count in allowance.items()
                 if len(found.get((kind, name), ())) < count]
        if stale:
            print(f"note: {len(stale)} rows of {ALLOWED.name} can go or shrink: names_test.py --prune")


if __name__ == "__main__":
    if sys.argv[1:] == ["--prune"]:
        prune()
    elif sys.argv[1:] == ["--list"]:
        for key, files in namesakes().items():
            print(*key, *files)
    else:
        unittest.main(verbosity=2)
