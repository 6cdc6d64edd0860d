#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Python's http.client, and bytes as they are, against the HTTP of tandemd."""

import contextlib
import http.client
import json

import http_parties
from http_parties import SECONDS, Case, Refused, address


def read_answers(connection, count):
    """Reads `count` answers from a socket: status and body of each."""
    answers = []
    for _ in range(count):
        # The reader must not take what belongs to the next answer, so it has one to itself.
        answer = http.client.HTTPResponse(Unread(connection))
        answer.begin()
        answers.append((answer.status, answer.read()))
    return answers


def http_connection():
    context = http_parties.tls()
    if context:
        return http.client.HTTPSConnection(*address("HTTP"), timeout=SECONDS, context=context)
    return http.client.HTTPConnection(*address("HTTP"), timeout=SECONDS)


class Unread:
    """A socket whose file has no buffer: nothing is read too early."""

    def __init__(self, connection):
        self.connection = connection

    def makefile(self, mode):
        return self.connection.makefile(mode, buffering=0)


class ClientTest(Case):
    """http.client"""

    def setUp(self):
        super().setUp()
        self.client = http_connection()
        self.addCleanup(self.client.close)

    def answer(self, method="POST", body=b"", path=None, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.client.request(method, path or f"/{self.name}", body, named)
        answer = self.client.getresponse()
        return answer, answer.read()

    def test_many_requests_go_over_one_connection(self):
        self.worker()
        self.client.connect()
        port = self.client.sock.getsockname()
        for i in range(100):
            answer, body = self.answer(body=f"work {i}".encode())
            self.assertEqual((answer.status, body), (200, f"WORK {i}".encode()))
        self.assertEqual(self.client.sock.getsockname(), port)

    def test_a_body_from_a_generator_goes_in_chunks(self):
        self.worker(lambda workload: str(len(workload)).encode())
        parts = (b"x" * (i * i) for i in range(1, 200))
        self.assertEqual(self.answer(body=parts)[1], str(sum(i * i for i in range(200))).encode())

    def test_any_bytes_come_through(self):
        self.worker(lambda workload: workload[::-1])
        body = bytes(range(256)) * 100
        self.assertEqual(self.answer("PUT", body)[1], body[::-1])

    def test_the_connection_lives_on_after_a_failed_job(self):
        def work(workload):
            if workload == b"bad":
                raise Refused
            return workload
        self.worker(work)
        self.client.connect()
        port = self.client.sock.getsockname()
        self.assertEqual([self.answer(body=body)[0].status for body in (b"bad", b"good")],
                         [500, 200])
        self.assertEqual(self.client.sock.getsockname(), port)

    def test_what_is_wrong_with_a_header_is_said_and_nothing_is_submitted(self):
        for name, value in (("X-Gearman-Priority", "urgent"), ("X-Gearman-Ttr", "-1"),
                            ("X-Gearman-Background", "perhaps"), ("X-Gearman-Delay", "5"),
                            ("X-Gearman-Epoch", "5"), ("X-Gearman-Timeout", "soon"),
                            ("X-Gearman-Unique", "x" * 65)):
            answer, body = self.answer(**{name: value})
            self.assertEqual((answer.status, answer.getheader("X-Gearman-Command")),
                             (400, "ERROR"))
            self.assertIn(name, json.loads(body)["error"])
        worked = []
        self.worker(lambda workload: worked.append(workload) or b"")
        self.assertEqual(self.answer(body=b"only this")[0].status, 200)
        self.assertEqual(worked, [b"only this"])

    def test_what_is_no_function_is_not_found(self):
        self.assertEqual(self.answer(path="/")[0].status, 404)
        self.assertEqual(self.answer("GET", path="/-/jobs/H:nowhere:1")[0].status, 404)
        self.assertEqual(self.answer("GET", path="/-/elsewhere")[0].status, 404)

    def test_other_methods_are_not_allowed(self):
        answer, _ = self.answer("PATCH")
        self.assertEqual(answer.status, 405)
        self.assertIn("POST", answer.getheader("Allow"))


class BytesTest(Case):
    """Requests as bytes on a socket."""

    def test_pipelined_requests_are_answered_in_their_order(self):
        self.worker()
        connection = self.connect()
        root = b"HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n"
        connection.sendall(b"".join(self.request(body=b"work %d" % i) for i in range(50)) +
                           root.replace(b"HEAD", b"GET") +
                           self.request(body=b"later", headers="X-Gearman-Background: 1\r\n") +
                           self.request(body=b"last"))
        answers = read_answers(connection, 53)
        self.assertEqual(answers[:50], [(200, b"WORK %d" % i) for i in range(50)])
        self.assertEqual([answers[50][0], *answers[51:]], [404, (200, b""), (200, b"LAST")])

    def test_requests_may_come_byte_by_byte(self):
        self.worker()
        connection = self.connect()
        chunks = b"5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
        chunked = self.request().replace(b"Content-Length: 0", b"Transfer-Encoding: chunked")
        for byte in self.request(body=b"one") + chunked + chunks + self.request(body=b"three"):
            connection.sendall(bytes([byte]))
        self.assertEqual(read_answers(connection, 3),
                         [(200, b"ONE"), (200, b"HELLO WORLD"), (200, b"THREE")])

    def test_http_1_0_is_kept_only_when_it_is_asked_to(self):
        self.worker()
        connection = self.connect()
        kept = self.request(body=b"a", headers="Connection: keep-alive\r\n", version="1.0")
        connection.sendall(kept)
        self.assertEqual(read_answers(connection, 1), [(200, b"A")])
        connection.sendall(self.request(body=b"b", version="1.0"))
        with connection.makefile("rb") as stream:
            text = stream.read()
        self.assertTrue(text.startswith(b"HTTP/1.0 200 OK\r\n"), text)
        self.assertTrue(text.endswith(b"\r\n\r\nB"), text)

    def test_close_is_obeyed(self):
        self.worker()
        connection = self.connect()
        connection.sendall(self.request(body=b"a", headers="Connection: close\r\n") +
                           self.request(body=b"b"))
        text = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(65536):
                text += piece
        self.assertEqual(text.count(b"HTTP/1.1 "), 1)
        self.assertTrue(text.endswith(b"\r\n\r\nA"), text)

    def test_after_a_framing_error_nothing_more_is_read(self):
        worked = []
        self.worker(lambda workload: worked.append(workload) or b"")
        smuggled = self.request(body=b"smuggled")
        for bad in (self.request().replace(b"Content-Length: 0",
                                           b"Content-Length: 5\r\nTransfer-Encoding: chunked"),
                    self.request(headers="Content-Length: 4\r\n"),
                    self.request().replace(b"\r\n", b"\n", 1),
                    self.request().replace(b"Host:", b"Host :"),
                    self.request(headers=" folded\r\n")):
            connection = self.connect()
            connection.sendall(bad + smuggled)
            self.assertEqual([status for status, _ in read_answers(connection, 1)], [400])
            self.assertEqual(connection.recv(1), b"")
        connection = self.connect()
        connection.sendall(self.request(body=b"good"))
        read_answers(connection, 1)
        self.assertEqual(worked, [b"good"])


if __name__ == "__main__":
    http_parties.main()
