# SPDX-License-Identifier: MIT
"""What else a server may hold while one tube is busy, and should not notice."""

import contextlib
import socket

BATCH = 2000


class Peer:
    """One connection to a server, for as long as the neighbour is there."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.replies = self.socket.makefile("rb")

    def ask(self, text, count):
        """Sends commands that get `count` replies of one line."""
        self.socket.sendall(text.encode())
        for _ in range(count):
            self.replies.readline()

    def close(self):
        self.replies.close()
        self.socket.close()


def idle_tubes(port, count):
    peer = Peer(port)
    for start in range(0, count, BATCH):
        names = range(start, min(start + BATCH, count))
        peer.ask("".join(f"watch idle-{name}\r\n" for name in names), len(names))
    return [peer]


def blocked_reserves(port, count):
    peers = [Peer(port) for _ in range(count)]
    for peer in peers:
        peer.ask("watch elsewhere\r\nignore default\r\n", 2)
        peer.ask("reserve\r\n", 0)
    return peers


def delayed_jobs(port, count):
    peer = Peer(port)
    peer.ask("use elsewhere\r\n", 1)
    put = "put 0 1000000 60 10\r\n0123456789\r\n"
    for start in range(0, count, BATCH):
        amount = min(BATCH, count - start)
        peer.ask(put * amount, amount)
    return [peer]


NEIGHBOURS = [
    ("nothing else", None, 0),
    ("10,000 idle tubes", idle_tubes, 10000),
    ("5,000 blocked reserves elsewhere", blocked_reserves, 5000),
    ("1,000,000 delayed jobs elsewhere", delayed_jobs, 1000000),
]


@contextlib.contextmanager
def beside(neighbour, port, count):
    """The neighbour is there while the context lasts."""
    peers = neighbour(port, count) if neighbour else []
    try:
        yield
    finally:
        for peer in peers:
            peer.close()
