#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A tandemd whose machine is suspended, started again, or has its wall clock set. support/suspend.c
stands between it and its clocks."""

import os
import pathlib
import socket
import struct
import tempfile
import time
import unittest

from broker import SECONDS, Broker, loopback

TANDEMD = os.environ["TANDEMD"]
LIBRARY = os.environ["SUSPEND_LIBRARY"]
HOUR = 3600
DAY = 24 * HOUR
YEAR = 365 * DAY


class Peer:
    """A beanstalk client."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), SECONDS)
        self.file = self.socket.makefile("rb")

    def say(self, line):
        self.socket.sendall(line.encode() + b"\r\n")

    def hear(self):
        return self.file.readline().decode().rstrip()

    def ask(self, line):
        self.say(line)
        return self.hear()

    def job(self):
        """The id of the job that it is given."""
        word, job, size = self.hear().split()
        assert word == "RESERVED", word
        self.file.read(int(size) + 2)
        return int(job)

    def stats(self, of):
        word, size = self.ask(of).split()
        assert word == "OK", word
        text = self.file.read(int(size) + 2).decode()
        return dict(line.split(": ") for line in text.splitlines() if ": " in line)

    def put(self, tube, delay=0, ttr=HOUR):
        self.ask(f"use {tube}")
        word, job = self.ask(f"put 0 {delay} {ttr} 1\r\nx").split()
        assert word == "INSERTED", word
        return int(job)

    def wait_for(self, tube, command="reserve"):
        """Begins to wait there, and nowhere else. The answer to a later command would wait, too."""
        self.ask(f"watch {tube}")
        self.ask("ignore default")
        self.say(command)

    def close(self):
        self.file.close()
        self.socket.close()


