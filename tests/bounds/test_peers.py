# SPDX-License-Identifier: MIT
"""Peers that stop halfway, that are gone, or that speak something else."""

import pathlib
import socket
import ssl
import struct

from case import ANSWER, JOBS, QUESTION, BoundsCase, chunks_of

# The longest line that is looked at whole has 224 bytes, its end included.
LINE_LENGTHS = [*range(221, 228), 447, 448, 449, 5000]
PIPELINED = max(JOBS // 10, 10000)
TIMER_KEEPALIVE = "02"
# Hundredths of a second until a peer that says nothing is probed.
PROBED_AFTER = 6000


class HalfClosed(BoundsCase):
    def test_half_closed_client_gets_every_answer_and_then_the_end(self):
        broker = self.start()
        client = self.connect(broker)
        # The requests must fit into the sockets' buffers: the client reads after it has sent all.
        asked = client.fill(QUESTION, PIPELINED * len(QUESTION))
        missing = -asked % len(QUESTION)
        client.send(QUESTION[len(QUESTION) - missing:])
        client.send(b"reserve\r\n")
        client.half_close()
        whole = (asked + missing) // len(QUESTION)
        self.tell(f"{whole} commands were sent before the end")
        self.assertEqual(client.rest(), ANSWER * whole + b"TIMED_OUT\r\n")

    def test_half_closed_client_that_was_waiting_is_told_so(self):
        broker = self.start()
        watcher = self.connect(broker)
        client = self.connect(broker)
        client.send(b"reserve\r\n")
        self.until(lambda: watcher.stats()["current-waiting"] == "1", 60, "it waits")
        client.half_close()
        self.assertEqual(client.rest(), b"TIMED_OUT\r\n")

    def test_client_that_ends_in_the_middle_of_a_body_leaves_nothing(self):
        broker = self.start()
        client = self.connect(broker)
        client.send(b"put 0 0 60 1000\r\nhalf of it")
        client.half_close()
        self.assertEqual(client.rest(), b"")
        self.assertEqual(self.connect(broker).stats()["total-jobs"], "0")


class Gone(BoundsCase):
    def test_jobs_of_a_peer_that_resets_the_connection_are_ready_again(self):
        broker = self.start()
        client = self.connect(broker)
        client.ask("put 0 0 600 1\r\nx")
        client.ask("reserve")
        client.send(b"reserve\r\n")
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
        self.assertEqual(self.connect(broker).ask("reserve-with-timeout 20"),
                         b"RESERVED 1 1\r\nx\r\n")

    def test_every_connection_is_asked_now_and_then_whether_the_peer_still_lives(self):
        broker = self.start()
        clients = [self.connect(broker) for _ in range(3)]
        for client in clients:
            self.assert_served(client)
        ports = {client.sock.getsockname()[1] for client in clients}
        self.until(lambda: [self.is_probed_soon(timer)
                            for timer in timers_towards(broker.port, ports)] == [True] * 3, 60,
                   "no timer but that of keepalive runs")

    @staticmethod
    def is_probed_soon(timer):
        kind, left = timer.split(":")
        return kind == TIMER_KEEPALIVE and int(left, 16) <= PROBED_AFTER


class OtherProtocols(BoundsCase):
    def assert_closed_unanswered(self, broker, data):
        client = self.connect(broker)
        client.send(data)
        self.assertEqual(client.rest(), b"", data[:40])

    def test_http_request_of_any_length_is_closed_unanswered(self):
        broker = self.start()
        for version in ("1.0", "1.1"):
            for length in LINE_LENGTHS:
                line = f"POST / HTTP/{version}\r\n"
                line = line.replace("/ ", "/" + "a" * (length - len(line)) + " ")
                self.assertEqual(len(line), length)
                self.assert_closed_unanswered(
                    broker, line.encode() + b"Content-Length: 22\r\n\r\nput 0 0 60 1\r\nx\r\n")
        self.assertEqual(self.connect(broker).stats()["total-jobs"], "0")

    def test_http_request_that_comes_in_pieces_is_closed_unanswered(self):
        broker = self.start()
        client = self.connect(broker)
        watcher = self.connect(broker)
        for piece in (b"GET /" + b"a" * 300, b" HTTP/1", b".1\r", b"\nput 0 0 60 1\r\nx\r\n"):
            client.send(piece)
            self.assert_served(watcher)
        self.assertEqual(client.rest(), b"")
        self.assertEqual(watcher.stats()["total-jobs"], "0")

    def test_tls_hello_is_closed_unanswered(self):
        outgoing = ssl.MemoryBIO()
        context = ssl.create_default_context()
        with self.assertRaises(ssl.SSLWantReadError):
            context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="localhost").do_handshake()
        hello = outgoing.read()
        broker = self.start()
        self.assert_closed_unanswered(broker, hello)
        self.assert_closed_unanswered(broker, hello[:1])
        self.assert_served(self.connect(broker))

    def test_bytes_without_a_line_end_are_not_kept(self):
        broker = self.start()
        client = self.connect(broker)
        watcher = self.connect(broker)
        self.assert_served(client)
        before = broker.resident()
        for chunk in chunks_of(b"z" * 64, 300000):
            client.send(chunk)
        self.assert_served(watcher)
        self.assert_grown_less("a line without end", broker.resident() - before, 1 << 20)
        self.assertEqual(client.ask("") + client.ask("list-tube-used"), b"BAD_FORMAT\r\n" + ANSWER)


def timers_towards(port, peers):
    """The timers that run for the broker's side of the connections from those ports."""
    lines = pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]
    ends = [(line.split()[1], line.split()[2], line.split()[5]) for line in lines]
    return [timer for local, remote, timer in ends
            if port_of(local) == port and port_of(remote) in peers]


def port_of(address):
    return int(address.split(":")[1], 16)
