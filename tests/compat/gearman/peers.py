# SPDX-License-Identifier: MIT
"""gearmand and tandemd, and connections to them.

A connection reads packets and lines of text; what is in them is judged elsewhere.
"""

import re
import socket

from gearman.packets import (HEADER_SIZE, MAGIC_SIZE, WITH_HANDLE, Kind, Packet, as_request,
                             is_response, number_and_length)
from shared.bytestream import ByteStream
from shared.processes import Pair, Server

JOB = re.compile(r"#(\d+)")
# The host's name in full is what both put there.
HANDLE = re.compile(re.escape(f"H:{socket.gethostname()}:") + r"\d+")


class GearmanServer(Server):
    """`handles` are those of the jobs in the order in which the server told of them."""

    def __init__(self, name):
        super().__init__(name)
        self.handles = []

    def connect(self):
        return Connection(self)

    def learn(self, message):
        """Takes note of the handle of a new job."""
        if isinstance(message, Packet) and message.kind == Kind.JOB_CREATED:
            if HANDLE.fullmatch(message.body) and message.body not in self.handles:
                self.handles.append(message.body)

    def with_handles(self, text):
        """The text with handles in place of the numbers of jobs."""
        return JOB.sub(lambda found: self.handles[int(found[1]) - 1], text)

    def with_numbers(self, message):
        """The message, with its job's number in place of its handle."""
        if isinstance(message, Packet):
            if message.kind not in WITH_HANDLE:
                return message
            return Packet(message.kind, self.numbered(message.body, "\0"))
        return self.numbered(message, "\t")

    def numbered(self, text, separator):
        handle, found, rest = text.partition(separator)
        if handle not in self.handles:
            return text
        return f"#{self.handles.index(handle) + 1}{found}{rest}"


class Connection(ByteStream):
    """One connection to one server."""

    def say(self, messages):
        """Sends packets, and text as it is, in one piece."""
        self.send("".join(self.spelled(message) for message in messages).encode("latin-1"))

    def spelled(self, message):
        if isinstance(message, Packet):
            return as_request(message.kind, self.server.with_handles(message.body))
        return self.server.with_handles(message)

    def message(self):
        """The next packet, or the next line of text with its end; jobs are numbered."""
        if not self.buffer:
            self.receive()
        message = self.line() if self.buffer[0] else self.packet()
        self.server.learn(message)
        return self.server.with_numbers(message)

    def line(self):
        return self.take_line(b"\n").decode("latin-1")

    def packet(self):
        header = self.take(HEADER_SIZE)
        number, length = number_and_length(header)
        body = self.take(length).decode("latin-1")
        if not is_response(header) or number not in list(Kind):
            return f"bytes that are no response: {header[:MAGIC_SIZE]} {number} {body!r}"
        return Packet(Kind(number), body)

    def lines(self):
        """The lines of a list, without the one that ends it."""
        lines = []
        while (line := self.message()) != ".\n":
            lines.append(line)
            if not isinstance(line, str) or line.endswith("\r\n"):
                break  # no list at all
        return lines


def start_reference(path, flags):
    """Debian's gearmand. With one thread it does things in the order in which they arrive."""
    server = GearmanServer("gearmand")
    server.start_reference(lambda port: [path, "--config-file", "/dev/null", "-L", "127.0.0.1",
                                         "-p", port, "-l", "none", "-t", "1", *flags])
    return server


def start_tandem(path, settings):
    server = GearmanServer("tandemd")
    server.start_tandem(path, "gearman", **settings)
    return server


class Peers(Pair):
    """Both servers, with flags for the one and the same as settings for the other."""

    def __init__(self, options, flags=(), settings=None):
        super().__init__(lambda: start_reference(options.reference, flags),
                         lambda: start_tandem(options.tandemd, settings or {}))
