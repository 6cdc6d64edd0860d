#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Much at once over HTTP: large bodies, slow parties, many that wait, and wrk.

TANDEMD_PID is the server's, whose memory is looked at. It is to be an optimised build, as others
need more.
"""

import hashlib
import http.client
import os
import pathlib
import re
import resource
import selectors
import subprocess
import time

import http_parties
from http_parties import SECONDS, Case, address

MIB = 1 << 20
LARGE = 64 * MIB
SPARE = 12 * MIB  # what the server may need besides a body
WAITING = 10000
WRK = ["wrk", "--threads", "1", "--connections", "50", "--duration", "2s", "--timeout",
       f"{SECONDS}s"]
HERE = pathlib.Path(__file__).resolve().parent


class Memory:
    """The part of it that the server has."""

    def __init__(self):
        self.path = pathlib.Path(f"/proc/{os.environ['TANDEMD_PID']}")
        # Writing 5 resets the peak of the resident memory.
        (self.path / "clear_refs").write_text("5", encoding="ascii")
        self.before = self.read("VmRSS")

    def read(self, key):
        status = (self.path / "status").read_text(encoding="ascii")
        return int(re.search(rf"^{key}:\s*(\d+) kB$", status, re.MULTILINE)[1]) << 10

    def peak(self):
        return self.read("VmHWM") - self.before

    def now(self):
        return self.read("VmRSS") - self.before


def pattern(size):
    """Bytes of which no two pages are the same."""
    return b"".join(hashlib.sha256(i.to_bytes(4, "big")).digest() * 128 for i in range(size >> 12))


class LargeTest(Case):
    def setUp(self):
        super().setUp()
        self.client = http.client.HTTPConnection(*address("HTTP"), timeout=SECONDS)
        self.addCleanup(self.client.close)

    def answer(self, body):
        self.client.request("POST", f"/{self.name}", body)
        answer = self.client.getresponse()
        self.assertEqual(answer.status, 200)
        return answer.read()

    def check_upload(self, make_body):
        """A large workload is in memory once, and when the next job is done, no more."""
        self.worker(lambda workload: hashlib.sha256(workload).hexdigest().encode())
        body = pattern(LARGE)
        memory = Memory()
        self.assertEqual(self.answer(make_body(body)).decode(), hashlib.sha256(body).hexdigest())
        self.assertGreater(memory.peak(), LARGE // 2)
        self.assertLess(memory.peak(), LARGE + SPARE)
        self.answer(b"")
        self.assertLess(memory.now(), SPARE)

    def test_a_body_of_64_mib_takes_its_size_and_little_more(self):
        self.check_upload(bytes)

    def test_a_body_of_64_mib_in_chunks_takes_its_size_and_little_more(self):
        self.check_upload(lambda body: (body[i:i + MIB] for i in range(0, LARGE, MIB)))

    def test_a_result_of_64_mib_takes_its_size_and_little_more(self):
        result = pattern(LARGE)
        self.worker(lambda workload: result if workload else b"")
        memory = Memory()
        self.assertEqual(self.answer(b"please"), result)
        self.assertGreater(memory.peak(), LARGE // 2)
        self.assertLess(memory.peak(), LARGE + SPARE)
        self.answer(b"")
        self.assertLess(memory.now(), SPARE)

    def test_a_result_of_64_mib_for_many_is_in_memory_once(self):
        result = pattern(LARGE)
        readers = [self.connect() for _ in range(8)]
        memory = Memory()
        for reader in readers:
            reader.sendall(self.request(headers="X-Gearman-Unique: one\r\n"))
        wait_for_waiting(self.name, len(readers))
        self.worker(lambda _: result)
        for reader in readers:
            answer = http.client.HTTPResponse(reader)
            answer.begin()
            self.assertEqual(answer.read(), result)
        self.assertLess(memory.peak(), LARGE + SPARE)


def wait_for_waiting(function, count):
    """Waits until `count` requests wait for the function's job whose unique is `one`."""
    client = http.client.HTTPConnection(*address("HTTP"), timeout=SECONDS)
    # An event stream that joins learns the job's handle.
    client.request("POST", f"/{function}", b"", {"Accept": "text/event-stream",
                                                 "X-Gearman-Unique": "one"})
    handle = client.getresponse().getheader("X-Gearman-Job-Handle")
    other = http.client.HTTPConnection(*address("HTTP"), timeout=SECONDS)
    while True:
        other.request("GET", f"/-/jobs/{handle}")
        job = other.getresponse().read()
        if int(re.search(rb'"waiting": ?(\d+)', job)[1]) == count + 1:
            break
    client.close()
    other.close()


