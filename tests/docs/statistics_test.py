#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/STATISTICS.md has every key that a broker answers, in its order, and no other. TANDEMD is the
broker. The metrics have tests of their own (tests/admin)."""

import os
import pathlib
import re
import socket
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/clients"))

from broker import SECONDS, Broker, loopback

PAGE = (ROOT / "docs/STATISTICS.md").read_text(encoding="utf-8")
POLICY = """
[queue mail]
max_attempts = 1
count_releases = true
on_exhausted = move
dead_queue = dead
"""
PUT = b"use mail\r\nput 0 0 60 2\r\nhi\r\nwatch mail\r\nreserve\r\n"


def rows(of):
    """The first column of the table whose head names that."""
    table = re.search(rf"^\| \w+ of `{re.escape(of)}` \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE, re.M)[1]
    return [line.split("|")[1].strip().strip("`") for line in table.splitlines()]


class Statistics(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        config = pathlib.Path(folder.name) / "tandemd.conf"
        config.write_text(POLICY, encoding="utf-8")
        self.broker = Broker(os.environ["TANDEMD"], loopback(), str(config))
        self.addCleanup(lambda: self.assertEqual(self.broker.stop(), 0))

    def answers(self, protocol, said, end):
        """The reply, up to the line that ends it."""
        host, port = self.broker.addresses[protocol][0].split(":")
        with socket.create_connection((host, int(port)), SECONDS) as conn:
            conn.sendall(said)
            with conn.makefile("rb") as heard:
                lines = []
                while (line := heard.readline()) not in (end, b""):
                    lines.append(line.decode().rstrip("\r\n"))
                return lines

    def keys(self, said):
        """Those of the last answer to it."""
        lines = self.answers("beanstalk", said + b"quit\r\n", b"")
        begin = len(lines) - 1 - lines[::-1].index("---")
        return [line.partition(":")[0] for line in lines[begin + 1:] if ": " in line]

    def test_stats_has_the_keys_of_the_page(self):
        self.assertEqual(self.keys(b"stats\r\n"), rows("stats"))

    def test_stats_tube_has_the_keys_of_the_page(self):
        every = rows("stats-tube")
        self.assertEqual(self.keys(PUT + b"stats-tube mail\r\n"), every)
        self.assertEqual(self.keys(b"stats-tube default\r\n"), every[:every.index("closed")])

    def test_stats_job_has_the_keys_of_the_page(self):
        every = rows("stats-job")
        self.assertEqual(self.keys(PUT + b"stats-job 1\r\n"), every[:every.index("dead-from")])
        self.assertEqual(self.keys(PUT + b"release 2 0 0\r\nstats-job 2\r\n"), every)

    def test_lists_of_gearman_have_the_columns_of_the_page(self):
        self.keys(PUT + b"stats\r\n")
        for command in "status", "prioritystatus":
            lines = self.answers("gearman", b"create function f\n" + command.encode() + b"\n", b".\n")
            self.assertEqual(lines[0], "OK")
            self.assertEqual(len(lines[1].split("\t")), len(rows(command)), command)
        worker = b"\0REQ" + (1).to_bytes(4, "big") + (1).to_bytes(4, "big") + b"f"  # CAN_DO
        line = self.answers("gearman", worker + b"workers\n", b".\n")[0]
        self.assertRegex(line, r"\A\d+ 127\.0\.0\.1 - : f\Z")
        self.assertEqual(len(line.split(" ")), len(rows("workers")))


if __name__ == "__main__":
    unittest.main()
