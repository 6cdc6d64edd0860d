# SPDX-License-Identifier: MIT
"""The cost to clients of a change of the policies of very many queues. Times are printed and not
judged: the machine may have other things to do."""

import http.client
import json
import multiprocessing
import os
import time

from case import JOBS, BoundsCase, chunks_for
from operators import SECONDS, Operator
from quick import Quick

MEASURE_SECONDS = float(os.environ["BOUNDS_SECONDS"])
QUEUES = max(JOBS // 10, 5000)
SECTIONS = 200
LAST = f"queue-{QUEUES - 1}"


def change(port, begun):
    """Changes the policy of all queues repeatedly; each change walks through them again."""
    asker = http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    while True:
        body = json.dumps({"max_jobs": 10 + begun.value % 2})
        asker.request("PUT", "/api/v1/policies/queue-%2A", body, {"X-Tandem-Request": "1"})
        answer = asker.getresponse()
        answer.read()
        if answer.status != 200:
            raise AssertionError(answer.status)
        begun.value += 1
        time.sleep(0.05)


class Policies(BoundsCase):
    def test_very_many_queues_are_given_others_while_clients_work(self):
        sections = [f"queue tenant-{i}-*.max_jobs={i + 1}" for i in range(SECTIONS)]
        broker = self.start("gearman.listen=127.0.0.1:0", "admin.listen=127.0.0.1:0", *sections)
        self.connect(broker).pipeline(
            chunks_for(range(QUEUES), b"use queue-%d\r\nput 0 0 600 1\r\nx\r\n"), 2 * QUEUES)
        quick = Quick(broker)
        self.addCleanup(quick.close)
        alone = quick.measure(MEASURE_SECONDS)
        fork = multiprocessing.get_context("fork")
        begun = fork.Value("i", 0)
        changing = fork.Process(target=change, args=[broker.port_of("admin"), begun], daemon=True)
        changing.start()
        try:
            beside = quick.measure(MEASURE_SECONDS, lambda: begun.value > 2)
            self.assertTrue(changing.is_alive(), "it was refused")
        finally:
            changing.kill()
            changing.join()
        self.tell(f"Policies of {QUEUES} queues are changed, with {SECTIONS} sections")
        for kind in Quick.KINDS:
            self.tell(f"  {kind:16}alone   {alone[kind]}")
            self.tell(f"  {kind:16}beside  {beside[kind]}")
        self.assert_all_have_it(broker)

    def assert_all_have_it(self, broker):
        operator = Operator(broker.port_of("admin"))
        self.addCleanup(operator.close)

        def has_it():
            policy = json.loads(operator.get(f"/api/v1/queues/{LAST}"))["policy"]
            return policy and policy["glob"] == "queue-*"

        self.until(has_it, SECONDS, "the last queue has it")
