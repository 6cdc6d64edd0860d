# SPDX-License-Identifier: MIT
"""Compares the broker with the books, after a restart and before anybody else talks to it."""

import dataclasses
import time

import wire
from book import BURIED, DELAYED, GONE, READY, SURE_SECONDS, State

BEYOND = 300  # ids that may have been given out after the last that anybody was told
SAMPLE = 100
FAR = 100000  # seconds
AT_ONCE = 32  # commands whose answers have bodies
STATES = ("ready", "reserved", "delayed", "buried")


class Check:
    """One comparison. What is found is entered in the books, so that nothing is found twice."""

    def __init__(self, trial, books, rng):
        self.trial, self.books, self.rng = trial, books, rng
        self.bean = wire.Bean(trial.port("beanstalk"))
        self.happened = 0  # requests that were carried out and never answered

    def run(self):
        self.adopt_unanswered()
        self.check_jobs()
        self.check_bodies()
        self.check_counts()
        self.check_pauses()
        if self.trial.speaks_all:
            self.check_gearman()
            self.check_http()
        for book in self.books:
            self.check_tubes(book)
        self.bean.close()

    def complain(self, text):
        self.trial.complain(text)

    def adopt_unanswered(self):
        """Looks at every id that was given in the last round. Jobs that no client submitted
        are deleted, so that they are found once."""
        ids = [job_id for job_id in self.books[0].ids.around(BEYOND)
               if not any(job_id in book.live for book in self.books)]
        if ids:
            answers = self.bean.ask_all([f"peek {job_id}" for job_id in ids], AT_ONCE)
            found = [(job_id, body) for job_id, (_, body) in zip(ids, answers)
                     if body is not None]
            for job_id, body in found:
                if not self.adopt(job_id, body):
                    self.bean.ask(f"delete {job_id}")
        self.books[0].ids.end_round()
        for book in self.books:
            book.asked.clear()

    def adopt(self, job_id, body):
        seen = self.stats_job(job_id)
        for book in self.books:
            if job_id in book.gone:
                self.complain(f"deleted, and back: {book.gone[job_id]}")
                return False
            job = book.adopt(job_id, seen["tube"], body) if seen else None
            if job:
                book.holders.pop((job.tube, job.key), None)
                self.happened += 1
                return True
        self.complain(f"no client submitted job {job_id} ({body[:40]!r}, {len(body)} bytes): {seen}")
        return False

    def stats_job(self, job_id):
        words, text = self.bean.ask(f"stats-job {job_id}")
        return wire.figures(text) if words[0] == "OK" else None

    #
    # Job by job
    #

    def check_jobs(self):
        for book in self.books:
            jobs = list(book.live.values())
            asked_at = time.time()
            answers = self.bean.ask_all([f"stats-job {job.id}" for job in jobs])
            for job, (words, text) in zip(jobs, answers):
                seen = wire.figures(text) if words[0] == "OK" else None
                self.check_job(book, job, seen, asked_at)

    def check_job(self, book, job, seen, asked_at):
        now = time.time()
        old_for = now - asked_at
        fitting = [state for state in (job.state, *job.maybe)
                   if not state.differences(seen, now, job.tube, old_for)]
        if fitting:
            state = common(fitting)
            found = job.differences(seen, now, old_for)
            self.happened += fitting[0] is not job.state
        else:
            found = job.state.differences(seen, now, job.tube, old_for)
        if found:
            self.complain(f"{job}: {', '.join(found)}")
            state = dataclasses.replace(state_of(seen), burial=job.state.burial)
        elif not self.trial.disk.steps:  # a delay that is over is not, where the clock goes back
            state = self.after(state, seen)
        unsure, job.maybe = job.maybe, []
        book.become(job, state)
        if unsure:
            # It may have given its key to another, or not got it back.
            book.holders.pop((job.tube, job.key), None)

    def after(self, state, seen):
        """The state from now on of a job that fits it."""
        if state.kind == DELAYED and seen["state"] == READY:
            return dataclasses.replace(state, kind=READY)
        return dataclasses.replace(state, loose=False) if state.loose else state

    def check_bodies(self):
        for book in self.books:
            jobs = list(book.live.values())
            answers = self.bean.ask_all([f"peek {job.id}" for job in jobs], AT_ONCE)
            for job, (_, body) in zip(jobs, answers):
                if body != job.body():
                    self.complain(f"{job} has another body: {None if body is None else len(body)} "
                                  f"bytes, {(body or b'')[:40]!r}")

    def check_counts(self):
        """Jobs that came back after earlier rounds are nowhere in the books, but are counted."""
        _, text = self.bean.ask("stats")
        stats = wire.figures(text)
        counted = sum(int(stats[f"current-jobs-{state}"]) for state in STATES)
        expected = sum(len(book.live) for book in self.books)
        if counted != expected:
            _, tubes = self.bean.ask("list-tubes")
            found = filter(None, map(self.tube_counts, tubes.decode().split("\n- ")[1:]))
            self.complain(f"{counted} jobs are counted, and {expected} known: {', '.join(found)}")
        self.trial.segment_size = int(stats["binlog-max-size"])

    def tube_counts(self, tube):
        """Where it differs."""
        tube = tube.strip().strip('"')
        words, text = self.bean.ask(f"stats-tube {tube}")
        if words[0] != "OK":
            return ""
        stats = wire.figures(text)
        known = sum(job.tube == tube for book in self.books for job in book.live.values())
        counted = sum(int(stats[f"current-jobs-{state}"]) for state in STATES)
        return f"{tube}: {counted}, not {known}" if counted != known else ""

    #
    # Tubes
    #

    def check_pauses(self):
        for book in self.books:
            for tube, pauses in book.pauses.items():
                asked_at = time.time()
                words, text = self.bean.ask(f"stats-tube {tube}")
                if words[0] != "OK" or not pauses or not any(
                        job.tube == tube for job in book.live.values()):
                    continue
                seen, now = wire.figures(text), time.time()
                fitting = [pause for pause in pauses if pause.fits(seen, now, now - asked_at)]
                if not fitting:
                    self.complain(f"{tube} is paused for {seen['pause']} s, "
                                  f"{seen['pause-time-left']} s left; expected {pauses}")
                book.pauses[tube] = fitting[-1:] or pauses[:1]

    def check_tubes(self, book):
        """Changes what it looks at, so that not every tube has its turn."""
        for tube in sorted({job.tube for job in book.live.values()}):
            luck = self.rng.random()
            if luck < 0.25:
                self.check_buried(book, tube)
            elif luck < 0.5 and not tube.endswith(".retried"):  # that would be attempts
                self.check_ready(book, tube)

    def check_buried(self, book, tube):
        """Kicks them one by one: they come in the order in which they were buried."""
        buried = book.buried(tube)
        expected = [job.id for job in buried]
        answers = list(self.bean.ask_all(
            [f"use {tube}"] + ["peek-buried", "kick 1"] * len(expected), AT_ONCE))
        found = [int(words[1]) for words, _ in answers[1::2] if words[0] == "FOUND"]
        # Jobs that one operation buried may come in any order.
        places = {job.id: job.state.burial for job in buried}
        order = [places[job_id] for job_id in found if places.get(job_id)]
        if sorted(found) != sorted(expected) or order != sorted(order):
            self.complain(f"buried in {tube}: {found}, expected {expected}")
        for job_id in found:
            if job_id in book.live:
                job = book.live[job_id]
                book.become(job, dataclasses.replace(job.state, kind=READY, attempts=job.state.dead
                                                     and job.state.attempts or 0))

    def check_ready(self, book, tube):
        """Reserves all: they come by priority, and then by age, which after a restart is the id."""
        ready = [job for job in book.live.values() if job.tube == tube and job.state.kind == READY]
        if self.tube_is_paused(tube):
            return
        worker = wire.Bean(self.trial.port("beanstalk"))
        found = []
        for words, body in worker.ask_all(
                [f"watch {tube}", "ignore default"]
                + ["reserve-with-timeout 0"] * (len(book.live) + 1), AT_ONCE):
            if words[0] == "RESERVED":
                found.append(book.live.get(int(words[1])))
                if found[-1] is None or found[-1].body() != body:
                    self.complain(f"{tube} gave job {words[1]} with {body[:40]!r}")
        worker.close()
        now = time.time()
        found = [job for job in found if job]
        late = {job for job in found if job.state.kind == DELAYED}
        expected = sorted(ready, key=lambda job: (job.state.pri, job.id))
        if not self.is_order([job for job in found if job not in late], expected):
            self.complain(f"{tube} gave {[job.id for job in found]}, "
                          f"expected {[job.id for job in expected]}")
        for job in late:
            if not job.state.loose and job.state.due - now > SURE_SECONDS:
                self.complain(f"{job} was handed out before its time")
        self.wait_for_return(tube)

    def is_order(self, found, expected):
        return found == expected

    def tube_is_paused(self, tube):
        words, text = self.bean.ask(f"stats-tube {tube}")
        return words[0] != "OK" or wire.figures(text)["pause"] != "0"

    def wait_for_return(self, tube):
        """Until the broker has seen that the worker has gone."""
        until = time.monotonic() + wire.ANSWER_SECONDS
        while time.monotonic() < until:
            _, text = self.bean.ask(f"stats-tube {tube}")
            if text is None or wire.figures(text)["current-jobs-reserved"] == "0":
                return
            time.sleep(0.002)
        self.complain(f"{tube} does not get its jobs back from a worker that has gone")

    #
    # The same through the other protocols
    #

    def sample(self, jobs):
        jobs = list(jobs)
        return self.rng.sample(jobs, min(len(jobs), SAMPLE))

    def check_gearman(self):
        gear = wire.Gear(self.trial.port("gearman"))
        for book in self.books:
            for job in self.sample(book.live.values()):
                gear.send(wire.request(wire.GET_STATUS, wire.handle(job.id).encode()))
                kind, arguments = gear.answer()
                if kind != wire.STATUS_RES or arguments[1:3] != [b"1", b"0"]:
                    self.complain(f"{job}: the answer to GET_STATUS is {kind} {arguments}")
            self.check_keys(book, gear)
        gear.close()

    def check_keys(self, book, gear):
        """A submission with a key joins the job that has it. One that starts late changes none."""
        moment = str(int(self.trial.disk.wall()) + FAR).encode()
        for job in self.sample(job for job in book.holders.values() if job):
            gear.send(wire.request(wire.SUBMIT_JOB_EPOCH, job.tube.encode(), job.key.encode(),
                                   moment, b"too late"))
            kind, arguments = gear.answer()
            if kind != wire.JOB_CREATED:
                self.complain(f"{job}: the answer to a duplicate is {kind} {arguments}")
                continue
            job_id = wire.id_of(arguments[0].decode())
            if job_id != job.id:
                self.complain(f"a duplicate of {job} became job {job_id}")
                book.ids.take(job_id)
                self.bean.ask(f"delete {job_id}")

    def check_http(self):
        web = wire.Web(self.trial.port("http"))
        for book in self.books:
            for job in self.sample(book.live.values()):
                web.send(wire.about("GET", job.id))
                status, _, body = web.answer()
                told = wire.told_of_job(body)
                now = time.time()
                kinds = {job.state.kind} | ({READY} if job.state.kind == DELAYED and (
                    job.state.loose or job.state.due < now + SURE_SECONDS) else set())
                if (status != 200 or told["state"] not in kinds or told["function"] != job.tube
                        or told["priority"] != job.state.pri):
                    self.complain(f"{job}: the answer to GET is {status} {told}")
        web.close()


