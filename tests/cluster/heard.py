# SPDX-License-Identifier: MIT
"""Connections that know when what they read had arrived, and who sent it."""

import io
import socket
import struct

import wire
from history import Line

SO_TIMESTAMPNS = 35  # of Linux; the module `socket` has no name for it
TIMESPEC = struct.Struct("qq")
ROOM = socket.CMSG_SPACE(TIMESPEC.size)
TEXT_OK = b"OK "


class Stamped(io.RawIOBase):
    """Reads a socket. `came` is called with the moment at which the last byte of each part arrived."""

    def __init__(self, sock, came):
        super().__init__()
        self.sock, self.came = sock, came

    def readable(self):
        return True

    def readinto(self, room):
        count, notes, _, _ = self.sock.recvmsg_into([room], ROOM)
        for level, kind, data in notes:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS and count:
                seconds, nanoseconds = TIMESPEC.unpack(data[:TIMESPEC.size])
                self.came(seconds + nanoseconds / 1e9)
        return count


class Heard:
    """In front of a wire.Stream: has no more patience than it is given, and a Line."""

    too_late = wire.Lost

    def __init__(self, port, line, patience):
        self.trail, self.patience = line, patience
        super().__init__(port)

    def reader(self):
        self.sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        return io.BufferedReader(Stamped(self.sock, self.trail.came), 65536)

    def send(self, data):
        self.trail.sent()
        super().send(data)


class Bean(Heard, wire.Bean):
    protocol = "beanstalk"

    def identify(self):
        words, text = self.ask("stats")
        if words[0] != "OK":
            raise wire.Lost(words[0])
        self.trail.pid = int(wire.figures(text)["pid"])


class Gear(Heard, wire.Gear):
    protocol = "gearman"

    def identify(self):
        self.send(b"getpid\r\n")
        text = self.line_of_text()
        if not text.startswith(TEXT_OK):
            raise wire.Lost(text.decode("latin-1"))
        self.trail.pid = int(text[len(TEXT_OK):])

    def line_of_text(self):
        data = self.guarded(self.replies.readline)
        if not data.endswith(b"\n"):
            raise wire.Lost("in the middle of a line")
        return data.rstrip()


class Web(Heard, wire.Web):
    protocol = "http"

    def identify(self):
        """It does not say; the ids of jobs do."""


KINDS = {wire.Bean: Bean, wire.Gear: Gear, wire.Web: Web}


def connect(kind, member, history, patience):
    """A connection of that kind to a broker, entered in the history."""
    kind = KINDS[kind]
    line = Line(kind.protocol, member.pid())
    stream = kind(member.ports[kind.protocol], line, patience)
    history.enter(line)
    try:
        stream.identify()
    except (wire.Lost, wire.Odd):
        stream.close()
        raise
    return stream
