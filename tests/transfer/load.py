# SPDX-License-Identifier: MIT
"""Random clients of a beanstalkd that is killed: all that changes jobs, in any order."""

from beans import Reference

TUBES = [b"default", b"mail", b"images.large", b"a" * 200]
# A delay is over before books are compared, or long after.
DELAYS = [0, 0, 0, 0, 1, 100000, 200000]


class Worker:
    """One connection, and what it holds."""

    def __init__(self, rng, server):
        self.rng = rng
        self.client = server.client()
        self.held = []
        self.client.ask_all([b"watch %s\r\n" % tube for tube in TUBES])

    def any_id(self, top):
        return self.rng.choice(self.held) if self.held and self.rng.random() < 0.7 \
            else self.rng.randint(1, max(1, top))

    def request(self, top):
        """Something that may be asked for, and what to do with its answer."""
        rng = self.rng
        act = rng.choices(["put", "reserve", "delete", "release", "bury", "kick", "kick-job",
                           "touch", "use", "reserve-job", "pause"],
                          [40, 22, 8, 12, 10, 2, 3, 2, 4, 3, 1])[0]
        pri = rng.choice([0, 1, 10, 1023, 1024, 4294967295, rng.randint(0, 100)])
        job = self.any_id(top)
        if act == "put":
            size = rng.choice([0, 1, 2, rng.randint(0, 300), rng.randint(0, 3000)])
            body = bytes(rng.choices(range(256), k=size))
            return b"put %d %d %d %d\r\n%s\r\n" % (pri, rng.choice(DELAYS),
                                                  rng.choice([0, 1, 60, 4294967]), size, body)
        return {
            "reserve": b"reserve-with-timeout 0\r\n",
            "delete": b"delete %d\r\n" % job,
            "release": b"release %d %d %d\r\n" % (job, pri, rng.choice(DELAYS)),
            "bury": b"bury %d %d\r\n" % (job, pri),
            "kick": b"kick %d\r\n" % rng.randint(1, 4),
            "kick-job": b"kick-job %d\r\n" % job,
            "touch": b"touch %d\r\n" % job,
            "use": b"use %s\r\n" % rng.choice(TUBES),
            "reserve-job": b"reserve-job %d\r\n" % job,
            "pause": b"pause-tube %s 0\r\n" % rng.choice(TUBES),
        }[act]

    def work(self, top):
        """The highest id that it knows of."""
        request = self.request(top)
        words, _ = self.client.ask(request)
        if words[0] == b"RESERVED":
            self.held.append(int(words[1]))
        elif words[0] == b"INSERTED":
            return max(top, int(words[1]))
        elif request.split()[0] in (b"delete", b"release", b"bury"):
            job = int(request.split()[1])
            self.held = [held for held in self.held if held != job]
        return top


def kill_in_mid_write(rng, workers, server):
    """Each has sent more than it has had an answer for."""
    for worker in workers:
        worker.client.sock.sendall(b"".join(worker.request(50) for _ in range(rng.randint(0, 60))))
    server.kill()
    for worker in workers:
        worker.client.close()


def generate(rng, program, directory, requests):
    """A binlog that several lives of a beanstalkd have left; the highest id that it may hold."""
    top = 0
    for _ in range(rng.randint(1, 4)):
        server = Reference(program, directory, rng.choice([4096, 10000, 65536]))
        workers = [Worker(rng, server) for _ in range(3)]
        for _ in range(requests):
            top = rng.choice(workers).work(top)
        kill_in_mid_write(rng, workers, server)
        top += 200
    return top
