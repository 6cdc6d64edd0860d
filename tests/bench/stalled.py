# SPDX-License-Identifier: MIT
"""A quick client over TLS beside others that never end their handshake, and beside a thousand that
make theirs at once: how long it waits."""

import contextlib
import subprocess

import beanstalk
import started
import threads
from measure import progress
from servers import Failure, Server, load_command, run_load
from tables import OURS, median

STALLED, AT_ONCE = 5000, 1000
SECONDS = 3  # of a measurement
CLIENTS = {
    "put": ["put", *threads.SIZE],
    "connect, put, quit": ["short", *threads.SIZE],
}
# The kinds of stalled clients, and the seconds for a handshake: few, so that the server ends all
# that are stalled, and has as many new ones, again and again.
NEIGHBOURS = {
    "nothing else": (None, 10),
    f"{STALLED:,} stalled handshakes": (["stall", "--conns", str(STALLED)], 1),
    f"{AT_ONCE:,} handshakes at once": (
        ["short", "--conns", str(AT_ONCE), "--seconds", "600", *threads.SIZE], 10),
}
READY = {"stall"}  # which say when they are there


@contextlib.contextmanager
def beside(options, server, arguments):
    """Others are there as long as this lasts."""
    if arguments is None:
        yield
        return
    # Their own processor time is not measured.
    command = ["nice", "-n", "10", "taskset", "-c", str(options.cores[1]),
               *load_command(options, server, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as others:
        try:
            if arguments[0] in READY and not others.stdout.readline().startswith(b"ready"):
                raise Failure(f"{server.name} did not take {' '.join(arguments)}\n"
                              + server.log_text())
            yield
            if others.poll() is not None:
                raise Failure(f"{' '.join(arguments)} beside {server.name} gave up\n"
                              + server.log_text())
        finally:
            others.terminate()


def measure_one(options, count, client, neighbour, timeout):
    pairs = [f"server.io_threads={count}", f"server.handshake_timeout={timeout}", *options.set]
    server = started.over_tls(beanstalk, pairs, OURS)
    if neighbour:
        server.books = None  # what the others put is not known
    seconds = SECONDS if options.seconds is None else options.seconds
    with Server(server, OURS, options) as running, beside(options, running, neighbour):
        return threads.with_busiest(run_load(options, running, [
            *client, "--seconds", str(seconds), "--warmup", str(options.warmup)]))


def measure(options):
    """{title: {server: [result of each round]}}"""
    results = {}
    for round_number in range(options.rounds):
        for client, arguments in CLIENTS.items():
            for neighbour, others in NEIGHBOURS.items():
                title = f"{client}: {neighbour}"
                for name, count in ((OURS, 0), (threads.WITH_THREADS, threads.IO_THREADS)):
                    progress(f"round {round_number + 1} of {options.rounds}: {title}: {name}")
                    results.setdefault(title, {}).setdefault(name, []).append(
                        measure_one(options, count, arguments, *others))
    return results


def print_stalled(results):
    print(f"{'a lone client over TLS, beside':46}{'server':14}{'jobs/s':>9}{'p50 us':>9}"
          f"{'p99 us':>9}{'p99.9 us':>10}")
    for title, by_server in results.items():
        for at, (name, rounds) in enumerate(by_server.items()):
            print(f"{'' if at else title:46}{name:14}{median(rounds, 'rate'):9.0f}"
                  + "".join(f"{median(rounds, key):{width}.0f}" for key, width in
                            (("p50_us", 9), ("p99_us", 9), ("p999_us", 10))))
    print("stalled: half of them silent, half with half of a first message, and as many new ones "
          "whenever the\nserver has ended them. All clients share a core, on which the lone one "
          "comes first.\n")
