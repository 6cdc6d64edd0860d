# SPDX-License-Identifier: MIT
"""The common parts of the bounds tests. run.py sets their environment."""

import functools
import itertools
import os
import signal
import time
import unittest

from broker import POLL_SECONDS, Broker
from client import Client

TANDEMD = os.environ["TANDEMD"]
# How many jobs are a million.
JOBS = int(os.environ["BOUNDS_JOBS"])
# A sanitizer keeps what was freed and has memory of its own: then bytes are printed, not judged.
SANITIZED = bool(os.environ["BOUNDS_SANITIZED"])

KIB = 1 << 10
MIB = 1 << 20
CHUNK = 1000
QUESTION = b"list-tube-used\r\n"
ANSWER = b"USING default\r\n"
# Of a second of one processor, in hundredths: what a broker with nothing to do stays below, and
# one that spins does not. (A stream of events makes its page each second, with sanitizers slowly.)
IDLE_TICKS = 40 if SANITIZED else 20
# The memory of an idle connection, and the additional memory while an I/O thread serves it: with
# io_spread=auto that depends on how busy the machine is.
IDLE_LIMIT = 700
THREAD_LIMIT = 600
REST_SECONDS = 60
ATTEMPTS = 10


class Disturbed(AssertionError):
    """The other result that is possible if a process was stopped at the wrong moment."""


class SlowTurns(Disturbed):
    """Turns of the broker took longer than they may."""


class FewAnswers(Disturbed):
    """Others' commands were not answered while the broker did something long, or too few were."""


def unless_disturbed(story):
    """A machine that others share stops a process for some milliseconds now and then: the broker in
    whatever turn it is, or this test before it asks, so that the broker is done too early. So such
    a story is told again: it fails where it fails each time."""
    @functools.wraps(story)
    def told(self):
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return story(self)
            except Disturbed as disturbed:
                if attempt == ATTEMPTS:
                    raise
                self.tell(f"once more, {type(disturbed).__name__}: {disturbed}")
                self.doCleanups()
    return told


class BoundsCase(unittest.TestCase):
    """A test with brokers and clients that are gone when it ends."""

    def start(self, *settings, open_files=None):
        broker = Broker(TANDEMD, settings, open_files)
        self.addCleanup(broker.forget_log)
        self.addCleanup(self.stop, broker)
        return broker

    def stop(self, broker):
        self.assertEqual(broker.stop(), 0, broker.log()[-4000:])

    def connect(self, broker, send_buffer=None):
        client = Client(broker.port, send_buffer)
        self.addCleanup(client.close)
        return client

    def connect_idler(self, broker):
        """A client that can wait for a job that never comes."""
        client = self.connect(broker)
        client.ask("watch nothing-here")
        client.ask("ignore default")
        return client

    def assert_takes_little(self, each):
        threads = TANDEMD.endswith("_io2")
        self.assertLessEqual(each, IDLE_LIMIT + THREAD_LIMIT if threads else IDLE_LIMIT)

    def tell(self, text):
        print(f"    {text}", flush=True)

    def slow_turns(self, broker):
        """The lines of the log that tell of them."""
        self.catch_up(broker)
        return broker.complaints("slow_turn ")

    def assert_no_slow_turn(self, broker, before):
        """Except for the number that existed before."""
        slow = self.slow_turns(broker)[before:]
        if slow:
            raise SlowTurns(slow)

    def assert_answered_meanwhile(self, answered, least):
        """The least number of other clients' commands that ran during a long operation."""
        if answered < least:
            raise FewAnswers(f"{answered}, at least {least} expected")

    def assert_idle(self, broker, idler):
        """The broker comes to rest: it uses no processor while a second passes in which one client
        waits. What came before may keep its I/O threads for some seconds more.
        """
        for _ in range(REST_SECONDS):
            before = broker.ticks()
            self.assertEqual(idler.ask("reserve-with-timeout 1"), b"TIMED_OUT\r\n")
            ticks = broker.ticks() - before
            self.tell(f"processor time in an idle second: {ticks * 10} ms")
            if ticks < IDLE_TICKS:
                return
        self.fail(f"does not come to rest: {ticks * 10} ms in the last second")

    def assert_served(self, client):
        self.assertEqual(client.ask("list-tube-used"), ANSWER)

    def assert_grown_less(self, what, grown, limit):
        """Bytes, where they mean something."""
        self.tell(f"{what}: {grown / KIB:.0f} KiB more, limit {limit / KIB:.0f} KiB")
        if not SANITIZED:
            self.assertLess(grown, limit)

    def catch_up(self, broker):
        """Its log has all lines so far: a thread writes them, in their order."""
        before = broker.log().count(" accepting_jobs ")
        broker.process.send_signal(signal.SIGUSR2)
        self.until(lambda: broker.log().count(" accepting_jobs ") > before, 60, "the log is written")

    def until(self, condition, seconds, what):
        give_up_at = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > give_up_at:
                self.fail(f"{what}: not within {seconds} s")
            time.sleep(POLL_SECONDS)


def chunks_of(command, count):
    """The same command, many times: some to a chunk."""
    whole, rest = divmod(count, CHUNK)
    return itertools.chain(itertools.repeat(command * CHUNK, whole), [command * rest])


def chunks_for(numbers, form):
    """A command for each number: `form` has one %d."""
    for first in range(numbers.start, numbers.stop, CHUNK):
        part = range(first, min(first + CHUNK, numbers.stop))
        yield form * len(part) % tuple(part)


def put_jobs(client, count, delay=0):
    """Small jobs; on a fresh broker their ids are 1 to `count`."""
    client.pipeline(chunks_of(b"put 0 %d 600 10\r\n0123456789\r\n" % delay, count), count)
