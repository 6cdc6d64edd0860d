# SPDX-License-Identifier: MIT
"""tandemd.conf(5), conf/tandemd.conf and `tandemd --check-config` have the same keys.

    settings_page_test.py PAGE
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = pathlib.Path(sys.argv.pop())


def file_keys():
    """Defaults by section and key, as the file has them in its comments."""
    keys = {}
    section = None
    for line in (ROOT / "conf/tandemd.conf").read_text().splitlines():
        if found := re.fullmatch(r"#?\[(\w+)[^]]*\]", line):
            section = found[1]
        elif found := re.fullmatch(r"#([a-z_]+) =(.*)", line):
            keys[section, found[1]] = found[2].strip()
    return keys


def page_entries():
    """Default and text by section and key, as the page has them."""
    entries = {}
    for section, text in re.findall(r'(?ms)^\.SH "SECTIONS? \[(\w+)[^]]*\]"\n(.*?)(?=^\.SH )',
                                    PAGE.read_text()):
        for key, default, words in re.findall(
                r"(?ms)^\.TP\n\.B (\w+) = ([^\n]*)\n(.*?)(?=^\.TP|\Z)", text):
            entries[section, key] = default.replace(r"\-", "-").replace(r"\e", "\\"), words
    return entries


def checked_keys():
    """Sections and keys, as tandemd has them."""
    done = subprocess.run([os.environ["TANDEMD"], "--config", "/dev/null", "--check-config"],
                          capture_output=True, text=True, check=True)
    keys = set()
    section = None
    for line in done.stdout.splitlines():
        if found := re.fullmatch(r"\[(\w+)\]", line):
            section = found[1]
        elif found := re.match(r"([a-z_]+) =", line):
            keys.add((section, found[1]))
    return keys


class Settings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.file = file_keys()
        cls.page = page_entries()

    def test_the_page_has_the_keys_and_defaults_of_the_file(self):
        self.assertGreater(len(self.file), 90)
        self.assertEqual({key: default for key, (default, _) in self.page.items()}, self.file)

    def test_the_program_has_them_too(self):
        self.assertEqual(checked_keys(),
                         {key for key in self.file if key[0] not in ("queue", "schedule")})

    def test_each_key_of_the_page_is_explained(self):
        for key, (_, words) in self.page.items():
            with self.subTest(key=key):
                self.assertRegex(words, r"^[A-Za-z][^\n]+\.\n(.*\n)*(Live|Needs a restart)\.\n$")

    def test_what_the_file_calls_live_is_live(self):
        text = (ROOT / "conf/tandemd.conf").read_text()
        for paragraph in re.split(r"\n\n+", text):
            live = "[live]" in paragraph
            for name in re.findall(r"(?m)^#([a-z_]+) =", paragraph):
                with self.subTest(key=name):
                    says = {words.endswith("Live.\n") for (_, key), (_, words) in self.page.items()
                            if key == name}
                    self.assertIn(live, says)

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_finds_nothing_wrong(self):
        for page in (PAGE, ROOT / "conf/tandemd.8"):
            done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", page], capture_output=True,
                                  text=True, check=False)
            self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
