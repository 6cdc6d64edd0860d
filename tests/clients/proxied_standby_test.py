#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two tandemd that share a journal in PostgreSQL: the standby names its clients to the owner by the
PROXY protocol, if the owner believes it. Clients and forgers have loopback addresses of their own."""

import http.client
import json
import os
import pathlib
import socket
import ssl
import subprocess
import sys
import tempfile
import unittest

from broker import SECONDS, Broker, loopback

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import certificates
import postgres

TANDEMD = os.environ["TANDEMD"]
HEAD = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\1\2\3\x0a\0\0\1\4\xd2\x2c\x24"


class Standby(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.authority = certificates.Authority(folder.name)
        cls.pair = cls.authority.issue("server", certificates.LOCAL)
        cls.cluster = postgres.Cluster()
        cls.addClassCleanup(cls.cluster.close)
        cls.cluster.make().start()

    def begin(self, owner=(), standby=()):
        """Starts both, with these settings."""
        self.settings = [*loopback(), "beanstalk.listen=127.0.0.1:0 tls:127.0.0.1:0 proxy:127.0.0.1:0",
                         f"tls.certificate={self.pair.certificate}", f"tls.key={self.pair.key}",
                         "journal.store=postgres", f"journal.postgres={self.cluster.place()}",
                         f"journal.shard={self.id().rsplit('.', 1)[1][:32]}",
                         "journal.address=127.0.0.1", "server.proxies=127.0.0.1"]
        sets = [word for setting in self.settings for word in ("--set", setting)]
        subprocess.run([TANDEMD, "--config", os.devnull, *sets, "--init-store"], check=True,
                       stdout=subprocess.DEVNULL)
        self.owner = self.start(owner)
        self.owner.expect("took_over")
        self.standby = self.start(standby)
        self.standby.expect("standing_by")
        self.standby.expect("proxy_to addresses=.*beanstalk=")

    def start(self, settings):
        broker = Broker(TANDEMD, [*self.settings, *settings])
        self.addCleanup(lambda: self.assertEqual(broker.stop(), 0))
        return broker

    def connect(self, broker, which=0, source="127.0.0.1"):
        """By the plain, the encrypted or the proxies' address."""
        host, _, port = broker.addresses["beanstalk"][which].rpartition(":")
        sock = socket.create_connection((host.removeprefix("proxy:"), int(port)), timeout=SECONDS,
                                        source_address=(source, 0))
        self.addCleanup(sock.close)
        return sock

    def encrypted(self, sock):
        context = ssl.create_default_context(cafile=str(self.authority.certificate))
        sock = context.wrap_socket(sock, server_hostname="localhost")
        self.addCleanup(sock.close)
        return sock

    def ask(self, sock, said, told="USING default\r\n"):
        sock.sendall(said)
        heard = b""
        while len(heard) < len(told) and (more := sock.recv(4096)):
            heard += more
        self.assertEqual(heard.decode(), told)

    def peers(self):
        """The peers of the owner's beanstalk connections, without ports."""
        host, _, port = self.owner.addresses["admin"][0].rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=SECONDS)
        connection.request("GET", "/api/v1/connections?protocol=beanstalk")
        with connection.getresponse() as response:
            shown = json.loads(response.read())["connections"]
        connection.close()
        return sorted(one["peer"].rpartition(":")[0] for one in shown)

    def test_the_owner_sees_the_clients_of_the_standby(self):
        self.begin()
        kept = [self.connect(self.standby, source="127.0.0.5"),
                self.encrypted(self.connect(self.standby, 1, source="127.0.0.6"))]
        for sock in kept:
            self.ask(sock, b"list-tube-used\r\n")
        # A client that another proxy has named to the standby.
        named = self.connect(self.standby, 2)
        self.ask(named, HEAD + b"list-tube-used\r\n")
        self.assertEqual(self.peers(), ["10.1.2.3", "127.0.0.5", "127.0.0.6"])

    def test_clients_of_the_owner_need_no_head(self):
        self.begin()
        for sock in (self.connect(self.owner), self.encrypted(self.connect(self.owner, 1)),
                     self.connect(self.owner, source="127.0.0.7")):
            self.ask(sock, b"list-tube-used\r\n")

    def test_a_client_of_the_owner_may_say_nothing_for_longer_than_a_handshake_takes(self):
        self.begin(owner=["server.handshake_timeout=1"])
        silent = self.connect(self.owner)
        silent.settimeout(1.5)
        with self.assertRaises(TimeoutError):
            silent.recv(1)
        self.ask(silent, b"list-tube-used\r\n")

    def test_heads_from_elsewhere_are_not_believed(self):
        self.begin()
        self.ask(self.connect(self.owner, source="127.0.0.9"), HEAD + b"list-tube-used\r\n",
                 "BAD_FORMAT\r\n")
        self.assertTrue(self.owner.expect("proxy_head_unexpected .*peer=127.0.0.9"))
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            sock = self.connect(self.owner, 1, source="127.0.0.9")
            sock.sendall(HEAD)
            self.encrypted(sock)
        self.assertTrue(self.owner.expect("handshake_failed .*the PROXY protocol"))

    def test_an_owner_that_does_not_believe_the_standby_gets_no_head(self):
        self.begin(owner=["server.proxies=10.0.0.1"])
        self.ask(self.connect(self.standby, source="127.0.0.5"), b"list-tube-used\r\n")
        self.assertEqual(self.peers(), ["127.0.0.1"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
