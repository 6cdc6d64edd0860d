# SPDX-License-Identifier: MIT
"""The common parts of the HTTP tests: a Gearman worker of a few lines, and how they are counted.

HTTP_ADDRESS and GEARMAN_ADDRESS (host:port) say where the server is. If TLS_CA is set, both speak
TLS, and it is the file of their authority.
"""

import os
import socket
import ssl
import struct
import sys
import threading
import unittest

SECONDS = 60  # only what hangs takes so long
CAN_DO, PRE_SLEEP, GRAB_JOB, NO_JOB, JOB_ASSIGN, WORK_COMPLETE, WORK_FAIL = (
    1, 4, 9, 10, 11, 13, 14)


def address(protocol):
    host, port = os.environ[f"{protocol}_ADDRESS"].split(":")
    return host, int(port)


def tls():
    """The TLS context of a client; None if the server does not use TLS."""
    authority = os.environ.get("TLS_CA")
    return ssl.create_default_context(cafile=authority) if authority else None


def connect(protocol):
    host, port = address(protocol)
    connection = socket.create_connection((host, port), timeout=SECONDS)
    context = tls()
    return context.wrap_socket(connection, server_hostname=host) if context else connection


class Refused(Exception):
    """Raised by a worker's function to fail its job."""


class Worker(threading.Thread):
    """Does the jobs of a function: `work` makes a workload into a result."""

    def __init__(self, function, work, connection=None):
        super().__init__()
        self.function = function.encode()
        self.work = work
        self.socket = connection or connect("GEARMAN")
        self.socket.settimeout(None)
        # It writes twice in a row.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send(CAN_DO, self.function)
        self.start()

    def send(self, kind, *words):
        data = b"\0".join(words)
        self.socket.sendall(struct.pack(">4sII", b"\0REQ", kind, len(data)) + data)

    def run(self):
        try:
            with self.socket.makefile("rb") as stream:
                self.send(GRAB_JOB)
                while head := stream.read(12):
                    _, kind, size = struct.unpack(">4sII", head)
                    self.receive(kind, stream.read(size))
        except (ConnectionError, ssl.SSLEOFError):
            pass  # stopped in between

    def receive(self, kind, data):
        if kind == NO_JOB:
            self.send(PRE_SLEEP)
            return
        if kind == JOB_ASSIGN:
            handle, _, workload = data.split(b"\0", 2)
            try:
                self.send(WORK_COMPLETE, handle, self.work(workload))
            except Refused:
                self.send(WORK_FAIL, handle)
        self.send(GRAB_JOB)

    def stop(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            # With TLS, a shutdown takes that off the socket first: what the thread writes then is
            # no record, and the server may have closed already.
            pass
        self.join()
        self.socket.close()


class Case(unittest.TestCase):
    """Each test has a function of its own, named after it."""

    def setUp(self):
        self.name = self.id().rpartition(".")[2] + f"-{os.getpid()}"
        scheme = "https" if tls() else "http"
        self.root = f"{scheme}://{os.environ['HTTP_ADDRESS']}/"
        self.url = self.root + self.name

    def worker(self, work=bytes.upper):
        worker = Worker(self.name, work)
        self.addCleanup(worker.stop)
        return worker

    def is_listed(self):
        """Whether the function is there, as an administrator of Gearman sees it."""
        with connect("GEARMAN") as connection, connection.makefile("rb") as lines:
            connection.sendall(b"status\n")
            names = [line.split(b"\t")[0] for line in iter(lines.readline, b".\n")]
        return self.name.encode() in names

    def connect(self):
        """A socket that speaks no HTTP by itself."""
        connection = connect("HTTP")
        self.addCleanup(connection.close)
        return connection

    def request(self, method="POST", body=b"", headers="", version="1.1"):
        """The bytes of a request of this test's function."""
        head = (f"{method} /{self.name} HTTP/{version}\r\nHost: localhost\r\n{headers}"
                f"Content-Length: {len(body)}\r\n\r\n")
        return head.encode() + body


class Result(unittest.TextTestResult):
    """Tells tests/tools/count-tests.awk how many there were."""

    def printErrors(self):
        super().printErrors()
        # One test can fail twice: by itself, and when what it started is stopped.
        failed = len({test.id() for test, _ in self.errors + self.failures})
        skipped = len(self.skipped)
        passed = self.testsRun - failed - skipped
        sys.stderr.write(f"# pass {passed}\n# fail {failed}\n# skipped {skipped}\n")


def main():
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Result, verbosity=2))
