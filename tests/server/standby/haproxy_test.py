# SPDX-License-Identifier: MIT
"""HAProxy with the example of conf/haproxy-standby.cfg, before two brokers that only say whether
they are ready, and at each other port their name; and before two of tandemd.

HAPROXY in the environment is Debian's haproxy, TANDEMD is tandemd."""

import http.client
import http.server
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / "tests" / "support"))
sys.path.append(str(ROOT / "tests" / "clients"))
import broker as tandemd  # noqa: E402
import ports  # noqa: E402

GIVE_UP = 60  # seconds; only what hangs takes so long
PORTS = {"beanstalk": 11300, "gearman": 4730, "http": 8080}
# Those of the brokers, for HAProxy.
BEHIND = {"beanstalk": 11301, "gearman": 4731, "http": 8081}


class Broker:
    """Sends its name to each client, and then waits until the client leaves."""

    def __init__(self, name):
        self.name, self.ready = name, False
        broker = self

        class Admin(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200 if self.path == "/readyz" and broker.ready else 503)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.admin = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Admin)
        self.listening = {port: socket.create_server(("127.0.0.1", 0)) for port in BEHIND.values()}
        self.connected = []
        self.start(self.admin.serve_forever)
        for sock in self.listening.values():
            self.start(self.serve, sock)

    @staticmethod
    def start(function, *args):
        threading.Thread(target=function, args=args, daemon=True).start()

    def serve(self, sock):
        while True:
            try:
                connection, _ = sock.accept()
            except OSError:
                return
            self.connected.append(connection)
            connection.sendall(self.name.encode() + b"\n")

    def port(self, of):
        return self.admin.server_port if of == 9180 else self.listening[of].getsockname()[1]

    def close(self):
        self.admin.shutdown()
        self.admin.server_close()
        for sock in [*self.listening.values(), *self.connected]:
            sock.close()


class Proxied(unittest.TestCase):
    """HAProxy before brokers that say which port they have for one of the example."""

    def begin(self, brokers):
        self.brokers = brokers
        for broker in self.brokers.values():
            self.addCleanup(broker.close)
        self.held = {port: ports.reserve() for port in PORTS.values()}
        text = (ROOT / "conf" / "haproxy-standby.cfg").read_text()
        text = re.sub(r"(server \w+ )10\.0\.0\.([12]):(\d+)",
                      lambda m: f"{m[1]}127.0.0.1:{self.brokers[m[2]].port(int(m[3]))}", text)
        text = re.sub(r"bind :(\d+)",
                      lambda m: f"bind 127.0.0.1:{ports.number(self.held[int(m[1])])}", text)
        # As many as any machine has descriptors for.
        text = text.replace("maxconn 20000", "maxconn 200")
        self.assertNotIn("10.0.0.", re.sub(r"(?m)^ *#.*$", "", text))
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = pathlib.Path(folder.name) / "haproxy.cfg"
        path.write_text(text)
        self.haproxy = subprocess.Popen([os.environ["HAPROXY"], "-db", "-q", "-f", str(path)])
        self.addCleanup(self.stop)

    def stop(self):
        self.haproxy.terminate()
        self.haproxy.wait()
        for sock in self.held.values():
            sock.close()

    def address(self, protocol):
        return "127.0.0.1", ports.number(self.held[PORTS[protocol]])


class Standby(Proxied):
    def setUp(self):
        self.begin({"1": Broker("one"), "2": Broker("two")})

    def ask(self, protocol):
        """The connection, and the name of whose it is; None where it was closed."""
        self.assertIsNone(self.haproxy.poll())
        try:
            sock = socket.create_connection(self.address(protocol), timeout=GIVE_UP)
            self.addCleanup(sock.close)
            return sock, sock.recv(16).decode().strip() or None
        except OSError:
            return None, None

    def wait_for(self, protocol, name):
        give_up_at = time.monotonic() + GIVE_UP
        while time.monotonic() < give_up_at:
            sock, found = self.ask(protocol)
            if found == name and (sock or not name):
                return sock
            time.sleep(0.05)
        self.fail(f"{protocol} never led to {name}")

    def test_connections_go_to_the_broker_that_is_ready(self):
        self.brokers["2"].ready = True
        for protocol in PORTS:
            self.wait_for(protocol, "two")
            for _ in range(5):
                self.assertEqual(self.ask(protocol)[1], "two")

    def test_when_another_one_is_ready_connections_end_and_go_there(self):
        self.brokers["1"].ready = True
        old = {protocol: self.wait_for(protocol, "one") for protocol in PORTS}
        self.brokers["1"].ready = False
        for sock in old.values():
            self.assertEqual(sock.recv(1), b"")
        self.brokers["2"].ready = True
        for protocol in PORTS:
            self.wait_for(protocol, "two")


