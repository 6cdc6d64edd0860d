# SPDX-License-Identifier: MIT
"""Retriers: their jobs fail until the policy of their tube takes them to a dead tube, and are fetched
back from there. No other client works in these tubes, so that it is known which attempt each is at.

An attempt is a release without a delay, which is answered: so is a move of which the policy knows
alone.
"""

import dataclasses

import wire
from book import BURIED, DELAYED, GONE, IMPOSED, READY, Job, State
from family import place
from party import Party, Step, fitting

ATTEMPTS = 3
BACKOFF = 1  # seconds
# As in the broker's configuration.
POLICY = f"""
[queue *.retried]
max_attempts = {ATTEMPTS}
count_releases = true
backoff = fixed
backoff_min = {BACKOFF}s
on_exhausted = move
dead_queue = {{queue}}.dead
"""


class Retrier(Party):
    """Puts, reserves, and either is done with a job or gives it back; sends dead letters back."""

    def begin(self):
        self.tube = f"{self.book.name}.retried"
        self.dead = f"{self.tube}.dead"
        self.held = {}
        self.bean = wire.Bean(self.trial.port("beanstalk"))
        self.admin = wire.Web(self.trial.port("admin"))
        for command in (f"use {self.tube}", f"watch {self.tube}", "ignore default"):
            self.bean.ask(command)

    def turn(self):
        luck = self.rng.random()
        if luck < 0.3 and len(self.book.live) < self.trial.disk.jobs[1]:
            self.exchange(self.bean, [self.put() for _ in range(self.rng.randint(1, 6))])
        elif luck < 0.6:
            self.exchange(self.bean, [Step(b"reserve-with-timeout 0\r\n", self.reserved)] *
                          self.rng.randint(1, 8))
        elif luck < 0.9:
            self.work()
        else:
            self.look_after_dead()

    def put(self):
        pri = self.rng.randrange(100000)
        job = Job(self.tube, self.new_tag(), self.body_size(), place(pri, 0), 3600, buries=True)
        return self.submission(job, wire.put(pri, 0, job.ttr, job.body()), self.inserted)

    def reserved(self, answer):
        words, body = answer
        if words[0] == "RESERVED":
            job = self.received(int(words[1]), self.tube, body)
            if job:
                self.held[job.id] = job
                self.check_takable(job)
        return True

    def work(self):
        jobs = [job for job in self.held.values() if not job.maybe]
        jobs = self.rng.sample(jobs, min(len(jobs), self.rng.randint(1, 6)))
        self.exchange(self.bean, [self.delete(job) if self.rng.random() < 0.2 else
                                  self.give_back(job) for job in jobs])

    def delete(self, job):
        self.held.pop(job.id, None)
        return Step(f"delete {job.id}\r\n".encode(), self.is_answered("DELETED"),
                    [(job, State(GONE))])

    def is_answered(self, word):
        def answered(answer):
            if answer[0][0] != word:
                self.trial.refused(answer[0][0])
            return answer[0][0] == word
        return answered

    def give_back(self, job):
        """One attempt more, and then it waits, or is a dead letter. (Where a disk fails, it may be
        buried instead: that is known after a restart.)"""
        del self.held[job.id]
        pri = self.rng.randrange(100000)
        spent = job.state.attempts + 1
        if spent < ATTEMPTS:
            after = [dataclasses.replace(place(pri, BACKOFF, IMPOSED), attempts=spent)]
        else:
            after = [State(READY, pri, attempts=spent, dead=self.tube, tube=self.dead)]
            if self.trial.disk.fails:
                after.append(State(BURIED, pri, attempts=spent,
                                   burial=self.book.next_burial()))
        answered = self.is_answered("RELEASED")
        return Step(f"release {job.id} {pri} 0\r\n".encode(),
                    lambda answer: answered(answer) and (len(after) == 1 or None),
                    [(job, state) for state in after])

    def look_after_dead(self):
        """Some go back, as if they had never been tried, and some are given up."""
        jobs = [job for job in self.book.quiet(READY, DELAYED, BURIED) if job.state.dead]
        jobs = self.rng.sample(jobs, min(len(jobs), self.rng.randint(1, 5)))
        self.exchange(self.admin, fitting([self.give_up(job) if self.rng.random() < 0.2 else
                                           self.send_back(job) for job in jobs]))

    def give_up(self, job):
        def answered(answer):
            if answer[0] != 204:
                self.trial.refused(f"admin {answer[0]}")
            return answer[0] == 204
        return Step(wire.api("DELETE", f"jobs/{job.id}"), answered, [(job, State(GONE))])

    def send_back(self, job):
        after = dataclasses.replace(job.state, tube=self.tube, dead="", attempts=0,
                                    burial=self.book.next_burial())

        def answered(answer):
            if answer[0] in (404, 409):
                self.complain(f"{job} is not a dead letter: {answer}")
            elif answer[0] != 200:
                self.trial.refused(f"admin {answer[0]}")
            return answer[0] == 200
        return Step(wire.api("POST", f"jobs/{job.id}/move", {"back": True}), answered,
                    [(job, after)])
