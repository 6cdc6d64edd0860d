# SPDX-License-Identifier: MIT
"""A client that asks and does not read costs a bounded amount of memory and no processor."""

from case import KIB, MIB, BoundsCase

BODY = b"b" * 60000
ASKED_MAX = 64 * MIB
SEND_BUFFER = 64 * KIB
# The output that may wait, what one turn adds to it, and what the allocator keeps.
OUTPUT_LIMIT = 4 * MIB


class Unread(BoundsCase):
    def clog(self, broker, command):
        """Asks until the broker takes no more; who asked, and how many bytes of it."""
        client = self.connect(broker, SEND_BUFFER)
        idler = self.connect_idler(broker)
        sent = 0
        while (now := client.fill(command, ASKED_MAX, sent)) > sent:
            sent = now
            idler.ask("reserve-with-timeout 1")
        self.tell(f"{sent} bytes of questions were taken")
        self.assertLess(sent, ASKED_MAX)
        return client, sent

    def check(self, command):
        broker = self.start()
        idler = self.connect_idler(broker)
        other = self.connect(broker)
        other.ask(f"put 0 0 60 {len(BODY)}\r\n{BODY.decode()}")
        before = broker.resident()
        client, sent = self.clog(broker, command)
        self.assert_grown_less("unread output", broker.resident() - before,
                               OUTPUT_LIMIT)
        self.assert_idle(broker, idler)
        self.assert_served(other)
        return broker, client, sent

    def test_peeks_of_a_big_body_that_are_not_read(self):
        command = b"peek 1\r\n"
        _, client, sent = self.check(command)
        whole = sent // len(command)
        self.assertEqual(client.answer(), b"FOUND 1 %d\r\n%s\r\n" % (len(BODY), BODY))
        self.tell(f"{whole} peeks wait for {whole * len(BODY) / MIB:.0f} MiB of answers")

    def test_stats_that_are_not_read(self):
        command = b"stats\r\n"
        _, client, sent = self.check(command)
        for _ in range(sent // len(command)):
            answer = client.answer()
            self.assertTrue(answer.startswith(b"OK "), answer[:80])

    def test_half_closed_client_that_does_not_read(self):
        broker, client, _ = self.check(b"peek 1\r\n")
        client.half_close()
        self.assert_idle(broker, self.connect_idler(broker))
        self.assert_served(self.connect(broker))

    def test_client_that_does_not_read_and_leaves_costs_nothing_more(self):
        broker, client, _ = self.check(b"stats\r\n")
        watcher = self.connect(broker)
        earlier = int(watcher.stats()["current-connections"])
        client.close()
        self.until(lambda: int(watcher.stats()["current-connections"]) == earlier - 1, 60,
                   "the connection ends")
