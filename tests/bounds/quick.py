# SPDX-License-Identifier: MIT
"""A client that does one small thing after the other, and how long it waits for each."""

import time

from client import Client
from gearman import Gearman

FUNCTION = b"quick"
BODY = b"0123456789"


class Quick:
    """Puts and deletes a job by beanstalk, and has one done in the foreground by Gearman, in turn.
    It is its own worker, so it waits for no other client."""

    KINDS = ("put and delete", "foreground")

    def __init__(self, broker):
        self.bean = Client(broker.port)
        self.bean.ask("use quick")
        self.client = Gearman(broker.port_of("gearman"))
        self.worker = Gearman(broker.port_of("gearman"))
        self.worker.send(Gearman.CAN_DO, FUNCTION)
        self.worker.send(Gearman.PRE_SLEEP)

    def put_and_delete(self):
        self.bean.send(b"put 0 0 600 10\r\n" + BODY + b"\r\n")
        number = self.bean.answer().split()[1]
        self.bean.send(b"delete " + number + b"\r\n")
        if self.bean.answer() != b"DELETED\r\n":
            raise AssertionError("a job was not deleted")

    def foreground(self):
        self.client.send(Gearman.SUBMIT_JOB, FUNCTION, b"", BODY)
        handle = self.assigned()
        self.worker.send(Gearman.WORK_COMPLETE, handle, BODY)
        self.worker.send(Gearman.PRE_SLEEP)
        self.client.expect(Gearman.JOB_CREATED)
        self.client.expect(Gearman.WORK_COMPLETE)

    def assigned(self):
        """The handle of the job that the worker is given. It may be woken once too often."""
        while True:
            kind, body = self.worker.next()
            if kind == Gearman.JOB_ASSIGN:
                return body.split(b"\0")[0]
            self.worker.send(Gearman.GRAB_JOB if kind == Gearman.NOOP else Gearman.PRE_SLEEP)

    def measure(self, seconds, enough=lambda: True):
        """{kind: Waits}, for so long at least"""
        waits = {kind: [] for kind in self.KINDS}
        end = time.monotonic() + seconds
        while time.monotonic() < end or not enough():
            for kind, act in zip(self.KINDS, (self.put_and_delete, self.foreground)):
                begun = time.monotonic()
                act()
                waits[kind].append(time.monotonic() - begun)
        return {kind: Waits(found) for kind, found in waits.items()}

    def close(self):
        for peer in (self.bean, self.client, self.worker):
            peer.close()


class Waits:
    """Microseconds."""

    def __init__(self, seconds):
        late = sorted(seconds)
        self.p50, self.p99, self.most = (
            1e6 * late[min(len(late) * share // 100, len(late) - 1)] for share in (50, 99, 100))
        self.count = len(late)

    def __str__(self):
        return f"p50 {self.p50:6.0f}  p99 {self.p99:7.0f}  most {self.most:7.0f} us"
