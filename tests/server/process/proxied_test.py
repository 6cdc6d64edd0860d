# SPDX-License-Identifier: MIT
"""Listeners for proxies that name their clients by the PROXY protocol: who may use them, and whose
address counts from then on. The proxies and the clients are this test, at loopback addresses.

TANDEMD in the environment is tandemd."""

import http.client
import json
import os
import pathlib
import random
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests" / "support"))
sys.path.append(str(ROOT / "tests" / "clients"))
import broker as tandemd  # noqa: E402
import certificates  # noqa: E402

SECONDS = 60  # only what hangs takes so long
SIGNATURE = b"\r\n\r\n\0\r\nQUIT\n"
RULES = """any observe *
net:10.1.2.0/24 submit *
net:2001:db8::/32 submit *
net:127.0.0.0/8 submit local
net:0.0.0.0/0 submit ipv4
"""
PUT = b"use %s\r\nput 0 0 10 1\r\na\r\n"


def line(address, port=1234):
    kind, to = ("TCP6", "::1") if ":" in address else ("TCP4", "10.0.0.1")
    return f"PROXY {kind} {address} {to} {port} 11300\r\n".encode()


def binary(address, port=1234, extension=b""):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    packed = socket.inet_pton(family, address)
    body = packed + packed + struct.pack("!HH", port, 11300) + extension
    return (SIGNATURE + bytes([0x21, 0x21 if ":" in address else 0x11]) +
            struct.pack("!H", len(body)) + body)


class ProxiedCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, *settings, proxies="127.0.0.1", prefix="proxy:", config=os.devnull):
        self.broker = tandemd.Broker(
            os.environ["TANDEMD"],
            [*(["server.proxies=" + proxies] if proxies else []),
             *tandemd.loopback(prefix, ("beanstalk", "gearman", "http")),
             "admin.listen=127.0.0.1:0", *settings], config=config)
        self.addCleanup(lambda: self.assertEqual(self.broker.stop(), 0))

    def rules(self):
        path = self.folder / "access"
        path.write_text(RULES)
        return f"server.access_file={path}"

    def connect(self, head=b"", protocol="beanstalk", source="127.0.0.1"):
        address = self.broker.addresses[protocol][0].removeprefix("proxy:").removeprefix("tls:")
        host, _, port = address.rpartition(":")
        sock = socket.create_connection((host, int(port)), timeout=SECONDS, source_address=(source, 0))
        self.addCleanup(sock.close)
        sock.sendall(head)
        return sock

    @staticmethod
    def ask(sock, said, lines=1):
        sock.sendall(said)
        heard = b""
        while heard.count(b"\n") < lines and (more := sock.recv(4096)):
            heard += more
        return heard.decode()

    def put(self, head, queue="q"):
        """The reply to a put by a new connection."""
        return self.ask(self.connect(head), PUT % queue.encode(), 2).splitlines()[-1]

    def ended(self, sock):
        try:
            return sock.recv(1) == b""
        except ConnectionResetError:
            return True

    def admin(self, path):
        host, _, port = self.broker.addresses["admin"][0].rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=SECONDS)
        connection.request("GET", path)
        with connection.getresponse() as response:
            body = response.read().decode()
        connection.close()
        self.assertEqual(response.status, 200, body)
        return body

    def refusals(self, kind, protocol="beanstalk"):
        name = f'tandem_refusals_total{{protocol="{protocol}",kind="{kind}"}} '
        found = [row for row in self.admin("/metrics").splitlines() if row.startswith(name)]
        self.assertEqual(len(found), 1, name)
        return int(float(found[0].split()[-1]))


