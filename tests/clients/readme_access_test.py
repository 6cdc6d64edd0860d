#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What README.md says of rules and tokens is what happens: its commands, at other ports."""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import unittest

from broker import SECONDS, Broker, loopback

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
PORTS = {"beanstalk": "11300", "gearman": "4730", "http": "8080"}


def blocks(language):
    """The texts of the section's blocks that are fenced as that language."""
    section = re.search(r"^## Who may do what\n(.*?)^## ", README.read_text(), re.M | re.S)[1]
    return re.findall(rf"^```{language}\n(.*?)^```$", section, re.M | re.S)


def run(command):
    return subprocess.run(command, shell=True, check=True, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, timeout=SECONDS).stdout


class ReadmeAccess(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        os.chmod(folder.name, 0o755)

    def serve(self):
        """As the section says."""
        make, self.submit = blocks("sh")
        digest = run(make.replace("build/release/server/tandemd", os.environ["TANDEMD"])).strip()
        self.assertRegex(digest, r"\A[0-9a-f]{64}\Z")
        pathlib.Path("rules").write_text(blocks("text")[0].replace("HASH", digest))
        pathlib.Path("access.conf").write_text(blocks("ini")[0])
        self.token = pathlib.Path("billing.token").read_text().strip()
        self.broker = Broker(os.environ["TANDEMD"], loopback(), "access.conf")
        self.addCleanup(self.broker.process.kill)

    def here(self, text):
        """The text with the ports of the broker that runs."""
        for protocol, port in PORTS.items():
            text = text.replace(port, self.broker.addresses[protocol][0].rpartition(":")[2])
        return text

    def play(self, lines):
        """Says what begins in lower case or is a body, and hears the rest."""
        host, port = self.broker.addresses["beanstalk"][0].split(":")
        with socket.create_connection((host, int(port)), timeout=SECONDS) as client:
            stream = client.makefile("rw", newline="\r\n")
            for line in lines:
                if re.match("[a-z0-9]", line):
                    stream.write(f"{line}\n")
                    stream.flush()
                else:
                    self.assertEqual(stream.readline(), f"{line}\r\n")
            self.assertEqual(stream.readline(), "")

    def test_it_goes_as_it_is_shown(self):
        self.serve()
        submit = self.here(self.submit).replace("curl", "curl --silent --include")
        self.assertIn(" 200 OK", run(submit))
        self.assertIn(" 401 ", run(re.sub(r'--header "Auth.*?"', "", submit)))
        self.assertIn(" 403 ", run(submit.replace("billing-invoice", "mail")))
        _, *lines = blocks("console")[0].replace("kX3vN8pQ2rT6wY1z", self.token).splitlines()
        self.play(lines)
        printed = subprocess.run([sys.executable, "-c", self.here(blocks("python")[0])], check=True,
                                 capture_output=True, text=True, timeout=SECONDS).stdout
        self.assertIn(r"\x00RES\x00\x00\x00\x1b", printed)
        self.assertEqual(self.broker.stop(), 0)


if __name__ == "__main__":
    unittest.main()
