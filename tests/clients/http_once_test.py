#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Requests with an Idempotency-Key, over a tandemd that is killed and comes again."""

import base64
import hashlib
import http.client
import os
import signal
import sys
import tempfile
import unittest

import http_parties
from broker import SECONDS, Broker, loopback

BACKGROUND = {"X-Gearman-Background": "true"}


def name_of(key):
    """The unique of the job of an idempotency key, for clients without a token."""
    print_ = bytes(32)
    for part in (b"", key.encode()):
        print_ = hashlib.sha256(print_ + hashlib.sha256(part).digest()).digest()
    return "idempotency:" + base64.urlsafe_b64encode(print_).decode().rstrip("=")


class OnceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.settings = [f"journal.dir={folder.name}", "journal.fsync=always", *loopback()]
        self.broker = None
        self.start()
        self.addCleanup(lambda: self.broker.stop())

    def start(self):
        self.broker = Broker(os.environ["TANDEMD"], self.settings)

    def kill(self):
        """As a power cut would end it, and starts it again."""
        self.broker.process.send_signal(signal.SIGKILL)
        self.broker.process.wait()
        self.broker.stop()
        self.start()

    def ask(self, path, body=b"", **headers):
        client = http.client.HTTPConnection(self.broker.addresses["http"][0], timeout=SECONDS)
        client.request("POST", path, body,
                       {name.replace("_", "-"): value for name, value in headers.items()})
        said = client.getresponse()
        text = said.read()
        client.close()
        return said, text

    def submit(self, key, body=b"work", **more):
        return self.ask("/mail", body, **{"Idempotency-Key": key, **BACKGROUND, **more})[0]

    def test_answers_are_the_same_over_restarts(self):
        handle = self.submit("one").headers["X-Gearman-Job-Handle"]
        self.kill()
        self.assertEqual(self.submit("one").headers["X-Gearman-Job-Handle"], handle)
        said, body = self.ask("/-/work?queue=mail")
        self.assertEqual(body, b"work")
        self.assertEqual(said.headers["X-Gearman-Job-Handle"], handle)
        self.assertEqual(
            self.ask(f"/-/leases/{said.headers['X-Tandem-Lease']}/complete")[0].status, 204)
        self.kill()
        self.assertEqual(self.submit("one").headers["X-Gearman-Job-Handle"], handle)
        self.assertEqual(self.submit("one", b"other").status, 422)
        self.assertEqual(self.ask("/-/work?queue=mail")[0].status, 204)
        self.assertNotEqual(self.submit("two").headers["X-Gearman-Job-Handle"], handle)

    def test_a_job_whose_key_was_not_kept_is_remembered_before_it_can_be_done(self):
        # As a power cut between the two records leaves it.
        named = self.ask("/mail", b"work", **BACKGROUND, **{"X-Gearman-Unique": name_of("one")})[0]
        handle = named.headers["X-Gearman-Job-Handle"]
        self.kill()
        token = self.ask("/-/work?queue=mail")[0].headers["X-Tandem-Lease"]
        self.assertEqual(self.ask(f"/-/leases/{token}/complete")[0].status, 204)
        self.assertEqual(self.submit("one").headers["X-Gearman-Job-Handle"], handle)
        self.assertEqual(self.ask("/-/work?queue=mail")[0].status, 204)

    def test_keys_of_many_jobs_each_stand_for_their_own(self):
        handles = [self.submit(f"key {i}", str(i).encode()).headers["X-Gearman-Job-Handle"]
                   for i in range(50)]
        self.kill()
        again = [self.submit(f"key {i}", str(i).encode()).headers["X-Gearman-Job-Handle"]
                 for i in range(50)]
        self.assertEqual(again, handles)
        self.assertEqual(len(set(handles)), 50)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    http_parties.main()
