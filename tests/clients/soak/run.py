#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Beanstalk and Gearman clients and workers of three languages, on the same queues, killed and
replaced at random. At the end every book must balance, and nothing may be left.

Both servers' addresses (host:port) are in BEANSTALK_ADDRESS and GEARMAN_ADDRESS. The seed decides
who is killed and when; what else happens is up to the machine.
"""

import argparse
import os
import random
import re
import socket
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from book import Book
from crew import Crew

QUEUES = ["soak-0", "soak-1", "soak-2"]
KILL_EACH_SECONDS = 0.1, 0.8
PATIENCE_SECONDS = 60  # only what hangs takes so long


class Server:
    """Asks both protocols what the server counts."""

    def __init__(self):
        self.bean = connect("BEANSTALK_ADDRESS")
        self.gear = connect("GEARMAN_ADDRESS")

    def tube(self, name):
        """The numbers of a tube that say what is there now."""
        self.bean.write(f"stats-tube {name}\r\n".encode())
        self.bean.flush()
        head = self.bean.readline()
        if head.startswith(b"NOT_FOUND"):
            return {}
        text = self.bean.read(int(head.split()[1]) + 2).decode()
        return {key: int(number)
                for key, number in re.findall(r"^(current-[a-z-]+): (\d+)$", text, re.MULTILINE)}

    def functions(self):
        """For each function: total, running, workers."""
        self.gear.write(b"status\n")
        self.gear.flush()
        found = {}
        for line in iter(self.gear.readline, b".\n"):
            name, *numbers = line.decode().rstrip("\n").split("\t")
            found[name] = [int(number) for number in numbers]
        return found

    def jobs_left(self):
        return any(numbers[0] for numbers in self.functions().values()) or any(
            number for name in QUEUES for key, number in self.tube(name).items()
            if key.startswith("current-jobs-"))

    def left_over(self):
        """The counters that should be zero after all parties have left, and are not."""
        problems = [f"function {name} counts {numbers}"
                    for name, numbers in self.functions().items()
                    if name in QUEUES and any(numbers)]
        return problems + [f"tube {name} counts {key} {number}" for name in QUEUES
                           for key, number in self.tube(name).items() if number]


def connect(variable):
    host, port = os.environ[variable].split(":")
    return socket.create_connection((host, int(port)), PATIENCE_SECONDS).makefile("rwb")


def mix(crew, choice, seconds):
    """Everybody works, and now and then somebody is killed."""
    end = time.monotonic() + seconds
    next_kill = time.monotonic() + KILL_EACH_SECONDS[1]
    while time.monotonic() < end:
        crew.listen(min(next_kill, end) - time.monotonic())
        if time.monotonic() >= next_kill:
            crew.replace_one(next_kill + KILL_EACH_SECONDS[1])
            next_kill = time.monotonic() + choice.uniform(*KILL_EACH_SECONDS)


def settle(crew, server):
    """Those who hand in jobs come to an end, then the workers do what is left."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    with open(crew.stop_file, "w", encoding="ascii"):
        pass
    while crew.producers() and time.monotonic() < deadline:
        crew.listen(1)
    while server.jobs_left() and time.monotonic() < deadline:
        crew.listen(0.1)
    problems = [f"party {party} hangs" for party in crew.producers()]
    quiet = time.monotonic() + 1
    while time.monotonic() < quiet:
        crew.listen(0.1)
    crew.dismiss()
    while server.left_over() and time.monotonic() < deadline:
        pass
    return problems + server.left_over()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    choice = random.Random(options.seed)
    book = Book()
    server = Server()
    with tempfile.TemporaryDirectory() as folder:
        crew = Crew(book, os.path.join(folder, "stop"), choice)
        try:
            crew.start_all()
            mix(crew, choice, options.seconds)
            problems = settle(crew, server)
        finally:
            crew.dismiss()
    problems += book.balance()
    print(book.summary())
    for problem in problems[:50]:
        print(problem)
    if problems:
        sys.exit(f"{len(problems)} problems; run again with --seed {options.seed}")


if __name__ == "__main__":
    main()
