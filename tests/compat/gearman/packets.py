# SPDX-License-Identifier: MIT
"""Packets. CAN_DO("f") is one; whether it is a request or a response is known where it is used.

Text is latin-1, so that any byte can be written.
"""

import enum
import struct
from typing import NamedTuple

REQUEST = "\0REQ"
RESPONSE = "\0RES"
HEADER_SIZE = 12
MAGIC_SIZE = 4


class Kind(enum.IntEnum):
    """The types of packets; one that is called with arguments makes a packet of them."""

    CAN_DO = 1
    CANT_DO = 2
    RESET_ABILITIES = 3
    PRE_SLEEP = 4
    UNUSED = 5
    NOOP = 6
    SUBMIT_JOB = 7
    JOB_CREATED = 8
    GRAB_JOB = 9
    NO_JOB = 10
    JOB_ASSIGN = 11
    WORK_STATUS = 12
    WORK_COMPLETE = 13
    WORK_FAIL = 14
    GET_STATUS = 15
    ECHO_REQ = 16
    ECHO_RES = 17
    SUBMIT_JOB_BG = 18
    ERROR = 19
    STATUS_RES = 20
    SUBMIT_JOB_HIGH = 21
    SET_CLIENT_ID = 22
    CAN_DO_TIMEOUT = 23
    ALL_YOURS = 24
    WORK_EXCEPTION = 25
    OPTION_REQ = 26
    OPTION_RES = 27
    WORK_DATA = 28
    WORK_WARNING = 29
    GRAB_JOB_UNIQ = 30
    JOB_ASSIGN_UNIQ = 31
    SUBMIT_JOB_HIGH_BG = 32
    SUBMIT_JOB_LOW = 33
    SUBMIT_JOB_LOW_BG = 34
    SUBMIT_JOB_SCHED = 35
    SUBMIT_JOB_EPOCH = 36
    SUBMIT_REDUCE_JOB = 37
    SUBMIT_REDUCE_JOB_BACKGROUND = 38
    GRAB_JOB_ALL = 39
    JOB_ASSIGN_ALL = 40
    GET_STATUS_UNIQUE = 41
    STATUS_RES_UNIQUE = 42

    def __call__(self, *arguments):
        return Packet(self, "\0".join(arguments))


globals().update(Kind.__members__)

# Those whose first argument is the handle of a job.
WITH_HANDLE = {Kind.JOB_CREATED, Kind.JOB_ASSIGN, Kind.JOB_ASSIGN_UNIQ, Kind.JOB_ASSIGN_ALL,
               Kind.WORK_STATUS, Kind.WORK_COMPLETE, Kind.WORK_FAIL, Kind.WORK_DATA,
               Kind.WORK_WARNING, Kind.WORK_EXCEPTION, Kind.STATUS_RES}


class Packet(NamedTuple):
    """A type and what comes behind the header, its arguments with NULs in between."""

    kind: int
    body: str

    def __repr__(self):
        return f"{getattr(self.kind, 'name', self.kind)}({self.body!r})"


def raw(magic, number, length, body=""):
    """The bytes of a packet, right or wrong."""
    return magic + struct.pack(">II", number, length).decode("latin-1") + body


def as_request(kind, body):
    """The bytes of a request, whatever its body."""
    return raw(REQUEST, kind, len(body), body)


def is_response(data):
    return data.startswith(RESPONSE.encode())


def number_and_length(header):
    return struct.unpack(">II", header[MAGIC_SIZE:HEADER_SIZE])
