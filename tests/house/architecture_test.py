# SPDX-License-Identifier: MIT
"""ARCHITECTURE.md, and the glossary of core/MODEL.md: everything that they name is there. In
backticks they may name
  a/path            of a file or folder
  function()        defined in a source of a room; in the table of a job's way, in the room of its row
  struct name       or enum: defined in a header
  anything else     a word of the sources or of CMake's files, or what a client says
"""

import pathlib
import re
import unittest

import house

PAGE = (house.ROOT / "ARCHITECTURE.md").read_text()
# Words that are a client's and stand in no source as they are written here.
CLIENT_WORDS = {"put 0 0 60 5", "fsync = always", "#include", "SEES", "tandemd", "tandemctl"}
GLOSSARY = (house.ROOT / "core/MODEL.md").read_text().partition("\n## Glossary\n")[2]

ROOM_ROW = re.compile(r"^\| ((?:`[\w/]+` ?)+)\| ([^|]+) \|$", re.M)
WAY_ROW = re.compile(r"^\| `([\w/]+)` \| ((?:`\w+\(\)` ?)+)\| (.+) \|$", re.M)
TICKS = re.compile(r"`([^`\n]+)`")


def without_drawings(page):
    return re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)


def defines(text, function):
    """Whether a C source has the body of that function."""
    return re.search(rf"^[a-z][\w *]*\b{function}\([^;{{]*\)\s*\{{", text, re.M) is not None


class Architecture(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = without_drawings(PAGE)
        paths = [path for room in house.SEES for path in (house.ROOT / room).glob("*.[ch]")]
        cls.sources = {str(path.relative_to(house.ROOT)): path.read_text() for path in paths}
        cls.cmake = "".join(path.read_text() for folder in house.SEES
                            for path in (house.ROOT / folder).glob("CMakeLists.txt"))

    def test_its_rooms_are_the_rooms(self):
        rooms = [room for row in ROOM_ROW.findall(self.text) for room in TICKS.findall(row[0])]
        self.assertEqual(sorted(rooms), sorted(house.SEES))
        for room in rooms:
            with self.subTest(room=room):
                self.assertRegex(self.cmake, rf"tandem_room\(\w+ {room}\s")

    def test_functions_on_the_way_of_a_job_are_in_the_room_of_their_row(self):
        rows = WAY_ROW.findall(self.text)
        self.assertGreater(len(rows), 10)
        for room, functions, _ in rows:
            texts = [text for path, text in self.sources.items() if path.rpartition("/")[0] == room]
            for function in re.findall(r"`(\w+)\(\)`", functions):
                with self.subTest(function=function, room=room):
                    self.assertTrue(any(defines(text, function) for text in texts))

    def test_everything_that_it_names_is_there(self):
        self.check_names(self.text, 80)

    def test_everything_that_the_glossary_names_is_there(self):
        self.check_names(GLOSSARY, 15)

    def check_names(self, text, least):
        named = set(TICKS.findall(text))
        self.assertGreater(len(named), least)
        for name in sorted(named - CLIENT_WORDS):
            with self.subTest(name=name):
                self.assertTrue(self.is_there(name))

    def is_there(self, name):
        if name.endswith("()"):
            return any(defines(text, name[:-2]) for text in self.sources.values())
        if re.fullmatch(r"(struct|enum) \w+", name):
            return any(re.search(rf"^{name} \{{", text, re.M) for text in self.sources.values())
        if "/" in name or "." in name:
            return (house.ROOT / name).exists() or bool(list(house.ROOT.glob(f"*/{name}")))
        return re.search(rf"\b{re.escape(name)}\b", self.cmake) is not None or any(
            re.search(rf"\b{re.escape(name)}\b", text) for text in self.sources.values())

    def test_files_that_the_pages_for_contributors_name_are_there(self):
        for page in ("CONTRIBUTING.md", "tests/README.md"):
            for name in re.findall(r"`([\w.-]+/[\w./-]+)`", (house.ROOT / page).read_text()):
                with self.subTest(page=page, name=name):
                    self.assertTrue((house.ROOT / name).exists())

    def test_links_lead_somewhere(self):
        for link in re.findall(r"\]\(([^)#]+)", self.text):
            with self.subTest(link=link):
                self.assertTrue(pathlib.Path(house.ROOT / link).exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
