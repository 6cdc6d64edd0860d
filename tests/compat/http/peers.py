# SPDX-License-Identifier: MIT
"""gearmand with its HTTP plug-in and tandemd: requests go to one port, workers to another."""

import socket
import time

from gearman import peers as gearman_peers
from gearman.packets import Kind, Packet
from http.answers import Answer
from shared.bytestream import ByteStream
from shared.processes import START_SECONDS, Pair, reserved_port

TELL_OF_JOBS = (Kind.JOB_CREATED, Kind.JOB_ASSIGN, Kind.JOB_ASSIGN_UNIQ)


class HttpServer(gearman_peers.GearmanServer):
    """`port` is that of workers. Jobs are numbered as workers, clients and answers tell of them."""

    def __init__(self, name):
        super().__init__(name)
        self.http_port = None

    def call(self):
        """A connection for a request."""
        return Call(self)

    def learn(self, message):
        if isinstance(message, Packet) and message.kind in TELL_OF_JOBS:
            self.learn_handle(message.body.partition("\0")[0])

    def learn_handle(self, handle):
        if gearman_peers.HANDLE.fullmatch(handle) and handle not in self.handles:
            self.handles.append(handle)

    def numbered_handle(self, handle):
        """The number of the job, also where the last byte of its handle was lost."""
        for number, known in enumerate(self.handles, start=1):
            if handle == known:
                return f"#{number}"
            if handle == known[:-1]:
                return f"#{number}, cut"
        return handle

    def start_reference_with_http(self, path, flags):
        """With one thread it does things in the order in which they arrive."""
        with reserved_port() as http_port:
            self.http_port = http_port
            self.start_reference(lambda port: [
                path, "--config-file", "/dev/null", "-L", "127.0.0.1", "-p", port, "-l", "none",
                "-t", "1", "-r", "http", f"--http-port={http_port}", *flags])
            self.wait_for_http()

    def wait_for_http(self):
        give_up_at = time.monotonic() + START_SECONDS
        while time.monotonic() < give_up_at:
            try:
                socket.create_connection(("127.0.0.1", self.http_port)).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.005)
        self.stop()
        raise RuntimeError(f"{self.name} takes no requests")


class Call(ByteStream):
    """One connection to one server's HTTP."""

    def __init__(self, server):
        super().__init__(server, server.http_port)

    def answer(self, to_head=False):
        """The next answer; jobs are numbered. Where it has no length, it goes on to the end."""
        head = self.take_line(b"\r\n\r\n").decode("latin-1")
        answer = Answer.read(head)
        length = answer.length()
        if to_head and not self.buffer:
            length = 0
        body = self.rest() if length is None else self.take(length)
        if answer.handle is not None:
            self.server.learn_handle(answer.handle)
            answer.handle = self.server.numbered_handle(answer.handle)
        answer.body = body.decode("latin-1")
        return answer


def start_reference(path, flags):
    server = HttpServer("gearmand")
    server.start_reference_with_http(path, flags)
    return server


def start_tandem(path, settings):
    server = HttpServer("tandemd")
    server.start_tandem(path, "http", also=("gearman",), **settings)
    server.http_port, server.port = server.port, server.port_in("gearman")
    return server


class Peers(Pair):
    """Both servers, with flags for the one and settings of HTTP for the other."""

    def __init__(self, options, flags=(), settings=None):
        super().__init__(lambda: start_reference(options.reference, flags),
                         lambda: start_tandem(options.tandemd, settings or {}))
