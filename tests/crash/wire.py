# SPDX-License-Identifier: MIT
"""Connections to the broker, one class for each protocol: many requests at once, answers in order.

Lost is the end of the broker, Odd an answer that no broker should give.
"""

import json
import socket
import struct
import time

ANSWER_SECONDS = 60  # only an answer that never comes takes so long
HEADER = struct.Struct(">4sII")
HANDLE_PREFIX = "H:crash"

CAN_DO, SUBMIT_JOB, JOB_CREATED, GRAB_JOB, NO_JOB, JOB_ASSIGN = 1, 7, 8, 9, 10, 11
NOOP, WORK_STATUS, WORK_COMPLETE, WORK_FAIL, GET_STATUS, ERROR = 6, 12, 13, 14, 15, 19
STATUS_RES, WORK_EXCEPTION, WORK_DATA, WORK_WARNING, SUBMIT_JOB_EPOCH = 20, 25, 28, 29, 36
BACKGROUND = {"normal": 18, "high": 32, "low": 34}
PRIORITIES = {"normal": 65536, "high": 512, "low": 2147549184}
UNASKED = {NOOP, WORK_STATUS, WORK_COMPLETE, WORK_FAIL, WORK_EXCEPTION, WORK_DATA, WORK_WARNING}


class Lost(Exception):
    """The broker has gone."""


class Odd(Exception):
    """An answer that no broker should give."""


class Stream:
    """A connection that knows neither requests nor answers."""

    patience = ANSWER_SECONDS
    too_late = Odd  # what it is where no answer comes

    def __init__(self, port):
        try:
            self.sock = socket.create_connection(("127.0.0.1", port), self.patience)
        except OSError as error:
            raise Lost(str(error)) from None
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.replies = self.reader()

    def reader(self):
        return self.sock.makefile("rb", 65536)

    def send(self, data):
        try:
            self.sock.sendall(data)
        except socket.timeout:
            raise self.too_late(f"nothing is read for {self.patience} seconds") from None
        except OSError:
            # Replies before the end can still be read.
            pass

    def read(self, count):
        data = self.guarded(self.replies.read, count)
        if len(data) < count:
            raise Lost("in the middle of an answer")
        return data

    def line(self):
        data = self.guarded(self.replies.readline)
        if not data.endswith(b"\n"):
            raise Lost("in the middle of a line")
        return data.rstrip(b"\r\n")

    def guarded(self, function, *arguments):
        try:
            return function(*arguments) or b""
        except socket.timeout:
            raise self.too_late(f"no answer for {self.patience} seconds") from None
        except OSError as error:
            raise Lost(str(error)) from None

    def close(self):
        self.replies.close()
        self.sock.close()


class Bean(Stream):
    """The beanstalk protocol."""

    def answer(self):
        """The words of the line, and the body where there is one."""
        words = self.line().decode("latin-1").split(" ")
        if words[0] in ("RESERVED", "FOUND", "OK"):
            return words, self.read(int(words[-1]) + 2)[:-2]
        return words, None

    def exchange(self, data):
        self.send(data)
        return self.answer()

    def ask(self, command):
        return self.exchange(command.encode() + b"\r\n")

    def ask_all(self, commands, at_once=100):
        """The answer to each of the commands, in order."""
        for start in range(0, len(commands), at_once):
            batch = commands[start:start + at_once]
            self.send("".join(command + "\r\n" for command in batch).encode())
            for _ in batch:
                yield self.answer()


def put(pri, delay, ttr, body):
    return b"put %d %d %d %d\r\n%s\r\n" % (pri, delay, ttr, len(body), body)


def figures(text):
    """Answers of `stats` and the like."""
    pairs = (line.split(": ", 1) for line in text.decode().splitlines() if ": " in line)
    return {key: value.strip('"') for key, value in pairs}


class Gear(Stream):
    """The Gearman protocol. `told` collects what the broker says without having been asked."""

    def __init__(self, port):
        super().__init__(port)
        self.told = []
        self.refusals = 0

    def packet(self):
        magic, kind, length = HEADER.unpack(self.read(HEADER.size))
        if magic != b"\0RES":
            raise Odd(f"a packet begins with {magic!r}")
        return kind, self.read(length)

    def answer(self):
        """The kind of the packet, and its arguments."""
        while True:
            kind, data = self.packet()
            if kind in UNASKED:
                self.told.append((kind, data.split(b"\0")[0].decode()))
            elif kind == ERROR and data.startswith(b"JOB_NOT_FOUND"):
                self.refusals += 1
            else:
                return kind, data.split(b"\0", 2 if kind == JOB_ASSIGN else -1)

    def waiting(self):
        """The bytes that have arrived and were not read, as far as one call shows them."""
        self.sock.setblocking(False)
        try:
            return self.replies.peek()
        except OSError:
            return b""
        finally:
            self.sock.settimeout(self.patience)

    def poll(self):
        """Reads what has come unasked, without waiting for more."""
        while len(seen := self.waiting()) >= HEADER.size:
            if len(seen) < HEADER.size + HEADER.unpack_from(seen)[2]:
                return
            kind, data = self.packet()
            self.told.append((kind, data.split(b"\0")[0].decode()))


def request(kind, *arguments):
    data = b"\0".join(arguments)
    return HEADER.pack(b"\0REQ", kind, len(data)) + data


def handle(job_id):
    return f"{HANDLE_PREFIX}:{job_id}"


def id_of(text):
    """Of a handle."""
    prefix, _, number = text.rpartition(":")
    if prefix != HANDLE_PREFIX or not number.isdigit():
        raise Odd(f"{text!r} is not a handle")
    return int(number)


class Web(Stream):
    """HTTP, on a connection that stays."""

    def answer(self):
        """The status, the job's handle ('' without one), and what the body says."""
        status = int(self.line().split(b" ")[1])
        headers = {}
        while line := self.line():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        body = self.read(int(headers.get("content-length", 0)))
        return status, headers.get("x-gearman-job-handle", ""), body


def post(tube, body, **headers):
    """A background job; `ttr=5` is X-Gearman-Ttr: 5."""
    lines = "".join(f"X-Gearman-{name.title()}: {value}\r\n" for name, value in headers.items())
    return (f"POST /{tube} HTTP/1.1\r\nHost: localhost\r\nX-Gearman-Background: true\r\n{lines}"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


def about(method, job_id):
    return f"{method} /-/jobs/{handle(job_id)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def api(method, path, document=None):
    """A request of an operator."""
    body = b"" if document is None else json.dumps(document).encode()
    return (f"{method} /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\nX-Tandem-Request: 1\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            ).encode() + body


def told_of_job(body):
    return json.loads(body)


def wait_for_answer(port, until, alive):
    """The moment at which the broker answers; None where it is gone, or too late."""
    while time.monotonic() < until and alive():
        try:
            stream = Bean(port)
            stream.sock.settimeout(max(until - time.monotonic(), 0.01))
            stream.ask("list-tube-used")
            stream.close()
            return time.monotonic()
        except (Lost, Odd):
            time.sleep(0.001)
    return None
