# SPDX-License-Identifier: MIT
"""More connections than there may be: the others wait, are served by themselves when there is room,
and the log has one line for as long as it lasts."""

import os
import resource
import socket
import tempfile
import time

from case import ANSWER, QUESTION, BoundsCase

OPEN_FILES = 64
LIMIT = 10
# Of these, two are each port's own.
SHARED = 128


class Crowd(BoundsCase):
    def join(self, broker, count):
        """That number of clients, each of which has sent a request."""
        clients = [self.connect(broker) for _ in range(count)]
        for client in clients:
            client.send(QUESTION)
        return clients

    def split(self, clients, count):
        """The first `count` of them must be served, and the others not: they came in that order."""
        inside, outside = clients[:count], clients[count:]
        self.assert_answered(inside)
        self.assertFalse(any(client.is_answered() for client in outside))
        return inside, outside

    def assert_answered(self, clients):
        for client in clients:
            self.assertEqual(client.answer(), ANSWER)

    def leave(self, clients):
        for client in clients:
            client.close()


class Descriptors(Crowd):
    def start_short_of_descriptors(self):
        """A broker that thought it had more: accepting fails before it expects that."""
        broker = self.start()
        idler = self.connect_idler(broker)
        resource.prlimit(broker.process.pid, resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
        return broker, idler

    def open_too_many(self, broker, idler):
        """The clients that are served, and the other clients."""
        clients = self.join(broker, 2 * OPEN_FILES)
        self.assert_idle(broker, idler)
        served = sum(client.is_answered() for client in clients)
        self.assertGreater(served, OPEN_FILES // 4)
        self.assertLess(served, OPEN_FILES)
        return self.split(clients, served)

    def let_all_in(self, inside, outside):
        """Those who are served leave, again and again, and nothing else is done."""
        while inside:
            self.leave(inside)
            inside, outside = outside[:len(inside)], outside[len(inside):]
            self.assert_answered(inside)

    def test_connections_beyond_the_descriptors_wait_and_are_served_when_others_leave(self):
        broker = self.start(open_files=OPEN_FILES)
        self.check_waiting(broker, self.connect_idler(broker))

    def test_connections_wait_and_are_served_when_accepting_fails(self):
        self.check_waiting(*self.start_short_of_descriptors())

    def check_waiting(self, broker, idler):
        inside, outside = self.open_too_many(broker, idler)
        self.tell(f"{len(inside)} of {len(inside + outside)} connections are served with "
                  f"{OPEN_FILES} descriptors; log: {broker.complaints()}")
        self.assert_complaints(broker, 1)
        for client in inside:
            self.assert_served(client)
        self.let_all_in(inside, outside)
        self.assert_idle(broker, idler)

    def test_each_episode_without_descriptors_is_one_line_of_the_log(self):
        broker = self.start(open_files=OPEN_FILES)
        self.check_episodes(broker, self.connect_idler(broker))

    def test_each_episode_of_failing_accepts_is_one_line_of_the_log(self):
        self.check_episodes(*self.start_short_of_descriptors())

    def assert_complaints(self, broker, count):
        self.catch_up(broker)
        complaints = broker.complaints()
        self.assertEqual(len(complaints), count, complaints)

    def check_episodes(self, broker, idler):
        for _ in range(2):
            # An episode ends when no listener rests after a failed accept(), which takes less than
            # a second. The limit on connections may have been logged meanwhile, too.
            self.assert_idle(broker, idler)
            self.catch_up(broker)
            before = len(broker.complaints())
            inside, outside = self.open_too_many(broker, idler)
            self.assert_complaints(broker, before + 1)
            self.let_all_in(inside, outside)
            self.until(lambda: idler.stats()["current-connections"] == "1", 60, "all leave")


class MaxConnections(Crowd):
    def test_connections_beyond_the_limit_wait_until_one_leaves(self):
        broker = self.start(f"server.max_connections={LIMIT}")
        idler = self.connect_idler(broker)
        clients = self.join(broker, 2 * LIMIT)
        self.assert_idle(broker, idler)
        inside, outside = self.split(clients, LIMIT - 1)
        self.tell(f"log: {broker.complaints()}")
        self.until(lambda: broker.complaints("connections_limit "), 60, "the log has a line")
        self.assertEqual(len(broker.complaints("connections_limit ")), 1)
        for client in inside:
            self.assert_served(client)
        self.leave(inside[:1])
        self.assert_answered(outside[:1])
        self.assert_idle(broker, idler)
        self.split(outside[1:], 0)
        self.leave(inside[1:])
        self.assert_answered(outside[1:LIMIT - 1])
        self.assertEqual(len(broker.complaints()), len(broker.complaints("connections_limit ")))

    def test_connections_that_fill_one_port_leave_room_at_the_others(self):
        with tempfile.TemporaryDirectory(prefix="tandem-bounds-") as folder:
            path = os.path.join(folder, "socket")
            broker = self.start(f"server.max_connections={SHARED}", "gearman.listen=127.0.0.1:0",
                                "http.listen=127.0.0.1:0", "admin.listen=127.0.0.1:0",
                                f"beanstalk.listen=127.0.0.1:0 unix:{path}")
            idler = self.connect_idler(broker)
            clients = self.join(broker, SHARED)
            self.until(lambda: broker.complaints("connections_limit "), 60, "the log has a line")
            self.assert_idle(broker, idler)
            inside = 1 + sum(client.is_answered() for client in clients)
            self.tell(f"connections at the one port: {inside} of {SHARED}")
            # Two for each of the other three front-ends, and four for operators.
            self.assertEqual(inside, SHARED - 3 * (SHARED // 64) - 4)
            for family, address, question, expected in (
                    (socket.AF_UNIX, path, b"list-tube-used\r\n", b"USING default"),
                    (socket.AF_INET, ("127.0.0.1", broker.port_of("gearman")), b"version\n", b"OK"),
                    (socket.AF_INET, ("127.0.0.1", broker.port_of("http")),
                     b"HEAD / HTTP/1.0\r\n\r\n", b"HTTP/1."),
                    (socket.AF_INET, ("127.0.0.1", broker.port_of("admin")),
                     b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"HTTP/1.1 200 ")):
                with socket.socket(family) as other:
                    other.settimeout(60)
                    other.connect(address)
                    other.sendall(question)
                    self.assertTrue(other.recv(100).startswith(expected), address)

    def test_a_limit_that_is_met_again_and_again_is_logged_once_a_second(self):
        broker = self.start(f"server.max_connections={LIMIT}")
        idler = self.connect_idler(broker)
        began_at = time.monotonic()
        for _ in range(20):
            clients = self.join(broker, LIMIT - 1)
            self.assert_answered(clients)
            self.leave(clients)
            self.until(lambda: idler.stats()["current-connections"] == "1", 60, "all leave")
        self.until(lambda: broker.complaints("connections_limit "), 60, "the log has a line")
        lines = len(broker.complaints("connections_limit "))
        self.assertLessEqual(lines, time.monotonic() - began_at + 1)
