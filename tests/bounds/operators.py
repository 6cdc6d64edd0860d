# SPDX-License-Identifier: MIT
"""A connection at the port of operators."""

import http.client
import socket

SECONDS = 120


class Operator:
    def __init__(self, port):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)

    def ask(self, path):
        self.http.request("GET", path)

    def answer(self):
        """(status, body), whole"""
        answer = self.http.getresponse()
        return answer.status, answer.read()

    def get(self, path):
        """The body of an answer that must be good."""
        self.ask(path)
        status, body = self.answer()
        if status != 200:
            raise AssertionError(f"{path}: {status} {body[:200]}")
        return body

    def close(self):
        self.http.close()


class Looker:
    """One that has asked, and whose answer has no end or is not read."""

    def __init__(self, port, path, receive_buffer=None):
        self.sock = socket.socket()
        if receive_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.sock.connect(("127.0.0.1", port))
        self.sock.settimeout(SECONDS)
        self.sock.sendall(b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path.encode())

    def begin(self):
        """How the answer begins, as far as its status."""
        return self.sock.recv(12, socket.MSG_WAITALL)

    def close(self):
        self.sock.close()
