# SPDX-License-Identifier: MIT
"""The two servers, each on a free port of the loopback interface, and bare connections to them.

A connection knows of the protocol only how long a reply is; what is in it is judged elsewhere.
"""

import contextlib
import re
import select
import signal
import socket
import subprocess
import tempfile
import time

ANSWER_SECONDS = 20  # a loaded machine is slow; only a reply that never comes takes so long
START_SECONDS = 20
START_ATTEMPTS = 5
LISTENING = re.compile(rb"listening address=127\.0\.0\.1:(\d+) protocol=beanstalk")
WITH_BODY = (b"RESERVED ", b"FOUND ", b"OK ")


class Silence(Exception):
    """A reply that did not come."""


class Server:
    """A running server. `number_of` numbers the jobs in the order in which it accepted them."""

    def __init__(self, name):
        self.name = name
        self.number_of = {}
        self.ids = []

    def connect(self):
        return Connection(self)

    def learn(self, job_id):
        """Takes note of the id of a job that was just accepted."""
        self.ids.append(job_id)
        self.number_of[job_id] = len(self.ids)

    def drain(self):
        self.process.send_signal(signal.SIGUSR1)

    @contextlib.contextmanager
    def asleep(self):
        """For the time of the block the server does nothing, and what it is sent waits."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.process.kill()
        self.process.wait()


class Reference(Server):
    """Debian's beanstalkd. It cannot be asked for any free port, so one is looked for."""

    def __init__(self, path, max_job_size):
        super().__init__("beanstalkd")
        for _ in range(START_ATTEMPTS):
            self.port = free_port()
            self.process = subprocess.Popen(
                [path, "-l", "127.0.0.1", "-p", str(self.port), "-z", str(max_job_size)],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            if self.is_listening():
                return
            self.stop()
        raise RuntimeError(f"{path} does not start")

    def is_listening(self):
        """False where it died: somebody else took the port in between."""
        give_up_at = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < give_up_at:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self.process.poll() is None
            except ConnectionRefusedError:
                time.sleep(0.005)
        return False


class Tandem(Server):
    """Our own broker; its log says where it listens."""

    def __init__(self, path, max_job_size):
        super().__init__("tandemd")
        # A file, not a pipe: nobody would read the rest of it.
        with tempfile.NamedTemporaryFile() as log:
            self.process = subprocess.Popen(
                [path, "--config", "/dev/null", "--set", "beanstalk.listen=127.0.0.1:0",
                 "--set", f"beanstalk.max_job_size={max_job_size}"],
                stdout=subprocess.DEVNULL, stderr=log)
            self.port = self.port_in(log.name)
        # One as the other's start was seen with, or the connections in `stats` would differ.
        socket.create_connection(("127.0.0.1", self.port)).close()

    def port_in(self, log):
        give_up_at = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < give_up_at:
            with open(log, "rb") as lines:
                found = LISTENING.search(lines.read())
            if found:
                return int(found.group(1))
            time.sleep(0.005)
        self.stop()
        raise RuntimeError("tandemd does not start")


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Connection:
    """One connection to one server."""

    def __init__(self, server):
        self.server = server
        self.sock = socket.create_connection(("127.0.0.1", server.port))
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sock.settimeout(ANSWER_SECONDS)
        self.buffer = b""

    def send(self, data):
        self.sock.sendall(data)

    def receive(self):
        try:
            piece = self.sock.recv(1 << 16)
        except socket.timeout:
            raise Silence(f"{self.server.name} does not answer; so far {self.buffer!r}") from None
        except ConnectionResetError:
            raise Silence(f"{self.server.name} reset the connection") from None
        if not piece:
            raise Silence(f"{self.server.name} hung up; so far {self.buffer!r}")
        self.buffer += piece

    def reply(self):
        """The next reply, whole and as it came."""
        while (end := self.buffer.find(b"\r\n")) < 0:
            self.receive()
        end += 2
        if self.buffer.startswith(WITH_BODY):
            end += int(self.buffer[:end].split()[-1]) + 2
            while len(self.buffer) < end:
                self.receive()
        reply, self.buffer = self.buffer[:end], self.buffer[end:]
        return reply

    def is_answered(self):
        """Whether anything is there already."""
        return bool(self.buffer) or bool(select.select([self.sock], [], [], 0)[0])

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

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


class Peers:
    """Both servers, fresh. Used as a context, they are gone at its end."""

    def __init__(self, options, max_job_size=65535):
        self.theirs = Reference(options.beanstalkd, max_job_size)
        try:
            self.ours = Tandem(options.tandemd, max_job_size)
        except Exception:
            self.theirs.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.theirs.stop()
        self.ours.stop()

    def both(self):
        return self.theirs, self.ours


class Watcher:
    """Waits for what no reply tells: that a reserve waits, or that a connection is gone.

    Both servers are asked equally often, or their counters of `stats` would come apart.
    """

    def __init__(self, peers):
        self.connections = [server.connect() for server in peers.both()]

    def values(self, key):
        pattern = re.compile(rb"^%s: (\S+)$" % key.encode(), re.MULTILINE)
        for connection in self.connections:
            connection.send(b"stats\r\n")
        return [pattern.search(connection.reply()).group(1).decode()
                for connection in self.connections]

    def until(self, key, wanted):
        give_up_at = time.monotonic() + ANSWER_SECONDS
        while (values := self.values(key)) != [str(wanted)] * 2:
            if time.monotonic() > give_up_at:
                raise Silence(f"{key} should be {wanted}; beanstalkd and tandemd say {values}")
            time.sleep(0.001)
