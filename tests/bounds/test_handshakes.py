# SPDX-License-Identifier: MIT
"""Peers that begin TLS and do not come to its end: what they cost, and that others notice nothing."""

import pathlib
import re
import resource
import socket
import ssl
import sys
import tempfile

from case import KIB, MIB, SANITIZED, TANDEMD, BoundsCase

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
# pylint: disable-next=wrong-import-position
from certificates import Authority

LISTENING = re.compile(r" listening address=tls:127\.0\.0\.1:(\d+) protocol=beanstalk")
# The handshakes that server/net/budget.h allows on each event base: of the loop, or of each I/O
# thread.
BEGUN_MAX = 1024
BASES = 2 if pathlib.Path(TANDEMD).name == "tandemd_io2" else 1
BEGUN_BYTES = BASES * 64 * MIB
CROWD = 1500 if SANITIZED else 5000
# The clients of one process and their broker's descriptors have the same limit.
OPEN_FILES = CROWD + 500


class Handshakes(BoundsCase):
    def start_tls(self, *settings):
        folder = tempfile.TemporaryDirectory(prefix="tandem-bounds-")
        self.addCleanup(folder.cleanup)
        authority = Authority(folder.name)
        certificate, key = authority.issue_server().both()
        broker = self.start("beanstalk.listen=127.0.0.1:0, tls:127.0.0.1:0",
                            f"tls.certificate={certificate}", f"tls.key={key}", *settings)
        self.until(lambda: LISTENING.search(broker.log()), 60, "it listens with TLS")
        broker.tls_port = int(LISTENING.search(broker.log()).group(1))
        broker.trusted = ssl.create_default_context(cafile=authority.certificate)
        return broker

    def begin(self, broker, data=b""):
        """A peer that says so much and nothing more."""
        sock = socket.create_connection(("127.0.0.1", broker.tls_port))
        self.addCleanup(sock.close)
        sock.settimeout(60)
        if data:
            sock.sendall(data)
        return sock

    def crowd(self, broker, count, data=b""):
        return [self.begin(broker, data) for _ in range(count)]

    def assert_serves_tls(self, broker):
        with broker.trusted.wrap_socket(self.begin(broker), server_hostname="localhost") as peer:
            peer.sendall(b"list-tube-used\r\n")
            self.assertEqual(peer.recv(100), b"USING default\r\n")

    def check_crowd(self, data, limit):
        """A crowd that says that and nothing more, beside a client that was there before."""
        allow_descriptors(OPEN_FILES)
        broker = self.start_tls("server.handshake_timeout=600")
        quick = self.connect(broker)
        idler = self.connect_idler(broker)
        self.assert_serves_tls(broker)
        before = broker.resident()
        peers = []
        while len(peers) < CROWD:
            peers += self.crowd(broker, 100, data)
            self.assert_served(quick)
        # Each has been looked at when one that came later is served.
        self.assert_serves_tls(broker)
        self.assert_grown_less(f"{CROWD} peers with {len(data)} bytes each",
                               broker.resident() - before, limit)
        self.assert_idle(broker, idler)
        return broker, peers

    def assert_goes_on(self, count):
        """That number is under way: the connection that was served last was among them."""
        self.assertGreaterEqual(count, BEGUN_MAX - 1)
        self.assertLessEqual(count, BASES * BEGUN_MAX)

    def test_peers_that_say_nothing_cost_next_to_nothing(self):
        _, peers = self.check_crowd(b"", CROWD * KIB)
        self.assertEqual(count_of_ended(peers), 0)

    def test_hellos_that_are_never_followed_by_anything_take_bounded_memory(self):
        broker, peers = self.check_crowd(hello(), BEGUN_BYTES + CROWD * KIB)
        ended = count_of_ended(peers)
        self.tell(f"{ended} of {CROWD} were given up for others; log: {broker.complaints()}")
        self.assert_goes_on(CROWD - ended)
        for line in broker.complaints():
            self.assertIn("handshake_failed", line)
            self.assertIn('why="too many handshakes at once"', line)

    def test_halves_of_hellos_take_bounded_memory(self):
        whole = hello()
        _, peers = self.check_crowd(whole[:len(whole) // 2], BEGUN_BYTES + CROWD * KIB)
        self.assert_goes_on(CROWD - count_of_ended(peers))

    def test_crowd_that_finishes_its_handshakes_is_served_whole(self):
        broker = self.start_tls("server.handshake_timeout=600")
        quick = self.connect(broker)
        pending = [Shaking(self.begin(broker), broker.trusted) for _ in range(200)]
        while pending:
            pending = [peer for peer in pending if not peer.step()]
            self.assert_served(quick)
        self.assertEqual(broker.complaints(), [])

    def test_handshake_that_is_not_made_in_its_time_is_given_up(self):
        # Long enough for the one that is made.
        broker = self.start_tls("server.handshake_timeout=10")
        for peer in (*self.crowd(broker, 50), *self.crowd(broker, 50, hello())):
            drain(peer)
        self.until(broker.complaints, 60, "the log has a line")
        self.assertRegex(broker.complaints()[0], "handshake_failed peer=127.0.0.1:[0-9]+ "
                         "protocol=beanstalk why=timeout")
        self.assert_serves_tls(broker)

    def test_sockets_at_their_handshake_count_as_connections(self):
        broker = self.start_tls("server.max_connections=10", "server.handshake_timeout=600")
        settled = self.connect(broker)
        self.assert_served(settled)
        peers = self.crowd(broker, 9)
        self.until(lambda: self.limit_is_told(broker, settled), 60, "the limit is reached")
        late = self.connect(broker)
        late.send(b"list-tube-used\r\n")
        self.assertFalse(late.is_answered())
        peers.pop().close()
        self.assertEqual(late.answer(), b"USING default\r\n")

    def limit_is_told(self, broker, settled):
        """The log hears of it when the broker has something to do."""
        self.assert_served(settled)
        return broker.complaints("connections_limit")

    def test_end_of_the_process_closes_them(self):
        broker = self.start_tls("server.handshake_timeout=600")
        peers = self.crowd(broker, 20) + self.crowd(broker, 20, hello())
        self.assert_serves_tls(broker)
        self.assertEqual(broker.stop(), 0)
        for peer in peers:
            drain(peer)


class Shaking:
    """A client's handshake, a step at a time, so that many are under way at once."""

    def __init__(self, sock, context):
        sock.setblocking(False)
        self.peer = context.wrap_socket(sock, server_hostname="localhost",
                                        do_handshake_on_connect=False)

    def step(self):
        """Whether it is made."""
        try:
            self.peer.do_handshake()
        except ssl.SSLWantReadError:
            return False
        return True


def hello():
    """The first bytes of a client."""
    outgoing = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), outgoing,
                                                   server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def drain(peer):
    """Reads to the end, which comes."""
    try:
        while peer.recv(1 << 16):
            pass
    except ConnectionResetError:
        pass


def count_of_ended(peers):
    return sum(has_ended(peer) for peer in peers)


def has_ended(peer):
    peer.setblocking(False)
    try:
        while peer.recv(1 << 16):
            pass
    except BlockingIOError:
        return False
    except ConnectionResetError:
        pass
    return True


def allow_descriptors(count):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(count, 1024), hard), hard))
