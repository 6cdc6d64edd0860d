# SPDX-License-Identifier: MIT
"""One client that speaks to both servers at once, and what a script says with it.

A message is a packet, or a string: a line of the text protocol, in latin-1. In what is sent and in
what is expected, a job is written #1, #2, ... in the order in which the jobs were created; and a
word of allowed.MASKS stands for whatever may be there. Each script has servers of its own.
"""

import re
import time

from gearman import allowed
from gearman.packets import CAN_DO, ECHO_REQ, ECHO_RES, GRAB_JOB, NO_JOB, Packet
from shared.actors import BareClient, BareStage, Mismatch, beside
from shared.bytestream import ANSWER_SECONDS, Silence

MARK = "has all been read?"
MASK = re.compile("|".join(allowed.MASKS))
# The expected reply if a server closes the connection.
ENDS = "it hangs up"
# And where it waits for more of something, for ever.
STUCK = "it says nothing more, whatever it is sent"


class Lines:
    """The answer to a line of text that asks for a list: lines in any order."""

    def __init__(self, *lines):
        self.lines = lines

    def __repr__(self):
        return f"list of {sorted(self.lines)!r}"


class Client(BareClient):
    """A connection to each server; what is said goes to both."""

    def send(self, *messages):
        """Sends messages in one piece; text is sent as it is, with no end of a line."""
        for connection in self.both():
            connection.say(messages)

    def hear(self, *expected):
        """Reads what is expected, from both servers."""
        for wanted in expected:
            replies = [read_as(connection, wanted) for connection in self.both()]
            if not all(is_as_expected(reply, wanted) for reply in replies):
                raise Mismatch(f"expected {wanted!r}\n{beside(self.stage.peers, *replies)}")
            self.stage.exchanges += 1

    def ask(self, message, *expected):
        """Says one thing (text as a line), and reads what is expected."""
        self.send(*as_messages(message))
        self.hear(*expected)

    def ask_each(self, messages, *expected):
        for message in messages:
            self.ask(message, *expected)

    def tell(self, *messages):
        """Says what nothing is answered to, and waits until both servers have done it."""
        for message in messages:
            self.send(*as_messages(message))
        self.hear_nothing()

    def hear_nothing(self):
        """Both have carried out all that was sent, and nothing came that was not yet read."""
        self.send(ECHO_REQ(MARK))
        for connection in self.both():
            hear_mark(connection)
        self.stage.exchanges += 1

    def grab_when_due(self, wanted):
        """Asks for a job until there is one, which is the one that is wanted."""
        for connection in self.both():
            give_up_at = time.monotonic() + ANSWER_SECONDS
            while (reply := reply_to_grab(connection)) == NO_JOB():
                if time.monotonic() > give_up_at:
                    raise Silence(f"{connection.server.name} has no job for too long")
                time.sleep(0.02)
            if reply != wanted:
                raise Mismatch(f"{connection.server.name} says {reply!r} instead of {wanted!r}")
        self.stage.exchanges += 1

    def differ(self, why, message, theirs, ours):
        """Says something that an allowed difference is about; each one's answers are spelled out.

        The message may be one, a tuple of several that are sent in one piece, or () for what comes
        by itself. A list of answers that ends in ENDS or STUCK is one of a server that has nothing
        more to say; the client is gone after that.
        """
        if why not in allowed.REPLIES:
            raise Mismatch(f"{why!r} is not among the allowed differences")
        allowed.used.add(why)
        self.send(*as_messages(message))
        # Ours first: what takes time, the reference often does not do at all.
        for connection, expected in ((self.ours, ours), (self.theirs, theirs)):
            hear_one_sided(connection, expected)
        self.stage.exchanges += 1
        if is_last(theirs) or is_last(ours):
            self.gone()

    def crashes_theirs(self, why, message, ours):
        """Ends the script: there is only one server left."""
        allowed.used.add(why)
        self.send(*as_messages(message))
        if self.stage.peers.theirs.process.wait(ANSWER_SECONDS) == 0:
            raise Mismatch("gearmand ends, but does not crash")
        hear_one_sided(self.ours, ours)
        self.stage.exchanges += 1
        self.stage.clients = []


class Stage(BareStage):
    """A pair of servers with the clients of one script."""

    client_type = Client

    def __init__(self, peers):
        super().__init__(peers)
        self.watcher = Client(self)
        # The connection with which the start was seen must be gone before anybody counts.
        self.settle()

    def worker(self, *functions):
        """A client that can do these."""
        worker = self.client()
        for function in functions:
            worker.tell(CAN_DO(function))
        return worker

    def settle(self):
        """Waits until both servers know which connections there are."""
        self.wait_for("workers", lambda lines: len(lines) == 1 + len(self.clients))

    def until(self, line, *lines):
        """Waits until the list that a line of text asks for is the same from both and as given."""
        self.wait_for(line, lambda found: is_as_expected(found, Lines(*lines)))
        self.exchanges += 1

    def wait_for(self, line, condition):
        self.wait_for_all(line, lambda found: all(map(condition, found)))

    def wait_for_all(self, line, condition):
        give_up_at = time.monotonic() + ANSWER_SECONDS
        while not condition(found := self.lists(line)):
            if time.monotonic() > give_up_at:
                raise Silence(f"{line} does not become what it should be\n" +
                              beside(self.peers, *found))
            time.sleep(0.002)

    def lists(self, line):
        self.watcher.send(line + "\n")
        return [connection.lines() for connection in self.watcher.both()]


def as_messages(message):
    """The bytes of a script: a line gets its end here, so that scripts are easy to read."""
    messages = message if isinstance(message, tuple) and not isinstance(message, Packet) else (
        message,)
    return [part + "\r\n" if isinstance(part, str) and part[:1] != "\0" else part
            for part in messages]


def reply_to_grab(connection):
    connection.say([GRAB_JOB()])
    return connection.message()


def read_as(connection, wanted):
    return connection.lines() if isinstance(wanted, Lines) else connection.message()


def is_as_expected(reply, wanted):
    if isinstance(wanted, Lines):
        return is_list_as_expected(reply, wanted.lines)
    if isinstance(wanted, Packet) or isinstance(reply, Packet):
        return reply == wanted
    return pattern_of(wanted).fullmatch(reply) is not None


def is_list_as_expected(lines, wanted):
    """Each line that is wanted is there once, wherever it is."""
    left = list(lines)
    for pattern in (pattern_of(line + "\n") for line in wanted):
        found = next((line for line in left if pattern.fullmatch(line)), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def pattern_of(wanted):
    """A regular expression of what a script expects."""
    parts = MASK.split(wanted)
    masks = [f"(?:{allowed.MASKS[word][0]})" for word in MASK.findall(wanted)] + [""]
    return re.compile("".join(re.escape(part) + mask for part, mask in zip(parts, masks)))


def is_last(expected):
    return bool(expected) and expected[-1] in (ENDS, STUCK)


def hear_one_sided(connection, expected):
    for wanted in expected:
        if wanted in (ENDS, STUCK):
            if wanted == STUCK:
                connection.half_close()
            reply = connection.rest()
            good = not reply
        else:
            reply = read_as(connection, wanted)
            good = is_as_expected(reply, wanted)
        if not good:
            raise Mismatch(f"{connection.server.name} says {reply!r} instead of {wanted!r}")
    if not is_last(expected):
        connection.say([ECHO_REQ(MARK)])
        hear_mark(connection)


def hear_mark(connection):
    reply = connection.message()
    if reply != ECHO_RES(MARK):
        raise Mismatch(f"{connection.server.name} says {reply!r}, which is more than was expected")
