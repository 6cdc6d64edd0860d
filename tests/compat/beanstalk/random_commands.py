# SPDX-License-Identifier: MIT
"""Commands drawn at random, and what is known of the jobs that they can name.

Nothing here knows what the right reply is. It knows enough for most commands to hit something.
What must not depend on the moment is left out by construction:

- Times to run are long, so that no reservation ends and no client gets DEADLINE_SOON.
- Delays are none, or long and drawn from so wide a range that two hardly ever end in the same
  second: jobs whose delays end together are ordered by clocks that differ.
- Lines on which the servers may differ are left to the scripts.
"""

from collections import namedtuple

# The bytes, how many replies they get, and what they do, if that is of interest: (what, to what).
Command = namedtuple("Command", "text replies effect", defaults=(1, None))

TUBES = ["default", "a", "b", "c", "12", "t" * 200]
PRIORITIES = [0, 1, 1, 5, 1023, 1024, 4294967295]
MANY_JOBS = 150
NO_JOB = ["0", "18446744073709551615", "99999999999"]
UNCOUNTED_LINES = ["nonsense", "", "peek x", "USE a", "reserve now", "use -", "x" * 300,
                   "use a\0b", "delete 1 ", "release 1 1", "reserve-with-timeout", "kick-job",
                   "stats-tube a:b", "put 0 0 60 4294967296", "ignore  a"]
COUNTED_LINES = ["put 0 0 60 0 x", "pause-tube -a 0", "touch 0", "stats-tube nowhere",
                 "pause-tube nowhere 5", "ignore nowhere-watched"]


