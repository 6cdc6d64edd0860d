# SPDX-License-Identifier: MIT
"""The cost of observers to clients: the page in a browser, with its stream of events and its other
requests, and a scraper that gets the metrics once a second.

Rounds with and without them alternate; each has a fresh server with as many queues."""

import contextlib
import http.client
import multiprocessing
import os
import select
import socket
import statistics
import time

import beanstalk
import floor
import started
from measure import order_of, progress
from servers import Failure, Server, run_load
from tables import OURS, median

WATCHED = f"{OURS}, watched"
QUEUES = 1000
SECONDS = 5  # of a measurement
SIZE = ["--size", str(floor.BODY)]
LOADS = {
    "put, 50 connections, 1 in flight": ["put", "--conns", "50", *SIZE],
    "put, 50 connections, 16 in flight": ["put", "--conns", "50", "--depth", "16", *SIZE],
    "put-reserve-delete, 50 conns": ["cycle", "--conns", "50", *SIZE],
}
IDLE = "nothing else"
STREAM = "/api/v1/events?queues=100&sort=-ready"
# The requests and their intervals in seconds: the scraper's, and those of the page beside its
# stream.
ASKED = {"/metrics": 1, "/api/v1/queues?limit=100&sort=-ready": 3, "/api/v1/workers": 5,
         "/api/v1/journal": 5}
ANSWER_SECONDS = 20


def server_of(options):
    """Ours, with a port for operators behind that of its clients."""
    def command(options, port, operators):
        return beanstalk.tandemd(options, port) + started.arguments_of(
            [f"admin.listen=127.0.0.1:{operators}", *options.set])
    return started.Started(beanstalk, OURS, command, PORTS=2)


def fill(port):
    peer = beanstalk.Peer(port)
    peer.ask("".join(f"use queue-{number}\r\nput 0 0 60 1\r\nx\r\n" for number in range(QUEUES)),
             2 * QUEUES)
    peer.close()


class Watchers:
    """The page and the scraper, in one process."""

    def __init__(self, port):
        self.port = port
        self.stream = socket.create_connection(("127.0.0.1", port))
        self.stream.sendall(f"GET {STREAM} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        self.asked = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS)
        self.due = {path: 0 for path in ASKED}

    def ask(self, path):
        self.asked.request("GET", path)
        answer = self.asked.getresponse()
        answer.read()
        if answer.status != 200:
            raise Failure(f"{path}: {answer.status}")

    def step(self):
        """Reads what has come, and asks for what is due."""
        now = time.monotonic()
        for path, due in self.due.items():
            if due <= now:
                self.due[path] = now + ASKED[path]
                self.ask(path)
        wait = max(min(self.due.values()) - time.monotonic(), 0)
        if select.select([self.stream], [], [], wait)[0] and not self.stream.recv(1 << 20):
            raise Failure("the stream of events has ended")


def watch(options, port, begun):
    os.sched_setaffinity(0, {options.cores[1]})
    # Their own processor time is not measured.
    os.nice(10)
    watchers = Watchers(port)
    while True:
        watchers.step()
        begun.set()


@contextlib.contextmanager
def watched(options, port):
    """They look as long as this lasts."""
    fork = multiprocessing.get_context("fork")
    begun = fork.Event()
    process = fork.Process(target=watch, args=[options, port, begun], daemon=True)
    process.start()
    try:
        if not begun.wait(ANSWER_SECONDS):
            raise Failure("who watches is not answered")
        yield
        if not process.is_alive():
            raise Failure("who watches was not answered")
    finally:
        process.kill()
        process.join()


def measure_one(options, arguments, name):
    seconds = SECONDS if options.seconds is None else options.seconds
    with Server(server_of(options), OURS, options) as server:
        fill(server.port)
        looks = watched(options, server.ports[1]) if name == WATCHED else contextlib.nullcontext()
        with looks:
            return run_load(options, server, [
                *arguments, "--seconds", str(seconds), "--warmup", str(options.warmup)])


def seconds_of_cpu(server):
    return sum(used for _, used in server.threads().values())


def measure_idle(options):
    """The part of a core that observers use of an idle server."""
    seconds = SECONDS if options.seconds is None else options.seconds
    with Server(server_of(options), OURS, options) as server:
        fill(server.port)
        with watched(options, server.ports[1]):
            before, began = seconds_of_cpu(server), time.monotonic()
            time.sleep(seconds)
            return (seconds_of_cpu(server) - before) / (time.monotonic() - began)


def measure(options):
    """{title: {who: [result of each round]}}; of IDLE, shares of a core"""
    results = {}
    for round_number in range(options.rounds):
        progress(f"round {round_number + 1} of {options.rounds}: {IDLE}")
        results.setdefault(IDLE, {}).setdefault(WATCHED, []).append(measure_idle(options))
        for title, arguments in LOADS.items():
            for name in order_of([OURS, WATCHED], round_number):
                progress(f"round {round_number + 1} of {options.rounds}: {title}: {name}")
                results.setdefault(title, {}).setdefault(name, []).append(
                    measure_one(options, arguments, name))
    return results


def of_core(rounds, alone):
    """The CPU time per second beyond that of the same jobs without watchers."""
    more = median(rounds, "server_cpu_us") - median(alone, "server_cpu_us")
    return more * median(rounds, "rate") / 1e6


def print_watched(results):
    print(f"{f'with {QUEUES:,} queues':36}{'':18}{'jobs/s':>9}{'lost':>7}{'cpu us/job':>12}"
          f"{'of a core':>11}{'p99 us':>9}{'busy':>6}")
    for title in LOADS:
        alone = results[title][OURS]
        for name, rounds in sorted(results[title].items()):
            rate = median(rounds, "rate")
            print(f"{title if name == OURS else '':36}{name:18}{rate:9.0f}"
                  f"{100 - 100 * rate / median(alone, 'rate'):6.1f}%"
                  f"{median(rounds, 'server_cpu_us'):12.2f}{100 * of_core(rounds, alone):10.1f}%"
                  f"{median(rounds, 'p99_us'):9.0f}{100 * median(rounds, 'server_busy'):5.0f}%")
    print(f"{IDLE:36}{WATCHED:18}{'':28}{100 * statistics.median(results[IDLE][WATCHED]):10.1f}%\n"
          "watched: by a page with its stream of events, and a scraper once a second, which share "
          "the core\nof the load. of a core: what is done for them in a second, and so what clients "
          "lose where the core\nis busy. Where it is not, what they lose is the load's.\n")
