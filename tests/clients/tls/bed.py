# SPDX-License-Identifier: MIT
"""The common parts of the TLS tests: brokers with certificates, and clients by Python's ssl.
TANDEMD is the path of the executable."""

import contextlib
import os
import pathlib
import re
import select
import socket
import ssl
import sys
import tempfile
import unittest

CLIENTS = pathlib.Path(__file__).resolve().parent.parent
sys.path += [str(CLIENTS), str(CLIENTS.parent / "support")]

import certificates
import http_parties
from broker import PROTOCOLS, SECONDS, Broker, loopback

HOST = "127.0.0.1"
MIB = 1 << 20
FAILED = r" warn handshake_failed "


class TlsCase(unittest.TestCase):
    """A test with brokers and clients that are gone when it ends. `authority` and `server` are
    certificates that all tests of a class share."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tandem-tls-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.authority = certificates.Authority(cls.folder)
        cls.server = cls.authority.issue_server()

    def start(self, *settings, listen=None, pair=None, config=os.devnull):
        """A broker whose three ports speak TLS, unless `listen` says otherwise."""
        pair = pair or self.server
        files = [f"tls.certificate={pair.certificate}", f"tls.key={pair.key}"]
        listen = loopback("tls:") if listen is None else listen
        broker = Broker(os.environ["TANDEMD"], [*files, *listen, *settings], config)
        self.addCleanup(self.stop, broker)
        return broker

    def stop(self, broker):
        self.assertEqual(broker.stop(), 0)

    def context(self, pair=None, authority=None, least=ssl.TLSVersion.TLSv1_2,
                most=ssl.TLSVersion.TLSv1_3):
        """The context of a client that trusts the authority and shows the pair."""
        context = ssl.create_default_context(cafile=(authority or self.authority).certificate)
        context.minimum_version, context.maximum_version = least, most
        if pair:
            context.load_cert_chain(*pair.both())
        return context

    def connect_plain(self, broker, protocol="beanstalk", number=0):
        """A socket; `number` counts the addresses of the protocol."""
        host, port = broker.addresses[protocol][number].rsplit(":", 1)
        connection = socket.create_connection((host, int(port)), timeout=SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.addCleanup(connection.close)
        return connection

    def connect(self, broker, protocol="beanstalk", context=None, session=None):
        """A socket that speaks TLS. An end without close_notify is an error to it."""
        connection = (context or self.context()).wrap_socket(
            self.connect_plain(broker, protocol), server_hostname=HOST, session=session,
            suppress_ragged_eofs=False)
        self.addCleanup(connection.close)
        return connection

    def beanstalk(self, broker, context=None):
        return Beanstalk(self.connect(broker, context=context))

    def gearman(self, broker):
        return Gearman(self.connect(broker, "gearman"))

    def worker(self, broker, function, work=bytes.upper):
        worker = http_parties.Worker(function, work, self.connect(broker, "gearman"))
        self.addCleanup(worker.stop)
        return worker

    def assert_served(self, broker):
        """A client that comes now finds the broker well."""
        with self.connect(broker) as connection:
            self.assertEqual(Beanstalk(connection).ask(b"list-tube-used"), b"USING default")

    def assert_turned_away(self, broker, context, protocol="beanstalk", session=None):
        """A client of TLS 1.2 learns of it in the handshake, one of 1.3 when it reads."""
        with self.assertRaises((ssl.SSLError, ConnectionError)):
            connection = self.connect(broker, protocol, context, session)
            connection.sendall(b"\r\n\r\n")  # which all protocols would answer
            connection.recv(1)

    def assert_ended(self, connection):
        """The broker has ended it, or reset it since it had more to say."""
        with contextlib.suppress(ConnectionError):
            while connection.recv(65536):
                pass


class Beanstalk:
    """Commands on a connection, and what it answers."""

    def __init__(self, connection):
        self.connection = connection
        self.stream = connection.makefile("rb")

    def send(self, data):
        self.connection.sendall(data)

    def line(self):
        return self.stream.readline().removesuffix(b"\r\n")

    def ask(self, command):
        """The first line of the answer to a command that is given without its line end."""
        self.send(command + b"\r\n")
        return self.line()

    def put(self, body, ttr=60):
        return self.ask(b"put 0 0 %d %d\r\n%s" % (ttr, len(body), body))

    def body(self, command=b"reserve"):
        """The body that the answer has: that of the job which is reserved."""
        line = self.ask(command)
        assert line.startswith((b"RESERVED ", b"FOUND ", b"OK ")), line
        return self.stream.read(int(line.split()[-1]) + 2)[:-2]


class Gearman:
    """A client that waits for its jobs."""

    SUBMIT_JOB, JOB_CREATED, WORK_COMPLETE = 7, 8, 13

    def __init__(self, connection):
        self.connection = connection
        self.stream = connection.makefile("rb")

    def packet(self):
        """The kind and the data of the next one."""
        head = self.stream.read(12)
        assert head[:4] == b"\0RES", head
        return int.from_bytes(head[4:8], "big"), self.stream.read(int.from_bytes(head[8:], "big"))

    def submit(self, function, workload):
        data = function.encode() + b"\0\0" + workload
        self.connection.sendall(b"\0REQ" + self.SUBMIT_JOB.to_bytes(4, "big") +
                                len(data).to_bytes(4, "big") + data)
        kind, _ = self.packet()
        assert kind == self.JOB_CREATED, kind

    def do(self, function, workload):
        """The result."""
        self.submit(function, workload)
        kind, data = self.packet()
        assert kind == self.WORK_COMPLETE, kind
        return data.partition(b"\0")[2]


class Records:
    """TLS on a socket by hand: what is sent when, and what is read, is the test's choice."""

    def __init__(self, connection, context):
        self.connection = connection
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=HOST)

    def staged(self):
        """The bytes to send now; the test sends them."""
        return self.outgoing.read()

    def flush(self):
        self.connection.sendall(self.staged())

    def receive(self):
        data = self.connection.recv(65536)
        if data:
            self.incoming.write(data)
        else:
            self.incoming.write_eof()

    def step(self, function, *arguments):
        """Until it needs no more of what the broker sends."""
        while True:
            try:
                result = function(*arguments)
                self.flush()
                return result
            except ssl.SSLWantReadError:
                self.flush()
                self.receive()

    def shake(self):
        self.step(self.tls.do_handshake)
        return self

    def send(self, data):
        self.tls.write(data)
        self.flush()

    def read(self):
        """b"" is the end by close_notify; without one, ssl.SSLEOFError is raised."""
        try:
            return self.step(self.tls.read, 65536)
        except ssl.SSLZeroReturnError:
            return b""

    def rest(self):
        data = b""
        while piece := self.read():
            data += piece
        return data

    def say_no_more(self):
        """Sends close_notify; what the broker sends can still be read."""
        with contextlib.suppress(ssl.SSLWantReadError):
            self.tls.unwrap()
        self.flush()


def has_answered(connection, seconds):
    """Whether something comes on a plain socket within that time, be it its end."""
    return bool(select.select([connection], [], [], seconds)[0])


def has_ended(connection, seconds):
    """Whether the broker ends a plain socket within that time."""
    with contextlib.suppress(ConnectionError):
        return has_answered(connection, seconds) and not connection.recv(65536)
    return True


def wait_either_way(connection, sending):
    """Until the socket may have something, or takes more."""
    if not (isinstance(connection, ssl.SSLSocket) and connection.pending()):
        select.select([connection], [connection] if sending else [], [], SECONDS)


def try_send(connection, data):
    """How much was sent, of a socket that does not block."""
    try:
        return connection.send(data) if data else 0
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return 0


def try_receive(connection):
    """How much was received, of a socket that does not block."""
    try:
        return len(connection.recv(65536))
    except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
        return 0


def descriptors(broker):
    """How many the broker has open."""
    return len(os.listdir(f"/proc/{broker.process.pid}/fd"))


def why(line):
    """The reason in a line of the log."""
    return re.search(r' why=("[^"]*"|\S+)', line)[1].strip('"')


def main():
    http_parties.main()
