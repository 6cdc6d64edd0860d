# SPDX-License-Identifier: MIT
"""A bare connection to a server: bytes out and bytes in, each read with a limit of time."""

import select
import socket

ANSWER_SECONDS = 60  # a loaded machine is slow; only a reply that never comes takes so long


class Silence(Exception):
    """A reply that did not come."""


class ByteStream:
    """One connection to one server. `buffer` is what has come and is not yet read."""

    def __init__(self, server, port=None):
        """To the server's own port, where no other is named."""
        self.server = server
        self.sock = socket.create_connection(("127.0.0.1", port or server.port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.settimeout(ANSWER_SECONDS)
        self.buffer = b""

    def send(self, data):
        try:
            self.sock.sendall(data)
        except (BrokenPipeError, ConnectionResetError):
            raise Silence(f"{self.server.name} hung up before all was said") from None

    def receive(self):
        """Adds what comes next to the buffer."""
        try:
            piece = self.sock.recv(1 << 16)
        except socket.timeout:
            raise Silence(f"{self.server.name} does not answer; so far {self.buffer!r}") from None
        except ConnectionResetError:
            raise Silence(f"{self.server.name} reset the connection") from None
        if not piece:
            raise Silence(f"{self.server.name} hung up; so far {self.buffer!r}")
        self.buffer += piece

    def take(self, count):
        """That number of bytes, as soon as they have arrived."""
        while len(self.buffer) < count:
            self.receive()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def take_line(self, ending):
        """All bytes to the ending, and with it."""
        while (end := self.buffer.find(ending)) < 0:
            self.receive()
        return self.take(end + len(ending))

    def is_answered(self):
        """Whether anything is there already."""
        return bool(self.buffer) or bool(select.select([self.sock], [], [], 0)[0])

    def half_close(self):
        try:
            self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the server was first

    def rest(self):
        """All that comes until the server hangs up."""
        try:
            while True:
                piece = self.sock.recv(1 << 16)
                if not piece:
                    break
                self.buffer += piece
        except socket.timeout:
            raise Silence(f"{self.server.name} does not hang up") from None
        except ConnectionResetError:
            pass
        rest, self.buffer = self.buffer, b""
        return rest

    def close(self):
        self.sock.close()
