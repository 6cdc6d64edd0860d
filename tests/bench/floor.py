# SPDX-License-Identifier: MIT
"""The least that a server on this kernel can do: it reads and writes as often as the protocol
needs at least, but understands nothing and keeps no job. It is told how long the requests of each
case are, and answers with bytes that are fixed; see floor_script.h."""

import dataclasses
import typing

NAME = "floor"
BODY = 64  # bytes of each job


@dataclasses.dataclass
class Floor:
    """How the load generator's protocol is answered without a look at what was asked."""

    NAME: str
    script: list
    # The load in place of the case's own, if that checks the replies.
    arguments: typing.Optional[list] = None
    flags: tuple = ()  # of the program

    PORTS = 1
    books = None  # it has none

    @property
    def COMMANDS(self):
        return {NAME: lambda options, port: [options.floor, *self.flags, str(port),
                                              *self.script]}

    def that_tells(self, slow_turn):
        """The same server, which also reports turns of more than `slow_turn` milliseconds."""
        return dataclasses.replace(self, flags=("--slow-turn", str(slow_turn)))


def side(*steps, notice=b""):
    return ["@" + notice.hex(), *steps]


def step(request_bytes, reply=b"", flags=""):
    """Flags: once, gives notice to the other side, waits for a notice."""
    return f"{request_bytes}{flags}:{reply.hex()}"


def packet(kind, *arguments):
    body = b"\0".join(arguments)
    return b"\0RES" + kind.to_bytes(4, "big") + len(body).to_bytes(4, "big") + body


# As the load generator wants to have it back: a moment that it does not know, then letters.
JOB = b"0" * 16 + bytes(ord("a") + at % 26 for at in range(16, BODY))

PUT = len(f"put 1024 0 3600 {BODY}\r\n") + BODY + 2
RESERVE, DELETE = len("reserve\r\n"), len("delete 1\r\n")
INSERTED, DELETED = b"INSERTED 1\r\n", b"DELETED\r\n"
RESERVED = f"RESERVED 1 {BODY}\r\n".encode() + JOB + b"\r\n"

BEANSTALK_PUT = Floor("beanstalk", side(step(PUT, INSERTED)))
BEANSTALK_CYCLE = Floor("beanstalk", side(step(PUT, INSERTED), step(RESERVE, RESERVED),
                                          step(DELETE, DELETED)))
# A worker deletes a job and reserves the next in one go, so a job that is there costs one read and
# one write of the server, as a put does.
BEANSTALK_DRAIN = Floor("beanstalk", side(step(PUT, INSERTED)),
                        ["put", "--conns", "10", "--size", str(BODY)])
# A put gives notice to a worker, who has the job by that.
BEANSTALK_PAIRS = Floor("beanstalk",
                        side(step(RESERVE, flags="ow"), step(DELETE + RESERVE, DELETED, "w"),
                             notice=RESERVED)
                        + side(step(PUT, INSERTED, "n")))

HEADER = 12
HANDLE, FUNCTION = b"H:box:1", b"bench-0"
SUBMIT = HEADER + len(FUNCTION) + 2 + BODY
CAN_DO, GRAB, PRE_SLEEP = HEADER + len(FUNCTION), HEADER, HEADER
COMPLETE = HEADER + len(HANDLE) + 1 + BODY
CREATED, NOOP, NO_JOB = packet(8, HANDLE), packet(6), packet(10)
ASSIGN, COMPLETED = packet(11, HANDLE, FUNCTION, JOB), packet(13, HANDLE, JOB)

GEARMAN_PUT = Floor("gearman", side(step(SUBMIT, CREATED)))
# The same of a worker that completes a job and grabs the next, and of a submit.
GEARMAN_GRAB = Floor("gearman", side(step(SUBMIT, CREATED)),
                     ["put", "--conns", "50", "--size", str(BODY)])
CLIENTS = side(step(SUBMIT, CREATED, "nw"), notice=COMPLETED)
# Workers that find a job whenever they ask: a submit makes an assignment, a completion a result.
GEARMAN_BUSY_TRIPS = Floor("gearman",
                           side(step(CAN_DO + GRAB, flags="ow"),
                                step(COMPLETE + GRAB, flags="nw"), notice=ASSIGN) + CLIENTS)
# A lone worker never does: it sleeps, is woken, and asks again.
GEARMAN_LONE_TRIPS = Floor("gearman",
                           side(step(CAN_DO + GRAB, NO_JOB, "o"), step(PRE_SLEEP, flags="w"),
                                step(GRAB, ASSIGN), step(COMPLETE + GRAB, NO_JOB, "n"),
                                notice=NOOP) + CLIENTS)
