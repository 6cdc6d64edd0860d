# SPDX-License-Identifier: MIT
"""Operations on a million jobs are done in turns so short that other clients do not notice."""

import signal
import time

from case import (JOBS, SANITIZED, BoundsCase, chunks_for, chunks_of, put_jobs,
                  unless_disturbed)

SLOW_TURN_MS = 50 if SANITIZED else 5
BULK_SECONDS = 60
# The others' commands that are answered while it goes on, at least: when the first of several is
# answered it is not over. Fewer jobs may be over before the machine lets the others ask: then what
# counts is that no turn is slow.
ANSWERED_MIN = 1 if SANITIZED else 2
# Seconds; longer than putting that many takes.
DELAY = 3 + JOBS // 200000


class Bulk(BoundsCase):
    def start_bulk(self):
        broker = self.start(f"server.slow_turn={SLOW_TURN_MS}")
        return broker, self.connect(broker), self.connect(broker)

    def count_answers_until(self, other, done):
        """How many of the other's commands were answered before it was done."""
        answered = 0
        give_up_at = time.monotonic() + BULK_SECONDS
        while not done():
            self.assertLess(time.monotonic(), give_up_at)
            self.assert_served(other)
            answered += 1
        return answered

    def check(self, broker, what, answered, loaded_lines):
        self.tell(f"{what}: others' commands answered meanwhile: {answered}; turns over "
                  f"{SLOW_TURN_MS} ms before: {loaded_lines}")
        self.assert_no_slow_turn(broker, loaded_lines)
        self.assert_answered_meanwhile(answered, ANSWERED_MIN)

    @unless_disturbed
    def test_putting_and_deleting_a_million_jobs_makes_no_slow_turn(self):
        broker, client, _ = self.start_bulk()
        put_jobs(client, JOBS)
        self.assert_no_slow_turn(broker, 0)
        client.pipeline(chunks_for(range(1, JOBS + 1), b"delete %d\r\n"), JOBS)
        self.assert_no_slow_turn(broker, 0)

    @unless_disturbed
    def test_kick_of_a_million_buried_jobs_does_not_hold_up_others(self):
        broker, client, other = self.start_bulk()
        put_jobs(client, JOBS)
        client.pipeline(chunks_for(range(1, JOBS + 1), b"reserve\r\nbury %d 0\r\n"), 3 * JOBS)
        self.assertEqual(other.stats()["current-jobs-buried"], str(JOBS))
        lines = len(self.slow_turns(broker))
        client.send(b"kick 4294967295\r\n")
        answered = self.count_answers_until(other, client.is_answered)
        self.assertEqual(client.answer(), b"KICKED %d\r\n" % JOBS)
        self.assertEqual(other.stats()["current-jobs-ready"], str(JOBS))
        self.check(broker, "kick", answered, lines)

    @unless_disturbed
    def test_worker_that_leaves_a_million_reserved_jobs_does_not_hold_up_others(self):
        broker, client, other = self.start_bulk()
        watcher = self.connect(broker)
        put_jobs(client, JOBS)
        client.pipeline(chunks_of(b"reserve\r\n", JOBS), 2 * JOBS)
        self.assertEqual(watcher.stats()["current-jobs-reserved"], str(JOBS))
        lines = len(self.slow_turns(broker))
        client.close()
        answered = self.count_answers_until(
            other, lambda: watcher.stats()["current-jobs-ready"] == str(JOBS))
        self.check(broker, "worker leaves", answered, lines)

    def put_delayed(self):
        """A broker whose jobs are all not yet due, however slow the machine is; two clients; and
        the time at which all are due."""
        for delay in (DELAY, 5 * DELAY, 25 * DELAY):
            broker, client, other = self.start_bulk()
            watcher = self.connect(broker)
            put_jobs(client, JOBS, delay=delay)
            due_at = time.monotonic() + delay
            if watcher.stats()["current-jobs-delayed"] == str(JOBS):
                return broker, other, watcher, due_at
        return self.fail("too short a delay")

    @unless_disturbed
    def test_million_delays_that_have_ended_at_once_do_not_hold_up_others(self):
        broker, other, watcher, due_at = self.put_delayed()
        lines = len(self.slow_turns(broker))
        # As on a machine that was suspended: else they would end as slowly as they were put.
        broker.process.send_signal(signal.SIGSTOP)
        self.until(lambda: time.monotonic() > due_at, 26 * DELAY, "delays")
        broker.process.send_signal(signal.SIGCONT)
        answered = self.count_answers_until(
            other, lambda: watcher.stats()["current-jobs-ready"] == str(JOBS))
        self.check(broker, "delays end", answered, lines)
