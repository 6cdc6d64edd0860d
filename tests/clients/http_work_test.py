#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Workers over HTTP: curl as Debian packages it, and Python's http.client, beside a beanstalk
producer and a Gearman client that waits for the result."""

import base64
import email.parser
import email.policy
import json
import struct
import threading
import time
import urllib.parse

import http_parties
from http_curl_test import answer, curl
from http_parties import SECONDS, Case, connect
from http_python_test import http_connection

SUBMIT_JOB, JOB_CREATED, WORK_DATA, WORK_WARNING, WORK_STATUS, WORK_COMPLETE, WORK_FAIL = (
    7, 8, 28, 29, 12, 13, 14)


class Waiter:
    """A Gearman client, which submits one foreground job."""

    def __init__(self, function, workload):
        self.socket = connect("GEARMAN")
        self.stream = self.socket.makefile("rb")
        data = b"\0".join((function.encode(), b"", workload))
        self.socket.sendall(struct.pack(">4sII", b"\0REQ", SUBMIT_JOB, len(data)) + data)
        self.handle = self.hear(JOB_CREATED)[0].decode()

    def hear(self, expected):
        _, kind, size = struct.unpack(">4sII", self.stream.read(12))
        words = self.stream.read(size).split(b"\0")
        assert kind == expected, (kind, words)
        return words

    def close(self):
        self.stream.close()
        self.socket.close()


class Producer:
    """A beanstalk client."""

    def __init__(self, tube):
        self.socket = connect("BEANSTALK")
        self.stream = self.socket.makefile("rb")
        self.ask(f"use {tube}")

    def ask(self, line, body=None):
        text = line.encode() + b"\r\n" + (b"" if body is None else body + b"\r\n")
        self.socket.sendall(text)
        return self.stream.readline().decode().split()

    def put(self, body, ttr=60, pri=5):
        word, number = self.ask(f"put {pri} 0 {ttr} {len(body)}", body)
        assert word == "INSERTED", word
        return int(number)

    def close(self):
        self.stream.close()
        self.socket.close()


class WorkCase(Case):
    def producer(self):
        producer = Producer(self.name)
        self.addCleanup(producer.close)
        return producer

    def waiter(self, workload):
        waiter = Waiter(self.name, workload)
        self.addCleanup(waiter.close)
        return waiter

    def target(self, **parameters):
        return "-/work?" + urllib.parse.urlencode({"queue": self.name, **parameters})


class CurlWorkTest(WorkCase):
    """curl"""

    def test_a_job_of_beanstalk_is_done_by_curl(self):
        producer = self.producer()
        number = producer.put(b"from beanstalk")
        status, headers, body = answer("-X", "POST", self.root + self.target(wait=30))
        self.assertEqual((status, body), (200, b"from beanstalk"))
        self.assertEqual(headers["x-tandem-queue"], self.name)
        self.assertEqual(headers["x-tandem-attempt"], "1")
        self.assertTrue(headers["x-gearman-job-handle"].endswith(f":{number}"))
        left = int(headers["x-tandem-deadline"]) / 1000 - time.time()
        self.assertTrue(50 < left < 61, left)
        lease = f"{self.root}-/leases/{headers['x-tandem-lease']}"
        self.assertEqual(answer("-X", "POST", f"{lease}/touch")[0], 204)
        self.assertEqual(answer("--data-binary", "done", f"{lease}/complete")[0], 204)
        self.assertEqual(answer("--data-binary", "done", f"{lease}/complete")[0], 410)
        self.assertEqual(producer.ask(f"peek {number}"), ["NOT_FOUND"])

    def test_a_result_of_curl_goes_to_the_client_of_gearman(self):
        waiter = self.waiter(b"from gearman")
        _, headers, body = answer("-X", "POST", self.root + self.target())
        self.assertEqual(body, b"from gearman")
        self.assertEqual(headers["x-gearman-job-handle"], waiter.handle)
        lease = f"{self.root}-/leases/{headers['x-tandem-lease']}"
        answer("-X", "POST", f"{lease}/progress?done=1&total=4")
        self.assertEqual(waiter.hear(WORK_STATUS)[1:], [b"1", b"4"])
        answer("--data-binary", "part", f"{lease}/data")
        self.assertEqual(waiter.hear(WORK_DATA)[1:], [b"part"])
        answer("--data-binary", "hot", f"{lease}/warning")
        self.assertEqual(waiter.hear(WORK_WARNING)[1:], [b"hot"])
        answer("--data-binary", "@-", f"{lease}/complete", data=b"\xff whole")
        self.assertEqual(waiter.hear(WORK_COMPLETE)[1:], [b"\xff whole"])

    def test_a_post_waits_for_a_worker_that_is_curl(self):
        results = []
        posting = threading.Thread(
            target=lambda: results.append(curl("--data-binary", "hello", self.url)[0]))
        posting.start()
        _, headers, body = answer("-X", "POST", self.root + self.target(wait=30))
        answer("--data-binary", body.decode().upper(),
               f"{self.root}-/leases/{headers['x-tandem-lease']}/complete")
        posting.join()
        self.assertEqual(results, [b"HELLO"])

    def test_what_the_page_of_the_protocol_shows_is_so(self):
        answer("-d", "Hello world!", "-H", "X-Gearman-Background: true", self.url)
        status, headers, body = answer("-X", "POST", self.root + self.target(wait=30))
        self.assertEqual((status, body), (200, b"Hello world!"))
        done = answer("-d", "!dlrow olleH",
                      f"{self.root}-/leases/{headers['x-tandem-lease']}/complete")
        self.assertEqual(done[::2], (204, b""))


class PythonWorkTest(WorkCase):
    """http.client"""

    def setUp(self):
        super().setUp()
        self.client = http_connection()
        self.addCleanup(self.client.close)

    def ask(self, path, body=None, **headers):
        self.client.request("POST", "/" + path, body, headers)
        said = self.client.getresponse()
        return said, said.read()

    def test_one_connection_does_many_jobs(self):
        producer = self.producer()
        self.client.connect()
        port = self.client.sock.getsockname()
        for number in range(100):
            producer.put(f"job {number}".encode())
            said, body = self.ask(self.target(wait=SECONDS))
            self.assertEqual(body.decode(), f"job {number}")
            said, _ = self.ask(f"-/leases/{said.headers['X-Tandem-Lease']}/complete", b"r")
            self.assertEqual(said.status, 204)
        self.assertEqual(self.client.sock.getsockname(), port)

    def test_leases_of_one_connection_end_on_another(self):
        producer = self.producer()
        tokens = []
        for number in range(50):
            producer.put(str(number).encode())
            tokens.append(self.ask(self.target())[0].headers["X-Tandem-Lease"])
        self.client.close()
        for token in reversed(tokens):
            self.assertEqual(self.ask(f"-/leases/{token}/complete")[0].status, 204)
        self.assertEqual(len(set(tokens)), 50)

    def test_a_batch_is_json(self):
        producer = self.producer()
        bodies = [b"text", "caf\u00e9".encode(), b"\xff\0", b""]
        for body in bodies:
            producer.put(body)
        said, text = self.ask(self.target(max=100))
        self.assertEqual(said.headers["Content-Type"], "application/json")
        jobs = json.loads(text)["jobs"]
        decode = {"text": str.encode, "base64": base64.b64decode}
        self.assertEqual([decode[job["body"]["encoding"]](job["body"]["data"]) for job in jobs],
                         bodies)
        for job in jobs:
            self.assertEqual(self.ask(f"-/leases/{job['lease']}/complete")[0].status, 204)

    def test_a_batch_is_multipart_as_the_library_reads_it(self):
        producer = self.producer()
        for body in (b"one\r\n", b"\xff\0--", b""):
            producer.put(body)
        said, text = self.ask(self.target(max=9), Accept="multipart/mixed")
        head = f"Content-Type: {said.headers['Content-Type']}\r\n\r\n".encode()
        message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + text)
        parts = list(message.iter_parts())
        self.assertEqual([int(part["Content-Length"]) for part in parts], [5, 4, 0])
        self.assertEqual([part["X-Tandem-Queue"] for part in parts], [self.name] * 3)
        self.assertIn(b"one\r\n", text)
        for part in parts:
            said, _ = self.ask(f"-/leases/{part['X-Tandem-Lease']}/release?pri=1&delay=1000")
            self.assertEqual(said.status, 204)
        self.assertEqual(self.ask(self.target())[0].status, 204)

    def test_a_worker_of_beanstalk_gets_what_a_lease_gave_up(self):
        producer = self.producer()
        number = producer.put(b"x", ttr=1)
        token = self.ask(self.target())[0].headers["X-Tandem-Lease"]
        producer.ask(f"watch {self.name}")
        self.assertEqual(producer.ask("reserve-with-timeout 30"), ["RESERVED", str(number), "1"])
        producer.stream.readline()
        self.assertEqual(self.ask(f"-/leases/{token}/complete")[0].status, 410)
        self.assertEqual(producer.ask(f"delete {number}"), ["DELETED"])

    def test_a_failure_is_told_to_the_client_of_gearman(self):
        waiter = self.waiter(b"x")
        token = self.ask(self.target())[0].headers["X-Tandem-Lease"]
        self.ask(f"-/leases/{token}/fail")
        waiter.hear(WORK_FAIL)

    def test_a_page_of_another_site_gets_no_job(self):
        self.producer().put(b"secret")
        self.assertEqual(self.ask(self.target(), Origin="https://evil.example")[0].status, 403)
        self.assertEqual(self.ask(self.target())[1], b"secret")


if __name__ == "__main__":
    http_parties.main()
