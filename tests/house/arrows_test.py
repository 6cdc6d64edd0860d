# SPDX-License-Identifier: MIT
"""Which room may know which: what must not be included finds no file, and nothing is linked that
may not be included. usage: arrows_test.py BUILD_DIR"""

import collections
import pathlib
import subprocess
import sys
import unittest

import house

# Sources of one room that need each other in a circle, so that to understand one of them is to read
# all of them. Each is one idea in several files; no other file may join, and front-ends have none.
CIRCLES = {
    "core": ("session subscription",  # a session's subscriptions
             "queue queue_snapshot",  # a removed queue stays for the snapshots that contain it
             "expiry gate open_queues",),  # which queue is open, and where it stands then
    "admin/page": ("assets page",),  # the files of the page, and the routes to them
    # A connection: its life, and what it receives and sends.
    "server/conn": ("conn conn_transfer",),
}

# The system functions of the scheduler: memory, text made in memory, and a message before it
# aborts. No socket, no file, no clock, no thread. Names that begin with _ are the compiler's.
CORE_NEEDS = {"abort", "calloc", "free", "madvise", "malloc", "mmap", "munmap", "realloc",
              "memchr", "memcmp", "memcpy", "memmem", "memmove", "memset", "strlen",
              "fprintf", "fwrite", "stderr", "vsnprintf", "snprintf"}

TREE = pathlib.Path(sys.argv.pop()).resolve() if len(sys.argv) > 1 else None


def symbols(archive):
    """(defined, undefined): name -> the objects of the archive that define or want it."""
    listing = subprocess.run(["nm", "--extern-only", "--print-file-name", archive], text=True,
                             capture_output=True, check=True).stdout
    defined, wanted = collections.defaultdict(set), collections.defaultdict(set)
    for line in listing.splitlines():
        place, _, rest = line.rpartition(":")
        kind, name = rest.split()[-2:]
        (wanted if kind in "Uw" else defined)[name].add(place.rpartition(":")[2])
    return defined, wanted


def circles(defined, wanted):
    """The sets of objects of an archive that need each other, directly or by way of others."""
    needs = collections.defaultdict(set)
    for name, users in wanted.items():
        for user in users:
            needs[user] |= defined.get(name, set()) - {user}
    reached = {}
    for start in needs:
        seen, left = set(), [start]
        while left:
            new = needs.get(left.pop(), set()) - seen
            seen |= new
            left += new
        reached[start] = seen
    return {frozenset(other for other in seen if start in reached.get(other, ()))
            for start, seen in reached.items() if start in seen}


class Arrows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rooms = house.rooms(TREE)
        cls.headers = set().union(*(room.headers for room in cls.rooms.values()))

    def visible(self, room):
        outer = house.INSIDE.get(room.folder)
        return room.headers.union(self.rooms[outer].headers if outer else set(),
                                  *(self.rooms[other].public for other in house.SEES[room.folder]))

    def test_each_room_says_here_which_it_may_see(self):
        self.assertEqual(set(self.rooms), set(house.SEES))

    def test_a_room_finds_its_own_headers_and_the_public_ones_of_rooms_that_it_sees(self):
        probe = "\n".join(f'#if __has_include("{name}")\nfound "{name}"\n#endif'
                          for name in sorted(self.headers))
        for room in self.rooms.values():
            with self.subTest(room=room.folder):
                said = room.compile(probe, "-E", "-P").stdout
                found = {line.split('"')[1] for line in said.splitlines()}
                self.assertEqual(found, self.visible(room))

    def test_what_it_finds_compiles(self):
        for room in self.rooms.values():
            # The headers of a part of a room may be for that room alone.
            parts = {part for part, whole in house.INSIDE.items() if whole != room.folder}
            folders = (house.SEES[room.folder] - parts) | {room.folder}
            with self.subTest(room=room.folder):
                text = "".join(f'#include "{name}"\n' for name in sorted(self.visible(room))
                               if self.folder(name) in folders)
                said = room.compile(text + "extern int last;\n", "-fsyntax-only")
                self.assertEqual((said.returncode, said.stderr), (0, ""))

    def test_including_another_room_does_not_compile(self):
        # That it finds no other header is known; one for each room shows that this is an error.
        for room in self.rooms.values():
            name = min(self.headers - self.visible(room))
            with self.subTest(room=room.folder, header=name):
                said = room.compile(f'#include "{name}"\n', "-fsyntax-only")
                self.assertIn(f"{name}: No such file", said.stderr)

    @staticmethod
    def folder(name):
        return name.rpartition("/")[0]

    def test_headers_are_named_by_their_path_from_the_root(self):
        # Otherwise the compiler finds them beside the source, whatever the rooms are.
        for room in self.rooms.values():
            for path in room.files():
                for quote, name in house.includes(path):
                    with self.subTest(file=path.name, include=name):
                        self.assertNotIn("..", name)
                        self.assertEqual(quote == '"', name in self.headers)

    def test_tests_name_headers_by_their_path_from_the_root_too(self):
        for path in (house.ROOT / "tests").rglob("*.[ch]"):
            for quote, name in house.includes(path):
                if quote == '"' and "node_modules" not in path.parts:
                    with self.subTest(file=path.name, include=name):
                        self.assertNotIn("..", name)
                        self.assertTrue((house.ROOT / name).is_file())

    def test_no_library_needs_one_that_it_may_not_see(self):
        tables = {folder: symbols(room.archive) for folder, room in self.rooms.items()}
        for folder, (own, wanted) in tables.items():
            sees = set(house.SEES[folder])
            allowed = set(own).union(*(tables[other][0] for other in sees))
            for other in set(tables) - {folder} - sees:
                with self.subTest(room=folder, other=other):
                    self.assertEqual((set(wanted) - allowed) & set(tables[other][0]), set())

    def test_sources_of_a_room_need_each_other_one_way(self):
        for folder, room in self.rooms.items():
            known = [{f"{name}.c.o" for name in names.split()} for names in CIRCLES.get(folder, ())]
            for circle in circles(*symbols(room.archive)):
                with self.subTest(room=folder):
                    self.assertTrue(any(circle <= names for names in known), sorted(circle))

    def test_the_scheduler_needs_nothing_but_memory_of_the_system(self):
        tables = [symbols(self.rooms[folder].archive)
                  for folder in ("core/base", "core")]
        own, wanted = (set().union(*(table[part] for table in tables)) for part in (0, 1))
        needed = {name for name in wanted - own
                  if not name.startswith("_")}
        self.assertEqual(needed - CORE_NEEDS, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
