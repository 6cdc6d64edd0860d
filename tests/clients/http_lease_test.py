#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Leases of workers over HTTP, over a tandemd that ends in good order, or is killed, and comes again."""

import base64
import http.client
import json
import os
import signal
import socket
import sys
import tempfile
import time
import unittest

import http_parties
from broker import PROTOCOLS, SECONDS, Broker, loopback

BACKGROUND = {"X-Gearman-Background": "true"}
# More than a slice of leases, and more than the system takes in for who does not read.
MANY = 100
UNREAD = 700000
WORDS = "complete", "fail", "touch", "data", "release"


class LeaseTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.settings = [f"journal.dir={folder.name}", "journal.fsync=always", *loopback()]
        self.broker = None
        self.start()
        self.addCleanup(lambda: self.broker.stop())

    def start(self):
        self.broker = Broker(os.environ["TANDEMD"], self.settings)

    def again(self, how):
        """Ends it by that signal, and starts it again."""
        if how == signal.SIGTERM:
            self.assertEqual(self.broker.stop(), 0)
        else:
            self.broker.process.send_signal(how)
            self.broker.process.wait()
            self.broker.stop()
        self.start()

    def ask(self, path, body=b"", protocol="http", method="POST", **headers):
        client = http.client.HTTPConnection(self.broker.addresses[protocol][0], timeout=SECONDS)
        client.request(method, path, body, headers)
        said = client.getresponse()
        text = said.read()
        client.close()
        return said, text

    def submit(self, body=b"work", **headers):
        said, _ = self.ask("/mail", body, **BACKGROUND,
                           **{f"X-Gearman-{name}": value for name, value in headers.items()})
        self.assertEqual(said.status, 200)
        return said.headers["X-Gearman-Job-Handle"]

    def take(self, query="", body=b"work"):
        said, text = self.ask(f"/-/work?queue=mail{query}")
        self.assertEqual((said.status, text), (200, body))
        return said.headers["X-Tandem-Lease"]

    def expect_empty(self):
        self.assertEqual(self.ask("/-/work?queue=mail")[0].status, 204)

    def say(self, token, word="complete", body=b""):
        return self.ask(f"/-/leases/{token}/{word}", body)[0].status

    def state(self, handle):
        said, text = self.ask(f"/-/jobs/{handle}", method="GET")
        return json.loads(text) if said.status == 200 else {"state": "gone"}

    def flush(self):
        """Events are written in order: this one comes after the job."""
        self.submit(b"later")

    def ends(self):
        for how in signal.SIGTERM, signal.SIGKILL:
            with self.subTest(how=how.name):
                yield how

    def test_a_job_is_done_once_by_a_worker_that_completes_it_after_a_restart(self):
        for how in self.ends():
            handle = self.submit(Ttr="600")
            token = self.take()
            self.flush()
            self.again(how)
            self.take(body=b"later")
            self.expect_empty()
            self.assertEqual(self.state(handle)["state"], "running")
            self.assertEqual(self.say(token), 204)
            self.assertEqual(self.state(handle)["state"], "gone")
            self.assertEqual(self.say(token), 410)
            self.again(how)
            self.assertEqual(self.say(token), 410)

    def test_every_word_is_good_after_a_restart(self):
        for word in WORDS:
            with self.subTest(word=word):
                self.submit(word.encode())
                token = self.take("&ttr=600", word.encode())
                self.again(signal.SIGTERM)
                self.assertEqual(self.say(token, "touch"), 204)
                self.assertEqual(self.say(token, word), 204)
                if word in ("touch", "data"):
                    self.assertEqual(self.say(token), 204)
                elif word == "release":
                    self.take("&ttr=600", word.encode())

    def test_a_batch_of_leases_lives_on(self):
        for how in self.ends():
            for number in range(20):
                self.submit(str(number).encode())
            said, text = self.ask("/-/work?queue=mail&max=20")
            jobs = json.loads(text)["jobs"]
            self.assertEqual(len(jobs), 20)
            for job in jobs[:5]:
                self.assertEqual(self.say(job["lease"]), 204)
            self.flush()
            self.again(how)
            self.take(body=b"later")
            self.expect_empty()
            for job in jobs[:5]:
                self.assertEqual(self.say(job["lease"]), 410)
            for job in jobs[5:]:
                self.assertEqual(self.say(job["lease"]), 204)
            self.expect_empty()

    def test_a_lease_expires_at_its_time(self):
        handle = self.submit(Ttr="1")
        token = self.take()
        self.again(signal.SIGTERM)
        said, _ = self.ask("/-/work?queue=mail&wait=30")
        self.assertEqual(said.headers["X-Gearman-Job-Handle"], handle)
        self.assertEqual(self.say(token), 410)

    def test_many_leases_of_an_answer_that_never_left_are_not_kept(self):
        path = os.path.join(self.settings[0].partition("=")[2], "http")
        self.settings[-len(PROTOCOLS):] = [f"http.listen=127.0.0.1:0, unix:{path}",
                                           *loopback(protocols=[name for name in PROTOCOLS
                                                                if name != "http"])]
        self.again(signal.SIGTERM)
        self.ask("/big", bytes(UNREAD), **BACKGROUND)
        handles = [self.submit(str(number).encode()) for number in range(MANY)]
        with socket.socket(socket.AF_UNIX) as worker:
            worker.settimeout(SECONDS)
            worker.connect(path)
            # Of the first answer nothing is read, so that the second one stays behind it.
            worker.sendall(b"POST /-/work?queue=big HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
                           b"POST /-/work?queue=mail&max=%d HTTP/1.1\r\nHost: localhost\r\n"
                           b"Accept: multipart/mixed\r\nContent-Length: 0\r\n\r\n" % MANY)
            give_up_at = time.monotonic() + SECONDS
            while self.state(handles[-1])["state"] != "running":
                self.assertLess(time.monotonic(), give_up_at)
                time.sleep(0.01)
            self.again(signal.SIGTERM)
        said, text = self.ask(f"/-/work?queue=mail&max={MANY}")
        self.assertEqual((said.status, len(json.loads(text)["jobs"])), (200, MANY))

    def test_a_renewal_lives_on(self):
        self.submit()
        token = self.take("&ttr=600")
        said, _ = self.ask(f"/-/leases/{token}/touch")
        told = int(said.headers["X-Tandem-Deadline"])
        self.flush()
        self.again(signal.SIGKILL)
        leases = [line for line in self.broker.log() if " leases_resumed " in line]
        self.assertEqual(len(leases), 1)
        self.assertIn(" count=1 over=0", leases[0])
        said, _ = self.ask(f"/-/leases/{token}/touch")
        self.assertGreaterEqual(int(said.headers["X-Tandem-Deadline"]) + 1000, told)
        self.assertEqual(self.say(token), 204)

    def test_max_running_counts_leases_that_live_on(self):
        said, text = self.ask("/api/v1/policies/mail", json.dumps({"max_running": 1}).encode(),
                              "admin", "PUT", **{"X-Tandem-Request": "1"})
        self.assertEqual(said.status, 200, text)
        self.submit()
        token = self.take("&ttr=600")
        self.submit(b"second")
        self.again(signal.SIGTERM)
        self.expect_empty()
        self.assertEqual(self.say(token), 204)
        self.take(body=b"second")

    def test_the_attempt_is_spent_once(self):
        handle = self.submit()
        token = self.take("&ttr=600")
        self.again(signal.SIGTERM)
        self.assertEqual(self.say(token, "release"), 204)
        said, _ = self.ask("/-/work?queue=mail")
        self.assertEqual(said.headers["X-Gearman-Job-Handle"], handle)
        self.assertEqual(said.headers["X-Tandem-Attempt"], "1")

    def test_the_journal_does_not_have_the_token(self):
        self.submit()
        token = self.take("&ttr=600")
        self.flush()
        raw = base64.urlsafe_b64decode(token + "==")
        self.broker.stop()  # files come and go until then
        folder = self.settings[0].partition("=")[2]
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                content = file.read()
            self.assertNotIn(raw, content, name)
            self.assertNotIn(token.encode(), content, name)

    def test_leases_of_jobs_that_are_not_kept_end_with_the_process(self):
        self.settings = [setting for setting in self.settings if "journal." not in setting]
        self.again(signal.SIGTERM)
        self.submit()
        token = self.take("&ttr=600")
        self.again(signal.SIGTERM)
        self.assertEqual(self.say(token), 410)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    http_parties.main()
