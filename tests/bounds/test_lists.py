# SPDX-License-Identifier: MIT
"""A list of very many tubes is made as it is read: who does not read it costs no more than others
who do not read, however often it has asked."""

import time

from case import CHUNK, JOBS, KIB, MIB, BoundsCase

# A quarter of them: a tube takes more than a small job.
TUBES = JOBS // 4
NAME = 200
SEND_BUFFER = 64 * KIB
COMMAND = b"list-tubes\r\n"
# 3 KB of them.
COMMANDS = 256
OUTPUT_LIMIT = 4 * MIB
QUESTIONS = 500


def tubes():
    """A job for each tube, which stays."""
    for first in range(0, TUBES, CHUNK):
        numbers = range(first, min(first + CHUNK, TUBES))
        yield b"".join(b"use %0*d\r\nput 0 0 60 1\r\nx\r\n" % (NAME, number) for number in numbers)


class Lists(BoundsCase):
    def start_with_tubes(self):
        broker = self.start()
        client = self.connect(broker)
        client.pipeline(tubes(), 2 * TUBES)
        client.ask("use default")
        return broker, client

    def worst_wait(self, client):
        """Milliseconds: of a hundred questions, one waits longer."""
        waits = []
        for _ in range(QUESTIONS):
            begun = time.monotonic()
            self.assert_served(client)
            waits.append(time.monotonic() - begun)
        return sorted(waits)[-QUESTIONS // 100] * 1000

    def check_list(self, client):
        size = len("---\n- default\n") + TUBES * (NAME + 3)
        answer = client.answer()
        self.assertEqual(len(answer), len(b"OK %d\r\n" % size) + size + 2)
        self.assertEqual(answer.count(b"\n- "), TUBES + 1)

    def test_lists_that_are_not_read(self):
        broker, quick = self.start_with_tubes()
        alone = self.worst_wait(quick)
        before = broker.resident()
        client = self.connect(broker, SEND_BUFFER)
        client.send(COMMAND * COMMANDS)
        listing = self.worst_wait(quick)
        self.until(lambda: client.is_answered(1), 60, "the list begins")
        self.tell(f"p99 of a quick client: {alone:.2f} ms, and {listing:.2f} ms while "
                  f"{COMMANDS} lists of {TUBES} tubes are asked for")
        self.assert_grown_less("unread lists", broker.resident() - before,
                               OUTPUT_LIMIT)
        self.check_list(client)
        self.check_list(client)
        self.assert_grown_less("lists of which two were read", broker.resident() - before,
                               OUTPUT_LIMIT)

    def test_list_of_tubes_that_vanish_meanwhile(self):
        broker, quick = self.start_with_tubes()
        client = self.connect(broker, SEND_BUFFER)
        client.send(COMMAND)
        self.until(lambda: client.is_answered(1), 60, "the list begins")
        quick.pipeline((b"".join(b"delete %d\r\n" % number
                                 for number in range(first, min(first + CHUNK, TUBES + 1)))
                        for first in range(1, TUBES + 1, CHUNK)), TUBES)
        self.assertEqual(quick.ask("list-tubes"), b"OK 14\r\n---\n- default\n\r\n")
        self.check_list(client)
        self.assertEqual(client.ask("list-tubes"), b"OK 14\r\n---\n- default\n\r\n")
