# SPDX-License-Identifier: MIT
"""A tandemd with metrics, and clients of each protocol that submit jobs."""

import http.client
import os
import pathlib
import socket
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "clients"))

import broker  # noqa: E402
import open_metrics  # noqa: E402

OPEN_METRICS = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
SUBMIT_JOB_BG, JOB_CREATED = 18, 8


def split(address):
    host, _, port = address.rpartition(":")
    return host, int(port)


class World:
    def __init__(self, *settings):
        self.broker = broker.Broker(os.environ["TANDEMD"], [*broker.loopback(), *settings])
        self.beans = socket.create_connection(self.address("beanstalk"))
        self.heard = self.beans.makefile("rb")

    def address(self, protocol):
        return split(self.broker.addresses[protocol][0])

    def stop(self):
        self.heard.close()
        self.beans.close()
        return self.broker.stop()

    def fetch(self, accept=None, path="/metrics"):
        """Type and text of a reply."""
        connection = http.client.HTTPConnection(*self.address("admin"))
        connection.request("GET", path, headers={"Accept": accept} if accept else {})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        assert answer.status == 200, (answer.status, text)
        return answer.headers["Content-Type"], text

    def families(self):
        return open_metrics.read(self.fetch(OPEN_METRICS)[1], True)

    def samples(self):
        return open_metrics.samples(self.families())

    def bean(self, line, body=None):
        """Sends a beanstalk command and reads the reply."""
        self.beans.sendall(line + b"\r\n" + (b"" if body is None else body + b"\r\n"))
        answer = self.heard.readline().rstrip(b"\r\n").split()
        if answer[0] in (b"RESERVED", b"OK"):
            self.heard.read(int(answer[-1]) + 2)
        return answer

    def put(self, queue, count=1):
        self.bean(b"use " + queue)
        for _ in range(count):
            assert self.bean(b"put 2000 0 60 1", b"x")[0] == b"INSERTED"
        self.bean(b"use default")

    def work(self, queue, how=b"delete %s"):
        """Takes a job of the queue and ends it this way."""
        self.bean(b"watch " + queue)
        self.bean(b"ignore default")
        answer = self.bean(b"reserve-with-timeout 0")
        if answer[0] == b"RESERVED":
            self.bean(how % answer[1])
        self.bean(b"watch default")
        self.bean(b"ignore " + queue)

    def submit_gearman(self, function):
        with socket.create_connection(self.address("gearman")) as peer:
            body = function + b"\0\0x"
            peer.sendall(b"\0REQ" + struct.pack(">II", SUBMIT_JOB_BG, len(body)) + body)
            head = peer.recv(12, socket.MSG_WAITALL)
            assert struct.unpack(">4sII", head)[:2] == (b"\0RES", JOB_CREATED), head

    def submit_http(self, function):
        connection = http.client.HTTPConnection(*self.address("http"))
        connection.request("POST", f"/{function}", b"x", {"X-Gearman-Background": "true"})
        status = connection.getresponse().status
        connection.close()
        assert status < 300, status
