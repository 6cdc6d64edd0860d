# SPDX-License-Identifier: MIT
"""Compares the broker that owns the journal with the books, when all clients have left."""

import dataclasses
import time

import wire
from book import BURIED, READY
from check import Check

QUIET_SECONDS = 60


class Comparison(Check):
    """No restart comes before it: jobs stand in the order in which they became ready, and what was
    held comes back when its connection ends."""

    def wait_until_quiet(self):
        until = time.monotonic() + QUIET_SECONDS
        while True:
            stats = wire.figures(self.bean.ask("stats")[1])
            if stats["current-jobs-reserved"] == "0" and stats["current-connections"] == "1":
                return
            if time.monotonic() > until:
                self.complain(f"clients have left, and still there are {stats['current-jobs-reserved']} "
                              f"jobs reserved, and {stats['current-connections']} connections")
                return
            time.sleep(0.01)

    def is_order(self, found, expected):
        return sorted(job.id for job in found) == sorted(job.id for job in expected) and (
            [job.state.pri for job in found] == [job.state.pri for job in expected])

    def after(self, state, seen):
        """That somebody took a delayed job is not recorded: the next owner does not know."""
        return state if state.loose else super().after(state, seen)

    def check_buried(self, book, tube):
        """Where the broker goes away meanwhile, they were kicked or not."""
        buried = book.buried(tube)
        for job in buried:
            book.propose(job, dataclasses.replace(job.state, kind=READY))
        super().check_buried(book, tube)
        for job in buried:
            job.maybe.clear()
