# SPDX-License-Identifier: MIT
"""Servers that speak beanstalk, of a test's own, and what stands in them. TANDEMD, TANDEMCTL and
BEANSTALKD name the programs."""

import base64
import json
import os
import pathlib
import socket
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))

import ports

SECONDS = 120  # only what hangs takes so long
TOGETHER = 500


class Client:
    """Commands and answers of beanstalk, one at a time or many."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        self.answers = self.socket.makefile("rb")

    def read(self):
        """An answer: its words, and the body where it has one."""
        words = self.answers.readline().decode().split()
        body = None
        if words and words[0] in ("OK", "FOUND", "RESERVED"):
            body = self.answers.read(int(words[-1]) + 2)[:-2]
        return words, body

    def say_all(self, commands):
        """Each is a line, or a line and a body."""
        said = []
        for first in range(0, len(commands), TOGETHER):
            some = commands[first:first + TOGETHER]
            self.socket.sendall(b"".join(
                line.encode() + b"\r\n" if isinstance(line, str)
                else line[0].encode() + b"\r\n" + line[1] + b"\r\n" for line in some))
            said += [self.read() for _ in some]
        return said

    def say(self, line, body=None):
        return self.say_all([line if body is None else (line, body)])[0]

    def put(self, body, priority=1000, delay=0, ttr=60, tube=None):
        if tube:
            self.say(f"use {tube}")
        return int(self.say(f"put {priority} {delay} {ttr} {len(body)}", body)[0][1])

    def bury(self, tube, count):
        """The next ready ones."""
        self.say_all([f"watch {tube}", "ignore default"])
        taken = []
        for _ in range(count):
            taken.append(int(self.say("reserve-with-timeout 0")[0][1]))
            self.say(f"bury {taken[-1]} {taken[-1]}")
        return taken

    def stats(self, job):
        words, text = self.say(f"stats-job {job}")
        return fields(text) if words[0] == "OK" else None

    def close(self):
        self.answers.close()
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def fields(text):
    pairs = (line.split(": ", 1) for line in text.decode().splitlines()[1:])
    return {key: value.strip('"') for key, value in pairs}


class Server:
    """A process that is killed and started again at one address. `held` are the sockets that keep
    its ports; the first is that of beanstalk."""

    def __init__(self, command, held):
        self.command, self.held = command, held
        self.port = ports.number(held[0])
        self.process = None
        self.start()

    def start(self):
        """Until somebody answers."""
        give_up_at = time.monotonic() + SECONDS
        while not self.answers():
            if self.process is None or self.process.poll() is not None:
                self.process = subprocess.Popen(self.command, stderr=subprocess.DEVNULL)
            if time.monotonic() > give_up_at:
                raise RuntimeError(f"{self.command[0]} does not start")
            time.sleep(0.02)

    def answers(self):
        try:
            with Client(self.port) as client:
                return client.say("list-tube-used")[0][:1] == ["USING"]
        except OSError:
            return False

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        """For good."""
        self.kill()
        for held in self.held:
            held.close()

    def address(self):
        return f"beanstalk://127.0.0.1:{self.port}"


class Proxy:
    """Stands before a server. `command` and `answer` get what is sent each way, and say whether it
    goes on; otherwise the connection ends on both sides. `hides` is a command that the server does
    not know then."""

    hides = None

    def __init__(self, server):
        self.server = server
        self.command = self.answer = lambda data: True
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.ends = [self.listener]
        self.threads = [threading.Thread(target=self.accept)]
        self.threads[0].start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.server.port))
            self.ends += client, server
            for one, other, hook in ((client, server, "command"), (server, client, "answer")):
                self.threads.append(threading.Thread(target=self.pump, args=(one, other, hook)))
                self.threads[-1].start()

    def pump(self, one, other, hook):
        try:
            while data := one.recv(1 << 20):
                if not getattr(self, hook)(data):
                    break
                if self.hides and hook == "command":
                    data = data.replace(self.hides, b"x" * len(self.hides))
                other.sendall(data)
        except OSError:
            pass  # the other pump has ended it
        for end in (one, other):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def address(self):
        return f"beanstalk://127.0.0.1:{self.port}"

    def close(self):
        for end in self.ends:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it has ended
        for thread in self.threads:
            thread.join()
        for end in self.ends:
            end.close()


class Liar:
    """Answers each line by what a function of it returns; None closes the connection."""

    def __init__(self, answer):
        self.answer = answer
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"beanstalk://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        try:
            connection, _ = self.listener.accept()
            with connection, connection.makefile("rb") as lines:
                for line in lines:
                    said = self.answer(line.decode().strip())
                    if said is None:
                        return
                    for piece in [said] if isinstance(said, bytes) else said:
                        connection.sendall(piece)
        except OSError:
            pass  # it has hung up

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()


def beanstalkd(folder=None, *options):
    """Debian's; with a folder, no kill makes it lose what it has acknowledged."""
    held = ports.reserve()
    keeping = []
    if folder:
        pathlib.Path(folder).mkdir(exist_ok=True)
        keeping = ["-b", str(folder), "-f0"]
    return Server([os.environ["BEANSTALKD"], "-l", "127.0.0.1", "-p", str(ports.number(held)),
                   *keeping, *options], [held])


