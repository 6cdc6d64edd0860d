# SPDX-License-Identifier: MIT
"""One client that speaks to both servers at once, and what a script says with it.

In what is sent and in what is expected, a job is written #1, #2, ... in the order of the puts that
succeeded. Text is latin-1, so that any byte can be written. Each script has servers of its own.
"""

import re
import time

from beanstalk import allowed
from beanstalk.compare import difference, learn, readable
from beanstalk.peers import Watcher
from shared.actors import BareClient, BareStage, Mismatch, beside

JOB = re.compile(rb"#(\d+)")
QUIET_SECONDS = 0.1


class Client(BareClient):
    """A connection to each server; what is said goes to both."""

    def send(self, text):
        """Sends bytes as they are, but for the ids of jobs."""
        for connection in self.both():
            connection.send(with_ids(connection.server, text.encode("latin-1")))

    def hear(self, *expected):
        """Reads a reply for each that is expected, and compares them."""
        for text in expected:
            reply = self.hear_any()
            if not is_as_expected(reply, text.encode("latin-1")):
                raise Mismatch(f"both say {reply!r} instead of {text!r}")
            self.stage.exchanges += 1

    def hear_any(self):
        """Reads a reply and compares; with the numbers of jobs, it is the same from both."""
        their_reply, our_reply = self.replies()
        problem = difference(self.theirs.server, self.ours.server, their_reply, our_reply)
        their_text = readable(self.theirs.server, their_reply)
        our_text = readable(self.ours.server, our_reply)
        if problem:
            raise Mismatch(f"{problem}\n{beside(self.stage.peers, their_text, our_text)}")
        return our_text

    def replies(self):
        replies = self.theirs.reply(), self.ours.reply()
        learn(self.theirs.server, replies[0])
        learn(self.ours.server, replies[1])
        return replies

    def ask(self, line, *expected):
        """Sends a line, and lines before it, and reads the replies that are expected."""
        self.send(line + "\r\n")
        self.hear(*expected)

    def ask_each(self, lines, expected):
        for line in lines:
            self.ask(line, expected)

    def figures(self, line, **expected):
        """Asks for statistics, which must be the same, and those expected as they are given: each
        is a value, or the range of numbers in which it must be."""
        self.send(line + "\r\n")
        text = self.hear_any().decode("latin-1")
        for key, value in expected.items():
            name = key.replace("_", "-")
            values = value if isinstance(value, range) else [value]
            # From beanstalkd 1.13 on, names are in quotes.
            if not any(f"\n{name}: {shown}\n" in text
                       for each in values for shown in (each, f'"{each}"')):
                raise Mismatch(f"both say {text!r} instead of {name}: {value}")
        self.stage.exchanges += 1

    def block(self, line="reserve"):
        """Sends a reserve and waits until it waits."""
        waiting = int(self.stage.watcher.values("current-waiting")[0])
        self.send(line + "\r\n")
        self.stage.wait_for_waiting(waiting + 1)

    def hear_nothing(self):
        time.sleep(QUIET_SECONDS)
        for connection in self.both():
            if connection.is_answered():
                raise Mismatch(f"{connection.server.name} says {connection.reply()!r}, which is "
                               "more than was expected")
        self.stage.exchanges += 1

    def differ(self, why, line, theirs, ours):
        """Sends bytes that an allowed difference is about; the replies of each are spelled out.

        None is an end without a word. In a release that has mended it, theirs is ours.
        """
        if why not in allowed.REPLIES:
            raise Mismatch(f"{why} is not among the allowed differences")
        allowed.used.add(why)
        self.send(line)
        if self.stage.peers.is_113 and why in allowed.MENDED_IN_113:
            theirs = ours
        for connection, expected in ((self.theirs, theirs), (self.ours, ours)):
            hear_one_sided(connection, expected)
        self.stage.exchanges += 1


class Stage(BareStage):
    """A pair of servers with the clients of one script."""

    client_type = Client

    def __init__(self, peers):
        super().__init__(peers)
        self.watcher = Watcher(peers)
        # Before anybody counts, the connection with which the start was seen must have come and gone.
        self.watcher.until("total-connections", 2)
        self.watcher.until("current-connections", 1)

    def settle(self):
        """Waits until both servers know which connections there are."""
        self.watcher.until("current-connections", 1 + len(self.clients))

    def wait_for_waiting(self, count):
        self.watcher.until("current-waiting", count)

    def wait_for_timeouts(self, count, ttr):
        """Waits until the time of that number of jobs, which is `ttr` seconds, has run out.

        The reference sleeps through that moment: where its clock shows the very microsecond of a
        deadline, it finds that the job may stay, and does not look again. On a fast machine, where
        it spins through the last millisecond, it nearly always meets that microsecond.
        """
        with self.peers.theirs.asleep():
            time.sleep(ttr + QUIET_SECONDS)
        self.watcher.until("job-timeouts", count)

    def drain(self):
        for server in self.peers.both():
            server.drain()
        self.watcher.until("draining", "true")


def with_ids(server, data):
    return JOB.sub(lambda found: b"%d" % server.ids[int(found[1]) - 1], data)


def is_as_expected(reply, wanted):
    """Of a document only the first word is expected."""
    return reply.startswith(b"OK ") if wanted == b"OK" else reply == wanted + b"\r\n"


def hear_one_sided(connection, expected):
    if expected is None:
        rest = connection.rest()
        if rest:
            raise Mismatch(f"{connection.server.name} says {rest!r} and should hang up")
        return
    for text in expected:
        reply = connection.reply()
        learn(connection.server, reply)
        if not is_as_expected(readable(connection.server, reply), text.encode("latin-1")):
            raise Mismatch(f"{connection.server.name} says {reply!r} instead of {text!r}")
    if not expected:
        time.sleep(QUIET_SECONDS)
        if connection.is_answered():
            raise Mismatch(f"{connection.server.name} says {connection.reply()!r} unexpectedly")