class SlowTest(Case):
    """A slow client does not delay others: they get their answers in between."""

    def check_others(self):
        client = http.client.HTTPConnection(*address("HTTP"), timeout=SECONDS)
        for i in range(20):
            client.request("POST", f"/{self.name}", b"work %d" % i)
            self.assertEqual(client.getresponse().read(), b"WORK %d" % i)
        client.close()

    def test_a_slow_uploader(self):
        self.worker()
        body = b"x" * MIB
        request = self.request(body=body)
        connection = self.connect()
        for i in range(0, len(request), 65536):
            connection.sendall(request[i:i + 65536])
            self.check_others()
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        self.assertEqual(answer.read(), body.upper())

    def test_a_slow_reader(self):
        result = pattern(32 * MIB)
        self.worker(lambda workload: workload.upper() if workload else result)
        connection = self.connect()
        connection.sendall(self.request())
        answer = http.client.HTTPResponse(connection)
        answer.begin()
        received = b""
        for _ in range(8):
            received += answer.read(65536)
            self.check_others()
        self.assertEqual(received + answer.read(), result)


class ManyTest(Case):
    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < WAITING + 100:
            self.skipTest(f"the system allows {hard} open files a process, {WAITING} are needed")
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))

    def test_ten_thousand_requests_wait_for_one_job_and_all_are_answered(self):
        request = self.request(body=b"work", headers="X-Gearman-Unique: one\r\n")
        waiting = [self.connect() for _ in range(WAITING)]
        for connection in waiting:
            connection.sendall(request)
        wait_for_waiting(self.name, WAITING)
        worked = []
        self.worker(lambda workload: worked.append(workload) or b"done")
        with selectors.DefaultSelector() as selector:
            for connection in waiting:
                selector.register(connection, selectors.EVENT_READ)
            answers = set()
            end = time.monotonic() + SECONDS
            while selector.get_map() and time.monotonic() < end:
                for key, _ in selector.select(SECONDS):
                    text = key.fileobj.recv(4096)
                    answers.add((text[:17], text[-8:]))
                    selector.unregister(key.fileobj)
            self.assertEqual(len(selector.get_map()), 0)
        self.assertEqual(answers, {(b"HTTP/1.1 200 OK\r\n", b"\r\n\r\ndone")})
        self.assertEqual(worked, [b"work"])


class WrkTest(Case):
    """The script prints what wrk counted."""

    def check(self, kind):
        done = subprocess.run([*WRK, "--script", HERE / "http_post.lua", self.url, "--", kind],
                              timeout=SECONDS, check=True, capture_output=True, text=True)
        counts = re.search(r"^requests=(\d+) errors=(\d+)$", done.stdout, re.MULTILINE)
        self.assertIsNotNone(counts, done.stdout)
        self.assertGreater(int(counts[1]), 0, done.stdout)
        self.assertEqual(int(counts[2]), 0, done.stdout)

    def test_background_jobs_are_accepted_without_an_error(self):
        self.check("background")

    def test_foreground_jobs_are_answered_without_an_error(self):
        self.worker()
        self.check("foreground")


if __name__ == "__main__":
    http_parties.main()
