# SPDX-License-Identifier: MIT
"""The size of a body that was announced costs nothing before the body comes."""

from case import KIB, MIB, BoundsCase

LARGEST = 256 * MIB
CLIENTS = 200
# Beside the bytes that came: what a connection takes that is in the middle of a body.
RESIDENT_LIMIT = 16 * KIB
VIRTUAL_LIMIT = 64 * MIB


class Declared(BoundsCase):
    def check(self, sent):
        """Each client announces the largest body and sends so much of it."""
        broker = self.start(f"beanstalk.max_job_size={LARGEST}")
        clients = [self.connect(broker) for _ in range(CLIENTS)]
        watcher = self.connect(broker)
        for client in clients:
            self.assert_served(client)
        before = broker.resident(), broker.virtual()
        for client in clients:
            client.send(b"put 0 0 60 %d\r\n" % LARGEST + b"x" * sent)
        self.until(lambda: watcher.stats()["current-producers"] == str(CLIENTS), 60,
                   "all are heard")
        self.assert_idle(broker, self.connect_idler(broker))
        self.tell(f"{CLIENTS} bodies of {LARGEST // MIB} MiB are announced, {sent} bytes come")
        self.assert_grown_less("resident memory", broker.resident() - before[0],
                               CLIENTS * (RESIDENT_LIMIT + 2 * sent))
        self.assert_grown_less("address space", broker.virtual() - before[1], VIRTUAL_LIMIT)
        return broker, clients

    def test_largest_bodies_announced_and_not_sent(self):
        self.check(0)

    def test_largest_bodies_of_which_a_kilobyte_comes(self):
        broker, clients = self.check(KIB)
        watcher = self.connect(broker)
        for client in clients:
            client.close()
        self.until(lambda: watcher.stats()["current-producers"] == "0", 60, "all leave")
        self.assertEqual(watcher.stats()["total-jobs"], "0")
