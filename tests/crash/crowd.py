# SPDX-License-Identifier: MIT
"""The crowd: clients of all protocols that share one tube and snatch each other's jobs."""

import wire
from book import GONE, READY, Job, State
from party import Party, Step

TUBE = "crowd"
MANY = 500  # jobs; if there are more, no client adds any
NORMAL = 65536
TAG_BYTES = 64  # every body is at least so long, and so no two are the same


class Crowd(Party):
    """Hands in a few jobs, takes a few, and is done with them."""

    def begin(self):
        super().begin()
        self.bean.ask(f"use {TUBE}")
        self.bean.ask(f"watch {TUBE}")
        self.bean.ask("ignore default")
        if self.gear:
            self.gear.send(wire.request(wire.CAN_DO, TUBE.encode()))

    def turn(self):
        protocol = self.rng.choice("bbgh" if self.gear else "b")
        if protocol == "b":
            self.use_beanstalk()
        elif protocol == "g":
            self.use_gearman()
        else:
            self.exchange(self.web, self.submissions(
                lambda job: wire.post(TUBE, job.body()), self.posted))

    def submissions(self, data_of, id_in, **contract):
        steps = []
        for _ in range(self.rng.randint(1, 8) if len(self.book.live) < MANY else 0):
            job = Job(TUBE, self.new_tag(), TAG_BYTES + self.body_size() // 4,
                      State(READY, NORMAL), **contract)
            steps.append(self.submission(job, data_of(job), id_in))
        return steps

    def use_beanstalk(self):
        taken = []

        def reserved(answer):
            words, body = answer
            if words[0] == "RESERVED":
                self.take(taken, int(words[1]), body)
            return True
        self.exchange(self.bean, self.submissions(
            lambda job: wire.put(NORMAL, 0, 120, job.body()), self.inserted, ttr=120, buries=True)
            + [Step(b"reserve-with-timeout 0\r\n", reserved)] * self.rng.randint(1, 8))
        self.exchange(self.bean, [
            Step(f"delete {job.id}\r\n".encode(), self.deleted, [(job, State(GONE))])
            for job in taken])

    def deleted(self, answer):
        words, _ = answer
        if words[0] != "DELETED":
            self.complain(f"{words[0]} after delete")
        return words[0] == "DELETED"

    def use_gearman(self):
        taken = []

        def grabbed(answer):
            kind, arguments = answer
            if kind == wire.JOB_ASSIGN:
                self.take(taken, wire.id_of(arguments[0].decode()), arguments[2])
            return True
        self.exchange(self.gear, self.submissions(
            lambda job: wire.request(wire.BACKGROUND["normal"], TUBE.encode(), b"", job.body()),
            self.created) + [Step(wire.request(wire.GRAB_JOB), grabbed)] * self.rng.randint(1, 8))
        self.exchange(self.gear, [
            Step(wire.request(wire.WORK_COMPLETE, wire.handle(job.id).encode(), b"done"),
                 changes=[(job, State(GONE))], silent=True) for job in taken])

    def take(self, taken, job_id, body):
        job = self.received(job_id, TUBE, body)
        if job:
            taken.append(job)