def common(states):
    """The first state; if all are delayed, it may end whenever one of their delays may end."""
    first = states[0]
    if any(state.kind != DELAYED for state in states):
        return first
    due = min(state.due for state in states)
    until = max(state.due + state.slack for state in states)
    return dataclasses.replace(first, due=due, slack=until - due,
                               by=first.by if len({state.by for state in states}) == 1 else None,
                               loose=any(state.loose for state in states))


def state_of(seen):
    """As stats-job shows it, for a job that is not as it should be."""
    if seen is None:
        return State(GONE)
    kind = seen["state"] if seen["state"] in (DELAYED, BURIED) else READY
    return State(kind, int(seen["pri"]), due=time.time() + float(seen["time-left"]),
                 by=None, tube=seen["tube"], dead=seen.get("dead-from", ""),
                 attempts=int(seen.get("dead-attempts", 0)))


def bytes_needed(books):
    """The most bytes of live jobs and their promises in the journal, by journal/FORMAT.md."""
    job_fixed, ids, promised = 88, 24, 24 + 24 + 64 + 24
    return sum(job_fixed + len(job.tube) + len(job.key) + job.size + ids + promised
               + (80 + len(job.tube) if job.state.tube else 0)
               + (16 + len(job.state.dead) if job.state.dead else 0)
               for book in books for job in book.live.values()) + sum(
                   64 + len(tube) for book in books for tube in book.pauses)
