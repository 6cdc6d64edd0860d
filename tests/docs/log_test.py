#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/LOG.md has every event that the program logs, with its level, and no other."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_ROOMS = {"build", "conf", "ctl", "docs", "scripts", "tests"}
# The macros themselves, and what is not logged but handed on.
NOT_USERS = ("core/base/log.h", "core/base/log.c")
CALL = re.compile(r"\b(log_(?:error|warn|info|debug|write)|LOG_AT)\(")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
LEVEL = re.compile(r"LOG_LEVEL_(\w+)")
FUNCTION = re.compile(r"^(static )?[\w *]*?\b(\w+)\(([^;{}()]*)\)\n\{", re.M)
MADE_BY_HAND = re.compile(r'\.level = LOG_LEVEL_(\w+),\s*\.name = "(\w+)"')
ROW = re.compile(r"^\| `(\w+)` \| ([a-z, ]+) \|", re.M)


def arguments(text, at):
    """The text between the parenthesis at that place and its end."""
    found, begun, depth = [], at, 1
    while depth > 0:
        if text[at] == '"':
            at = LITERAL.match(text, at).end()
            continue
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if depth == 0 or (depth == 1 and text[at] == ","):
            found.append(text[begun:at].strip())
            begun = at + 1
        at += 1
    return found


def sources():
    rooms = {path.name for path in ROOT.iterdir() if path.is_dir() and path.name[0] != "."
             and not (path / "CMakeCache.txt").exists()}
    for room in sorted(rooms - NO_ROOMS):
        for path in sorted((ROOT / room).rglob("*.[ch]")):
            if str(path.relative_to(ROOT)) not in NOT_USERS:
                yield path, path.read_text(encoding="utf-8")


def calls_of(function, texts):
    """The arguments of all calls of a function that takes the event as a parameter."""
    for text in texts:
        for found in re.finditer(rf"\b{function}\(", text):
            if not text[found.start() - 1] == "*" and "const char *" not in \
                    text[found.end():text.index(")", found.end())]:
                yield arguments(text, found.end())


def events_of_call(name, args, path, text, at, texts):
    """[({events}, {levels})]. Where the event is a parameter, of those who call."""
    level, event = (args[0], args[1]) if name in ("log_write", "LOG_AT") else \
        ("LOG_LEVEL_" + name.removeprefix("log_").upper(), args[0])
    if LITERAL.search(event):
        return [(set(LITERAL.findall(event)), set(LEVEL.findall(level)))]
    function = [found for found in FUNCTION.finditer(text) if found.start() < at][-1]
    parameters = [part.split("*")[-1].split()[-1] for part in function[3].split(",")]
    if event not in parameters:
        raise AssertionError(f"{path}: what is logged is not known: {event}")
    here = [text] if function[1] else texts
    return [(set(LITERAL.findall(said[parameters.index(event)])),
             set(LEVEL.findall(level)) or
             set(LEVEL.findall(said[parameters.index(level)] if level in parameters else "")))
            for said in calls_of(function[2], here)]


def source_events():
    """{event: levels}, and those events whose level is known exactly."""
    every = list(sources())
    texts = [text for _, text in every]
    levels, exact = {}, set()
    for path, text in every:
        calls = [({event}, {level}) for level, event in MADE_BY_HAND.findall(text)]
        for found in CALL.finditer(text):
            line = text[text.rfind("\n", 0, found.start()) + 1:found.start()]
            if "//" not in line:
                calls += events_of_call(found[1], arguments(text, found.end()), path, text,
                                        found.start(), texts)
        for events, of in calls:
            for event in events:
                levels.setdefault(event, set()).update(level.lower() for level in of)
                exact |= {event} if len(events) == 1 and of else set()
    return levels, exact


class Log(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.levels, cls.exact = source_events()
        cls.text = (ROOT / "docs/LOG.md").read_text(encoding="utf-8")
        cls.rows = [(event, set(shown.split(", "))) for event, shown in ROW.findall(cls.text)]
        cls.page = dict(cls.rows)

    def test_events_of_the_source_are_found(self):
        for event, level in (("started", "info"), ("job_failed", "info"), ("policy_set", "info"),
                             ("schedule_refused", "warn"), ("log_lines_dropped", "warn"),
                             ("output_failed", "warn"), ("section_added", "info")):
            self.assertEqual(self.levels.get(event), {level}, event)

    def test_every_event_is_on_the_page_and_every_one_of_the_page_is_logged(self):
        self.assertEqual(sorted(self.page), sorted(self.levels))

    def test_levels_are_those_of_the_source(self):
        for event, shown in self.page.items():
            known = self.levels.get(event) or shown
            self.assertLessEqual(shown, known, event)
            if event in self.exact:
                self.assertEqual(shown, known, event)

    def test_each_event_has_one_row_with_a_meaning(self):
        self.assertEqual(len(self.rows), len(self.page))
        for line in self.text.splitlines():
            if ROW.match(line):
                cells = [cell.strip() for cell in line.strip("|").split(" | ")]
                self.assertEqual(len(cells), 4, line)
                self.assertTrue(cells[2], line)

    def test_names_are_words_joined_by_underscores(self):
        for event in self.levels:
            self.assertRegex(event, r"\A[a-z][a-z0-9_]*\Z")


if __name__ == "__main__":
    unittest.main()
