# SPDX-License-Identifier: MIT
"""The requests of a script, and its workers, at both servers at once.

Each request has a connection of its own, since gearmand closes it. A script has servers of its own.
"""

import re
import time

from gearman import pair as gearman_pair
from gearman.packets import GRAB_JOB, JOB_ASSIGN, NOOP, PRE_SLEEP, WORK_COMPLETE
from gearman.pair import ENDS, STUCK, Lines, is_as_expected
from http import allowed
from shared.actors import Mismatch, beside
from shared.bytestream import ANSWER_SECONDS, Silence

VERSIONS = ("HTTP/1.0", "HTTP/1.1")


class Worker(gearman_pair.Client):
    """A connection to each server's port for workers."""

    def take(self, *expected):
        """Sleeps until there is a job, and takes it."""
        self.ask(PRE_SLEEP(), NOOP())
        self.ask(GRAB_JOB(), JOB_ASSIGN(*expected))

    def do(self, job, function, work, result):
        self.take(job, function, work)
        self.tell(WORK_COMPLETE(job, result))

    def differ(self, why, message, theirs, ours):
        note_difference(why)
        self.send(*gearman_pair.as_messages(message))
        for connection, expected in ((self.ours, ours), (self.theirs, theirs)):
            gearman_pair.hear_one_sided(connection, expected)
        self.stage.exchanges += 1

    def crashes_theirs(self, why, *messages):
        """There is only one server left, and no worker."""
        note_difference(why)
        self.send(*messages)
        if self.stage.peers.theirs.process.wait(ANSWER_SECONDS) == 0:
            raise Mismatch("gearmand ends, but does not crash")
        self.stage.exchanges += 1
        self.stage.clients = []

    def theirs_only(self, why, job, function, work, result):
        """Does a job that only the reference has."""
        note_difference(why)
        for message, expected in ((PRE_SLEEP(), NOOP()),
                                  (GRAB_JOB(), JOB_ASSIGN(job, function, work))):
            self.theirs.say([message])
            reply = self.theirs.message()
            if reply != expected:
                raise Mismatch(f"{self.theirs.server.name} says {reply!r} instead of {expected!r}")
        self.theirs.say([WORK_COMPLETE(job, result)])


class Request:
    """One that both servers have been sent."""

    def __init__(self, stage, text):
        self.stage = stage
        self.is_head = text.startswith("HEAD ")
        self.theirs, self.ours = (server.call() for server in stage.peers.both())
        stage.requests.append(self)
        for call in self.both():
            call.send(text.encode("latin-1"))

    def both(self):
        return self.theirs, self.ours

    def hear(self, expected):
        """Both give the same answer, but for what is in the table of headers."""
        answers = [call.answer(self.is_head) for call in self.both()]
        if any(answer != expected for answer in answers):
            raise Mismatch(f"expected {expected!r}\n{beside(self.stage.peers, *answers)}")
        check_heads(*answers)
        self.end()

    def differ(self, why, theirs, ours):
        """An allowed difference; each one's answer is spelled out. ENDS: it hangs up, unanswered.
        STUCK: it is never answered. A list is of several answers on the connection."""
        note_difference(why)
        for call, expected in ((self.ours, ours), (self.theirs, theirs)):
            for wanted in expected if isinstance(expected, list) else [expected]:
                self.hear_one_sided(call, wanted)
        self.end()

    def hear_end(self):
        """Both hang up without a word."""
        for call in self.both():
            self.hear_one_sided(call, ENDS)
        self.end()

    def hear_one_sided(self, call, wanted):
        if wanted == STUCK:
            call.half_close()
        heard = call.rest() if wanted in (ENDS, STUCK) else call.answer(self.is_head)
        if heard != (b"" if wanted in (ENDS, STUCK) else wanted):
            raise Mismatch(f"{call.server.name} says {heard!r} instead of {wanted!r}")

    def garbled(self, why, theirs_begins, ours):
        """An allowed difference where of theirs only the beginning is certain."""
        heard = self.theirs.rest().decode("latin-1")
        if not heard.startswith(theirs_begins):
            raise Mismatch(f"{self.theirs.server.name} says {heard!r}, not {theirs_begins!r}")
        self.hear_ours(why, ours)

    def hear_ours(self, why, expected):
        """An allowed difference of which theirs cannot tell: it is gone."""
        note_difference(why)
        self.hear_one_sided(self.ours, expected)
        self.end()

    def more(self, text):
        for call in self.both():
            call.send(text.encode("latin-1"))

    def go(self):
        """The client leaves before it is answered."""
        self.end()
        self.stage.settle()

    def end(self):
        for call in self.both():
            call.close()
        self.stage.requests.remove(self)
        self.stage.exchanges += 1


class Stage(gearman_pair.Stage):
    """A pair of servers with the requests and the workers of one script."""

    client_type = Worker

    def __init__(self, peers):
        self.requests = []
        super().__init__(peers)

    def until_different(self, why, line, theirs, ours):
        """An allowed difference that appears once the server notices a closed connection."""
        note_difference(why)
        wanted = [Lines(theirs), Lines(ours)]
        self.wait_for_all(line, lambda found: all(map(is_as_expected, found, wanted)))
        self.exchanges += 1

    def say(self, text):
        return Request(self, text)

    def ask(self, text, expected):
        """A request that needs no worker."""
        self.say(text).hear(expected)

    def ask_differing(self, why, text, theirs, ours):
        self.say(text).differ(why, theirs, ours)

    def settle(self):
        """Waits until both servers know which connections there are; gearmand lists requests."""
        give_up_at = time.monotonic() + ANSWER_SECONDS
        parties = 1 + len(self.clients)
        while [len(lines) for lines in self.lists("workers")] != [
                parties + len(self.requests), parties]:
            if time.monotonic() > give_up_at:
                raise Silence("the servers do not count the connections that are open")
            time.sleep(0.002)

    def finish(self):
        if self.requests:
            raise Mismatch("the script ended without checking the answer to a request")
        super().finish()


def note_difference(why):
    if why not in allowed.REPLIES:
        raise Mismatch(f"{why!r} is not among the allowed differences")
    allowed.used.add(why)


def check_heads(theirs, ours):
    """Both heads say the same, but for what the table allows."""
    if theirs.version not in VERSIONS or ours.version not in VERSIONS:
        raise Mismatch(f"versions {theirs.version!r} and {ours.version!r}")
    for name in sorted(set(theirs.headers) | set(ours.headers)):
        values = theirs.headers.get(name), ours.headers.get(name)
        if name.startswith("x-gearman-") or values[0] == values[1]:
            continue
        check_header(name, *values)
    if theirs.version != ours.version:
        allowed.used.add("version of the answer")


def check_header(name, theirs, ours):
    why = f"header {name}"
    if why not in allowed.HEADERS:
        raise Mismatch(f"header {name}: {theirs!r} and {ours!r}")
    for value, pattern in zip((theirs, ours), allowed.HEADERS[why][:2]):
        if (value is None) != (pattern is None) or (
                value is not None and not re.fullmatch(pattern, value)):
            raise Mismatch(f"header {name}: {theirs!r} and {ours!r}")
    allowed.used.add(why)
