# SPDX-License-Identifier: MIT
"""Memory is given back when its use is over, and idle connections need little of it."""

import resource
import unittest

from broker import allow_open_files
from case import JOBS, MIB, SANITIZED, BoundsCase, chunks_for, put_jobs

GIVE_BACK_SECONDS = 60
# Blocks and batches that wait for the next things of their kind, however many there were.
KEPT_MOST = 4 * MIB
WARM_UP = 10000
IDLE = 10000
# Of the broker and of this process, beside the connections.
SPARE_FILES = 200


@unittest.skipIf(SANITIZED, "a sanitizer keeps memory")
class Memory(BoundsCase):
    def check_given_back(self, put, finish):
        """`put` and `finish` take a number of jobs; the ids of both continue after the last ones."""
        broker = self.start()
        client = self.connect(broker)
        put(client, WARM_UP)
        finish(client, range(1, WARM_UP + 1))
        before = broker.resident()
        put(client, JOBS)
        most = broker.resident()
        finish(client, range(WARM_UP + 1, WARM_UP + JOBS + 1))
        self.check_resident(broker, before, most)

    def check_resident(self, broker, before, most):
        self.tell(f"{before / MIB:.1f} MiB before, {most / MIB:.1f} MiB with all jobs, "
                  f"{broker.resident() / MIB:.1f} MiB right after")
        self.until(lambda: broker.resident() <= before + KEPT_MOST, GIVE_BACK_SECONDS,
                   "memory is given back")
        self.tell(f"{broker.resident() / MIB:.1f} MiB at the end")

    def test_memory_of_a_million_deleted_jobs_is_given_back(self):
        self.check_given_back(put_jobs, delete_jobs)

    def test_memory_of_a_million_finished_jobs_is_given_back(self):
        self.check_given_back(put_jobs, finish_jobs)

    def test_memory_of_a_million_delayed_jobs_is_given_back(self):
        self.check_given_back(lambda client, count: put_jobs(client, count, delay=3600),
                              delete_jobs)

    def test_ten_thousand_idle_connections_take_little(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < IDLE + SPARE_FILES:
            self.skipTest(f"{IDLE} connections need more descriptors than {hard}")
        allow_open_files(None)
        broker = self.start("server.io_spread=auto")
        self.assert_served(self.connect(broker))
        before = broker.resident()
        for _ in range(IDLE):
            self.assert_served(self.connect(broker))
        each = (broker.resident() - before) / IDLE
        self.tell(f"{each:.0f} bytes for each of {IDLE} idle connections")
        self.assert_takes_little(each)


def delete_jobs(client, ids):
    client.pipeline(chunks_for(ids, b"delete %d\r\n"), len(ids))


def finish_jobs(client, ids):
    # The answer to a reserve has two lines.
    client.pipeline(chunks_for(ids, b"reserve\r\ndelete %d\r\n"), 3 * len(ids))
