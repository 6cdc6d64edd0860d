#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What README.md says of TLS is what happens: its commands and programs, at other ports."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from broker import SECONDS, Broker

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
PORTS = {"beanstalk": "11301", "http": "8443"}


def blocks(language):
    """The texts of the section's blocks that are fenced as that language."""
    section = re.search(r"^## TLS\n(.*?)^## ", README.read_text(), re.M | re.S)[1]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.M | re.S)


def play(command, lines):
    """The session as it would look with what the command answers to the lines that are typed."""
    session = subprocess.Popen(command, shell=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True)
    typed = [line for line in lines if re.match("[a-z]+( 1)?$", line) and line != "hello"]
    shown, _ = session.communicate("\n".join(typed) + "\n", timeout=SECONDS)
    answered = [line for line in lines if line not in typed]
    return shown.splitlines(), answered


class ReadmeTls(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def here(self, text):
        """The text with the ports of the broker that runs."""
        for protocol, port in PORTS.items():
            text = text.replace(port, self.broker.addresses[protocol][-1].rpartition(":")[2])
        return text

    def test_it_goes_as_it_is_shown(self):
        make, submit = blocks("sh")
        subprocess.run(make, shell=True, check=True, stderr=subprocess.DEVNULL, timeout=SECONDS)
        settings = re.sub(r"(127\.0\.0\.1:)\d+", r"\g<1>0", blocks("ini")[0])
        pathlib.Path("tls.conf").write_text(settings)
        self.broker = Broker(os.environ["TANDEMD"], ["gearman.listen=", "admin.listen="],
                             "tls.conf")
        self.addCleanup(self.broker.process.kill)
        subprocess.run(self.here(submit), shell=True, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=SECONDS)
        command, *lines = blocks("console")[0].splitlines()
        shown, answered = play(self.here(command.removeprefix("$ ")), lines)
        self.assertEqual(shown, answered)
        printed = subprocess.run([sys.executable, "-c", self.here(blocks("python")[0])], check=True,
                                 capture_output=True, text=True, timeout=SECONDS).stdout
        self.assertRegex(printed, r"\AINSERTED \d+\n")
        self.assertEqual(self.broker.stop(), 0)


if __name__ == "__main__":
    unittest.main()
