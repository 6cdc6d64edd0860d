# SPDX-License-Identifier: MIT
"""Beanstalk clients, and beanstalkd with a binlog."""

import pathlib
import socket
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder)
                for folder in ("clients", "support")]
import ports  # noqa: E402  (found by the path above)
from broker import Broker  # noqa: E402  (found by the path above)

SECONDS = 60  # only what hangs takes so long
WITH_BODY = {b"OK", b"FOUND", b"RESERVED"}


class Client:
    """A connection; requests may be many at a time."""

    def __init__(self, address):
        host, _, port = address.rpartition(":")
        self.sock = socket.create_connection((host, int(port)), SECONDS)
        self.input = self.sock.makefile("rb")

    def ask(self, request):
        return self.ask_all([request])[0]

    def ask_all(self, requests):
        """(words of the answer, body with what should be its CR LF) for each."""
        answers = []
        for start in range(0, len(requests), 200):
            some = requests[start:start + 200]
            self.sock.sendall(b"".join(some))
            answers += [self.answer() for _ in some]
        return answers

    def answer(self):
        line = self.input.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server has gone")
        words = line.split()
        if words[0] not in WITH_BODY:
            return words, None
        return words, self.input.read(int(words[-1]) + 2)

    def put(self, tube, body, pri=0, delay=0, ttr=60):
        """The id."""
        request = b"use %s\r\nput %d %d %d %d\r\n%s\r\n" % (tube, pri, delay, ttr, len(body), body)
        self.sock.sendall(request)
        self.answer()
        return int(self.answer()[0][1])

    def close(self):
        self.input.close()
        self.sock.close()


def yaml(body):
    """The fields of `stats-job` and the like."""
    pairs = (line.split(": ", 1) for line in body.decode().splitlines()[1:] if ": " in line)
    return {key: value.strip('"') for key, value in pairs}


class Reference:
    """beanstalkd on a port that is reserved until it is killed."""

    def __init__(self, program, directory, size=4096):
        directory.mkdir(exist_ok=True)
        self.held = ports.reserve()
        port = str(ports.number(self.held))
        self.address = f"127.0.0.1:{port}"
        self.process = subprocess.Popen(
            [program, "-l", "127.0.0.1", "-p", port, "-b", str(directory), "-s", str(size), "-f",
             "0"], stderr=subprocess.PIPE)
        if not self.is_up():
            self.kill()
            raise RuntimeError(f"{program} does not start")

    def is_up(self):
        give_up_at = time.monotonic() + SECONDS
        while self.process.poll() is None and time.monotonic() < give_up_at:
            try:
                Client(self.address).close()
                return True
            except OSError:
                time.sleep(0.01)
        return False

    def client(self):
        return Client(self.address)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        self.held.close()


class Tandem:
    """tandemd that imports, or has imported, a binlog. RuntimeError if it does not start."""

    def __init__(self, program, journal, source=None, *more, options=()):
        settings = ["beanstalk.listen=127.0.0.1:0", "gearman.listen=", "http.listen=",
                    "admin.listen=", f"journal.dir={journal}", *more]
        if source:
            settings.append(f"journal.import=beanstalkd:{source}")
        self.broker = Broker(program, settings, options=options)

    def client(self):
        return Client(self.broker.addresses["beanstalk"][0])

    def stop(self):
        return self.broker.stop()

    def kill(self):
        """Also where it has ended."""
        if self.broker.process.returncode is None:
            self.broker.process.kill()
            self.broker.stop()


def refusal(program, journal, source, *options):
    """Why tandemd does not start."""
    command = [program, "--config", "/dev/null", *options]
    for setting in ("beanstalk.listen=127.0.0.1:0", "gearman.listen=", "http.listen=",
                    "admin.listen=", f"journal.dir={journal}"):
        command += ["--set", setting]
    if source:
        command += ["--set", f"journal.import=beanstalkd:{source}"]
    ended = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=SECONDS,
                           check=False)
    assert ended.returncode > 0, ended.stderr
    return ended.stderr
