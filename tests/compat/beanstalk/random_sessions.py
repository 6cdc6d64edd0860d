# SPDX-License-Identifier: MIT
"""Several connections that do at random what clients do, to both servers at once.

A step is one command. Several may be sent in one piece, and everything is answered before anyone
else speaks. What would make the order of events a matter of luck is left out by construction; see
random_commands.py for the commands themselves, and here:

- Reserves that wait at the same time watch no tube in common, as the reference does not serve
  waiters in their order.
- Behind a reserve that waits, only lines are sent that change and count nothing: whether they
  are read before or after the event that ended the reserve is unspecified.
- One body at a time is on its way in pieces, and meanwhile no other put succeeds.
- The end of a pause is the last of its piece: the reference lets it take effect with the next
  microsecond, which the next command may or may not reach first.
- After a connection has closed, both servers must know it before anyone speaks.
"""

import collections
import random
import time

from beanstalk.pair import Client, Stage, with_ids
from beanstalk.peers import Peers
from beanstalk.random_commands import Commands
from shared.actors import Mismatch, shown
from shared.bytestream import ANSWER_SECONDS, Silence

SESSIONS_MAX = 8
PARTED = 0.1  # of what is said arrives in two parts
SHOWN_EXCHANGES = 15


class Session(Client):
    """A client, and what it is in the middle of."""

    def __init__(self, stage, name):
        super().__init__(stage)
        self.name = name
        self.watched = {"default"}
        self.held = []
        self.waits = False
        self.owed = []  # the commands sent behind a reserve that waits
        self.missing = ""  # the rest of a body on its way


    def send_in_parts(self, text, rng):
        """Now and then in two, cut anywhere."""
        part = rng.random() if rng.random() < PARTED else 0
        for connection in (self.theirs, self.ours):
            data = with_ids(connection.server, text.encode("latin-1"))
            cut = int(part * len(data))
            connection.send(data[:cut])
            connection.send(data[cut:])


