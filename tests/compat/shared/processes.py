# SPDX-License-Identifier: MIT
"""A reference and our own broker, each on a free port of the loopback interface."""

import contextlib
import re
import signal
import socket
import subprocess
import tempfile
import time

import ports
from shared.actors import Mismatch

START_SECONDS = 60
END_SECONDS = 60
LAST_WORDS = 3000  # bytes
PROTOCOLS = ("beanstalk", "gearman", "http")


class Server:
    """A running server."""

    def __init__(self, name):
        self.name = name
        self.port = None
        self.process = None
        self.log = None

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

    def start_reference(self, command_at):
        """Starts the command that `command_at` makes of a port."""
        # It cannot be asked for any free port.
        with reserved_port() as port:
            self.port = port
            self.process = subprocess.Popen(command_at(str(port)), stdout=subprocess.DEVNULL,
                                            stderr=subprocess.DEVNULL)
            if not self.is_listening():
                self.stop()
                raise RuntimeError(f"{self.name} does not start")

    def is_listening(self):
        give_up_at = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < give_up_at:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return self.process.poll() is None
            except ConnectionRefusedError:
                time.sleep(0.005)
        return False

    def start_tandem(self, path, protocol, also=(), **settings):
        """Starts our own broker; its log says where it listens. `also` are protocols beside."""
        command = [path, "--config", "/dev/null", "--set", "admin.listen="]
        for other in PROTOCOLS:
            address = "127.0.0.1:0" if other in (protocol, *also) else ""
            command += ["--set", f"{other}.listen={address}"]
        for key, value in settings.items():
            command += ["--set", f"{protocol}.{key}={value}"]
        # A file, not a pipe, which would fill up: the test does not read all of it.
        self.log = tempfile.NamedTemporaryFile()
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=self.log)
        self.port = self.port_in(protocol)
        # One as the other's start was seen with, or the counts of connections would differ.
        socket.create_connection(("127.0.0.1", self.port)).close()

    def port_in(self, protocol):
        listening = re.compile(
            rb"listening address=127\.0\.0\.1:(\d+) protocol=%s\b" % protocol.encode())
        give_up_at = time.monotonic() + START_SECONDS
        while self.process.poll() is None and time.monotonic() < give_up_at:
            found = listening.search(self.logged())
            if found:
                return int(found.group(1))
            time.sleep(0.005)
        self.stop()
        raise RuntimeError(f"{self.name} does not start: {self.logged()}")

    def logged(self):
        with open(self.log.name, "rb") as lines:
            return lines.read()

    def end(self):
        """Stops it as an administrator does, so that it can say what it has against that."""
        self.process.terminate()
        try:
            code = self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.stop()
            code = self.process.returncode
        if code != 0:
            last_words = self.logged()[-LAST_WORDS:].decode("utf-8", "replace")
            raise Mismatch(f"{self.name} does not end as it should:\n{last_words}")


@contextlib.contextmanager
def reserved_port():
    """A free port that for the time of the block only who names it can have."""
    with ports.reserve() as sock:
        yield ports.number(sock)


class Pair:
    """Both servers, fresh. Used as a context, they are gone at its end."""

    def __init__(self, theirs, ours):
        """Takes functions that start them."""
        self.theirs = theirs()
        try:
            self.ours = ours()
        except Exception:
            self.theirs.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, kind, *exception):
        self.theirs.stop()
        if kind:
            self.ours.stop()
        else:
            self.ours.end()

    def both(self):
        return self.theirs, self.ours
