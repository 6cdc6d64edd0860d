# SPDX-License-Identifier: MIT
"""beanstalkd and tandemd, and connections to them.

A connection knows of the protocol only how long a reply is; what is in it is judged elsewhere.
"""

import re
import subprocess
import time

from shared.bytestream import ANSWER_SECONDS, ByteStream, Silence
from shared.processes import Pair, Server

WITH_BODY = (b"RESERVED ", b"FOUND ", b"OK ")


class BeanstalkServer(Server):
    """`number_of` numbers the jobs in the order in which the server accepted them."""

    def __init__(self, name):
        super().__init__(name)
        self.number_of = {}
        self.ids = []

    def connect(self):
        return Connection(self)

    def learn(self, job_id):
        """Takes note of the id of a job that was just accepted."""
        self.ids.append(job_id)
        self.number_of[job_id] = len(self.ids)


def start_reference(path, max_job_size):
    """Debian's beanstalkd."""
    server = BeanstalkServer("beanstalkd")
    server.start_reference(
        lambda port: [path, "-l", "127.0.0.1", "-p", port, "-z", str(max_job_size)])
    return server


def is_113(reference):
    """Whether that beanstalkd is 1.13 or later, whose statistics have names in quotes."""
    version = subprocess.run([reference, "-v"], capture_output=True, check=True).stdout
    return tuple(map(int, re.findall(rb"\d+", version)[:2])) >= (1, 13)


def start_tandem(path, max_job_size, quote_names):
    server = BeanstalkServer("tandemd")
    server.start_tandem(path, "beanstalk", max_job_size=max_job_size,
                        quote_names="yes" if quote_names else "no")
    return server


class Connection(ByteStream):
    """One connection to one server."""

    def reply(self):
        """The next reply, whole and as it came."""
        reply = self.take_line(b"\r\n")
        if reply.startswith(WITH_BODY):
            reply += self.take(int(reply.split()[-1]) + 2)
        return reply


class Peers(Pair):
    """Both servers."""

    def __init__(self, options, max_job_size=65535):
        self.is_113 = is_113(options.reference)
        super().__init__(lambda: start_reference(options.reference, max_job_size),
                         lambda: start_tandem(options.tandemd, max_job_size, self.is_113))


class Watcher:
    """Waits for what no reply tells: that a reserve waits, or that a connection is gone.

    Both servers are asked equally often, or their counters of `stats` would come apart.
    """

    def __init__(self, peers):
        self.connections = [server.connect() for server in peers.both()]

    def values(self, key):
        pattern = re.compile(rb"^%s: (\S+)$" % key.encode(), re.MULTILINE)
        for connection in self.connections:
            connection.send(b"stats\r\n")
        return [pattern.search(connection.reply()).group(1).decode()
                for connection in self.connections]

    def until(self, key, wanted):
        give_up_at = time.monotonic() + ANSWER_SECONDS
        while (values := self.values(key)) != [str(wanted)] * 2:
            if time.monotonic() > give_up_at:
                raise Silence(f"{key} should be {wanted}; beanstalkd and tandemd say {values}")
            time.sleep(0.001)
