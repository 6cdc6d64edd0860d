# SPDX-License-Identifier: MIT
"""The links to a database, which the rounds use."""

import socket
import unittest

import link

SECONDS = 60
WHILE = 0.2  # that nothing comes in: a good one is quicker, and a bad one may be missed


class Links(unittest.TestCase):
    def setUp(self):
        self.net = link.Net()
        self.addCleanup(self.net.close)
        self.there = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(self.there.close)
        self.there.settimeout(SECONDS)
        self.link = link.Link(self.net, self.there.getsockname()[1])
        self.addCleanup(self.link.close)
        self.client, self.server = self.connect()

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.link.port), SECONDS)
        server, _ = self.there.accept()
        server.settimeout(SECONDS)
        self.addCleanup(client.close)
        self.addCleanup(server.close)
        return client, server

    def pass_on(self, data, come_from, to):
        come_from.sendall(data)
        self.assertEqual(to.recv(100), data)

    def assert_silent(self, sock):
        sock.settimeout(WHILE)
        with self.assertRaises(TimeoutError):
            sock.recv(1)
        sock.settimeout(SECONDS)

    def test_bytes_pass_in_both_directions(self):
        self.pass_on(b"select", self.client, self.server)
        self.pass_on(b"1 row", self.server, self.client)

    def test_the_end_of_one_direction_leaves_the_other(self):
        self.client.shutdown(socket.SHUT_WR)
        self.assertEqual(self.server.recv(1), b"")
        self.pass_on(b"1 row", self.server, self.client)

    def test_a_cut_resets_both_ends_and_refuses_new_connections(self):
        self.pass_on(b"select", self.client, self.server)
        self.link.cut()
        for sock in (self.client, self.server):
            with self.assertRaises(ConnectionResetError):
                sock.recv(1)
        # The link accepts a connection and resets it, which may come before connect() returns.
        with self.assertRaises(ConnectionResetError):
            refused = socket.create_connection(("127.0.0.1", self.link.port), SECONDS)
            self.addCleanup(refused.close)
            refused.recv(1)
        self.link.heal()
        self.pass_on(b"select", *self.connect())

    def test_what_silence_held_arrives_when_it_is_over(self):
        self.link.silence()
        self.client.sendall(b"select")
        self.server.sendall(b"1 row")
        self.assert_silent(self.server)
        self.assert_silent(self.client)
        self.link.heal()
        self.assertEqual(self.server.recv(100), b"select")
        self.assertEqual(self.client.recv(100), b"1 row")

    def test_answers_alone_are_held(self):
        self.link.silence(link.DEAF)
        self.pass_on(b"select", self.client, self.server)
        self.server.sendall(b"1 row")
        self.assert_silent(self.client)
        self.link.heal()
        self.assertEqual(self.client.recv(100), b"1 row")

    def test_a_cut_ends_what_silence_held(self):
        self.link.silence()
        self.client.sendall(b"select")
        self.assert_silent(self.server)
        self.link.cut()
        with self.assertRaises(ConnectionResetError):
            self.server.recv(1)

    def test_requests_end_while_answers_go_on(self):
        self.pass_on(b"select", self.client, self.server)
        self.link.half_close()
        self.assertEqual(self.server.recv(1), b"")
        self.pass_on(b"1 row", self.server, self.client)
        self.client.sendall(b"select")
        self.assertEqual(self.server.recv(1), b"")

    def test_a_slow_way_is_a_way(self):
        self.link.slow(WHILE)
        self.pass_on(b"select", self.client, self.server)


if __name__ == "__main__":
    unittest.main()
