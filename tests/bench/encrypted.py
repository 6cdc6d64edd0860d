# SPDX-License-Identifier: MIT
"""The cost of TLS 1.3: the same load in plain text, over TLS, and over TLS through stunnel to
beanstalkd; and short connections with a new session each, and with one that is resumed by its
ticket."""

import dataclasses
import pathlib
import tempfile

import beanstalk
import gearman
import started
import threads
from measure import order_of, progress
from servers import Failure, Server
from tables import OURS, median

PUT = "put, 50 conns, 16 in flight"
RESULTS = "foreground, 50/10, results of 64 KiB"
SHORT = threads.LOADS[threads.SHORT].title
TLS, TICKETS, STUNNEL = f"{OURS}-tls", f"{OURS}-tickets", "stunnel"
LOADS = [
    threads.Load(PUT, beanstalk, ["put", "--conns", "50", "--depth", "16", *threads.SIZE]),
    threads.Load(RESULTS, gearman, ["trips", "--producers", "50", "--workers", "10",
                                    *threads.SIZE, "--result-size", str(64 * 1024)]),
    threads.Load(SHORT, beanstalk, threads.LOADS[threads.SHORT].arguments),
]
# The number of handshakes that may happen before the first ticket arrives.
FIRST = 100


def with_threads(name):
    return f"{name}-io{threads.IO_THREADS}"


def ours_of(options, load):
    """[Started]: plain, over TLS, and for short connections by tickets, without and with I/O
    threads."""
    found = []
    for count, named in ((0, str), (threads.IO_THREADS, with_threads)):
        pairs = [f"server.io_threads={count}", *options.set]
        found += [started.with_settings(load.protocol, pairs, named(OURS)),
                  started.over_tls(load.protocol, pairs, named(TLS))]
        if load.title == SHORT:
            found.append(started.over_tls(load.protocol, pairs, named(TICKETS), tickets=True))
    return found


def check_resumed(name, result):
    """That sessions were resumed where they were to be, and only there."""
    if "tls_handshakes" not in result:
        return
    made, resumed = result["tls_handshakes"], result["tls_resumed"]
    if resumed + FIRST < made if name.startswith(TICKETS) else resumed > 0:
        raise Failure(f"{name}: {resumed:.0f} of {made:.0f} sessions were resumed")


def stunnel(peer_port, folder):
    """stunnel in front of a server on that port, which is asked how many jobs there are."""
    pem, key = started.certificate()
    config = pathlib.Path(folder, "stunnel.conf")

    def command(options, port):
        config.write_text("foreground = yes\npid =\ndebug = err\nsslVersionMin = TLSv1.3\n"
                          f"[beanstalk]\naccept = 127.0.0.1:{port}\n"
                          f"connect = 127.0.0.1:{peer_port}\ncert = {pem}\nkey = {key}\n")
        return [options.stunnel, str(config)]

    @dataclasses.dataclass
    class Behind:
        NAME, PORTS = beanstalk.NAME, 1
        books = staticmethod(lambda _: beanstalk.books(peer_port))
    return started.Started(Behind, STUNNEL, command, load_flags=("--tls",))


def measure_stunnel(options, load):
    """CPU time is that of both."""
    with tempfile.TemporaryDirectory() as folder, \
            Server(beanstalk, "beanstalkd", threads.placed(options)) as peer:
        return threads.measure(options, load, stunnel(peer.port, folder), [peer.pid])


def measure(options):
    """{title: {server: [result of each round]}}"""
    results = {}
    for round_number in range(options.rounds):
        for load in LOADS:
            known = {one.name: one for one in ours_of(options, load)}
            if load.title == PUT and options.server is None:
                known[STUNNEL] = None
            by_server = results.setdefault(load.title, {name: [] for name in known})
            for name in order_of(list(known), round_number):
                progress(f"round {round_number + 1} of {options.rounds}: {load.title}: {name}")
                result = (threads.measure(options, load, known[name]) if known[name]
                          else measure_stunnel(options, load))
                check_resumed(name, result)
                by_server[name].append(result)
    return results


def print_encrypted(results):
    threads.print_heading("us of CPU for a job")
    for title, by_server in results.items():
        for at, (name, rounds) in enumerate(by_server.items()):
            threads.print_rounds("" if at else title, name, rounds)
            if name.startswith(TLS) and OURS in by_server:
                threads.print_shares(rounds, by_server[OURS])
    print("tls: each connection with a session of its own; tickets: resumed by a ticket. "
          f"{STUNNEL}: in front of\nbeanstalkd, CPU time of both.\n")