class Commands:
    """Draws commands for a session; told of the replies, it remembers which jobs there are."""

    def __init__(self, rng):
        self.rng = rng
        self.alive = []
        self.newest = 0
        # While one body is on its way no other job may be accepted, as the ids of overlapping puts
        # are given in another order.
        self.puts_allowed = True
        # Bodies are parts of this. A # would be taken for the number of a job.
        self.pool = rng.randbytes(1 << 17).decode("latin-1").replace("#", "+")
        table = [(self.put, 18), (self.refused_put, 2), (self.reserve, 14), (self.reserve_job, 3),
                 (self.delete, 12), (self.release, 8), (self.bury, 7), (self.touch, 3),
                 (self.kick, 5), (self.kick_job, 3), (self.peek, 3), (self.peek_first, 6),
                 (self.use, 6), (self.watch, 6), (self.ignore, 6), (self.pause, 2),
                 (self.unpause, 3), (self.stats_job, 5), (self.stats_tube, 4), (self.list, 4),
                 (self.odd_line, 3)]
        self.drawers = [drawer for drawer, _ in table]
        self.weights = [weight for _, weight in table]

    def draw(self, session):
        if len(self.alive) > MANY_JOBS and self.rng.random() < 0.3:
            return self.delete(session)
        return self.rng.choices(self.drawers, self.weights)[0](session)

    def note(self, session, effect, reply):
        """Learns from the reply to a command."""
        words = reply.decode("latin-1").split(None, 2)
        if words[0] == "INSERTED":
            self.newest = int(words[1][1:])
            self.alive.append(self.newest)
        elif words[0] == "RESERVED":
            session.held.append(int(words[1][1:]))
        elif effect:
            what, which = effect
            if what == "watch":
                session.watched.add(which)
            elif what == "ignore" and words[0] == "WATCHING":
                session.watched.discard(which)
            elif what == "let go" and words[0] in ("RELEASED", "BURIED", "DELETED"):
                forget(session.held, which)
            if words[0] == "DELETED":
                forget(self.alive, which)

    def job(self):
        """A job that is there, was there, or never was."""
        luck = self.rng.random()
        if self.alive and luck < 0.93:
            return self.rng.choice(self.alive)
        return self.rng.randint(1, self.newest) if self.newest and luck < 0.97 else None

    def job_of(self, session):
        if session.held and self.rng.random() < 0.85:
            return self.rng.choice(session.held)
        return self.job()

    def name(self, job):
        return self.rng.choice(NO_JOB) if job is None else f"#{job}"

    def on_job(self, word, job, rest=""):
        return Command(f"{word} {self.name(job)}{rest}\r\n", 1, ("let go", job))

    def delay(self):
        return self.rng.randint(10 ** 4, 2 * 10 ** 9) if self.rng.random() < 0.15 else 0

    def priority(self):
        return self.rng.choice(PRIORITIES)

    def put_parts(self):
        """A line and the body for it, without the CRLF behind."""
        size = self.rng.choice([0, 1, 5, 20, 20, 100, self.rng.randint(0, 300)])
        if self.rng.random() < 0.01:
            size = self.rng.choice([5000, 16384, 65535])
        begin = self.rng.randint(0, len(self.pool) - size)
        ttr = self.rng.randint(10 ** 4, 4294967295)
        line = f"put {self.priority()} {self.delay()} {ttr} {size}\r\n"
        return line, self.pool[begin:begin + size]

    def put(self, session):
        if not self.puts_allowed:
            return self.reserve(session)
        line, body = self.put_parts()
        return Command(line + body + "\r\n")

    def refused_put(self, _):
        return self.rng.choice([
            Command("put 0 0 60 3\r\nabcde"), Command("put 0 0 60 0\r\nab"),
            Command("put x 0 1 14\r\nlist-tube-used\r\n", 2),
            Command("put 1 0 60 65536\r\n" + "b" * 65538),
            Command("put 1 0 60 2\r\nabcdlist-tube-used\r\n", 2)])

    def reserve(self, _):
        return Command("reserve-with-timeout 0\r\n")

    def reserve_job(self, _):
        return Command(f"reserve-job {self.name(self.job())}\r\n")

    def delete(self, session):
        return self.on_job("delete", self.job_of(session))

    def release(self, session):
        return self.on_job("release", self.job_of(session), f" {self.priority()} {self.delay()}")

    def bury(self, session):
        return self.on_job("bury", self.job_of(session), f" {self.priority()}")

    def touch(self, session):
        return self.on_job("touch", self.job_of(session))

    def kick(self, _):
        return Command(f"kick {self.rng.choice([0, 1, 1, 2, 3, 10, '4294967297', '2 x'])}\r\n")

    def kick_job(self, _):
        return self.on_job("kick-job", self.job())

    def peek(self, _):
        return self.on_job("peek", self.job())

    def peek_first(self, _):
        return Command(f"peek-{self.rng.choice(['ready', 'delayed', 'buried'])}\r\n")

    def use(self, _):
        return Command(f"use {self.rng.choice(TUBES)}\r\n")

    def watch(self, _):
        tube = self.rng.choice(TUBES)
        return Command(f"watch {tube}\r\n", 1, ("watch", tube))

    def ignore(self, _):
        tube = self.rng.choice(TUBES)
        return Command(f"ignore {tube}\r\n", 1, ("ignore", tube))

    def pause(self, _):
        # The one tube that never goes: with us, another would stay paused when it is left, and with
        # the reference its pause would end.
        seconds = self.rng.randint(10 ** 4, 10 ** 9)
        return Command(f"pause-tube default {seconds}\r\n")

    def unpause(self, _):
        return Command(f"pause-tube {self.rng.choice(TUBES)} 0\r\n")

    def stats_job(self, _):
        return self.on_job("stats-job", self.job())

    def stats_tube(self, _):
        return Command(f"stats-tube {self.rng.choice(TUBES)}\r\n")

    def list(self, _):
        return Command(self.rng.choice(["list-tubes", "list-tubes-watched", "list-tube-used",
                                        "stats"]) + "\r\n")

    def odd_line(self, _):
        return Command(self.rng.choice(UNCOUNTED_LINES + COUNTED_LINES) + "\r\n")

    def uncounted_line(self):
        return Command(self.rng.choice(UNCOUNTED_LINES) + "\r\n")


def forget(jobs, job):
    if job in jobs:
        jobs.remove(job)
