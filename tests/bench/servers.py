# SPDX-License-Identifier: MIT
"""A server under test, and the load generator that is run against it."""

import os
import pathlib
import socket
import subprocess
import tempfile
import time

START_SECONDS = 20
STOP_SECONDS = 20
LOAD_SECONDS = 600  # only a load that never ends takes so long
# Nothing answers to Gearman's WORK_COMPLETE: the last ones may still be on their way.
BOOKS_SECONDS = 5
POLL_SECONDS = 0.01


class Failure(Exception):
    """A measurement that means nothing."""


class Server:
    """A fresh server on free ports of the loopback interface, pinned to the first core.

    `port` is the first of them, the one that questions go to, and the load, too, unless the
    protocol has it otherwise.
    """

    def __init__(self, protocol, name, options, strace_to=None):
        self.protocol = protocol
        self.name = name
        self.ports = [free_port() for _ in range(protocol.PORTS)]
        self.port = self.ports[0]
        self.load_port = self.ports[getattr(protocol, "LOAD_PORT", 0)]
        self.log = tempfile.TemporaryFile()
        command = ["taskset", "-c", str(options.cores[0])]
        if strace_to:
            command += ["strace", "-f", "-c", "-o", strace_to]
        self.process = subprocess.Popen(command + protocol.COMMANDS[name](options, *self.ports),
                                        stdout=self.log, stderr=self.log)
        try:
            for port in self.ports:
                self.wait_until_listening(port)
            self.pid = only_child(self.process.pid) if strace_to else self.process.pid
        except Exception:
            self.process.kill()
            raise

    def wait_until_listening(self, port):
        give_up_at = time.monotonic() + START_SECONDS
        while time.monotonic() < give_up_at:
            if self.process.poll() is not None:
                raise Failure(f"{self.name} did not start:\n{self.log_text()}")
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return
            except ConnectionRefusedError:
                time.sleep(POLL_SECONDS)
        raise Failure(f"{self.name} does not listen:\n{self.log_text()}")

    def log_text(self):
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    def books(self):
        return self.protocol.books(self.port)

    def resident(self):
        """Resident bytes."""
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise Failure(f"{self.name} has gone:\n{self.log_text()}")

    def threads(self):
        """{id: (name, seconds on a CPU so far)}, the one first that the process began with."""
        tasks = sorted(pathlib.Path(f"/proc/{self.pid}/task").iterdir(), key=lambda at: int(at.name))
        return {int(task.name): ((task / "comm").read_text().strip(),
                                 int((task / "schedstat").read_text().split()[0]) / 1e9)
                for task in tasks}

    def cpu_since(self, before, jobs):
        """[[name, microseconds for a job]]: what each thread used since threads() said `before`."""
        return [[name, 1e6 * (seconds - before.get(at, (name, 0))[1]) / max(jobs, 1)]
                for at, (name, seconds) in self.threads().items()]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            os.kill(self.pid, 15)
            self.process.wait(STOP_SECONDS)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.log.close()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def only_child(pid):
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def load_command(options, server, arguments):
    return [options.load, "--protocol", server.protocol.NAME,
            "--port", str(server.load_port), *getattr(server.protocol, "load_flags", ()),
            *arguments]


def parse_line(line):
    pairs = dict(word.split("=", 1) for word in line.split())
    return {key: float(value) if value.replace(".", "", 1).isdigit() else value
            for key, value in pairs.items()}


def parse_threads(text):
    """[[name, microseconds for a job]]"""
    return [[name, float(number)]
            for name, number in (one.split(":") for one in text.split(","))]


def run_load(options, server, arguments):
    """Runs the load generator and checks its count against the server's."""
    command = ["taskset", "-c", str(options.cores[1])] + load_command(
        options, server, arguments + ["--server-pid", str(server.pid)])
    counts = server.protocol.books is not None
    before = server.books() if counts else None
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False,
                              timeout=LOAD_SECONDS)
    except subprocess.TimeoutExpired:
        raise Failure(f"{' '.join(arguments)} against {server.name} does not end") from None
    if done.returncode != 0:
        raise Failure(f"{' '.join(arguments)} against {server.name} failed\n{server.log_text()}")
    result = parse_line(done.stdout)
    if counts:
        check_books(server, before, result)
    result["threads"] = parse_threads(result["threads"])
    result["resident"] = server.resident()
    return result


def check_books(server, before, result):
    """The server must have counted what the load generator counted."""
    sent = {"accepted": result["accepted"], "left": result["accepted"] - result["completed"]}
    give_up_at = time.monotonic() + BOOKS_SECONDS
    while True:
        counted = {key: now - before[key] for key, now in server.books().items()}
        if all(sent[key] == number for key, number in counted.items()):
            return
        if time.monotonic() > give_up_at:
            raise Failure(f"{server.name} counted {counted}, the load generator {sent}")
        time.sleep(POLL_SECONDS)
