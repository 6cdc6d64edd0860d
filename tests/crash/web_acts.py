# SPDX-License-Identifier: MIT
"""The actions of a family over HTTP."""

import time

import wire
from book import BURIED, DELAYED, GONE, READY, Job, State
from party import Step, fitting


class WebActs:
    """Background jobs, and jobs that are taken back."""

    def http_acts(self):
        return [(self.post, 3), (self.take_back, 1)]

    def post(self):
        tube, taken, steps = self.any_tube(), set(), []
        for _ in range(self.rng.randint(1, 2 if self.is_full() else 6)):
            key = self.some_key() if self.rng.random() < 0.3 else ""
            if not key or key not in taken:
                taken.add(key)
                steps.append(self.posting(tube, key))
        self.exchange(self.web, fitting(steps))

    def posting(self, tube, key):
        headers = {"unique": key} if key else {}
        pri, delay, ttr = wire.PRIORITIES["normal"], 0, 0
        if self.rng.random() < 0.5:
            word = self.rng.choice(["high", "low", "777", "4000000000"])
            pri = wire.PRIORITIES.get(word) or int(word)
            headers["priority"] = word
        if self.rng.random() < 0.2:
            delay = headers["delay"] = self.rng.choice([1, 5, 1000])
        if self.rng.random() < 0.3:
            ttr = headers["ttr"] = self.rng.randint(60, 200)
        state = (State(DELAYED, pri, delay, due=time.time() + delay) if delay
                 else State(READY, pri, 0))
        job = Job(tube, self.new_tag(), self.body_size(), state, ttr, key)
        return self.keyed(job, wire.post(tube, job.body(), **headers), self.posted)

    def take_back(self):
        jobs = [job for job in self.book.quiet(READY, DELAYED, BURIED) if job.id not in self.held]
        chosen = self.rng.sample(jobs, min(len(jobs), self.rng.randint(1, 4)))

        def answered(answer):
            return answer[0] == 204
        self.exchange(self.web, [Step(wire.about("DELETE", job.id), answered, [(job, State(GONE))])
                                 for job in chosen])
