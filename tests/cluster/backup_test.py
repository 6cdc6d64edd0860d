# SPDX-License-Identifier: MIT
"""A journal in PostgreSQL is backed up by what the database has for that, while clients work: what
was acknowledged before a backup began is in it. docs/CLUSTER.md promises that."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

BESIDE = pathlib.Path(__file__).resolve().parent.parent
sys.path[1:1] = [str(BESIDE / folder) for folder in ("support", "clients", "crash")]
import postgres
import wire
from broker import Broker, loopback

TANDEMD = os.environ["TANDEMD"]
SECONDS = 120
TTL = 2
TRIES = 5  # of a backup, until units were removed meanwhile
RATE = "12M"  # a second: slow enough for that


class Load(threading.Thread):
    """A client that puts jobs and deletes most of them, and comes back where the broker has dropped
    it. `kept` are jobs that were acknowledged, `ended` those whose end was."""

    def __init__(self, port):
        super().__init__()
        self.port = port
        self.bean = None
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.kept, self.ended = {}, set()

    def run(self):
        while not self.over.is_set():
            try:
                self.bean = self.bean or wire.Bean(self.port)
                self.work()
            except wire.Lost:
                self.close()
                self.over.wait(0.05)
        self.close()

    def close(self):
        if self.bean:
            self.bean.close()
            self.bean = None

    def put(self, body):
        words, _ = self.bean.exchange(wire.put(0, 0, 60, body))
        if words[0] != "INSERTED":
            raise AssertionError(words)
        return int(words[1])

    def work(self):
        job_id = self.put(body := b"kept %d" % len(self.kept))
        with self.lock:
            self.kept[job_id] = body
        gone = [self.put(b"x" * 8000) for _ in range(8)]
        for job_id, (words, _) in zip(gone, self.bean.ask_all([f"delete {one}" for one in gone])):
            if words != ["DELETED"]:
                raise AssertionError(words)
            with self.lock:
                self.ended.add(job_id)

    def told(self):
        with self.lock:
            return dict(self.kept), set(self.ended)

    def end(self):
        self.over.set()
        self.join()


class Backup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = postgres.Cluster(full_page_writes="on", archive_mode="on")
        cls.addClassCleanup(cls.cluster.close)
        cls.archive = cls.cluster.folder / "archive"
        cls.archive.mkdir()
        if postgres.ROOT:
            shutil.chown(cls.archive, "nobody")
        cls.cluster.settings["archive_command"] = f"cp %p {cls.archive}/%f"
        cls.cluster.make().start()

    def setUp(self):
        settings = self.settings(self.cluster.place())
        self.addCleanup(self.cluster.sql,
                        "SET client_min_messages = warning; DROP SCHEMA tandem CASCADE")
        subprocess.run([TANDEMD, "--config", os.devnull, "--init-store",
                        *(word for one in settings for word in ("--set", one))],
                       check=True, stdout=subprocess.DEVNULL)
        self.broker = self.open(self.cluster.place())
        self.load = Load(self.port(self.broker))
        self.load.start()
        self.addCleanup(self.load.end)
        self.wait_until(lambda: self.oldest() > 2)

    def settings(self, place):
        return [*loopback(protocols=("beanstalk", "admin")), "gearman.listen=", "http.listen=",
                "journal.store=postgres", f"journal.postgres={place}",
                f"journal.lease_ttl={TTL}", "journal.segment_size=64k",
                "journal.address=127.0.0.1"]

    def open(self, place):
        broker = Broker(TANDEMD, self.settings(place))
        self.addCleanup(self.end, broker)
        broker.expect("took_over")
        return broker

    @staticmethod
    def end(broker):
        if broker.process.poll() is None:
            broker.process.kill()
        broker.stop()

    @staticmethod
    def port(broker):
        return int(broker.addresses["beanstalk"][0].rsplit(":", 1)[1])

    @staticmethod
    def wait_until(condition):
        give_up_at = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > give_up_at:
                raise TimeoutError
            time.sleep(0.05)

    def oldest(self):
        """The first unit that was not removed."""
        return int(self.cluster.sql("SELECT oldest FROM tandem.lease"))

    def another(self):
        cluster = postgres.Cluster()
        self.addCleanup(cluster.close)
        return cluster

    def lose(self):
        """The broker, as with its machine, once all answers are in."""
        self.load.end()
        self.broker.process.kill()
        self.broker.process.wait()

    def expect(self, place, kept, ended):
        """The journal there has these, and not those."""
        broker = self.open(place)
        bean = wire.Bean(self.port(broker))
        self.addCleanup(bean.close)
        found = {job_id: body
                 for job_id, (_, body) in zip(kept, bean.ask_all([f"peek {one}" for one in kept]))}
        self.assertEqual(found, kept)
        back = [one for one, (words, _) in zip(ended, bean.ask_all([f"peek {one}" for one in ended]))
                if words != ["NOT_FOUND"]]
        self.assertEqual(back, [])
        # It goes on from there.
        words, _ = bean.exchange(wire.put(0, 0, 60, b"new"))
        self.assertEqual(words[0], "INSERTED")
        self.assertGreater(int(words[1]), max(kept))
        return bean

    def test_base_backup_under_load(self):
        for _ in range(TRIES):
            kept, ended = self.load.told()
            oldest = self.oldest()
            there = self.another().back_up(self.cluster, f"--max-rate={RATE}")
            if self.oldest() > oldest:
                break
        else:
            self.fail("no unit was removed during a backup")
        self.lose()
        self.expect(there.start().place(), kept, ended)

    def test_archive(self):
        there = self.another().back_up(self.cluster)
        oldest = self.oldest()
        self.wait_until(lambda: self.oldest() > oldest)
        kept, ended = self.load.told()
        name = self.cluster.sql("SELECT pg_walfile_name(pg_switch_wal())")
        self.wait_until(lambda: self.cluster.sql(
            "SELECT coalesce(last_archived_wal, '') FROM pg_stat_archiver") >= name)
        self.lose()
        there.recover(self.archive).start()
        there.wait_until(lambda: there.sql("SELECT pg_is_in_recovery()") == "f")
        self.expect(there.place(), kept, ended)

    def freeze(self):
        """All of the server, as a snapshot of its disk finds it."""
        self.addCleanup(self.cluster.signal_all, signal.SIGCONT)
        stopped = []
        while stopped != (found := self.cluster.processes()):
            stopped = found
            self.cluster.signal_all(signal.SIGSTOP)
            self.wait_until(lambda: all(
                pathlib.Path(f"/proc/{one}/stat").read_text().rsplit(") ", 1)[1][0] in "TZ"
                for one in stopped))

    def test_snapshot_under_load(self):
        kept, ended = self.load.told()
        there = self.another()
        self.freeze()
        subprocess.run(["cp", "-a", self.cluster.data, there.data], check=True, cwd="/",
                       **postgres.AS_USER)
        self.cluster.signal_all(signal.SIGCONT)
        pathlib.Path(there.data, "postmaster.pid").unlink()  # whose process is another machine's
        self.lose()
        self.expect(there.start().place(), kept, ended)

    def test_dump_while_no_broker_runs(self):
        self.load.end()
        kept, ended = self.load.told()
        self.assertEqual(self.broker.stop(), 0)
        path = self.cluster.folder / "dump.sql"
        postgres.run("pg_dump", "-d", self.cluster.place(), "--schema=tandem", "-f", str(path))
        self.cluster.sql("CREATE DATABASE back")
        place = self.cluster.place(dbname="back")
        postgres.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", place, "-f", str(path))
        bean = self.expect(place, kept, ended)
        _, text = bean.ask("stats")
        self.assertEqual(int(wire.figures(text)["current-jobs-ready"]), len(kept) + 1)


if __name__ == "__main__":
    unittest.main()