class Tandem:
    """A tandemd, which is ready from the start until it drains."""

    def __init__(self):
        self.broker = tandemd.Broker(
            os.environ["TANDEMD"], ["server.proxies=127.0.0.1", "admin.listen=127.0.0.1:0",
                                    *tandemd.loopback("proxy:", BEHIND)])
        self.pid = str(self.broker.process.pid)

    def port(self, of):
        name = {9180: "admin", **{port: name for name, port in BEHIND.items()}}[of]
        return int(self.broker.addresses[name][0].rpartition(":")[2])

    def peers(self):
        """The peers of all beanstalk connections, without ports."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port(9180), timeout=GIVE_UP)
        connection.request("GET", "/api/v1/connections?protocol=beanstalk")
        shown = json.loads(connection.getresponse().read())["connections"]
        connection.close()
        return {one["peer"].rpartition(":")[0] for one in shown}

    def drain(self, draining):
        connection = http.client.HTTPConnection("127.0.0.1", self.port(9180), timeout=GIVE_UP)
        connection.request("POST", "/api/v1/drain", '{"draining": %s}' % str(draining).lower(),
                           {"X-Tandem-Request": "1", "Content-Type": "application/json"})
        status = connection.getresponse().status
        connection.close()
        assert status == 200, status

    def close(self):
        assert self.broker.stop() == 0


class Brokers(Proxied):
    def setUp(self):
        self.begin({"1": Tandem(), "2": Tandem()})

    def pid(self, protocol):
        """The process that a connection leads to; None where it leads to none."""
        asked, told = {"beanstalk": (b"stats\r\n", rb"\npid: (\d+)\n"),
                       "gearman": (b"getpid\n", rb"OK (\d+)\n")}[protocol]
        said = b""
        try:
            with socket.create_connection(self.address(protocol), timeout=GIVE_UP) as sock:
                sock.sendall(asked)
                while not (found := re.search(told, said)):
                    if not (more := sock.recv(4096)):
                        return None
                    said += more
                return found[1].decode()
        except OSError:
            return None

    def status(self):
        """The status of HEAD /; None if there is no answer."""
        connection = http.client.HTTPConnection(*self.address("http"), timeout=GIVE_UP)
        try:
            connection.request("HEAD", "/", headers={"Host": "tandem.example"})
            return connection.getresponse().status
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def wait_until(self, what, value):
        give_up_at = time.monotonic() + GIVE_UP
        while (found := what()) != value:
            self.assertIsNone(self.haproxy.poll())
            self.assertLess(time.monotonic(), give_up_at, f"{found} never was {value}")
            time.sleep(0.05)

    def test_the_broker_sees_the_client_and_not_the_proxy(self):
        self.wait_until(lambda: self.pid("beanstalk") is not None, True)
        with socket.create_connection(self.address("beanstalk"), timeout=GIVE_UP,
                                      source_address=("127.0.0.5", 0)) as sock:
            sock.sendall(b"list-tube-used\r\n")
            self.assertEqual(sock.recv(100), b"USING default\r\n")
            self.assertIn("127.0.0.5", self.brokers["1"].peers() | self.brokers["2"].peers())

    def test_clients_are_led_to_the_broker_that_is_ready(self):
        self.brokers["1"].drain(True)
        for protocol in "beanstalk", "gearman":
            self.wait_until(lambda p=protocol: self.pid(p), self.brokers["2"].pid)
        self.wait_until(self.status, 200)
        self.brokers["1"].drain(False)
        self.brokers["2"].drain(True)
        for protocol in "beanstalk", "gearman":
            self.wait_until(lambda p=protocol: self.pid(p), self.brokers["1"].pid)
        self.wait_until(self.status, 200)


if __name__ == "__main__":
    unittest.main(verbosity=2)
