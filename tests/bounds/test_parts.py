# SPDX-License-Identifier: MIT
"""Data of jobs for a client that does not read needs little more memory than its bytes, however
small its parts are, and no more than a connection may keep."""

import struct

from case import JOBS, KIB, MIB, BoundsCase
from client import Client

SEND_BUFFER = 64 * KIB
CHUNK = 1000
CAN_DO, SUBMIT_JOB, GRAB_JOB, WORK_DATA, ECHO = 1, 7, 9, 28, 16
# The memory that the allocator keeps, and the data on its way from the worker.
BESIDE = 4 * MIB
# By default a client that has left so much unread is dropped when more comes.
UNREAD_MOST = 64 * MIB


def packet(kind, *arguments):
    body = b"\0".join(arguments)
    return b"\0REQ" + struct.pack(">II", kind, len(body)) + body


class Parts(BoundsCase):
    def connect_gearman(self, broker):
        client = Client(broker.port_of("gearman"), SEND_BUFFER)
        self.addCleanup(client.close)
        return client

    def read_packet(self, client):
        while len(client.buffer) < 12:
            client.receive_or_fail()
        end = 12 + struct.unpack(">I", client.buffer[8:12])[0]
        while len(client.buffer) < end:
            client.receive_or_fail()
        body = bytes(client.buffer[12:end])
        del client.buffer[:end]
        return body

    def begin(self):
        """A broker, a client that waits for a job and does not read, its worker, the handle."""
        broker = self.start("gearman.listen=127.0.0.1:0", "server.write_timeout=0")
        client = self.connect_gearman(broker)
        worker = self.connect_gearman(broker)
        client.send(packet(SUBMIT_JOB, b"f", b"", b"x"))
        self.read_packet(client)
        worker.send(packet(CAN_DO, b"f") + packet(GRAB_JOB))
        return broker, client, worker, self.read_packet(worker).split(b"\0")[0]

    def send_parts(self, worker, handle, part, count):
        chunk = packet(WORK_DATA, handle, part) * min(CHUNK, count)
        for _ in range(count // CHUNK or 1):
            worker.send(chunk)
        worker.send(packet(ECHO, b"done"))
        self.assertEqual(self.read_packet(worker), b"done")

    def test_parts_of_one_byte_that_are_not_read(self):
        broker, _, worker, handle = self.begin()
        before = broker.resident()
        self.send_parts(worker, handle, b"p", JOBS)
        size = JOBS * len(packet(WORK_DATA, handle, b"p"))
        self.tell(f"{JOBS} parts are {size / MIB:.1f} MiB")
        self.assertFalse(broker.complaints("dropped"))
        self.assert_grown_less("parts of one byte", broker.resident() - before,
                               size * 11 // 10 + BESIDE)

    def test_client_that_leaves_too_much_unread_is_dropped(self):
        broker, client, worker, handle = self.begin()
        before = broker.resident()
        part = b"p" * 60000
        most = 0
        for _ in range(15):
            self.send_parts(worker, handle, part, 100)
            most = max(most, broker.resident() - before)
        self.until(lambda: broker.complaints("dropped"), 60, "the log has a line")
        self.assert_grown_less("unread parts", most, UNREAD_MOST + BESIDE)
        self.assert_served(self.connect(broker))
        self.assertLess(len(client.rest()), UNREAD_MOST)
