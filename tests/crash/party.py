# SPDX-License-Identifier: MIT
"""A client in a thread of its own, which goes on until the broker has gone."""

import dataclasses
import threading
import time
import typing

import wire
from book import DELAYED, READY, SURE_SECONDS, UNANSWERED_SECONDS, Job
from wire import Lost, Odd

BATCH_BYTES = 200000


@dataclasses.dataclass
class Step:
    """One request: its bytes, what it changes where it is carried out, and who hears the answer.

    `answered` returns whether it was carried out, None if it is unknown how much of it. One that is `silent` has no answer: it is known
    to be done when a later request of the same connection is, whose record stands behind it; such
    a request is a `barrier` where `answered` says so by returning BARRIER.
    """

    data: bytes
    answered: typing.Callable = None
    changes: list = dataclasses.field(default_factory=list)
    submits: Job = None
    silent: bool = False


BARRIER = "barrier"


class Party(threading.Thread):
    """Several connections, of which one is used at a time, and a book."""

    def __init__(self, trial, book, name, rng):
        super().__init__(name=name, daemon=True)
        self.trial, self.book, self.rng = trial, book, rng
        self.bean = self.gear = self.web = self.noise = self.admin = None
        self.unsure = []  # silent steps of the Gearman connection
        self.tags = 0
        self.requests = 0

    def run(self):
        try:
            self.begin()
            while not self.trial.over.is_set():
                self.turn()
        except Lost:
            pass
        except Odd as odd:
            self.complain(str(odd))
        except Exception as error:  # one that has left sees no violation
            self.complain(f"gives up: {error!r}")
            raise
        finally:
            for stream in (self.bean, self.gear, self.web, self.noise, self.admin):
                if stream:
                    stream.close()

    def begin(self):
        """Connects."""
        self.bean = self.connect(wire.Bean, "beanstalk")
        if self.trial.speaks_all:
            self.gear = self.connect(wire.Gear, "gearman")
            self.web = self.connect(wire.Web, "http")

    def connect(self, kind, protocol):
        return kind(self.trial.port(protocol))

    def turn(self):
        raise NotImplementedError

    def complain(self, text):
        self.trial.complain(f"{self.name}: {text}")

    def new_tag(self):
        self.tags += 1
        return f"{self.trial.round_number}.{self.name}.{self.tags}"

    def body_size(self):
        """Mostly small ones."""
        luck = self.rng.random()
        for share, most in ((0.7, 200), (0.9, 2000), (0.985, 16000), (0.998, 60000)):
            if luck < share:
                return self.rng.randrange(min(most, self.trial.disk.largest_body))
        return self.trial.disk.largest_body

    def exchange(self, stream, steps):
        """Sends the requests together and hears the answers."""
        asked_at = time.time()
        for step in steps:
            if step.submits:
                self.book.ask(step.submits)
            for job, state in step.changes:
                self.book.propose(job, state)
        self.requests += len(steps)
        stream.send(b"".join(step.data for step in steps))
        for step in steps:
            if step.silent:
                self.unsure.append(step)
                continue
            answer = stream.answer()
            happened = step.answered(answer)
            self.settle(step, happened, time.time() - asked_at)
            if happened is BARRIER and stream is self.gear:
                self.pass_barrier(time.time() - asked_at)

    def settle(self, step, happened, slack):
        """`happened` is None where only some of the changes may have."""
        for job, state in step.changes if happened is not None else []:
            self.book.settle(job, state, bool(happened), slack)

    def pass_barrier(self, slack):
        """Requests of the Gearman connection without a reply are done, unless one was refused."""
        if not self.gear.refusals:
            for step in self.unsure:
                self.settle(step, True, slack + UNANSWERED_SECONDS)
        self.gear.refusals = 0
        self.unsure = []

    def submission(self, job, data, id_in):
        """A step that submits `job`; `id_in` finds the id in an answer, None in a refusal."""
        def answered(answer):
            job_id = id_in(answer)
            if job_id is None:
                self.book.withdraw(job)
                return False
            if not self.book.accept(job, job_id):
                self.complain(f"id {job_id} of {job.tag} was given before")
            return BARRIER
        return Step(data, answered, submits=job)

    def inserted(self, answer):
        words, _ = answer
        if words[0] == "INSERTED":
            return int(words[1])
        self.trial.refused(words[0])
        return None

    def created(self, answer):
        kind, arguments = answer
        if kind == wire.JOB_CREATED:
            return wire.id_of(arguments[0].decode())
        self.trial.refused(f"packet {kind} {arguments[0].decode()}")
        return None

    def posted(self, answer):
        status, handle, _ = answer
        if status == 200:
            return wire.id_of(handle)
        self.trial.refused(f"status {status}")
        return None

    def received(self, job_id, tube, body):
        """A worker has got that job: it must be one that there is."""
        job = self.book.adopt(job_id, tube, body)
        if job is None:
            history = self.book.gone.get(job_id)
            self.complain(f"job {job_id} with {body[:40]!r} of {tube} came, which no client submitted"
                          if history is None else f"came back: {history}")
        elif job.body() != body:
            self.complain(f"{job} came with another body: {len(body)} bytes, {body[:40]!r}")
        return job

    def check_takable(self, job):
        """No client may get a job that is buried, or before its time."""
        state = job.state
        if job.maybe or state.kind == READY or state.loose:
            return
        if state.kind != DELAYED or state.due - time.time() > SURE_SECONDS:
            self.complain(f"{job} was handed out")


def fitting(steps):
    """As many of the steps as may be sent at once: one at least."""
    total = 0
    for count, step in enumerate(steps):
        total += len(step.data)
        if total > BATCH_BYTES and count:
            return steps[:count]
    return steps
