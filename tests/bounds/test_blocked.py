# SPDX-License-Identifier: MIT
"""Commands of a client that waits for a job are kept up to a limit, and obeyed in order."""

from case import KIB, MIB, BoundsCase, chunks_for

COMMANDS = 300000
CLIENTS = 100
EACH = MIB
# The input that one blocked connection may have waiting, and the overhead of the allocator.
KEPT_LIMIT = 96 * KIB


class Blocked(BoundsCase):
    def test_megabytes_sent_by_a_blocked_client_are_not_kept(self):
        broker = self.start()
        idler = self.connect_idler(broker)
        blocked = [self.connect(broker, 64 * KIB) for _ in range(CLIENTS)]
        self.assert_served(idler)
        before = broker.resident()
        sent = 0
        for client in blocked:
            client.send(b"reserve\r\n")
            sent += client.fill(b"list-tube-used\r\n" * 4096, EACH)
        self.until(lambda: int(idler.stats()["current-waiting"]) == CLIENTS, 60, "all wait")
        self.assert_idle(broker, idler)
        grown = broker.resident() - before
        self.tell(f"{sent / MIB:.1f} MiB were taken from {CLIENTS} blocked clients")
        self.assert_grown_less("input of blocked clients", grown, CLIENTS * KEPT_LIMIT)
        self.assert_served(self.connect(broker))

    def test_everything_sent_while_blocked_is_answered_in_order(self):
        broker = self.start()
        producer = self.connect(broker)
        client = self.connect(broker)
        client.send(b"reserve\r\n")
        commands = b"".join(chunks_for(range(1000000, 1000000 + COMMANDS), b"use %d\r\n"))
        sent = client.fill(commands, len(commands))
        self.until(lambda: producer.stats()["current-waiting"] == "1", 60, "the client waits")
        self.tell(f"{sent} of {len(commands)} bytes were taken while it was blocked")
        self.assertFalse(client.is_answered())
        producer.ask("put 0 0 60 1\r\nx")
        self.assertEqual(client.answer(), b"RESERVED 1 1\r\nx\r\n")
        expected = iter(chunks_for(range(1000000, 1000000 + COMMANDS), b"USING %d\r\n"))
        self.check_stream(client, commands[sent:], expected)

    def check_stream(self, client, unsent, expected):
        """Sends the rest piece by piece, and compares what comes."""
        for wanted in expected:
            unsent = unsent[client.fill(unsent, len(unsent)):] if unsent else b""
            while len(client.buffer) < len(wanted):
                client.receive_or_fail()
            self.assertTrue(client.buffer.startswith(wanted), bytes(client.buffer[:80]))
            del client.buffer[:len(wanted)]
        self.assertEqual((unsent, bytes(client.buffer)), (b"", b""))