class Suspend(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.clocks = self.folder / "clocks"
        self.news = self.folder / "news"
        self.boot = self.wall = 0
        self.write_clocks()
        os.mkfifo(self.news)
        self.broker = None
        self.peers = []
        self.addCleanup(self.stop)

    def start(self, *settings, told=True):
        """`told`: the system has the timer that tells of a resume."""
        options = "verify_asan_link_order=0:" + os.environ.get("ASAN_OPTIONS", "")
        environment = {**os.environ, "LD_PRELOAD": LIBRARY, "ASAN_OPTIONS": options,
                       "SUSPEND_CLOCKS": str(self.clocks), "SUSPEND_NEWS": str(self.news if told else "/nowhere")}
        self.broker = Broker(TANDEMD, [*loopback(), *settings],
                             environment=environment)
        self.client = self.peer()

    def stop(self):
        for peer in self.peers:
            peer.close()
        self.peers = []
        if self.broker:
            broker, self.broker = self.broker, None
            self.assertEqual(broker.stop(), 0)

    def peer(self):
        peer = Peer(self.broker.addresses["beanstalk"][0])
        self.peers.append(peer)
        return peer

    def write_clocks(self):
        """In place: the process has the file in its memory."""
        file = os.open(self.clocks, os.O_WRONLY | os.O_CREAT)
        os.write(file, struct.pack("=qq", int(self.boot * 1e9), int(self.wall * 1e9)))
        os.close(file)

    def tell(self):
        """Reports a jump of the wall clock, as the system does to the timers that asked for it."""
        file = os.open(self.news, os.O_WRONLY | os.O_NONBLOCK)
        os.write(file, bytes(8))
        os.close(file)

    def suspend(self, seconds):
        self.boot += seconds
        self.wall += seconds
        self.write_clocks()

    def set_wall_clock(self, seconds):
        self.wall += seconds
        self.write_clocks()
        self.tell()

    def restart_machine(self, down_for):
        """Its clock that counts from the start is at a few seconds again."""
        self.stop()
        self.wall += down_for
        self.boot = 3 - time.clock_gettime(time.CLOCK_BOOTTIME)
        self.write_clocks()

    def until_waiting(self, count):
        give_up_at = time.monotonic() + SECONDS
        while int(self.client.stats("stats")["current-waiting"]) < count:
            self.assertLess(time.monotonic(), give_up_at)

    def left_of(self, job):
        """For how long it is still delayed, which it is, in seconds."""
        stats = self.client.stats(f"stats-job {job}")
        self.assertEqual(stats["state"], "delayed")
        return int(stats["time-left"])

    def wait_for_all(self):
        """Something of each kind that is due in an hour: {kind: (the client that waits, its
        reply)}."""
        delayed = self.client.put("delayed", delay=HOUR)
        paused = self.client.put("paused")
        self.assertEqual(self.client.ask(f"pause-tube paused {HOUR}"), "PAUSED")
        held = self.client.put("held", ttr=HOUR)
        holder = self.peer()
        holder.wait_for("held")
        self.assertEqual(holder.job(), held)
        waiting = {"delayed": delayed, "paused": paused, "held": held}
        for kind, job in waiting.items():
            waiting[kind] = self.peer(), job
            waiting[kind][0].wait_for(kind)
        tired = self.peer()
        tired.wait_for("empty", f"reserve-with-timeout {HOUR}")
        self.until_waiting(len(waiting) + 1)
        return waiting, tired

    def expect_all(self, waiting, tired):
        for kind, (worker, job) in waiting.items():
            with self.subTest(kind):
                self.assertEqual(worker.job(), job)
        self.assertEqual(tired.hear(), "TIMED_OUT")
        self.assertEqual(self.client.stats(f"stats-job {waiting['held'][1]}")["timeouts"], "1")
        age = int(self.client.stats(f"stats-job {waiting['delayed'][1]}")["age"])
        self.assertIn(age, range(HOUR, 2 * HOUR))

    def test_spans_of_time_go_on_while_the_machine_is_suspended(self):
        self.start()
        waiting = self.wait_for_all()
        self.suspend(HOUR)
        self.tell()
        self.expect_all(*waiting)
        self.assertIsNotNone(self.broker.expect(rf" resumed seconds={HOUR}$"))

    def test_a_resume_that_the_system_does_not_tell_is_found_at_the_next_command(self):
        self.start()
        waiting = self.wait_for_all()
        self.suspend(HOUR)
        self.client.ask("use other")
        self.expect_all(*waiting)

    def test_a_resume_that_the_system_does_not_tell_is_found_by_and_by(self):
        self.start(told=False)
        self.client.put("delayed", delay=HOUR)
        worker = self.peer()
        worker.wait_for("delayed")
        self.until_waiting(1)
        self.suspend(HOUR)
        worker.job()

    def test_a_wall_clock_that_is_set_changes_no_span_of_time(self):
        self.start()
        delayed = self.client.put("delayed", delay=HOUR)
        self.client.put("paused")
        self.client.ask(f"pause-tube paused {HOUR}")
        held = self.client.put("held", ttr=HOUR)
        holder = self.peer()
        holder.wait_for("held")
        self.assertEqual(holder.job(), held)
        for step in DAY, -2 * DAY, -YEAR, 3 * YEAR:
            self.set_wall_clock(step)
            self.assertIn(self.left_of(delayed), range(HOUR // 2, HOUR + 1))
            self.assertGreater(int(self.client.stats("stats-tube paused")["pause-time-left"]),
                               HOUR // 2)
            self.assertGreater(int(holder.stats(f"stats-job {held}")["time-left"]), HOUR // 2)
            self.assertLess(int(self.client.stats(f"stats-job {delayed}")["age"]), HOUR // 2)
        self.assertFalse(any(" resumed " in line for line in self.broker.log()))

    def test_after_a_restart_of_the_machine_spans_go_on_by_the_wall_clock(self):
        journal = f"journal.dir={self.folder}/journal"
        self.start(journal)
        delayed = self.client.put("delayed", delay=HOUR)
        over = self.client.put("over", delay=60)
        self.client.ask("use paused")
        self.client.put("paused")
        self.client.ask(f"pause-tube paused {HOUR}")
        self.restart_machine(HOUR // 4)
        self.start(journal)
        self.assertIn(self.left_of(delayed), range(HOUR // 2, HOUR * 3 // 4 + 1))
        self.assertEqual(self.client.stats(f"stats-job {over}")["state"], "ready")
        left = int(self.client.stats("stats-tube paused")["pause-time-left"])
        self.assertIn(left, range(HOUR // 2, HOUR * 3 // 4 + 1))
        # It has lost the time, as a machine without a battery does.
        self.restart_machine(-YEAR)
        self.start(journal)
        self.assertIn(self.left_of(delayed), range(HOUR // 2, HOUR + 1))
        left = int(self.client.stats("stats-tube paused")["pause-time-left"])
        self.assertIn(left, range(HOUR // 2, HOUR + 1))
        # And gets it back.
        self.set_wall_clock(YEAR)
        self.assertIn(self.left_of(delayed), range(HOUR // 2, HOUR + 1))


if __name__ == "__main__":
    unittest.main()