def tandemd(folder, configuration="", *more):
    """Beside its beanstalk port it has one of its API, `api`. `configuration` is a file's text."""
    held = [ports.reserve() for _ in range(2)]
    port, api = map(ports.number, held)
    settings = [f"beanstalk.listen=127.0.0.1:{port}", f"admin.listen=127.0.0.1:{api}",
                "gearman.listen=", "http.listen=", f"journal.dir={folder}"]
    path = os.devnull
    if configuration:
        path = f"{folder}.conf"
        pathlib.Path(path).write_text(configuration)
    command = [os.environ["TANDEMD"], "--config", path]
    for setting in settings + list(more):
        command += ["--set", setting]
    server = Server(command, held)
    server.api = f"http://127.0.0.1:{api}"
    return server


def jobs_of(port, last):
    """All jobs with ids up to that one, by id."""
    with Client(port) as client:
        numbers = range(1, last + 1)
        stats = client.say_all([f"stats-job {number}" for number in numbers])
        bodies = client.say_all([f"peek {number}" for number in numbers])
    return {number: {**fields(stat), "body": body}
            for number, (words, stat), (_, body) in zip(numbers, stats, bodies)
            if words[0] == "OK"}


def exported(server):
    """All jobs of a tandemd, as its API tells them: tube, state and so on."""
    jobs, cursor = [], ""
    while cursor is not None:
        with urllib.request.urlopen(f"{server.api}/api/v1/export?limit=1000{cursor}",
                                    timeout=SECONDS) as answer:
            lines = [json.loads(line) for line in answer.read().splitlines()]
        after = lines.pop().get("next")
        cursor = f"&cursor={after}" if after else None
        jobs += lines
    return [{"id": job["id"], "tube": job["queue"], "state": job["state"],
             "pri": str(job["priority"]), "ttr": str(int(job["ttr_seconds"])),
             "body": body_of(job["body"])} for job in jobs]


def everything(server):
    """All jobs of either kind of server, with what clients see of them."""
    with Client(server.port) as client:
        last = client.put(b"mark")
        client.say(f"delete {last}")
    # After a kill ids go on behind a gap.
    if hasattr(server, "api"):
        numbers = [job["id"] for job in exported(server)]
    else:
        numbers = range(1, last)
    with Client(server.port) as client:
        stats = client.say_all([f"stats-job {number}" for number in numbers])
        bodies = client.say_all([f"peek {number}" for number in numbers])
    return [{**fields(stat), "body": body} for (words, stat), (_, body) in zip(stats, bodies)
            if words[0] == "OK"]


def body_of(body):
    if isinstance(body, str):
        return body.encode()
    if body["encoding"] == "base64":
        return base64.b64decode(body["data"])
    return body["data"].encode()