class Sessions:
    """All sessions of a run."""

    def __init__(self, stage, rng):
        self.stage = stage
        self.rng = rng
        self.commands = Commands(rng)
        self.steps = 0
        self.opened = 0
        self.history = collections.deque(maxlen=SHOWN_EXCHANGES)
        self.tally = collections.Counter()

    def run(self, steps):
        self.open()
        table = [(self.burst, 80), (self.wait, 8), (self.open, 2), (self.close, 2),
                 (self.begin_body, 2), (self.go_on_with_body, 8), (self.send_ahead, 2)]
        acts, weights = zip(*table)
        while self.steps < steps:
            self.rng.choices(acts, weights)[0]()
            self.hear_woken()

    #
    # The actions of each kind of client
    #

    def sessions(self):
        return self.stage.clients

    def free(self):
        return [session for session in self.sessions()
                if not session.waits and not session.missing]

    def waiting(self):
        return [session for session in self.sessions() if session.waits]

    #
    # Acts
    #

    def burst(self):
        """One command, or a few in one piece."""
        if not self.free():
            self.open()
            return
        session = self.rng.choice(self.free())
        count = self.rng.choice([1, 1, 1, 1, 2, 3, 6])
        commands = []
        while len(commands) < count:
            commands.append(self.commands.draw(session))
            if ends_a_pause(commands[-1].text):
                break
        self.say(session, commands)

    def open(self):
        if len(self.sessions()) >= SESSIONS_MAX:
            return
        self.opened += 1
        self.stage.add(Session(self.stage, f"session {self.opened}"))

    def close(self):
        if len(self.sessions()) == 1:
            return
        session = self.rng.choice(self.sessions())
        # Which of several jobs a waiter gets is an allowed difference.
        if len(session.held) > 1 and self.waiting():
            return
        how = self.rng.choice(["hang up", "half-close", "quit"])
        if how == "quit" and (session.waits or session.missing):
            how = "hang up"
        self.remember(session, how, "")
        if session.missing:
            self.forget_body(session)
        if how == "hang up":
            session.hang_up()
        elif how == "quit":
            session.ask("quit")
            session.end()
        else:
            self.half_close(session)
        self.steps += 1

    def half_close(self, session):
        session.half_close()
        if session.waits:
            session.waits = False
            self.hear(session, "(reserve)", None)
            self.hear_owed(session)
        session.end()

    def wait(self):
        """A reserve that may have to wait."""
        if not self.free():
            return
        session = self.rng.choice(self.free())
        if any(session.watched & other.watched for other in self.waiting()):
            return
        line = self.rng.choice(["reserve\r\n", "reserve-with-timeout 100000\r\n"])
        waiting = len(self.waiting())
        session.send(line)
        self.steps += 1
        self.until(lambda: is_answered(session) or self.waiting_are(waiting + 1))
        if is_answered(session):
            self.hear(session, line, None)
        else:
            session.waits = True
            self.remember(session, line, "(waits)")

    def send_ahead(self):
        """Something behind a reserve that waits."""
        if not self.waiting():
            return
        session = self.rng.choice(self.waiting())
        command = self.commands.uncounted_line()
        session.send(command.text)
        session.owed.append(command)
        self.steps += 1

    def begin_body(self):
        """A put line and a part of its body."""
        if not self.free() or not self.commands.puts_allowed:
            return
        session = self.rng.choice(self.free())
        line, body = self.commands.put_parts()
        body += self.rng.choice(["\r\n", "\r\n", "\r\n", "xx"])
        cut = self.rng.randint(0, len(body) - 1)
        puts = self.values("cmd-put")
        session.send(line + body[:cut])
        self.until(lambda: self.values("cmd-put") == [count + 1 for count in puts])
        session.missing = body[cut:]
        self.commands.puts_allowed = False
        self.remember(session, line, f"({len(session.missing)} bytes are missing)")

    def go_on_with_body(self):
        for session in self.sessions():
            if session.missing:
                session.send(session.missing)
                self.forget_body(session)
                self.hear(session, "(rest of the body)", None)
                self.steps += 1
                return

    def forget_body(self, session):
        session.missing = ""
        self.commands.puts_allowed = True

    #
    # Saying and hearing
    #

    def say(self, session, commands):
        text = "".join(command.text for command in commands)
        session.send_in_parts(text, self.rng)
        for command in commands:
            self.steps += 1
            for _ in range(command.replies):
                self.hear(session, command.text, command.effect)

    def hear(self, session, text, effect):
        self.remember(session, text, "")
        reply = session.hear_any()
        self.remember(session, text, reply)
        self.tally[reply.split()[0].decode()] += 1
        self.commands.note(session, effect, reply)

    def hear_owed(self, session):
        for command in session.owed:
            self.hear(session, command.text, command.effect)
        session.owed = []

    def hear_woken(self):
        """Hears those who waited and now are served, who must be the same on both servers."""
        before = self.waiting()
        if not before:
            return
        values = []

        def agree():
            values[:] = self.values("current-waiting")
            return values[0] == values[1]

        self.until(agree)
        woken = len(before) - values[0]
        self.until(lambda: sum(map(is_answered, before)) == woken)
        for session in filter(is_answered, before):
            session.waits = False
            self.hear(session, "(reserve)", None)
            self.hear_owed(session)

    def values(self, key):
        return [int(value) for value in self.stage.watcher.values(key)]

    def waiting_are(self, count):
        return self.values("current-waiting") == [count, count]

    def until(self, condition):
        give_up_at = time.monotonic() + ANSWER_SECONDS
        while not condition():
            if time.monotonic() > give_up_at:
                raise Silence("the servers do not come to the same state")

    def remember(self, session, text, reply):
        if self.history and self.history[-1] == (session.name, text, ""):
            self.history.pop()
        self.history.append((session.name, text, reply))


def ends_a_pause(line):
    return line.startswith("pause-tube") and line.endswith(" 0\r\n")


def is_answered(session):
    return session.theirs.is_answered() and session.ours.is_answered()


def run_random(options):
    print(f"random sessions: seed {options.seed}, {options.steps} steps", flush=True)
    with Peers(options) as peers:
        sessions = Sessions(Stage(peers), random.Random(options.seed))
        problem = None
        try:
            sessions.run(options.steps)
        except (Mismatch, Silence) as trouble:
            problem = trouble
        replies = ", ".join(f"{word} {count}" for word, count in sorted(sessions.tally.items()))
        print(f"  {sessions.opened} sessions, replies: {replies}")
        if problem:
            print(f"mismatch at step {sessions.steps} of seed {options.seed}: {problem}")
            for name, text, reply in sessions.history:
                print(f"  {name}: {shown(text)} -> {shown(reply)}")
    print(f"random steps: {sessions.steps}, mismatches: {1 if problem else 0}")
    print(f"# pass {0 if problem else 1}\n# fail {1 if problem else 0}")
    return not problem