class Clients(ProxiedCase):
    def test_rules_see_the_client_and_not_the_proxy(self):
        self.start(self.rules())
        for head in line, binary:
            self.assertRegex(self.put(head("10.1.2.3")), r"INSERTED \d+")
            self.assertRegex(self.put(head("2001:db8::7")), r"INSERTED \d+")
            self.assertEqual(self.put(head("10.1.3.3")), "FORBIDDEN")
            self.assertRegex(self.put(head("10.1.3.3"), "ipv4"), r"INSERTED \d+")
            self.assertEqual(self.put(head("10.1.3.3"), "local"), "FORBIDDEN")
        self.assertRegex(self.put(binary("10.1.2.3", extension=b"\4\0\2ab")), r"INSERTED \d+")
        # A proxy that speaks for itself.
        self.assertRegex(self.put(SIGNATURE + b"\x20\0\0\0", "local"), r"INSERTED \d+")
        # A client that it does not name has no address.
        self.assertEqual(self.put(b"PROXY UNKNOWN\r\n", "ipv4"), "FORBIDDEN")
        self.assertEqual(self.put(SIGNATURE + b"\x21\0\0\0", "ipv4"), "FORBIDDEN")

    def test_a_head_may_come_in_pieces_and_with_commands_behind_it(self):
        self.start(self.rules())
        for head in line("10.1.2.3"), binary("10.1.2.3"):
            sock = self.connect()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in head[:-1]:
                sock.sendall(bytes([byte]))
            self.assertRegex(self.ask(sock, head[-1:] + PUT % b"q", 2), r"USING q\r\nINSERTED \d+")

    def test_each_protocol_takes_heads(self):
        self.start(self.rules())
        said = {"beanstalk": (b"list-tube-used\r\n", "USING default"), "gearman": (b"version\n", "OK "),
                "http": (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 ")}
        for protocol, (asked, told) in said.items():
            self.assertTrue(self.ask(self.connect(binary("10.1.2.3"), protocol), asked).startswith(told))

    def test_operators_and_the_log_see_the_client(self):
        self.start("server.log_level=debug")
        sock = self.connect(binary("10.1.2.3", 4711))
        other = self.connect(line("2001:db8::7", 4712))
        self.ask(sock, b"list-tube-used\r\n")
        self.ask(other, b"list-tube-used\r\n")
        shown = json.loads(self.admin("/api/v1/connections?protocol=beanstalk"))["connections"]
        self.assertEqual(sorted(one["peer"] for one in shown), ["10.1.2.3:4711", "[2001:db8::7]:4712"])
        self.assertTrue(self.broker.expect(r" debug connected conn=\d+ protocol=beanstalk "
                                           r"peer=10\.1\.2\.3:4711"))

    def test_the_limit_of_an_address_counts_clients(self):
        self.start("server.max_connections_per_address=2")
        kept = [self.connect(line("10.1.2.3", port)) for port in (1, 2)]
        for sock in kept:
            self.ask(sock, b"list-tube-used\r\n")
        self.assertTrue(self.ended(self.connect(line("10.1.2.3", 3))))
        self.assertTrue(self.broker.expect(r" warn address_limit peer=10\.1\.2\.3:3 "))
        self.assertEqual(self.refusals("connection"), 1)
        for client in "10.1.2.4", "10.1.2.5":
            self.assertEqual(self.ask(self.connect(line(client)), b"list-tube-used\r\n"),
                             "USING default\r\n")
        # The client of a closed connection has left.
        kept.pop().close()
        self.wait_for_place()

    def wait_for_place(self):
        """Until the broker has noticed the end of a connection of the client."""
        for _ in range(1000):
            sock = self.connect(line("10.1.2.3", 4))
            try:
                if self.ask(sock, b"list-tube-used\r\n"):
                    return
            except OSError:
                pass
            sock.close()
        self.fail("the client did not leave")


class Settings(unittest.TestCase):
    def refused(self, *settings):
        """The reason for which these are refused."""
        sets = [word for setting in settings for word in ("--set", setting)]
        done = subprocess.run([os.environ["TANDEMD"], "--config", os.devnull, *sets, "--check-config"],
                              check=False, capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(done.returncode, 2)
        return done.stderr

    def test_an_address_for_proxies_needs_some(self):
        self.assertIn("[gearman] listen: an address with proxy: needs the addresses of the proxies in "
                      "[server] proxies", self.refused("gearman.listen=proxy:127.0.0.1:0"))

    def test_proxies_are_addresses(self):
        self.assertIn("`proxy.example`: not an IPv4 or IPv6 address",
                      self.refused("server.proxies=10.0.0.1 proxy.example"))


class Strangers(ProxiedCase):
    def test_only_the_proxies_of_the_settings_may_connect(self):
        self.start(proxies="127.0.0.1, 127.0.1.0/24")
        for source in "127.0.0.1", "127.0.1.7":
            sock = self.connect(line("10.1.2.3"), source=source)
            self.assertEqual(self.ask(sock, b"list-tube-used\r\n"), "USING default\r\n")
        self.assertTrue(self.ended(self.connect(source="127.0.0.2")))
        self.assertTrue(self.broker.expect(r" warn proxy_unknown peer=127\.0\.0\.2:\d+ "
                                           r"protocol=beanstalk why=\"its address is not one of "
                                           r"server\.proxies\""))
        self.assertEqual(self.refusals("proxy"), 1)

    def test_a_connection_without_a_head_is_closed(self):
        self.start()
        self.assertTrue(self.ended(self.connect(PUT % b"q")))
        self.assertTrue(self.broker.expect(r" warn handshake_failed peer=127\.0\.0\.1:\d+ "
                                           r"protocol=beanstalk why=\"it does not begin with a head"))
        self.assertEqual(self.refusals("handshake"), 1)

    def test_a_thousand_hostile_heads_leave_nothing(self):
        self.start("server.handshake_timeout=3600")
        chance = random.Random(7)
        good = [line("10.1.2.3"), line("2001:db8::7"), binary("10.1.2.3", extension=b"\4\0\2ab"),
                binary("2001:db8::7"), SIGNATURE + b"\x20\0\0\0"]
        for _ in range(1000):
            head = bytearray(chance.choice(good) + b"list-tube-used\r\n")
            for _ in range(chance.randrange(1, 4)):
                head[chance.randrange(len(head) - 16)] = chance.randrange(256)
            sock = self.connect(head[:chance.randrange(1, len(head))])
            try:
                sock.shutdown(socket.SHUT_WR)
                while sock.recv(4096):
                    pass
            except OSError:
                pass
            sock.close()
        self.assertEqual(json.loads(self.admin("/api/v1/connections?protocol=beanstalk"))["connections"], [])
        self.assertEqual(self.ask(self.connect(line("10.1.2.3")), b"list-tube-used\r\n"),
                         "USING default\r\n")

    def test_half_a_head_is_closed_when_its_time_is_over(self):
        self.start("server.handshake_timeout=1")
        for head in line("10.1.2.3")[:-1], SIGNATURE + b"\x21\x11\x30\0":
            self.assertTrue(self.ended(self.connect(head)))

    def test_the_proxies_may_change_while_the_broker_runs(self):
        config = self.folder / "conf"
        config.write_text("[server]\nproxies = 127.0.0.1\n")
        self.start(proxies=None, config=str(config))
        self.assertTrue(self.put(line("10.1.2.3")).startswith("INSERTED"))
        config.write_text("[server]\nproxies = 127.0.0.2\n")
        after = len(self.broker.log())
        self.broker.process.send_signal(signal.SIGHUP)
        self.assertTrue(self.broker.expect(" reloaded", after))
        self.assertTrue(self.ended(self.connect(line("10.1.2.3"))))
        sock = self.connect(line("10.1.2.3"), source="127.0.0.2")
        self.assertEqual(self.ask(sock, b"list-tube-used\r\n"), "USING default\r\n")


class Encrypted(ProxiedCase):
    def test_the_head_comes_in_front_of_tls(self):
        authority = certificates.Authority(self.folder)
        pair = authority.issue("server", certificates.LOCAL)
        self.start(f"tls.certificate={pair.certificate}", f"tls.key={pair.key}", self.rules(),
                   prefix="proxy:tls:")
        context = ssl.create_default_context(cafile=str(authority.certificate))
        for head in line("10.1.2.3"), binary("10.1.2.3"):
            sock = context.wrap_socket(self.connect(head), server_hostname="localhost")
            self.assertRegex(self.ask(sock, PUT % b"q", 2), r"USING q\r\nINSERTED \d+")
            sock.close()
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            context.wrap_socket(self.connect(), server_hostname="localhost")
        self.assertTrue(self.broker.expect(r"handshake_failed .*it does not begin with a head"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
