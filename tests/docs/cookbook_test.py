#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What docs/COOKBOOK.md shows is what happens: each recipe beside a broker of its own, at other
ports. TANDEMD and TANDEMCTL are the programs."""

import os
import pathlib
import re
import socket
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/clients"))

import page
from broker import Broker, loopback

PORTS = {"beanstalk": "11300", "gearman": "4730", "http": "8080", "admin": "9180"}
# Where programs of the page listen themselves.
OWN_PORT = "9000"
RECIPE = re.compile(r"\d+\. ")
RECIPES = {title: text for title, text in page.sections(ROOT / "docs/COOKBOOK.md").items()
           if RECIPE.match(title)}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cookbook(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def here(self, text):
        """The text with the ports that are used."""
        for port, used in self.ports.items():
            text = re.sub(rf"\b{port}\b", used, text)
        return text

    def start(self, blocks):
        """The broker, and a shell beside it."""
        self.ports = {OWN_PORT: str(free_port())}
        config = self.folder / "tandemd.conf"
        config.write_text(self.here("\n".join(text for kind, text in blocks if kind == "ini")))
        self.broker = Broker(os.environ["TANDEMD"],
                             [*loopback(), f"journal.dir={self.folder}/journal"], str(config))
        self.addCleanup(lambda: self.assertEqual(self.broker.stop(), 0))
        for protocol, port in PORTS.items():
            self.ports[port] = self.broker.addresses[protocol][0].rpartition(":")[2]
        programs = pathlib.Path(os.environ["TANDEMCTL"]).resolve().parent
        shell = page.Shell(self.folder, {
            "TANDEM_ADDRESS": "http://" + self.broker.addresses["admin"][0],
            "PATH": f"{programs}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1"})
        self.addCleanup(shell.close)
        return shell

    def play(self, shell, session):
        for command, lines in page.commands(session):
            if command == "telnet 127.0.0.1 11300":
                page.converse(self.broker.addresses["beanstalk"][0], lines)
                continue
            shown, written = page.pattern(lines), shell.run(self.here(command))
            if not shown.match(written):
                raise AssertionError("\n".join([command, "is shown to write", *lines,
                                                "but has written", written]))

    def check(self, recipe):
        blocks = page.blocks(recipe)
        shell = self.start(blocks)
        for kind, text in blocks:
            if kind in ("python", "sh"):
                name = text.partition("\n")[0].removeprefix("# ")
                (self.folder / name).write_text(self.here(text))
            elif kind == "console":
                self.play(shell, text)

    def test_there_are_ten_and_each_has_a_session(self):
        self.assertEqual([int(title.split(".")[0]) for title in RECIPES], list(range(1, 11)))
        for title, text in RECIPES.items():
            self.assertIn("console", dict(page.blocks(text)), title)


def goes_as_shown(recipe):
    return lambda self: self.check(recipe)


for title, text in RECIPES.items():
    setattr(Cookbook, "test_" + re.sub(r"\W+", "_", title), goes_as_shown(text))


if __name__ == "__main__":
    unittest.main()
