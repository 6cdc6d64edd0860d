# SPDX-License-Identifier: MIT
"""With server.max_memory, whatever clients do to fill the memory: it stays near the limit, others are
served, workers drain what was accepted, and submissions are accepted again."""

import struct
import threading
import time

from broker import allow_open_files
from case import ANSWER, JOBS, KIB, MIB, QUESTION, SANITIZED, BoundsCase, chunks_for
from client import Client, Silence

MAX = 64 * MIB if SANITIZED else 256 * MIB
# Resident memory may be this at most.
MOST = MAX * 11 // 10 + 64 * MIB
SETTINGS = [f"server.max_memory={MAX}", "beanstalk.max_job_size=64M",
            "gearman.listen=127.0.0.1:0", "http.listen=127.0.0.1:0"]
NO_MEMORY = b"OUT_OF_MEMORY\r\n"
SAMPLE_SECONDS = 0.02
CAN_DO, SUBMIT_JOB, GRAB_JOB, JOB_ASSIGN, WORK_COMPLETE, WORK_DATA = 1, 7, 9, 11, 13, 28


class Watch(threading.Thread):
    """Looks at how large the broker is, and how long a quick client waits for its answer."""

    def __init__(self, broker):
        super().__init__(daemon=True)
        self.broker, self.client = broker, Client(broker.port)
        self.most, self.waits, self.over = 0, [], False

    def run(self):
        while not self.over:
            began_at = time.monotonic()
            self.client.send(QUESTION)
            assert self.client.answer() == ANSWER
            self.waits.append(time.monotonic() - began_at)
            self.most = max(self.most, self.broker.resident())
            time.sleep(SAMPLE_SECONDS)

    def end(self):
        self.over = True
        self.join()
        self.client.close()
        waits = sorted(self.waits)
        return waits[len(waits) * 99 // 100]


class Limits(BoundsCase):
    def setUp(self):
        allow_open_files(None)
        self.broker = self.start(*SETTINGS)
        self.crowd = []
        self.watch = Watch(self.broker)
        self.watch.start()

    def leave(self):
        """All clients of the attack go, but for what they have left behind."""
        for client in self.crowd:
            client.close()

    def many(self, count, protocol="beanstalk"):
        port = self.broker.port if protocol == "beanstalk" else self.broker.port_of(protocol)
        for _ in range(count):
            try:
                client = Client(port)
            except OSError:
                continue
            self.addCleanup(client.close)
            self.crowd.append(client)
            yield client

    def check(self, what):
        """The attack is over: nothing has grown too much, and others are served."""
        time.sleep(0.5)
        late = self.watch.end()
        shed = len(self.broker.complaints("shed"))
        self.tell(f"{what}: {self.watch.most / MIB:.0f} MiB resident at most, limit "
                  f"{MOST / MIB:.0f} MiB; 99 % answered in {late * 1000:.1f} ms; {shed} closed")
        if not SANITIZED:
            self.assertLessEqual(self.watch.most, MOST)

    def drain(self, expected=None):
        """A worker takes all that is there, and then submissions are accepted."""
        worker = Client(self.broker.port)
        self.addCleanup(worker.close)
        count = 0
        while (head := worker.ask("reserve-with-timeout 0")).startswith(b"RESERVED"):
            self.assertEqual(worker.ask(f"delete {head.split()[1].decode()}"), b"DELETED\r\n")
            count += 1
        if expected is not None:
            self.assertEqual(count, expected)

    def assert_accepts(self):
        """Clients come again, and jobs are taken."""
        self.leave()
        self.until(lambda: "memory_short" not in self.broker.log() or
                   "memory_eased" in self.broker.log(), 60, "memory is freed")

        def accepted():
            client = Client(self.broker.port)
            try:
                client.send(b"put 0 0 60 1\r\nx\r\n")
                return client.answer().startswith(b"INSERTED")
            except (ConnectionError, Silence):
                # Memory was short once more, and the broker closes connections.
                return False
            finally:
                client.close()

        self.until(accepted, 60, "a job is accepted again")

    def put_until_refused(self, size):
        """How many jobs of that size are accepted before one is not."""
        client = self.connect(self.broker)
        command = b"put 0 0 60 %d\r\n" % size + b"j" * size + b"\r\n"
        some = max(1, MIB // size)
        accepted = 0
        while True:
            client.send(command * some)
            answers = [client.answer() for _ in range(some)]
            accepted += sum(answer.startswith(b"INSERTED ") for answer in answers)
            if NO_MEMORY in answers:
                return accepted

    def test_large_jobs_without_end(self):
        accepted = self.put_until_refused(60 * KIB)
        self.check(f"{accepted} jobs of 60 KiB")
        self.assertGreater(accepted, MAX // (120 * KIB))
        self.drain(accepted)
        self.assert_accepts()

    def test_small_jobs_without_end(self):
        client = self.connect(self.broker)
        count = MAX // 80
        command = b"put 0 0 60 10\r\n0123456789\r\n"
        client.pipeline((command * 1000 for _ in range(count // 1000)), count // 1000 * 1000)
        self.assertEqual(client.ask("put 0 0 60 1\r\nx"), NO_MEMORY)
        jobs = int(client.stats()["current-jobs-ready"])
        self.check(f"{jobs} small jobs")
        worker = self.connect(self.broker)
        worker.pipeline(chunks_for(range(1, jobs + 1), b"reserve\r\ndelete %d\r\n"), 3 * jobs)
        self.assertEqual(client.stats()["current-jobs-ready"], "0")
        self.assert_accepts()

    def test_bodies_that_do_not_end(self):
        piece = b"b" * (2 * MIB)
        for client in self.many(2 * MAX // len(piece)):
            push(client, b"put 0 0 60 60000000\r\n" + piece)
        self.check("unfinished bodies")
        self.assert_served(self.connect(self.broker))

    def test_results_of_gearman_that_do_not_end(self):
        piece = b"b" * (2 * MIB)
        for client in self.many(2 * MAX // len(piece), "gearman"):
            head = b"\0REQ" + struct.pack(">II", WORK_COMPLETE, 60000000) + b"H:x:1\0"
            push(client, head + piece)
        self.check("unfinished results")
        self.assert_accepts()

    def give_results(self, clients, submit, kind, parts):
        """A worker completes each client's job with a result that the client does not read."""
        worker = next(self.many(1, "gearman"))
        worker.send(packet(CAN_DO, b"f"))
        body = b"r" * (8 * MIB // parts)
        for client in clients:
            try:
                submit(client)
                worker.send(packet(kind, grab(worker) + b"\0" + body) * parts)
            except OSError:
                pass

    def test_results_that_are_not_read(self):
        self.give_results(self.many(2 * MAX // (8 * MIB), "gearman"),
                          lambda client: client.send(packet(SUBMIT_JOB, b"f\0\0x")),
                          WORK_COMPLETE, 1)
        self.check("unread results")
        self.assert_accepts()

    def test_events_that_are_not_read(self):
        post = b"POST /f HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n" \
               b"Content-Length: 1\r\n\r\nx"
        self.give_results(self.many(2 * MAX // (8 * MIB), "http"),
                          lambda client: client.send(post), WORK_DATA, 32)
        self.check("unread events")
        self.assert_accepts()

    def test_queues_and_subscriptions_without_end(self):
        client = self.connect(self.broker)
        client.pipeline(chunks_for(range(JOBS), b"watch a-tube-of-some-length-%d\r\n"), JOBS)
        self.check(f"{client.stats()['current-tubes']} tubes watched")
        client.close()
        self.assert_accepts()

    def test_lists_that_are_not_read(self):
        maker = self.connect(self.broker)
        maker.pipeline(chunks_for(range(10000), b"watch a-tube-of-some-length-%d\r\n"), 10000)
        for client in self.many(MAX // (128 * KIB)):
            push(client, b"list-tubes\r\n" * 20)
        self.check("unread lists")
        self.assert_accepts()

    def test_input_behind_blocked_reserves(self):
        count = min(8000, 2 * MAX // (60 * KIB))
        for client in self.many(count):
            push(client, b"watch nothing\r\nignore default\r\n" + b"reserve\r\n" * 6500)
        self.check(f"{count} blocked reserves")
        self.assert_accepts()


def packet(kind, body=b""):
    return b"\0REQ" + struct.pack(">II", kind, len(body)) + body


def grab(worker):
    """The handle of the next job; of none, where none comes."""
    for _ in range(20):
        worker.send(packet(GRAB_JOB))
        kind, size = struct.unpack(">II", exactly(worker, 12)[4:])
        body = exactly(worker, size)
        if kind == JOB_ASSIGN:
            return body.split(b"\0")[0]
        time.sleep(0.005)
    return b"H:none:1"


def push(client, data):
    """Sends what is taken at once; the connection may be closed meanwhile."""
    try:
        client.fill(data, len(data))
    except OSError:
        pass


def exactly(client, size):
    while len(client.buffer) < size:
        client.receive_or_fail()
    taken = bytes(client.buffer[:size])
    del client.buffer[:size]
    return taken
