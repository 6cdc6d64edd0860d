# SPDX-License-Identifier: MIT
"""Clients that come back. When the broker has gone, or says nothing for as long as they care to wait, they go to whichever
answers, as another family or part of the crowd with the same book.
"""

import dataclasses
import threading
import time

import heard
import wire
from book import BURIED, GONE, READY, State
from crowd import NORMAL, TUBE, Crowd
from family import Family
from party import Step

PATIENCE = (1.5, 30)  # seconds: some go soon, some hold on to a broker that is paused
AGAIN_SECONDS = 0.02
DOUBT_SECONDS = 120  # the longest until an unanswered request has been carried out
TTR = 600  # longer than any round: what is held comes back only when its connection ends


class Seated:
    """In front of a Party: its connections go to one broker and are entered in the history."""

    def sit(self, member, patience):
        self.member, self.patience = member, patience
        self.pending, self.stream = [], None
        return self

    def connect(self, kind, _protocol):
        return heard.connect(kind, self.member, self.trial.history, self.patience)

    def exchange(self, stream, steps):
        self.stream, self.pending = stream, steps
        super().exchange(stream, steps)
        self.pending = []

    def settle(self, step, happened, slack):
        super().settle(step, happened, slack)
        if happened:
            self.trial.acknowledged(step)

    def submission(self, job, data, id_in):
        step, stream = super().submission(job, data, id_in), self.stream_of(id_in)
        answered = step.answered

        def entered(answer):
            happened = answered(answer)
            if happened and not job.key:
                stream.trail.ids.append(job.id)
            return happened
        step.answered = entered
        return step

    def stream_of(self, id_in):
        return {self.inserted: self.bean, self.created: self.gear, self.posted: self.web}[id_in]

    def received(self, job_id, tube, body):
        self.stream.trail.got_job()
        return super().received(job_id, tube, body)

    def leave_doubts(self):
        """The last request may have been done, or may still be."""
        with self.book.lock:
            for step in [*self.pending, *self.unsure]:
                if step.submits:
                    self.doubt_submission(step.submits)
                for job, _ in step.changes:
                    job.maybe = [doubtful(state) for state in job.maybe]
                    self.book.holders.pop((job.tube, job.key), None)

    def doubt_submission(self, job):
        """Where it waits, others may have been told to kick all that do."""
        job.slack = DOUBT_SECONDS
        job.state = dataclasses.replace(doubtful(job.state), loose=True)
        self.book.holders.pop((job.tube, job.key), None)


def doubtful(state):
    """One that took effect at any moment, and in any order with others."""
    return dataclasses.replace(state, slack=max(state.slack, DOUBT_SECONDS), burial=0)


class SeatedFamily(Seated, Family):
    def received(self, job_id, tube, body):
        """Also one of which an earlier connection was not told."""
        marks = [(own, len(body), body[:64]) for own in self.worked]
        return super().received(job_id, tube or next(
            (mark[0] for mark in marks if mark in self.book.asked), None), body)

    def some_key(self):
        """A key of its own: no other client can have an unanswered request for it."""
        return f"{self.name}.{super().some_key()}"


class SeatedCrowd(Seated, Crowd):
    """Does more with jobs than to delete them."""

    def use_beanstalk(self):
        taken = []

        def reserved(answer):
            words, body = answer
            if words[0] == "RESERVED":
                self.take(taken, int(words[1]), body)
            return True
        self.exchange(self.bean, self.submissions(
            lambda job: wire.put(NORMAL, 0, TTR, job.body()), self.inserted, ttr=TTR, buries=True)
            + [Step(b"reserve-with-timeout 0\r\n", reserved)] * self.rng.randint(1, 8))
        self.exchange(self.bean, [self.done_with(job) for job in taken])
        with self.book.lock:
            buried = self.book.quiet(BURIED)
        self.exchange(self.bean, [
            self.step(f"kick-job {job.id}", "KICKED", job, State(READY, job.state.pri))
            for job in buried[:self.rng.randint(0, 2)]])

    def done_with(self, job):
        luck = self.rng.random()
        if luck < 0.7:
            return self.step(f"delete {job.id}", "DELETED", job, State(GONE))
        if luck < 0.9:
            return self.step(f"release {job.id} {NORMAL} 0", "RELEASED", job, State(READY, NORMAL, 0))
        return self.step(f"bury {job.id} {NORMAL}", "BURIED", job,
                         State(BURIED, NORMAL))  # in an unknown order

    def step(self, command, word, job, state):
        def answered(answer):
            if answer[0][0] not in (word, "NOT_FOUND"):
                self.trial.refused(answer[0][0])
            return answer[0][0] == word
        return Step(f"{command}\r\n".encode(), answered, [(job, state)])


class Roamer(threading.Thread):
    """A family or one of the crowd, as long as the round lasts."""

    def __init__(self, trial, kind, book, name, rng, patience=None):
        super().__init__(name=name, daemon=True)
        self.trial, self.kind, self.book, self.rng = trial, kind, book, rng
        self.patience = patience
        self.generation = self.requests = 0

    def run(self):
        members = list(self.trial.members)
        self.rng.shuffle(members)
        while not self.trial.over.is_set():
            member = members[self.generation % len(members)]
            self.generation += 1
            party = self.kind(self.trial, self.book, f"{self.name}.{self.generation}", self.rng).sit(
                member, self.patience or self.rng.choice(PATIENCE))
            party.run()
            party.leave_doubts()
            self.requests += party.requests
            if not party.requests:
                time.sleep(AGAIN_SECONDS)
