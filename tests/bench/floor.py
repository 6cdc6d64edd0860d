# SPDX-License-Identifier: MIT
"""The least that a server on this kernel can do: one read, one write, nothing kept. It answers
requests of one size only, so there is one of it for each kind of put."""

import dataclasses

NAME = "floor"


@dataclasses.dataclass
class Floor:
    """How the load generator's protocol is answered without a look at what was asked."""

    NAME: str
    request_bytes: int
    reply: bytes

    PORTS = 1
    books = None  # it has none

    @property
    def COMMANDS(self):
        return {NAME: lambda options, port: [options.floor, str(port), str(self.request_bytes),
                                             self.reply.hex()]}


BODY = 64
BEANSTALK_PUT = Floor("beanstalk", len(f"put 1024 0 3600 {BODY}\r\n") + BODY + 2, b"INSERTED 1\r\n")
GEARMAN_PUT = Floor("gearman", 12 + len("bench-0\0\0") + BODY,
                    b"\0RES" + (8).to_bytes(4, "big") + (7).to_bytes(4, "big") + b"H:box:1")
