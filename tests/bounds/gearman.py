# SPDX-License-Identifier: MIT
"""A bare Gearman connection."""

import socket
import struct

from client import ANSWER_SECONDS, Silence


def packet(kind, *arguments):
    body = b"\0".join(arguments)
    return struct.pack(">4sII", b"\0REQ", kind, len(body)) + body


class Gearman:
    CAN_DO, PRE_SLEEP, NOOP, SUBMIT_JOB, JOB_CREATED, GRAB_JOB, NO_JOB, JOB_ASSIGN = \
        1, 4, 6, 7, 8, 9, 10, 11
    WORK_COMPLETE, WORK_DATA = 13, 28

    def __init__(self, port):
        self.sock = socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()

    def send(self, kind, *arguments):
        self.sock.sendall(packet(kind, *arguments))

    def receive(self, most=1 << 18):
        piece = self.sock.recv(most)
        if not piece:
            raise Silence("the broker hung up")
        self.buffer += piece

    def next(self):
        """(kind, body) of the next packet."""
        while len(self.buffer) < 12:
            self.receive()
        _, kind, length = struct.unpack(">4sII", self.buffer[:12])
        while len(self.buffer) < 12 + length:
            self.receive()
        body = bytes(self.buffer[12:12 + length])
        del self.buffer[:12 + length]
        return kind, body

    def expect(self, wanted):
        kind, body = self.next()
        if kind != wanted:
            raise AssertionError(f"packet {kind} came, not {wanted}: {body[:80]}")
        return body

    def close(self):
        self.sock.close()
