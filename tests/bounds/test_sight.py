# SPDX-License-Identifier: MIT
"""The cost of operators to the broker and its clients, with very many queues. Times are
printed and not judged: the machine may have other things to do."""

import os
import re
import resource

import attacks
from broker import allow_open_files
from case import JOBS, MIB, SANITIZED, BoundsCase, chunks_for
from operators import Looker, Operator
from quick import Quick
from test_latency import BEGIN_SECONDS, Attack

SECONDS = float(os.environ["BOUNDS_SECONDS"])
QUEUES = max(JOBS // 10, 5000)
SCRAPERS = 64
IDLE = 2000 if SANITIZED else 10000
# Of the broker and of this process, beside the connections.
SPARE_FILES = 200
SLOW_TURN = 5  # milliseconds
# The smallest receive buffer, for a peer that does not read.
RECEIVE_BUFFER = 4096
# The samples that are kept for their readers, and the overhead of the allocator.
MOMENTS_LIMIT = 24 * MIB
JOBS_READY = re.compile(rb'^tandem_jobs\{.*state="ready".*\} (\d+)$', re.M)


class Sight(BoundsCase):
    def begin(self, *settings):
        """A broker with very many queues, each with a job."""
        broker = self.start("gearman.listen=127.0.0.1:0", "admin.listen=127.0.0.1:0",
                            f"server.slow_turn={SLOW_TURN}", *settings)
        self.connect(broker).pipeline(
            chunks_for(range(QUEUES), b"use queue-%d\r\nput 0 0 600 1\r\nx\r\n"), 2 * QUEUES)
        self.filled = len(broker.complaints("slow_turn"))
        return broker

    def operator(self, broker):
        operator = Operator(broker.port_of("admin"))
        self.addCleanup(operator.close)
        return operator

    def tell_slow_turns(self, broker):
        slow = [int(us) for line in broker.complaints("slow_turn")[self.filled:]
                for us in re.findall(r" us=(\d+)", line)]
        self.tell(f"turns above {SLOW_TURN} ms: {len(slow)}, the longest {max(slow, default=0)} us")

    def measure_beside(self, attack):
        broker = self.begin()
        quick = Quick(broker)
        self.addCleanup(quick.close)
        alone = quick.measure(SECONDS)
        before = broker.resident()
        asking = Attack(broker, attack, ("admin",))
        try:
            self.until(lambda: asking.has_begun(2), BEGIN_SECONDS, "it is answered")
            # Once more, from one beginning to the next.
            begun = asking.begun.value
            beside = quick.measure(SECONDS, lambda: asking.has_begun(begun + 2))
            self.assertTrue(asking.process.is_alive(), "it was refused")
        finally:
            asking.stop()
        self.tell(f"{attack.__doc__} {QUEUES} queues")
        for kind in Quick.KINDS:
            self.tell(f"  {kind:16}alone   {alone[kind]}")
            self.tell(f"  {kind:16}beside  {beside[kind]}")
        self.tell_slow_turns(broker)
        self.assert_grown_less("what it took", broker.resident() - before, MOMENTS_LIMIT)

    def test_scrapes_of_very_many_queues(self):
        self.measure_beside(attacks.scrapes)

    def test_lists_of_very_many_queues(self):
        self.measure_beside(attacks.pages)

    def test_searches_of_very_many_queues(self):
        self.measure_beside(attacks.searches)

    def test_events_of_very_many_queues(self):
        self.measure_beside(attacks.looks)

    def assert_exact(self, metrics):
        """Those with a name and the rest are together as many as there are."""
        self.assertEqual(sum(map(int, JOBS_READY.findall(metrics))), QUEUES)

    def test_many_scrapers_at_once_are_all_told_everything(self):
        broker = self.begin()
        self.assert_exact(self.operator(broker).get("/metrics"))
        before = broker.resident()
        scrapers = [self.operator(broker) for _ in range(SCRAPERS)]
        for scraper in scrapers:
            scraper.ask("/metrics")
        self.assert_served(self.connect(broker))
        for scraper in scrapers:
            status, metrics = scraper.answer()
            self.assertEqual(status, 200)
            self.assert_exact(metrics)
        self.tell_slow_turns(broker)
        self.assert_grown_less(f"{SCRAPERS} scrapes at once", broker.resident() - before,
                               MOMENTS_LIMIT)

    def check_unread(self, path):
        """Many ask and do not read; the others are told."""
        broker = self.begin()
        idler = self.connect_idler(broker)
        operator = self.operator(broker)
        self.assert_exact(operator.get("/metrics"))
        before = broker.resident()
        deaf = []
        for _ in range(SCRAPERS):
            deaf.append(Looker(broker.port_of("admin"), path, RECEIVE_BUFFER))
            self.addCleanup(deaf[-1].close)
            # I/O threads do not keep the order of connections, and the last ones may be refused.
            if len(deaf) == 1:
                self.assertEqual(deaf[0].begin(), b"HTTP/1.1 200")
        for _ in range(3):
            self.assert_exact(operator.get("/metrics"))
        self.assert_idle(broker, idler)
        self.assert_grown_less(f"{SCRAPERS} unread answers", broker.resident() - before,
                               MOMENTS_LIMIT)
        for looker in deaf:
            looker.close()
        self.assert_exact(operator.get("/metrics"))
        self.assert_idle(broker, idler)
        self.tell_slow_turns(broker)

    def test_metrics_that_are_not_read(self):
        self.check_unread("/metrics")

    def test_pages_that_are_not_read(self):
        self.check_unread("/api/v1/queues?limit=1000")

    def test_events_that_are_not_read(self):
        self.check_unread("/api/v1/events?queues=200&sort=-ready")


class Connections(BoundsCase):
    def test_ten_thousand_connections_of_operators_take_little(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard < IDLE + SPARE_FILES:
            self.skipTest(f"{IDLE} connections need more descriptors than {hard}")
        allow_open_files(None)
        broker = self.start("admin.listen=127.0.0.1:0", "server.io_spread=auto",
                            f"server.slow_turn={SLOW_TURN}")
        self.assertEqual(self.operator(broker).get("/healthz"), b"ok\n")
        before = broker.resident()
        operators = [self.operator(broker) for _ in range(IDLE)]
        for operator in operators:
            operator.get("/healthz")
        each = (broker.resident() - before) / IDLE
        self.tell(f"{each:.0f} bytes for each of {IDLE}")
        if not SANITIZED:
            self.assert_takes_little(each)
        self.assert_served(self.connect(broker))

    def operator(self, broker):
        operator = Operator(broker.port_of("admin"))
        self.addCleanup(operator.close)
        return operator
