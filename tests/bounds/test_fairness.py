# SPDX-License-Identifier: MIT
"""A client gets its share of each turn, however much it has sent."""

import statistics
import threading

from case import ANSWER, JOBS, QUESTION, BoundsCase, Disturbed, chunks_of, unless_disturbed

FLOOD = max(2 * JOBS, 200000)
LONE_MIN = 20
# The number of commands of the second flood. The last one shows how far the first flood is.
ROUND = 256
ROUNDS = 16


class Uneven(Disturbed):
    """One flood got ahead of the other: perhaps because its sender was not running."""


class Fairness(BoundsCase):
    def begin_flood(self, broker):
        """A client that sends without end in sight, in the middle of it; and how to wait for it."""
        client = self.connect(broker)
        thread = threading.Thread(target=client.pipeline, args=[chunks_of(QUESTION, FLOOD), FLOOD])
        thread.start()
        self.addCleanup(thread.join)
        self.until(lambda: client.lines > FLOOD // 50 or not thread.is_alive(), 60, "a flood")
        return client, thread

    def test_lone_commands_are_answered_during_a_flood(self):
        broker = self.start()
        other = self.connect(broker)
        flood, thread = self.begin_flood(broker)
        answered = 0
        while flood.lines < FLOOD and thread.is_alive():
            self.assert_served(other)
            answered += 1
        thread.join()
        self.tell(f"lone commands answered while a flood of {FLOOD} was: {answered}")
        self.assertEqual(flood.lines, FLOOD)
        self.assertTrue(flood.last.endswith(ANSWER))
        self.assertGreater(answered, LONE_MIN)

    @unless_disturbed
    def test_two_floods_advance_side_by_side(self):
        broker = self.start()
        other = self.connect(broker)
        one_round = b"use default\r\n" * (ROUND - 1) + b"stats\r\n"
        _, thread = self.begin_flood(broker)
        other.send(one_round * ROUNDS)
        seen = [self.flood_commands_at_end_of_round(other) for _ in range(ROUNDS)]
        if seen[-1] >= FLOOD:
            raise Uneven("the flood was over too soon to compare")
        thread.join()
        steps = [later - earlier for earlier, later in zip(seen, seen[1:])]
        step = statistics.median(steps)
        self.tell(f"commands of one flood while another does {ROUND}: {step:.0f} (median)")
        if not ROUND / 4 <= step <= ROUND * 4:
            raise Uneven(f"{step:.0f} commands while another does {ROUND}")

    def flood_commands_at_end_of_round(self, client):
        for _ in range(ROUND - 1):
            self.assertEqual(client.answer(), ANSWER)
        line = next(line for line in client.answer().splitlines()
                    if line.startswith(b"cmd-list-tube-used: "))
        return int(line.split()[1])
