#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Peers that make no handshake: plain text, TLS where none is spoken, garbage, silence, half of
one. Each costs a bounded time and memory, and no other client waits for it."""

import contextlib
import random
import resource
import socket
import ssl
import struct
import time

import bed
from bed import FAILED, PROTOCOLS, Records, TlsCase, loopback, why

PLAIN = {
    "beanstalk": b"put 0 0 60 1\r\nx\r\n",
    "gearman": b"\0REQ\0\0\0\x10\0\0\0\1x",
    "http": b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
}
# Longer than any test takes: what it ends is not what the test looks at.
NEVER = "server.handshake_timeout=3600"


class HostileTest(TlsCase):
    def hello(self, context=None):
        """The first bytes of a handshake."""
        records = Records(None, context or self.context())
        with contextlib.suppress(ssl.SSLWantReadError):
            records.tls.do_handshake()
        return records.staged()

    def until_descriptors(self, broker, count):
        give_up_at = time.monotonic() + bed.SECONDS
        while bed.descriptors(broker) != count:
            self.assertLess(time.monotonic(), give_up_at, "descriptors are left open")


class WrongPortTest(HostileTest):
    def test_plain_text_on_a_tls_port_is_ended_at_once_and_the_log_says_so(self):
        for protocol, text in PLAIN.items():
            broker = self.start(NEVER)
            connection = self.connect_plain(broker, protocol)
            connection.sendall(text)
            self.assert_ended(connection)
            line = broker.expect(f"{FAILED}.*protocol={protocol}.*").string
            self.assertEqual(why(line), "plain text on a TLS port")
            self.assertIn(f"peer={connection.getsockname()[0]}", line)
            self.assert_served(broker)

    def test_tls_on_a_plain_port_is_ended_at_once_and_the_log_says_so(self):
        for protocol in PROTOCOLS:
            broker = self.start(listen=loopback())
            with self.assertRaises((ssl.SSLError, ConnectionError)):
                self.connect(broker, protocol)
            line = broker.expect(" warn tls_on_plain_port .*").string
            self.assertIn(f"protocol={protocol}", line)


    def test_one_byte_is_enough_to_tell(self):
        broker = self.start(NEVER)
        connection = self.connect_plain(broker)
        connection.sendall(b"p")
        self.assert_ended(connection)
        self.assertEqual(why(broker.expect(FAILED + ".*").string), "plain text on a TLS port")


class HalfTest(HostileTest):
    def test_garbage_is_ended(self):
        broker = self.start(NEVER)
        chance = random.Random(16)
        before = bed.descriptors(broker)
        for length in (1, 2, 5, 6, 100, 20000):
            for start in (b"", b"\x16", b"\x16\x03\x01", b"\x16\x03\x01\xff\xff", b"\x80\x2e\x01",
                          b"\x17\x03\x03\x00\x05", b"\x15\x03\x01\x00\x02\x02\x28",
                          b"\x16\x03\x01\x00\x00" * 50):
                connection = self.connect_plain(broker)
                # It may have ended before all is sent.
                with contextlib.suppress(OSError):
                    connection.sendall(start + chance.randbytes(length))
                    connection.shutdown(socket.SHUT_WR)
                self.assert_ended(connection)
                connection.close()
        self.assert_served(broker)
        self.until_descriptors(broker, before)

    def test_a_peer_that_leaves_half_way_leaves_nothing(self):
        broker = self.start(NEVER)
        before = bed.descriptors(broker)
        length = len(self.hello())
        for count in [*range(0, 12), *range(12, length, 40), length - 1, length]:
            for reset in (False, True):
                connection = self.connect_plain(broker)
                connection.sendall(self.hello()[:count])
                if reset:  # instead of an end
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                          struct.pack("ii", 1, 0))
                connection.close()
        self.assert_served(broker)
        self.until_descriptors(broker, before)

    def test_a_peer_that_leaves_in_its_second_flight_leaves_nothing(self):
        broker = self.start(NEVER)
        before = bed.descriptors(broker)
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for count in (0, 1, 5, 6, 20, 60):
                client = Records(self.connect_plain(broker),
                                 self.context(least=version, most=version))
                with contextlib.suppress(ssl.SSLWantReadError):
                    client.tls.do_handshake()
                client.flush()
                while not client.outgoing.pending:
                    client.receive()
                    with contextlib.suppress(ssl.SSLWantReadError):
                        client.tls.do_handshake()
                client.connection.sendall(client.staged()[:count])
                client.connection.close()
        self.assert_served(broker)
        self.until_descriptors(broker, before)

    # By TLS 1.3 a client may send with its Finished, and leave at once: its job was accepted.
    def test_a_job_that_comes_with_the_last_of_the_handshake_is_put(self):
        broker = self.start(NEVER)
        client = Records(self.connect_plain(broker), self.context())
        with contextlib.suppress(ssl.SSLWantReadError):
            client.tls.do_handshake()
        client.flush()
        while True:
            client.receive()
            with contextlib.suppress(ssl.SSLWantReadError):
                client.tls.do_handshake()
                break
        client.tls.write(b"put 0 0 60 5\r\nhello\r\nquit\r\n")
        client.flush()
        self.assertEqual(client.rest(), b"INSERTED 1\r\n")
        self.assertEqual(self.beanstalk(broker).body(b"reserve-with-timeout 60"), b"hello")


class StallTest(HostileTest):
    def test_who_does_not_finish_in_time_is_ended_and_the_log_says_so(self):
        for data in (b"", self.hello()[:1], self.hello()[:100], self.hello()):
            # Long enough for who is through.
            broker = self.start("server.handshake_timeout=10")
            settled = self.beanstalk(broker)
            connection = self.connect_plain(broker)
            connection.sendall(data)
            self.assert_ended(connection)
            self.assertEqual(why(broker.expect(f"{FAILED}.*protocol=beanstalk.*").string),
                             "timeout")
            # After the handshake, the time is not limited.
            self.assertEqual(settled.ask(b"list-tube-used"), b"USING default")

    def test_drops_of_a_handshake_do_not_lengthen_its_time(self):
        # A second passes while the bytes last, on a slow machine at the slower pace only.
        for pace in (0.02, 0.2):
            broker = self.start("server.handshake_timeout=1")
            if self.drop(self.connect_plain(broker), self.hello(), pace):
                self.assertEqual(why(broker.expect(FAILED).string), "timeout")
                return
        self.fail("it goes on for as long as bytes come")

    def drop(self, connection, data, pace):
        """Byte by byte; whether the connection has ended before the last one."""
        for at in range(len(data)):
            if bed.has_ended(connection, pace):
                return True
            # It may end now.
            with contextlib.suppress(ConnectionError):
                connection.sendall(data[at:at + 1])
        return False

    def test_others_are_served_beside_hundreds_that_are_not_through(self):
        broker = self.start(NEVER)
        settled = self.beanstalk(broker)
        hello = self.hello()
        stalled = [self.connect_plain(broker, PROTOCOLS[i % 3]) for i in range(300)]
        for i, connection in enumerate(stalled):
            connection.sendall((b"", hello[:50], hello)[i % 3])
            if i % 30 == 0:
                self.assertEqual(settled.ask(b"list-tube-used"), b"USING default")
        self.assert_served(broker)

    def test_who_is_not_through_counts_as_a_connection(self):
        broker = self.start("server.max_connections=3", NEVER)
        stalled = [self.connect_plain(broker) for _ in range(3)]
        for connection in stalled:
            connection.sendall(self.hello())
            self.assertTrue(connection.recv(1))
        last = self.connect_plain(broker)
        last.sendall(self.hello())
        self.assertFalse(bed.has_answered(last, 0.2))
        stalled[0].close()
        self.assertTrue(bed.has_answered(last, bed.SECONDS))

    def test_when_descriptors_run_out_clients_wait_until_some_are_free(self):
        broker = self.start(NEVER)
        settled = self.beanstalk(broker)
        free = bed.descriptors(broker) + 5
        resource.prlimit(broker.process.pid, resource.RLIMIT_NOFILE, (free, free))
        hello = self.hello()
        stalled = [self.connect_plain(broker) for _ in range(10)]
        for connection in stalled:
            connection.sendall(hello)
        self.assertEqual(settled.ask(b"list-tube-used"), b"USING default")
        for connection in stalled:
            connection.close()
        self.assert_served(broker)

    def test_the_broker_does_not_wait_for_handshakes_when_it_stops(self):
        broker = self.start(NEVER)
        settled = self.beanstalk(broker)
        stalled = [self.connect_plain(broker, protocol) for protocol in PROTOCOLS]
        for connection in stalled:
            connection.sendall(self.hello())
            self.assertTrue(connection.recv(1))
        broker.process.terminate()
        for connection in stalled:
            self.assert_ended(connection)
        self.assertEqual(settled.line(), b"")


if __name__ == "__main__":
    bed.main()
