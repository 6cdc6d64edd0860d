# SPDX-License-Identifier: MIT
"""conf/tandemctl.1 is well-formed, and has all commands and options."""

import pathlib
import re
import shutil
import subprocess
import unittest

import program

MANUAL = pathlib.Path(__file__).resolve().parents[2] / "conf/tandemctl.1"


class Manual(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = re.sub(r"\\f[BIR]", "", MANUAL.read_text()).replace(r"\-", "-")
        cls.commands = re.findall(r"^  ([a-z-]+) ", program.run("--help").stdout.decode(), re.M)

    def test_it_names_every_command(self):
        self.assertGreater(len(self.commands), 25)
        for command in self.commands:
            self.assertRegex(self.text, rf"(?m)^\.(B|BI|BR) {command}( |$)")

    def test_it_names_every_option_and_none_that_there_is_not(self):
        options = set()
        for command in self.commands:
            options |= set(re.findall(r"^ +(?:-., )?(--[a-z-]+)",
                                      program.run(command, "--help").stdout.decode(), re.M))
        self.assertEqual(options, set(re.findall(r"--[a-z][a-z-]+", self.text)))

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_mandoc_finds_nothing_wrong(self):
        done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", MANUAL], capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main(verbosity=2)
