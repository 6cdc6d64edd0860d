# SPDX-License-Identifier: MIT
"""Other contents of a server, which must not slow down a busy tube or function."""

import contextlib

import beanstalk
import gearman

BATCH = 2000


def batches(count):
    for start in range(0, count, BATCH):
        yield range(start, min(start + BATCH, count))


def idle_tubes(port, count):
    peer = beanstalk.Peer(port)
    for names in batches(count):
        peer.ask("".join(f"watch idle-{name}\r\n" for name in names), len(names))
    return [peer]


def blocked_reserves(port, count):
    peers = [beanstalk.Peer(port) for _ in range(count)]
    for peer in peers:
        peer.ask("watch elsewhere\r\nignore default\r\n", 2)
        peer.ask("reserve\r\n", 0)
    return peers


def delayed_jobs(port, count):
    peer = beanstalk.Peer(port)
    peer.ask("use elsewhere\r\n", 1)
    put = "put 0 1000000 60 10\r\n0123456789\r\n"
    for jobs in batches(count):
        peer.ask(put * len(jobs), len(jobs))
    return [peer]


def waiting_functions(port, count):
    """Functions with a job each and no worker."""
    peer = gearman.Peer(port)
    for names in batches(count):
        peer.submit([f"waiting-{name}" for name in names], b"0123456789")
    return [peer]


@contextlib.contextmanager
def beside(neighbour, port, count):
    """The neighbour is there while the context lasts."""
    peers = neighbour(port, count) if neighbour else []
    try:
        yield
    finally:
        for peer in peers:
            peer.close()
