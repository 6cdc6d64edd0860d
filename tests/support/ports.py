# SPDX-License-Identifier: MIT
"""Ports for servers that cannot choose a free port themselves. As a program, it prints a port, and
reserves it until its input ends."""

import socket
import sys


def reserve():
    """A socket that is bound to a free port: the system gives that port to no other process until
    the socket is closed. A server that sets SO_REUSEADDR can still listen there, since this socket
    does not listen."""
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
