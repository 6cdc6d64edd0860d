# SPDX-License-Identifier: MIT
"""Servers that are started in another way than their protocol's COMMANDS have it."""

import dataclasses
import functools
import pathlib
import sys
import tempfile

from tables import OURS

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import certificates

BEFORE = f"{OURS}-before"


@dataclasses.dataclass
class Started:
    """A protocol's server, by the name under which its figures are kept."""

    protocol: object
    name: str
    command: object  # of options and ports
    PORTS: int = 1
    LOAD_PORT: int = 0  # which of them the load goes to; questions go to the first
    load_flags: tuple = ()  # more arguments of the load generator

    def __post_init__(self):
        self.NAME, self.PORTS = self.protocol.NAME, max(self.PORTS, self.protocol.PORTS)
        self.LOAD_PORT = max(self.LOAD_PORT, getattr(self.protocol, "LOAD_PORT", 0))
        self.books = self.protocol.books
        self.COMMANDS = {self.name: self.command}


def arguments_of(pairs):
    return [word for pair in pairs for word in ("--set", pair)]


def with_settings(protocol, pairs, name=OURS):
    """Our server, with these settings, key=value."""
    return Started(protocol, name, lambda options, *ports: (
        protocol.COMMANDS[OURS](options, *ports) + arguments_of(pairs)))


def earlier(protocol):
    """Our server as it was: the program that options.before names."""
    return Started(protocol, BEFORE, lambda options, *ports: (
        [options.before, *protocol.COMMANDS[OURS](options, *ports)[1:]]))


@functools.cache
def folder():
    """A new one with a certificate for servers; both go when the program ends."""
    made = tempfile.TemporaryDirectory(prefix="tandem-bench-")
    certificates.Authority(made.name).issue_server()
    return made


def certificate():
    """The names of its file and of that of its key."""
    return [str(pathlib.Path(folder().name, f"server.{kind}")) for kind in ("pem", "key")]


def over_tls(protocol, pairs, name, tickets=False):
    """The same as with_settings(), with the load over TLS and the questions without."""
    pem, key = certificate()

    def command(options, plain, port):
        listen = f"{protocol.NAME}.listen=127.0.0.1:{plain}"
        return [f"{word},tls:127.0.0.1:{port}" if word == listen else word
                for word in protocol.COMMANDS[OURS](options, plain)
                + arguments_of([f"tls.certificate={pem}", f"tls.key={key}", *pairs])]
    return Started(protocol, name, command, PORTS=2, LOAD_PORT=1,
                   load_flags=("--tls", "--tickets") if tickets else ("--tls",))
