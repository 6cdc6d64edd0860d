#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The sessions that proto_beanstalk/PROTOCOL.md shows go as they are shown. TANDEMD is the broker."""

import os
import pathlib
import re
import socket
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/clients"))

from broker import SECONDS, Broker, loopback

PAGE = (ROOT / "proto_beanstalk/PROTOCOL.md").read_text(encoding="utf-8")
SESSION = re.compile(r"^    \$ (printf '.*') \| nc 127\.0\.0\.1 11300\n((?:    .+\n)+)", re.M)


def answers(address, said):
    """All that the broker says to it."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), SECONDS) as conn:
        conn.sendall(said)
        with conn.makefile("rb") as heard:
            return heard.read()


class Protocol(unittest.TestCase):
    def test_sessions_go_as_they_are_shown(self):
        sessions = SESSION.findall(PAGE)
        self.assertGreaterEqual(len(sessions), 5)
        for command, shown in sessions:
            with self.subTest(command):
                broker = Broker(os.environ["TANDEMD"], loopback())
                said = subprocess.run(["bash", "-c", command], check=True, capture_output=True)
                heard = answers(broker.addresses["beanstalk"][0], said.stdout)
                self.assertEqual(broker.stop(), 0)
                self.assertEqual(heard.decode(), re.sub("^    (.*)$", r"\1\r", shown, flags=re.M))


if __name__ == "__main__":
    unittest.main()
