# SPDX-License-Identifier: MIT
"""A bare connection to the broker, for much at once and for one thing after the other."""

import select
import socket

ANSWER_SECONDS = 60  # a loaded machine is slow; only an answer that never comes takes so long
WITH_BODY = (b"RESERVED ", b"FOUND ", b"OK ")


class Silence(AssertionError):
    """An answer that did not come."""


class Client:
    """`lines` counts the line ends that pipeline() has read: other threads may look at it."""

    def __init__(self, port, send_buffer=None):
        self.sock = socket.socket()
        if send_buffer:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        self.sock.settimeout(ANSWER_SECONDS)
        self.sock.connect(("127.0.0.1", port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = bytearray()
        self.lines = 0
        self.last = b""

    def send(self, data):
        self.sock.sendall(data)

    def receive(self):
        """More into the buffer; False at the end of what comes."""
        try:
            piece = self.sock.recv(1 << 18)
        except socket.timeout:
            raise Silence(f"no answer; so far {bytes(self.buffer[:200])}") from None
        self.buffer += piece
        return bool(piece)

    def answer(self):
        """The next answer, whole and as it came."""
        while (end := self.buffer.find(b"\r\n")) < 0:
            self.receive_or_fail()
        end += 2
        if self.buffer.startswith(WITH_BODY):
            end += int(self.buffer[:end].split()[-1]) + 2
            while len(self.buffer) < end:
                self.receive_or_fail()
        answer = bytes(self.buffer[:end])
        del self.buffer[:end]
        return answer

    def receive_or_fail(self):
        if not self.receive():
            raise Silence(f"the broker hung up; so far {bytes(self.buffer[:200])}")

    def ask(self, command):
        """The answer to a command that is given without its line end."""
        self.send(command.encode() + b"\r\n")
        return self.answer()

    def stats(self, command="stats"):
        text = self.ask(command).decode()
        return dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)

    def is_answered(self, seconds=0):
        """Whether anything is there, or comes within that time."""
        return bool(self.buffer) or is_ready(self.sock, select.POLLIN, seconds)

    def fill(self, data, limit, sent=0):
        """Sends `data` over and over until no more is taken or `limit` bytes were; how many that
        are, with the bytes sent before."""
        self.sock.setblocking(False)
        try:
            while sent < limit:
                sent += self.sock.send(data[sent % len(data):])
        except BlockingIOError:
            pass
        self.sock.settimeout(ANSWER_SECONDS)
        return sent

    def pipeline(self, chunks, lines):
        """Sends everything, and reads meanwhile until that many line ends have come; `last` is what
        was read last."""
        chunks = iter(chunks)
        chunk = memoryview(next(chunks, b""))
        self.sock.setblocking(False)
        self.lines = 0
        while self.lines < lines:
            self.wait_either_way(bool(chunk))
            try:
                while chunk:
                    chunk = chunk[self.sock.send(chunk):] or memoryview(next(chunks, b""))
            except BlockingIOError:
                pass
            self.count_lines()
        self.sock.settimeout(ANSWER_SECONDS)

    def wait_either_way(self, sending):
        if not is_ready(self.sock, select.POLLIN | (select.POLLOUT if sending else 0),
                        ANSWER_SECONDS):
            raise Silence(f"nothing after {self.lines} lines; then {self.last[-200:]}")

    def count_lines(self):
        try:
            piece = self.sock.recv(1 << 18)
        except BlockingIOError:
            return
        if not piece:
            raise Silence(f"the broker hung up after {self.lines} lines")
        # A line end may come in two pieces.
        self.lines += piece.count(b"\n")
        self.last = piece

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def rest(self):
        """All that comes until the broker hangs up."""
        try:
            while self.receive():
                pass
        except ConnectionResetError:
            pass
        return bytes(self.buffer)

    def close(self):
        self.sock.close()


def is_ready(sock, events, seconds):
    """Not select(), which knows no more than 1,024 descriptors."""
    poll = select.poll()
    poll.register(sock, events)
    return bool(poll.poll(seconds * 1000))
