# SPDX-License-Identifier: MIT
"""tandemctl migrate, between Debian's beanstalkd and tandemd, and beside servers that lie."""

import os
import pathlib
import random
import re
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

import moving
import ports
import program
import terminal

ODD_TUBES = ["mail", "a" * 200, "A-+/;.$_()", "9", "(", "default"]


class WithFolder(unittest.TestCase):
    timeout = "60"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def kept(self, server):
        self.addCleanup(server.close)
        return server

    def run_ctl(self, *arguments, address=None):
        return subprocess.run([program.PROGRAM, "migrate", *arguments, "--state-file",
                               str(self.folder / "state"), "--timeout", self.timeout],
                              env=program.environment(address), capture_output=True, text=True,
                              timeout=moving.SECONDS, check=False)

    def good(self, *arguments, **more):
        done = self.run_ctl(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        self.assertFalse((self.folder / "state").exists())
        return done.stdout


class Between(WithFolder):
    def setUp(self):
        super().setUp()
        self.old = self.kept(moving.beanstalkd())
        self.new = self.kept(moving.tandemd(self.folder / "journal"))
        self.client = moving.Client(self.old.port)
        self.addCleanup(self.client.close)

    def here(self, *arguments):
        return self.good(self.old.address(), *arguments, address=self.new.api)

    def back(self, *arguments):
        return self.good("--to", self.old.address(), *arguments, address=self.new.api)

    def seen(self, port, last):
        """The jobs as a client sees them, in the order of ids; delays may be a second longer."""
        jobs = [job for _, job in sorted(moving.jobs_of(port, last).items())]
        return sorted((job["tube"], job["state"], job["pri"], job["ttr"], job["body"])
                      for job in jobs), jobs

    def fill(self, chance):
        """All states, odd names, bodies of any bytes; the last id."""
        last = 0
        for tube in ODD_TUBES:
            for size in (0, 1, 2, 100, 65535):
                last = self.client.put(chance.randbytes(size), chance.choice([0, 7, 2**32 - 1]), 0,
                                       chance.choice([1, 60, 2**32 - 1]), tube)
                last = self.client.put(b"\r\n" + chance.randbytes(size // 2), chance.randrange(99),
                                       chance.choice([600, 2**32 - 100]), 60)
            self.client.bury(tube, 2)
            self.client.say_all(["watch default", f"ignore {tube}"])
        return last

    def test_every_job_keeps_tube_priority_ttr_state_and_body_there_and_back(self):
        last = self.fill(random.Random(1))
        before, jobs = self.seen(self.old.port, last)
        self.assertEqual({job["state"] for job in jobs}, {"ready", "delayed", "buried"})
        self.assertRegex(self.here(), r"60 jobs moved from \S+ to \S+ in ")
        self.assertEqual(moving.jobs_of(self.old.port, last), {})
        self.assertEqual(self.seen(self.new.port, last)[0], before)
        self.back()
        self.assertEqual(moving.jobs_of(self.new.port, last), {})
        self.assertEqual(self.seen(self.old.port, 3 * last)[0], before)

    def test_a_delay_goes_on_and_never_ends_early(self):
        self.client.put(b"soon", delay=5000)
        self.here()
        with moving.Client(self.new.port) as client:
            left = int(client.stats(1)["time-left"])
        self.assertLessEqual(left, 5000)
        self.assertGreater(left, 5000 - moving.SECONDS)

    def test_buried_jobs_keep_their_order(self):
        for number in range(20):
            self.client.put(b"%d" % number, priority=99 - number, tube="mail")
        order = self.client.bury("mail", 20)
        self.here()
        with moving.Client(self.new.port) as client:
            client.say("use mail")
            bodies = []
            for _ in order:
                words, body = client.say("peek-buried")
                bodies.append(body)
                client.say(f"delete {words[1]}")
        self.assertEqual(bodies, [b"%d" % (job - 1) for job in order])

    def test_many_jobs_come_in_batches_and_in_their_order(self):
        self.client.say("use mail")
        self.client.say_all([("put 5 0 60 4", b"%04d" % number) for number in range(3000)])
        self.client.say_all([("put 5 900 60 1", b"d") for _ in range(3000)])
        self.here()
        with moving.Client(self.new.port) as client:
            client.say("watch mail")
            taken = client.say_all(["reserve-with-timeout 0"] * 3000)
            self.assertEqual([body for _, body in taken], [b"%04d" % n for n in range(3000)])
            tube = moving.fields(client.say("stats-tube mail")[1])
        self.assertEqual(tube["current-jobs-delayed"], "3000")

    def test_only_the_tubes_that_are_meant_are_moved(self):
        for tube in ("mail-in", "mail-out", "thumbs"):
            self.client.put(b"x", tube=tube)
        self.assertIn("2 jobs moved", self.here("--tubes", "mail-*"))
        self.assertEqual([job["tube"] for job in moving.jobs_of(self.old.port, 3).values()],
                         ["thumbs"])

    def test_held_jobs_are_told_and_with_wait_they_are_waited_for(self):
        self.client.put(b"held", ttr=100000)
        self.client.say("reserve")
        done = self.run_ctl(self.old.address(), address=self.new.api)
        self.assertEqual(done.returncode, program.NOT_NOW)
        self.assertIn("1 are held by workers", done.stderr)
        waiting = subprocess.Popen([program.PROGRAM, "migrate", self.old.address(), "--wait",
                                    "--timeout", self.timeout, "--state-file", str(self.folder / "state")],
                                   env=program.environment(self.new.api),
                                   stdout=subprocess.PIPE, text=True)
        # Given back only when it has seen that there is nothing else.
        self.client.put(b"sign")
        while moving.jobs_of(self.old.port, 2).keys() != {1}:
            self.assertIsNone(waiting.poll())
        self.client.say("release 1 5 0")
        self.assertIn("2 jobs moved", waiting.communicate(timeout=moving.SECONDS)[0])
        self.assertEqual(waiting.returncode, 0)

    def test_with_follow_it_goes_on_until_a_signal(self):
        following = subprocess.Popen([program.PROGRAM, "migrate", self.old.address(), "--follow",
                                      "--timeout", self.timeout, "--state-file", str(self.folder / "state")],
                                     env=program.environment(self.new.api),
                                     stdout=subprocess.PIPE, text=True)
        for number in range(1, 4):
            self.client.put(b"x")
            while moving.jobs_of(self.old.port, number):
                self.assertIsNone(following.poll())
        following.send_signal(signal.SIGTERM)
        self.assertIn("3 jobs moved", following.communicate(timeout=moving.SECONDS)[0])

    def test_a_terminal_shows_a_bar(self):
        for _ in range(3):
            self.client.put(b"x")
        shown = terminal.Terminal("migrate", self.old.address(), "--follow", "--timeout",
                                  self.timeout, "--state-file", str(self.folder / "state"),
                                  address=self.new.api)
        self.addCleanup(shown.close)
        shown.expect(r"\[#+\] 100 % 3 of about 3 jobs moved")
        shown.type("\x03")
        self.assertEqual(shown.end(), program.DONE)
        self.assertIn("3 jobs moved from", shown.picture.text())
        self.assertNotIn("%", shown.picture.text())

    def test_what_is_too_large_for_the_target_stays_and_is_named(self):
        small = self.kept(moving.beanstalkd(None, "-z", "100"))
        self.client.put(b"x" * 101)
        self.client.put(b"x" * 100)
        done = self.run_ctl(self.old.address(), "--to", small.address())
        self.assertEqual(done.returncode, program.FAILED, done)
        self.assertIn("too large: job 1 of", done.stdout)
        self.assertIn("1 are larger than the target takes", done.stderr)
        self.assertEqual(list(moving.jobs_of(self.old.port, 2)), [1])

    def test_a_target_that_drains_gets_nothing_and_nothing_is_lost(self):
        drains = self.kept(moving.beanstalkd())
        drains.process.send_signal(signal.SIGUSR1)
        for _ in range(5):
            self.client.put(b"x")
        done = self.run_ctl(self.old.address(), "--to", drains.address())
        self.assertEqual(done.returncode, program.NOT_NOW, done)
        self.assertIn("it drains", done.stderr)
        self.assertEqual(len(moving.jobs_of(self.old.port, 5)), 5)

    def test_two_at_once_do_not_share_a_state(self):
        self.client.put(b"x", delay=900)
        first = subprocess.Popen([program.PROGRAM, "migrate", self.old.address(), "--follow",
                                  "--timeout", self.timeout, "--state-file", str(self.folder / "state")],
                                 env=program.environment(self.new.api), stdout=subprocess.DEVNULL)
        self.addCleanup(first.wait)
        self.addCleanup(first.kill)
        while moving.jobs_of(self.old.port, 1):
            self.assertIsNone(first.poll())
        done = self.run_ctl(self.old.address(), address=self.new.api)
        self.assertEqual(done.returncode, program.NOT_NOW)
        self.assertIn("in use by another migration", done.stderr)

    def test_a_server_is_not_moved_to_itself(self):
        done = self.run_ctl(self.old.address(), "--to", f"beanstalk://localhost:{self.old.port}")
        self.assertEqual(done.returncode, program.USAGE)
        self.assertIn("are the same server", done.stderr)


class Cut(WithFolder):
    """Connections end where it matters."""

    def setUp(self):
        super().setUp()
        self.old = self.kept(moving.beanstalkd())
        self.new = self.kept(moving.beanstalkd())
        self.source, self.target = moving.Proxy(self.old), moving.Proxy(self.new)
        for proxy in (self.source, self.target):
            self.addCleanup(proxy.close)
        self.client = moving.Client(self.old.port)
        self.addCleanup(self.client.close)
        self.addresses = self.source.address(), "--to", self.target.address()

    def cut(self):
        done = self.run_ctl(*self.addresses)
        self.assertEqual(done.returncode, program.UNREACHABLE, done)
        self.assertIn("repeat the command to continue", done.stderr)
        for proxy in (self.source, self.target):
            proxy.command = proxy.answer = lambda data: True
        return done

    def waited(self, server, count):
        """Waits until the server has that number of jobs. Returns False."""
        while self.count(server.port) != count:
            pass
        return False

    def count(self, port, last=50):
        return len(moving.jobs_of(port, last))

    def test_jobs_whose_put_was_not_acknowledged_are_named_by_both_ids(self):
        for number in range(5):
            self.client.put(b"%d" % number)

        def swallow(data):
            # The first batch is one job.
            return b"INSERTED 2\r\n" not in data or self.waited(self.new, 5)
        self.target.answer = swallow
        self.cut()
        self.assertEqual((self.count(self.old.port), self.count(self.new.port)), (4, 5))
        said = self.good(*self.addresses)
        for number in range(2, 6):
            self.assertRegex(said, rf"in doubt: job {number} of \S+ may also be at ")
            self.assertRegex(said, rf"in doubt: job {number} of \S+ is equal to job {number} of ")
        self.assertIn("0 are on both servers, and 4 may be", said)
        self.assertEqual((self.count(self.old.port), self.count(self.new.port)), (0, 9))

    def test_only_bodies_of_jobs_that_may_be_copies_are_asked_of_the_target(self):
        for number in range(2):
            self.client.put(b"%d" % number)
        self.target.answer = lambda data: b"INSERTED 2\r\n" not in data
        self.cut()
        with moving.Client(self.new.port) as client:
            client.put(b"1", priority=7)
            client.put(b"1", ttr=61)
            client.put(b"1", tube="mail")
            client.put(b"other", tube="default")
        said = []
        self.target.command = lambda data: said.append(data) or True
        self.assertRegex(self.good(*self.addresses), "in doubt: job 2 of .* is equal to job 2 of ")
        self.assertEqual(re.findall(rb"peek (\d+)\r", b"".join(said)), [b"2", b"6"])

    def test_jobs_that_were_deleted_before_the_end_are_not_moved_again(self):
        for number in range(5):
            self.client.put(b"%d" % number)

        def swallow(data):
            if b"delete 2" in data:
                self.source.answer = lambda _: self.waited(self.old, 0)
            return True
        self.source.command = swallow
        self.cut()
        said = self.good(*self.addresses)
        self.assertEqual(said.count("gone already: "), 4)
        self.assertEqual((self.count(self.old.port), self.count(self.new.port)), (0, 5))

    def test_jobs_whose_put_was_acknowledged_are_deleted_when_it_goes_on(self):
        for number in range(5):
            self.client.put(b"%d" % number)
        self.source.command = lambda data: b"delete 2" not in data
        self.cut()
        self.assertEqual((self.count(self.old.port), self.count(self.new.port)), (4, 5))
        self.assertNotIn("in doubt", self.good(*self.addresses))
        self.assertEqual((self.count(self.old.port), self.count(self.new.port)), (0, 5))

    def cut_before_the_second_batch_is_deleted(self):
        for number in range(5):
            self.client.put(b"%d" % number)
        self.source.command = lambda data: b"delete 2" not in data
        self.cut()
        self.assertEqual((self.count(self.old.port), self.count(self.new.port)), (4, 5))

    def left_for_others(self, bodies):
        """Goes on where other jobs have the numbers; all are at the target then."""
        said = self.good(*self.addresses)
        for number in range(2, 6):
            self.assertIn(f"another job has this id now: job {number} of ", said)
        self.assertNotIn("in doubt", said)
        self.assertEqual(sorted(job["body"] for job in moving.jobs_of(self.new.port, 50).values()),
                         sorted([b"%d" % number for number in range(5)] + bodies))

    def test_other_jobs_to_which_a_new_source_gives_the_ids_are_not_deleted_for_them(self):
        self.cut_before_the_second_batch_is_deleted()
        self.old.kill()
        self.old.start()
        others = [b"other %d" % number for number in range(5)]
        with moving.Client(self.old.port) as client:
            for body in others:
                client.put(body)
        self.left_for_others(others)

    def test_other_jobs_of_another_server_that_are_older_than_it_are_not_deleted(self):
        self.cut_before_the_second_batch_is_deleted()
        self.other_source(lambda number: b"other %d" % number)
        self.left_for_others([b"other %d" % number for number in range(5)])

    def test_a_job_that_was_put_later_is_another_one_though_it_looks_the_same(self):
        self.cut_before_the_second_batch_is_deleted()
        state = self.folder / "state"
        state.write_text(re.sub(r"(?m)^(i \d+ \d+) \d+", r"\1 1000000", state.read_text()))
        self.other_source(lambda number: b"%d" % number)
        self.left_for_others([b"%d" % number for number in range(5)])

    def test_jobs_that_a_source_has_kept_are_known_again_when_it_is_started_anew(self):
        self.other_source(lambda number: b"%d" % number)
        self.source.command = lambda data: b"delete 2" not in data
        self.cut()
        self.old.kill()
        self.old.start()
        with moving.Client(self.old.port) as client:
            client.say_all(["reserve-job 3", "release 3 7 900"])
        said = self.good(*self.addresses)
        self.assertNotIn("another job", said)
        self.assertNotIn("in doubt", said)
        self.assertEqual((self.count(self.old.port), self.count(self.new.port)), (0, 5))

    def other_source(self, body):
        """A server that keeps its jobs, which are from before its process began."""
        self.client.close()
        self.old.kill()
        self.old = self.kept(moving.beanstalkd(self.folder / "kept"))
        with moving.Client(self.old.port) as client:
            for number in range(5):
                client.put(body(number))
        self.old.kill()
        self.old.start()
        self.source.server = self.old

    def test_jobs_whose_copies_a_new_target_has_lost_are_moved_again(self):
        self.cut_before_the_second_batch_is_deleted()
        self.new.kill()
        self.new.start()
        said = self.good(*self.addresses)
        for number in range(2, 6):
            self.assertRegex(said, rf"in doubt: job {number} of \S+ is moved again: ")
        self.assertEqual(sorted(job["body"] for job in moving.jobs_of(self.new.port, 50).values()),
                         [b"1", b"2", b"3", b"4"])

    def test_a_batch_that_was_not_wholly_written_down_does_not_damage_the_next_one(self):
        names = (address.removeprefix("beanstalk://") for address in self.addresses[::2])
        (self.folder / "state").write_text(
            "tandem-migration 3\nfrom {}\nto {}\ni 8 1 1 r\ni 9".format(*names))
        self.client.put(b"one")
        self.source.command = lambda data: b"delete 1" not in data
        self.cut()
        self.good(*self.addresses)
        self.assertEqual((self.count(self.old.port), self.count(self.new.port)), (0, 1))

    def test_a_copy_that_was_to_be_buried_is_buried_when_it_goes_on(self):
        self.client.put(b"dead")
        self.client.bury("default", 1)
        self.target.command = lambda data: b"bury " not in data
        self.cut()
        self.good(*self.addresses)
        self.assertEqual([job["state"] for job in moving.jobs_of(self.new.port, 9).values()],
                         ["buried"])

    def test_a_hidden_copy_without_an_acknowledgement_is_deleted(self):
        self.client.put(b"dead")
        self.client.bury("default", 1)
        self.target.answer = lambda data: b"INSERTED" not in data
        self.cut()
        self.good(*self.addresses)
        self.assertEqual([job["state"] for job in moving.jobs_of(self.new.port, 9).values()],
                         ["buried"])

    def test_a_target_before_1_12_gets_all_but_buried_jobs_which_are_told(self):
        self.client.put(b"dead")
        self.client.bury("default", 1)
        self.client.put(b"alive")
        self.client.put(b"later", delay=900)
        self.target.hides = b"reserve-job"
        done = self.run_ctl(*self.addresses)
        self.assertEqual(done.returncode, program.FAILED, done)
        self.assertIn("1 are buried, and the target cannot bury them", done.stderr)
        self.assertEqual((self.count(self.old.port), self.count(self.new.port)), (1, 2))

    def test_a_source_that_knows_neither_reserve_job_nor_kick_job_gives_all(self):
        said = []
        self.source.command = lambda data: said.append(data) or True
        self.client.put(b"dead")
        self.client.bury("default", 1)
        self.client.put(b"alive")
        self.client.put(b"later", delay=900)
        self.good(*self.addresses)
        self.assertEqual((self.count(self.old.port), self.count(self.new.port)), (0, 3))
        commands = set(re.findall(rb"^[a-z-]+", b"".join(said), re.M))
        self.assertLessEqual(commands, {b"stats", b"list-tubes", b"stats-tube", b"stats-job",
                                        b"watch", b"ignore", b"use", b"reserve-with-timeout",
                                        b"peek", b"peek-delayed", b"peek-buried", b"touch",
                                        b"delete"})

    def test_a_delayed_job_that_a_worker_is_faster_to_get_is_left_to_it(self):
        self.client.put(b"later", delay=900)

        def take(data):
            if data.startswith(b"delete "):
                self.client.say_all(["kick-job 1", "reserve"])
            return True
        self.source.command = take
        done = self.run_ctl(*self.addresses)
        self.assertEqual(done.returncode, program.NOT_NOW, done)
        self.assertIn("1 were taken by workers of", done.stdout)
        self.assertEqual((self.count(self.old.port), self.count(self.new.port)), (1, 0))

    def test_a_job_that_both_sides_work_is_a_duplicate_and_named(self):
        self.client.put(b"both", delay=900)
        worker = moving.Client(self.new.port)
        self.addCleanup(worker.close)

        def take(data):
            if data.startswith(b"delete "):
                for one in (self.client, worker):
                    one.say_all(["kick-job 1", "reserve"])
            return True
        self.source.command = take
        done = self.run_ctl(*self.addresses)
        self.assertRegex(done.stdout, r"duplicate: job 1 of \S+, .*, is also job 1 of ")
        self.assertIn("1 are on both servers, and 0 may be", done.stdout)


JOB_CREATED, WORK_COMPLETE = 8, 13


class Foreground:
    """A Gearman client that has submitted a job, and waits for its end."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=moving.SECONDS)
        body = b"reverse\0\0workload"
        self.socket.sendall(b"\0REQ" + struct.pack(">II", 7, len(body)) + body)
        if self.hear() != JOB_CREATED:
            raise RuntimeError("the job is not taken")

    def take(self, size):
        taken = b""
        while len(taken) < size:
            taken += self.socket.recv(size - len(taken))
        return taken

    def hear(self):
        """The type of the next packet."""
        kind, size = struct.unpack(">II", self.take(12)[4:])
        self.take(size)
        return kind

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class Api:
    """The port of a tandemd's API, for a proxy."""

    def __init__(self, server):
        self.port = int(server.api.rsplit(":", 1)[1])


class Tandems(WithFolder):
    """Where a side is a Tandem, its API moves the jobs."""

    old_configuration = "[queue *]\nmax_attempts = 1\non_exhausted = drop\n"

    def setUp(self):
        super().setUp()
        self.old = self.kept(moving.tandemd(self.folder / "old", self.old_configuration))
        self.new = self.kept(moving.tandemd(self.folder / "new",
                                            "[queue once]\nunique = body\n"))
        self.source, self.target = moving.Proxy(Api(self.old)), moving.Proxy(Api(self.new))
        for proxy in (self.source, self.target):
            self.addCleanup(proxy.close)
        self.client = moving.Client(self.old.port)
        self.worker = moving.Client(self.new.port)
        self.addCleanup(self.client.close)
        self.addCleanup(self.worker.close)
        self.addresses = [f"http://127.0.0.1:{self.source.port}", "--to",
                          f"http://127.0.0.1:{self.target.port}"]

    def cut(self):
        done = self.run_ctl(*self.addresses)
        self.assertEqual(done.returncode, program.UNREACHABLE, done)
        self.assertIn("repeat the command to continue", done.stderr)
        for proxy in (self.source, self.target):
            proxy.command = proxy.answer = lambda data: True
        return done

    def bodies(self, server):
        return sorted(job["body"] for job in moving.exported(server))

    def states(self, server):
        return sorted((job["body"], job["state"]) for job in moving.exported(server))

    def test_every_job_is_moved_as_it_stands(self):
        for number in range(2000):
            self.client.put(b"%d" % number, priority=number % 3)
        self.client.put(b"\0\xff", delay=5000, tube="mail")
        self.client.bury("default", 2)
        before = [{**job, "id": 0} for job in sorted(moving.exported(self.old),
                                                    key=lambda job: job["id"])]
        self.assertIn("2,001 jobs moved", self.good(*self.addresses))
        self.assertEqual(moving.exported(self.old), [])
        after = [{**job, "id": 0} for job in sorted(moving.exported(self.new),
                                                   key=lambda job: job["id"])]
        self.assertEqual([job for job in before if job["state"] != "buried"],
                         [job for job in after if job["state"] != "buried"])
        self.assertEqual(self.states(self.new).count((b"0", "buried")), 1)

    def test_no_attempt_is_spent_by_a_migration_that_is_cut(self):
        for number in range(5):
            self.client.put(b"%d" % number)
        for cut in (b"POST /api/v1/import", b"POST /api/v1/delete"):
            (self.target if b"import" in cut else self.source).command = \
                lambda data, cut=cut: cut not in data
            self.cut()
            self.assertEqual(self.bodies(self.old), [b"%d" % number for number in range(5)])
        self.assertNotIn("in doubt", self.good(*self.addresses))
        self.assertEqual(moving.exported(self.old), [])
        self.assertEqual(self.states(self.new), [(b"%d" % number, "ready") for number in range(5)])

    def test_a_job_that_was_worked_at_the_target_meanwhile_does_not_come_again(self):
        for number in range(3):
            self.client.put(b"%d" % number)
        self.source.command = lambda data: b"POST /api/v1/delete" not in data
        self.cut()
        copies = {job["body"]: job for job in moving.exported(self.new)}
        # No worker gets a copy before the source has deleted the job.
        self.assertEqual({job["state"] for job in copies.values()}, {"delayed"})
        copy = copies[b"1"]["id"]
        self.worker.say_all([f"kick-job {copy}", f"reserve-job {copy}", f"delete {copy}"])
        self.new.kill()
        self.new.start()
        self.good(*self.addresses)
        self.assertEqual(moving.exported(self.old), [])
        self.assertEqual(self.states(self.new), [(b"0", "ready"), (b"2", "ready")])

    def test_deletions_that_were_not_answered_lose_and_double_nothing(self):
        for number in range(5):
            self.client.put(b"%d" % number)

        def swallow(data):
            if b"POST /api/v1/delete" in data:
                self.source.answer = lambda _: False
            return True
        self.source.command = swallow
        self.cut()
        # The broker executes the sent requests, although no client waits for the replies.
        while moving.exported(self.old):
            pass
        self.assertEqual(self.good(*self.addresses).count("gone already: "), 5)
        self.assertEqual(self.states(self.new), [(b"%d" % number, "ready") for number in range(5)])

    def test_a_worker_of_the_source_that_is_faster_keeps_its_job(self):
        for number in range(3):
            self.client.put(b"%d" % number)

        def take(data):
            if b"POST /api/v1/delete" in data:
                self.client.say("reserve-job 2")
            return True
        self.source.command = take
        done = self.run_ctl(*self.addresses)
        self.assertEqual(done.returncode, program.NOT_NOW, done)
        self.assertIn("1 were taken by workers of", done.stdout)
        self.assertIn("1 are held by workers", done.stderr)
        self.assertEqual(self.bodies(self.old), [b"1"])
        self.assertEqual(self.states(self.new), [(b"0", "ready"), (b"2", "ready")])

    def test_a_job_that_has_changed_meanwhile_is_moved_as_it_is_then(self):
        self.client.put(b"x")
        changes = ["reserve-job 1", "release 1 7 9000"]

        def change(data):
            if b"POST /api/v1/delete" in data and changes:
                self.client.say_all(changes)
                changes.clear()
            return True
        self.source.command = change
        self.good(*self.addresses)
        self.assertEqual([(job["pri"], job["state"]) for job in moving.exported(self.new)],
                         [("7", "delayed")])

    def test_an_own_job_of_a_unique_queue_is_neither_deleted_nor_buried_for_a_copy(self):
        own = self.worker.put(b"same", tube="once")
        self.client.put(b"same", tube="once")
        self.client.put(b"same", delay=9000)
        self.client.put(b"same")
        self.client.bury("once", 1)

        def take(data):
            if b"POST /api/v1/delete" in data:
                self.client.say("reserve-job 2")
            return True
        self.source.command = take
        done = self.run_ctl(*self.addresses)
        self.assertEqual(done.returncode, program.NOT_NOW, done)
        stats = self.worker.stats(own)
        self.assertEqual((stats["state"], stats["tube"]), ("ready", "once"))
        self.assertEqual(self.states(self.new), [(b"same", "buried"), (b"same", "ready")])
        self.assertEqual([job["id"] for job in moving.exported(self.old)], [2])

    def test_a_beanstalkd_spares_own_jobs_of_unique_queues_too(self):
        old = self.kept(moving.beanstalkd())
        own = self.worker.put(b"same", tube="once")
        with moving.Client(old.port) as client:
            for delay in (0, 0, 9000):
                client.put(b"same", delay=delay, tube="once")
            client.bury("once", 1)
        self.good(old.address(), address=self.new.api)
        self.assertEqual(self.worker.stats(own)["state"], "ready")
        self.assertEqual(self.states(self.new), [(b"same", "buried"), (b"same", "ready")])

    def test_jobs_of_a_paused_tube_are_moved(self):
        self.client.put(b"x", tube="mail")
        self.client.say("pause-tube mail 9000")
        self.assertIn("1 job moved", self.good(*self.addresses))
        self.assertEqual(self.bodies(self.new), [b"x"])

    def test_a_beanstalkd_gets_the_jobs_and_its_workers_no_copy_that_is_not_theirs(self):
        new = self.kept(moving.beanstalkd())
        for number in range(4):
            self.client.put(b"%d" % number)
        self.client.bury("default", 1)

        def take(data):
            if b"POST /api/v1/delete" in data:
                self.client.say("reserve-job 3")
                with moving.Client(new.port) as worker:
                    self.assertEqual(worker.say("reserve-with-timeout 0")[0], ["TIMED_OUT"])
            return True
        self.source.command = take
        done = self.run_ctl(self.addresses[0], "--to", new.address())
        self.assertEqual(done.returncode, program.NOT_NOW, done)
        self.assertEqual(sorted((job["body"], job["state"])
                                for job in moving.jobs_of(new.port, 9).values()),
                         [(b"0", "buried"), (b"1", "ready"), (b"3", "ready")])
        self.assertEqual(self.bodies(self.old), [b"2"])

    def test_a_job_that_the_target_refuses_is_named_and_the_others_are_moved(self):
        self.client.put(b"x" * 60000)
        self.client.put(b"small")
        new = self.kept(moving.tandemd(self.folder / "small",
                                       "[queue *]\nmax_job_size = 1024\n"))
        done = self.run_ctl(self.addresses[0], "--to", new.api)
        self.assertEqual(done.returncode, program.FAILED, done)
        self.assertIn("too large: job 1 of", done.stdout)
        self.assertEqual((self.bodies(self.old), self.bodies(new)), ([b"x" * 60000], [b"small"]))

    def test_a_job_that_its_client_waits_for_stays_and_is_told_of(self):
        held = ports.reserve()
        self.addCleanup(held.close)
        old = self.kept(moving.tandemd(self.folder / "waiting", "",
                                       f"gearman.listen=127.0.0.1:{ports.number(held)}"))
        with moving.Client(old.port) as client:
            client.put(b"x")
        with Foreground(ports.number(held)) as waiting:
            for words in (), ("--wait",):
                done = self.run_ctl(old.api, "--to", self.new.api, *words)
                self.assertEqual(done.returncode, program.NOT_NOW, done)
                self.assertIn("jobs are left at", done.stderr)
                self.assertIn("1 are awaited by their clients (foreground jobs)", done.stderr)
                self.assertNotIn("held by workers", done.stderr)
            self.assertIn("0 jobs moved", done.stdout)
            self.assertEqual(self.states(self.new), [(b"x", "ready")])
            # Its client still gets its answer from where it waits.
            with moving.Client(old.port) as worker:
                worker.say_all(["watch reverse", "reserve", "delete 2"])
            self.assertEqual(waiting.hear(), WORK_COMPLETE)
        self.good(old.api, "--to", self.new.api)

    def test_a_tandem_that_is_named_by_its_beanstalk_address_is_refused(self):
        other = self.kept(moving.beanstalkd())
        for words in ([self.old.address(), "--to", other.address()],
                      [other.address(), "--to", self.old.address()]):
            done = self.run_ctl(*words)
            self.assertEqual(done.returncode, program.USAGE, done)
            self.assertIn("is a Tandem: name its admin.listen", done.stderr)

    def test_a_tandem_is_not_moved_to_itself(self):
        done = self.run_ctl(self.old.api, "--to", self.addresses[0])
        self.assertEqual(done.returncode, program.USAGE, done)
        self.assertIn("are the same server", done.stderr)


class Limited(WithFolder):
    def test_jobs_behind_a_rate_and_max_running_do_not_stay_behind(self):
        old = self.kept(moving.tandemd(self.folder / "old",
                                       "[queue *]\nmax_running = 1\nrate = 1/d\n"))
        new = self.kept(moving.tandemd(self.folder / "new"))
        with moving.Client(old.port) as client:
            for number in range(5):
                client.put(b"%d" % number)
            client.say("reserve")
            done = self.run_ctl(old.api, "--to", new.api)
            self.assertEqual(done.returncode, program.NOT_NOW, done)
            self.assertIn("jobs are left at", done.stderr)
            self.assertIn("1 are held by workers", done.stderr)
            self.assertEqual([job["id"] for job in moving.exported(old)], [1])
            self.assertEqual(len(moving.exported(new)), 4)
            client.say("release 1 5 0")
            self.good(old.api, "--to", new.api)
        self.assertEqual(len(moving.exported(new)), 5)


def document(text):
    return b"OK %d\r\n%s\r\n" % (len(text), text)


HONEST = {
    "stats": document(b"---\nid: 7\nmax-job-size: 65535\ncurrent-jobs-ready: 1\n"),
    "list-tubes": document(b"---\n- default\n"),
    "stats-tube": document(b"---\ncurrent-jobs-ready: 1\n"),
    "watch": b"WATCHING 1\r\n",
    "use": b"USING default\r\n",
    "reserve-with-timeout": b"RESERVED 1 1\r\nx\r\n",
    "stats-job": document(b"---\nid: 1\ntube: default\nstate: ready\npri: 1\nttr: 60\n"),
    "delete": b"DELETED\r\n",
}


class Lies(WithFolder):
    def setUp(self):
        super().setUp()
        self.target = self.kept(moving.beanstalkd())

    def complaint(self, **said):
        """The message if the source gives that reply to these commands."""
        answers = {**HONEST, **{key.replace("_", "-"): value for key, value in said.items()}}
        liar = moving.Liar(lambda line: answers.get(line.split(" ")[0], b"UNKNOWN_COMMAND\r\n"))
        self.addCleanup(liar.close)
        done = self.run_ctl(liar.address, "--to", self.target.address())
        self.assertIn(done.returncode, (program.FAILED, program.UNREACHABLE), done)
        self.assertRegex(done.stderr, r"^tandemctl: 127\.0\.0\.1:\d+ ")
        self.assertNotRegex(done.stderr, "[^ -~\n]")
        return done.stderr

    def test_no_answer_makes_it_crash_or_take_all_memory(self):
        endless = [b"a" * 65536] * 64
        for said, expected in (
                ({"stats": b"\xff\x00\x1b[2J\r\n"}, "has answered stats with"),
                ({"stats": endless}, "a line is too long"),
                ({"stats": None}, "has disconnected"),
                ({"stats": b"OK 99999999999999\r\n"}, "which is too large"),
                ({"stats": b"OK -1\r\n"}, "has answered stats with"),
                ({"stats": b"OK 3\r\nabcdef\r\n"}, "CRLF is missing after a body"),
                ({"stats": b"OK 3\n"}, "without CR"),
                ({"stats": document(b"")}, "max-job-size"),
                ({"stats": document(b"max-job-size: 99999999999999999999\n")}, "max-job-size"),
                ({"list_tubes": document(b"---\n- a b\n")}, "invalid name"),
                ({"list_tubes": document(b"- " + b"a" * 201)}, "invalid name"),
                ({"stats_tube": document(b"current-jobs-ready: -1\n")}, "that is not a number"),
                ({"stats_tube": b"FOUND 1 1\r\n"}, "has answered stats-tube"),
                ({"watch": b"\r\n"}, "has answered watch"),
                ({"reserve_with_timeout": b"RESERVED 1 99999999999\r\n"}, "has answered reserve"),
                ({"reserve_with_timeout": b"RESERVED 1 1\r\nxyz\r\n"}, "CRLF is missing after a body"),
                ({"reserve_with_timeout": b"RESERVED x y\r\n"}, "has answered reserve"),
                ({"stats_job": b"RESERVED 1 1\r\n"}, "has answered stats-job"),
                ({"stats": document(b"max-job-size: 18446744073709551615\n"),
                  "reserve_with_timeout": b"RESERVED 1 18446744073709551614\r\n"},
                 "has answered reserve"),
                ({"stats_tube": document(b"---\ncurrent-jobs-delayed: 1\n"),
                  "peek_delayed": b"FOUND 0 1\r\nx\r\n"}, "has answered peek"),
                ({"stats_tube": document(b"---\ncurrent-jobs-buried: 1\n"),
                  "peek_buried": b"FOUND 0 1\r\nx\r\n"}, "has answered peek"),
                ({"delete": b"WHAT\r\n"}, "has answered delete"),
                ({"delete": None}, "has disconnected")):
            with self.subTest(said=said):
                (self.folder / "state").unlink(missing_ok=True)
                self.assertIn(expected, self.complaint(**said))

    def test_a_target_without_memory_keeps_no_copy_unnamed(self):
        for deleted, named in ((b"DELETED\r\n", 0), (b"NOT_FOUND\r\n", 1)):
            (self.folder / "state").unlink(missing_ok=True)
            answers = {"stats": document(b"---\nid: 8\nmax-job-size: 65535\n"),
                       "reserve-job": b"NOT_FOUND\r\n", "use": b"USING default\r\n",
                       "put": b"BURIED 7\r\n", "x": b"", "delete": deleted}
            heard = []

            def answer(line, heard=heard, answers=answers):
                heard.append(line)
                return answers.get(line.split(" ")[0], b"UNKNOWN_COMMAND\r\n")
            source = moving.Liar(lambda line: HONEST.get(line.split(" ")[0],
                                                     b"UNKNOWN_COMMAND\r\n"))
            target = moving.Liar(answer)
            for liar in (source, target):
                self.addCleanup(liar.close)
            done = self.run_ctl(source.address, "--to", target.address)
            self.assertEqual(done.returncode, program.NOT_NOW, done)
            self.assertIn("has no room for more jobs", done.stderr)
            self.assertIn("delete 7", heard)
            self.assertEqual(len(re.findall(r"in doubt: job 1 of \S+ may also be job 7 of ", done.stdout)),
                             named, done)

    def test_a_job_whose_lease_runs_out_in_mid_batch_leaves_it_and_is_moved_later(self):
        said = []

        def answer(line):
            word = line.split(" ")[0]
            said.append(word)
            ready = b"0" if "delete" in said else b"1"
            if word == "stats-job" and said.count(word) == 1:
                time.sleep(1)  # more than half of its time to run
            return {"stats": HONEST["stats"].replace(b"ready: 1", b"ready: " + ready),
                    "stats-tube": document(b"---\ncurrent-jobs-ready: " + ready + b"\n"),
                    "stats-job": document(b"---\nid: 1\ntube: default\nstate: reserved\n"
                                          b"pri: 1\nttr: 1\n"),
                    "touch": b"NOT_FOUND\r\n" if said.count("touch") == 1 else b"TOUCHED\r\n",
                    }.get(word, HONEST.get(word, b"UNKNOWN_COMMAND\r\n"))
        liar = moving.Liar(answer)
        self.addCleanup(liar.close)
        self.assertIn("1 job moved", self.good(liar.address, "--to", self.target.address()))
        self.assertEqual((said.count("reserve-with-timeout"), said.count("delete")), (2, 1))
        self.assertEqual(len(moving.jobs_of(self.target.port, 9)), 1)

    def test_one_that_says_no_more_is_given_up(self):
        self.timeout = "1"
        self.assertIn("does not answer", self.complaint(list_tubes=b"OK 5\r\n--"))

    def test_what_was_under_way_is_told(self):
        self.assertIn(f"; repeat the command to continue from {self.folder}/state",
                      self.complaint(delete=None))
        self.assertTrue((self.folder / "state").exists())

    def refused_state(self, text):
        (self.folder / "state").write_text(text)
        done = self.run_ctl(self.target.address(), "--to", "beanstalk://127.0.0.1:1")
        self.assertEqual(done.returncode, program.USAGE)
        self.assertEqual((self.folder / "state").read_text(), text)
        return done.stderr

    def test_a_state_that_is_none_is_refused(self):
        self.assertIn("is not the state of a migration between these servers",
                      self.refused_state("something else of mine\n" * 9))

    def test_a_state_of_an_older_form_is_refused(self):
        name = self.target.address().removeprefix("beanstalk://")
        self.assertIn("was written by another version of tandemctl", self.refused_state(
            f"tandem-migration 2\nfrom {name}\nto 127.0.0.1:1\ni 8 r\nintended 1\n"))


class Words(WithFolder):
    def test_addresses_that_are_none_are_refused(self):
        for address in ("127.0.0.1:11300", "ftp://h:1", "beanstalk://", "beanstalk://h:0",
                        "beanstalk://h:x", "beanstalk://[::1", "beanstalk://a b", "beanstalk://::1"):
            with self.subTest(address=address):
                done = self.run_ctl(address, "--to", "beanstalk://127.0.0.1:1")
                self.assertEqual(done.returncode, program.USAGE, done)
                self.assertIn("is not the address of a beanstalk server", done.stderr)

    def test_an_unreachable_server_is_reported(self):
        held = moving.ports.reserve()
        self.addCleanup(held.close)
        port = moving.ports.number(held)
        done = self.run_ctl(f"beanstalk://127.0.0.1:{port}", "--to", "beanstalk://127.0.0.1:1")
        self.assertEqual(done.returncode, program.UNREACHABLE)
        self.assertIn(f"127.0.0.1:{port} cannot be reached: ", done.stderr)

    def test_without_an_address_it_asks_for_one(self):
        done = self.run_ctl()
        self.assertEqual(done.returncode, program.USAGE)
        self.assertIn("give FROM", done.stderr)


if __name__ == "__main__":
    os.environ.setdefault("BEANSTALKD", "beanstalkd")
    unittest.main(verbosity=2)
