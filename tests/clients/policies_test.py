#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Policies of queues in a tandemd with a journal: what SIGHUP changes while there are jobs, what was
made at run time after a restart, a crash and a reload, and a file with a thousand sections."""

import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from broker import SECONDS, Broker, loopback

TANDEMD = os.environ["TANDEMD"]
SECTIONS = 1000


class Lines:
    """A beanstalk client."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), SECONDS)
        self.file = self.socket.makefile("rb")

    def ask(self, line):
        self.socket.sendall(line.encode() + b"\r\n")
        return self.file.readline().decode().rstrip()

    def put(self, body="x"):
        return self.ask(f"put 0 0 60 {len(body)}\r\n{body}").split()[0]

    def reserve(self):
        """The job that a worker of the tube gets at once."""
        self.ask("watch mail")
        word = self.ask("reserve-with-timeout 0").split()[0]
        if word == "RESERVED":
            self.file.readline()
        return word

    def close(self):
        self.file.close()
        self.socket.close()


class Policies(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.config = self.folder / "tandemd.conf"
        self.broker = self.client = None
        self.addCleanup(self.stop)

    def start(self, sections=None):
        if sections is not None:
            self.config.write_text(sections, encoding="ascii")
        self.broker = Broker(TANDEMD, [*loopback(), f"journal.dir={self.folder}/journal"],
                             str(self.config))
        self.client = Lines(self.broker.addresses["beanstalk"][0])
        self.client.ask("use mail")

    def stop(self):
        if self.client:
            self.client.close()
            self.client = None
            self.assertEqual(self.broker.stop(), 0)

    def crash(self):
        self.client.close()
        self.client = None
        self.broker.process.kill()
        self.broker.stop()

    def reload(self, sections, event="reloaded"):
        self.config.write_text(sections, encoding="ascii")
        lines = len(self.broker.log())
        self.broker.process.send_signal(signal.SIGHUP)
        self.assertIsNotNone(self.broker.expect(rf" {event} ", lines))

    def api(self, method, path, document=None):
        """(status, document) of an answer"""
        host, port = self.broker.addresses["admin"][0].rsplit(":", 1)
        asker = http.client.HTTPConnection(host, int(port), timeout=SECONDS)
        asker.request(method, f"/api/v1/{path}", None if document is None else json.dumps(document),
                      {"X-Tandem-Request": "1"})
        answer = asker.getresponse()
        said = answer.read()
        asker.close()
        return answer.status, json.loads(said) if said else None

    def put_policy(self, glob, **keys):
        status, said = self.api("PUT", f"policies/{urllib.parse.quote(glob, safe='')}", keys)
        self.assertEqual(status, 200, said)

    def globs(self):
        return [each["glob"] for each in self.api("GET", "policies")[1]["policies"]]

    def policy(self, queue):
        """The glob of the queue's policy, once all queues have theirs."""
        return (self.api("GET", f"queues/{queue}")[1]["policy"] or {}).get("glob")

    def until_policy(self, queue, glob):
        """Queues that are there have new policies in the turns that follow."""
        give_up_at = time.monotonic() + SECONDS
        while self.policy(queue) != glob:
            self.assertLess(time.monotonic(), give_up_at)

    def test_a_reload_changes_policies_of_queues_with_jobs(self):
        self.start("[queue mail]\nmax_jobs = 2\n")
        self.assertEqual([self.client.put() for _ in range(3)],
                         ["INSERTED", "INSERTED", "OUT_OF_MEMORY"])
        self.reload("[queue mail]\nmax_jobs = 3\n")
        give_up_at = time.monotonic() + SECONDS
        while self.client.put() != "INSERTED":
            self.assertLess(time.monotonic(), give_up_at)
        self.assertEqual(self.client.put(), "OUT_OF_MEMORY")
        self.reload("[queue other]\n")
        self.until_policy("mail", None)
        self.assertEqual(self.client.put(), "INSERTED")

    def test_a_reload_that_is_wrong_changes_nothing(self):
        self.start("[queue mail]\nmax_jobs = 1\n")
        self.assertEqual(self.client.put(), "INSERTED")
        self.reload("[queue mail]\nmax_jobs = 9\nburst = 2\n", "reload_failed")
        self.assertEqual(self.client.put(), "OUT_OF_MEMORY")
        self.assertTrue(any("burst needs a rate" in line for line in self.broker.log()))

    def test_policies_of_the_run_time_outlive_restart_crash_and_reload(self):
        self.start("[queue *]\nmax_jobs = 100\n")
        self.put_policy("ma*", max_jobs=1)
        self.put_policy("first", position=1, rate="5/m")
        self.put_policy("gone")
        self.assertEqual(self.api("DELETE", "policies/gone")[0], 204)
        self.assertEqual(self.client.put(), "INSERTED")
        for end in self.stop, self.crash:
            end()
            self.start()
            self.assertEqual(self.globs(), ["first", "ma*", "*"])
            self.assertEqual(self.policy("mail"), "ma*")
            self.assertEqual(self.client.put(), "OUT_OF_MEMORY")
        self.reload("[queue mail]\n")
        self.assertEqual(self.globs(), ["first", "ma*", "mail"])
        self.assertEqual(self.client.put(), "OUT_OF_MEMORY")
        self.assertEqual(self.api("DELETE", "policies/ma%2A")[0], 204)
        self.until_policy("mail", "mail")
        self.assertEqual(self.client.put(), "INSERTED")

    def test_what_a_long_rate_has_used_outlives_restart_and_crash(self):
        self.start("[queue mail]\nrate = 2/d\nburst = 2\n")
        for _ in range(4):
            self.assertEqual(self.client.put(), "INSERTED")
        self.assertEqual(self.client.reserve(), "RESERVED")
        self.assertEqual(self.client.reserve(), "RESERVED")
        # It is written before that is.
        self.assertEqual(self.client.put(), "INSERTED")
        for end in self.crash, self.stop:
            end()
            self.start()
            self.assertEqual(self.client.reserve(), "TIMED_OUT")

    def test_a_thousand_sections_are_read_and_the_first_that_fits_counts(self):
        sections = "".join(f"[queue tenant{i}.*]\nmax_jobs = {i + 1}\nrate = {i + 1}/s\n"
                           for i in range(SECTIONS))
        self.start(sections)
        for i in 0, SECTIONS // 2, SECTIONS - 1:
            self.client.ask(f"use tenant{i}.mail")
            self.assertEqual(self.policy(f"tenant{i}.mail"), f"tenant{i}.*")
        self.assertEqual(len(self.globs()), SECTIONS)
        self.assertEqual(len(self.api("GET", "config")[1]["sections"]), SECTIONS)
        self.reload(sections + "[queue more]\n", "reload_failed")
        self.reload(sections.replace("[queue tenant0.*]", "[queue mine]"))
        self.client.ask("use tenant0.again")
        self.assertIsNone(self.policy("tenant0.again"))

    def test_the_check_says_which_section_a_queue_has(self):
        self.config.write_text("[queue mail.*]\nweight = 2\n[queue *]\n", encoding="ascii")
        done = subprocess.run([TANDEMD, "--config", self.config, "--check-config", "--queue",
                               "mail.out"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"""\
# This is the first section whose glob matches mail.out.
# {self.config}:1
[queue mail.*]
weight = 2
# [queue *], at {self.config}:3, also matches, but comes later.
""")


if __name__ == "__main__":
    unittest.main(verbosity=2)
