#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two tandemd that share a journal in PostgreSQL: one serves, the other follows, and takes over when
that one is killed, stopped or paused, or hands over."""

import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import time
import unittest

from broker import SECONDS, Broker, loopback

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import postgres

TANDEMD = os.environ["TANDEMD"]
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/STATISTICS.md"
# Longer than a busy machine keeps a process waiting.
TTL = 3


class Lines:
    """A beanstalk client."""

    def __init__(self, broker):
        host, port = broker.addresses["beanstalk"][0].rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), SECONDS)
        self.file = self.socket.makefile("rb")

    def say(self, line):
        self.socket.sendall(line.encode() + b"\r\n")

    def ask(self, line):
        self.say(line)
        return self.file.readline().decode().rstrip()

    def put(self, body):
        return self.ask(f"put 0 0 60 {len(body)}\r\n{body}")

    def reserve(self):
        """The body of a job; empty where there is none."""
        answer = self.ask("reserve-with-timeout 0")
        return self.file.readline().decode().rstrip() if answer.startswith("RESERVED ") else ""

    def rest(self):
        """The bytes up to the end of the connection, with or without an error."""
        try:
            return self.file.read()
        except ConnectionResetError:
            return b""

    def stats(self):
        """[(key, value)], as they come."""
        self.ask("stats")
        lines = iter(lambda: self.file.readline().decode().rstrip("\n"), "\r")
        return [tuple(line.split(": ", 1)) for line in lines if ": " in line]

    def close(self):
        self.file.close()
        self.socket.close()


def wait_for(what):
    """The first true result. A connection may be lost meanwhile."""
    give_up_at = time.monotonic() + SECONDS
    while time.monotonic() < give_up_at:
        try:
            if result := what():
                return result
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(0.02)
    raise TimeoutError


class Takeover(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = postgres.Cluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.make().start()

    def setUp(self):
        self.settings = [*loopback(), "journal.store=postgres",
                         f"journal.postgres={self.cluster.place()}",
                         f"journal.shard={self.id().rsplit('.', 1)[1][:32]}",
                         f"journal.lease_ttl={TTL}", "journal.address=127.0.0.1"]
        self.settings.append("journal.fail_timeout=60")
        sets = [word for setting in self.settings for word in ("--set", setting)]
        subprocess.run([TANDEMD, "--config", os.devnull, *sets, "--init-store"], check=True,
                       stdout=subprocess.DEVNULL)
        self.owner = self.start()
        self.owner.expect("took_over")
        self.standby = self.start()
        self.standby.expect("standing_by")

    def start(self):
        broker = Broker(TANDEMD, self.settings)
        self.addCleanup(self.end, broker)
        return broker

    def end(self, broker):
        if broker.process.poll() is None:
            broker.process.send_signal(signal.SIGCONT)
            self.assertEqual(broker.stop(), 0)
        else:
            broker.stop()

    def client(self, broker):
        lines = Lines(broker)
        self.addCleanup(lines.close)
        return lines

    def put(self, body):
        self.assertRegex(self.client(self.owner).put(body), "INSERTED")

    def expect_taken_over(self, body):
        """The standby serves, and has the job."""
        self.standby.expect("took_over")
        self.assertEqual(wait_for(lambda: self.client(self.standby).reserve()), body)

    def test_owner_killed(self):
        self.put("one")
        self.owner.process.kill()
        self.owner.process.wait()
        self.expect_taken_over("one")

    def test_owner_stopped(self):
        self.put("one")
        self.assertEqual(self.owner.stop(), 0)
        self.expect_taken_over("one")

    def test_owner_paused(self):
        self.put("one")
        client = self.client(self.owner)
        self.assertEqual(client.ask("watch a"), "WATCHING 2")
        self.owner.process.send_signal(signal.SIGSTOP)
        client.say("put 0 0 60 3\r\ntwo")
        client.say("reserve")
        self.expect_taken_over("one")
        self.owner.process.send_signal(signal.SIGCONT)
        self.assertEqual(client.rest(), b"")
        self.owner.expect("standing_by")
        self.assertEqual(self.client(self.standby).reserve(), "")

    def test_owner_hands_over(self):
        self.put("one")
        client = self.client(self.owner)
        self.assertEqual(client.ask("watch a"), "WATCHING 2")
        wait_for(self.hands_over)
        self.assertEqual(client.rest(), b"")
        self.expect_taken_over("one")
        self.owner.expect("standing_by")
        # A lease may lapse by itself on a slow machine.
        self.assertGreaterEqual(self.takeovers(self.owner), 1)
        self.assertGreaterEqual(self.takeovers(self.standby), 1)

    def operate(self, broker, method, path):
        """The status and the body of the answer to an operator."""
        connection = http.client.HTTPConnection(broker.addresses["admin"][0], timeout=SECONDS)
        try:
            connection.request(method, path, headers={"X-Tandem-Request": "test"})
            response = connection.getresponse()
            return response.status, response.read().decode()
        finally:
            connection.close()

    def hands_over(self):
        """As soon as the owner knows that it is followed."""
        return self.operate(self.owner, "POST", "/api/v1/cluster/handover")[0] == 202

    def test_no_process_has_the_name_of_another(self):
        names = {json.loads(self.operate(broker, "GET", "/api/v1/cluster")[1])["node"]
                 for broker in (self.owner, self.standby)}
        self.assertEqual(len(names), 2)
        for name in names:
            self.assertRegex(name, r"-[0-9]+-[0-9a-f]{16}$")

    def takeovers(self, broker):
        return json.loads(self.operate(broker, "GET", "/api/v1/cluster")[1])["takeovers"]

    def test_owner_waits_for_database(self):
        self.assertEqual(self.standby.stop(), 0)
        client = self.client(self.owner)
        self.addCleanup(self.cluster.signal_all, signal.SIGCONT)
        self.cluster.signal_all(signal.SIGSTOP)
        client.say("put 0 0 60 3\r\none")
        wait_for(self.is_unsure)
        self.cluster.signal_all(signal.SIGCONT)
        self.assertRegex(client.file.readline(), b"INSERTED")

    def test_owner_that_waits_for_nothing_ends_well_without_its_database(self):
        self.assertEqual(self.standby.stop(), 0)
        self.put("one")
        self.addCleanup(self.cluster.signal_all, signal.SIGCONT)
        self.cluster.signal_all(signal.SIGSTOP)
        wait_for(self.is_unsure)
        self.assertEqual(self.owner.stop(), 0)

    def is_unsure(self):
        """An owner that waits for a commit is still the owner until its lease may have expired."""
        said = self.operate(self.owner, "GET", "/readyz")[1]
        self.assertRegex(said, "^(ok|unsure)")
        return said.startswith("unsure")

    def test_stats_say_what_an_answer_is_worth(self):
        keys = re.findall(r"^\| `(cluster-.*?)` \|", PAGE.read_text(encoding="utf-8"), re.M)
        self.assertEqual(keys, ["cluster-epoch", "cluster-durable", "cluster-replicated"])
        for broker in self.owner, self.standby:
            stats = wait_for(lambda of=broker: self.client(of).stats())
            (key, epoch), *rest = stats[-len(keys):]
            self.assertEqual(key, keys[0])
            self.assertGreaterEqual(int(epoch), 1)
            # The database of this test does not sync, and has no standby.
            self.assertEqual(rest, [(key, "false") for key in keys[1:]])

    def test_standby_passes_connections_on(self):
        self.put("one")
        self.assertEqual(wait_for(lambda: self.client(self.standby).reserve()), "one")


if __name__ == "__main__":
    unittest.main(verbosity=2)
