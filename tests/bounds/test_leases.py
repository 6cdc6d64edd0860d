# SPDX-License-Identifier: MIT
"""Leases of workers over HTTP, however many one worker has, cost others nothing, and end together
without holding anybody up."""

import http.client
import json

from case import JOBS, KIB, SANITIZED, BoundsCase, put_jobs, unless_disturbed

SLOW_TURN_MS = 50 if SANITIZED else 5
SECONDS = 120
LEASES = JOBS // 10
BATCH = 100
# Of a lease: those of a batch share a session, one alone has its own, with a subscription, and its
# part of tables that have just been doubled.
ALONE_BYTES = 1000
BATCHED_BYTES = 200


class Worker:
    def __init__(self, port):
        self.http = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)

    def ask(self, target, body=b""):
        self.http.request("POST", target, body)
        answer = self.http.getresponse()
        return answer, answer.read()

    def take_batches(self, count, ttr):
        tokens = []
        while len(tokens) < count:
            _, text = self.ask(f"/-/work?queue=default&max={BATCH}&ttr={ttr}")
            tokens += [job["lease"] for job in json.loads(text)["jobs"]]
        return tokens

    def take(self, count, ttr):
        return [self.ask(f"/-/work?queue=default&ttr={ttr}")[0].headers["X-Tandem-Lease"]
                for _ in range(count)]

    def close(self):
        self.http.close()


class Leases(BoundsCase):
    def start_with_jobs(self, count):
        broker = self.start("http.listen=127.0.0.1:0", f"http.max_leases={2 * LEASES}",
                            f"server.slow_turn={SLOW_TURN_MS}")
        client = self.connect(broker)
        put_jobs(client, count)
        worker = Worker(broker.port_of("http"))
        self.addCleanup(worker.close)
        return broker, client, worker

    def reserved(self, client):
        return int(client.stats()["current-jobs-reserved"])

    def test_leases_take_little_memory(self):
        broker, client, worker = self.start_with_jobs(LEASES)
        count = LEASES // 20
        before = broker.resident()
        worker.take(count, 3600)
        alone = broker.resident()
        worker.take_batches(LEASES - count, 3600)
        self.assertEqual(self.reserved(client), LEASES)
        self.assert_grown_less(f"{count} leases alone", alone - before,
                               count * ALONE_BYTES + 512 * KIB)
        self.assert_grown_less(f"{LEASES - count} leases in batches", broker.resident() - alone,
                               (LEASES - count) * BATCHED_BYTES + 256 * KIB)

    @unless_disturbed
    def test_leases_that_end_together_delay_no_other_client(self):
        broker, client, worker = self.start_with_jobs(LEASES)
        other = self.connect(broker)
        worker.take_batches(LEASES, 5)
        lines = len(self.slow_turns(broker))
        answered = 0
        while self.reserved(client) > 0:
            self.assert_served(other)
            answered += 1
        self.tell(f"others' commands answered until {LEASES} leases were over: {answered}")
        self.assert_no_slow_turn(broker, lines)
        self.assert_answered_meanwhile(answered, 1)
        self.assertEqual(client.stats()["current-jobs-ready"], str(LEASES))
        self.assertEqual(client.stats()["current-workers"], "0")

    def test_who_has_all_leases_holds_up_no_other_protocol(self):
        broker, client, worker = self.start_with_jobs(3 * LEASES)
        worker.take_batches(2 * LEASES, 3600)
        self.assertEqual(worker.ask("/-/work?queue=default")[0].status, 503)
        self.assertEqual(client.ask("reserve").split()[0], b"RESERVED")
