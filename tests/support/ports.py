# SPDX-License-Identifier: MIT
"""Ports for servers that cannot be asked for any free one. Run, it prints one, which it keeps until
its input ends."""

import socket
import sys


def reserve():
    """A socket that has a free port: until it is closed, only who names the port can have it. A
    server that allows the reuse of addresses can listen there, as this socket only is bound."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("127.0.0.1", 0))
    return sock


def number(sock):
    """The port of that socket."""
    return sock.getsockname()[1]


if __name__ == "__main__":
    with reserve() as held:
        print(number(held), flush=True)
        sys.stdin.read()
