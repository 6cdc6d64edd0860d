# SPDX-License-Identifier: MIT
"""Imports the stored queue of a real gearmand into a real broker, and compares it with the jobs
that gearmand itself replays. TANDEMD and GEARMAND are their paths; ROUNDS is the number of runs."""

import hashlib
import json
import os
import pathlib
import random
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import broker_test
import ports
import program

SECONDS = 60  # only what hangs takes so long
CAN_DO, GRAB_JOB_UNIQ, JOB_ASSIGN_UNIQ, NO_JOB, WORK_COMPLETE = 1, 30, 31, 10, 13
SUBMIT_BG, SUBMIT_HIGH_BG, SUBMIT_LOW_BG, JOB_CREATED, ERROR = 18, 32, 34, 8, 19
SUBMITS = SUBMIT_BG, SUBMIT_HIGH_BG, SUBMIT_LOW_BG
CREATE = ("CREATE TABLE gearman_queue (unique_key TEXT, function_name TEXT, priority INTEGER, "
          "data BLOB, when_to_run INTEGER, PRIMARY KEY (unique_key, function_name))")


class Peer:
    def __init__(self, port):
        give_up_at = time.monotonic() + SECONDS
        while True:
            try:
                self.socket = socket.create_connection(("127.0.0.1", port), SECONDS)
                break
            except ConnectionRefusedError:
                if time.monotonic() > give_up_at:
                    raise
        # Otherwise the packet after WORK_COMPLETE waits for an acknowledgement.
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.socket.makefile("rb")

    def say(self, kind, *args):
        data = b"\0".join(args)
        self.socket.sendall(b"\0REQ" + struct.pack(">II", kind, len(data)) + data)

    def hear(self):
        kind, length = struct.unpack(">II", self.file.read(12)[4:])
        return kind, self.file.read(length)

    def take(self):
        """The next job of its functions; None if there is none."""
        self.say(GRAB_JOB_UNIQ)
        kind, said = self.hear()
        if kind == NO_JOB:
            return None
        assert kind == JOB_ASSIGN_UNIQ, (kind, said)
        handle, function, unique, data = said.split(b"\0", 3)
        self.say(WORK_COMPLETE, handle, b"")
        return function, unique, data

    def close(self):
        self.file.close()
        self.socket.close()


class Gearmand:
    def __init__(self, test, *queue):
        held = ports.reserve()
        test.addCleanup(held.close)
        self.port = ports.number(held)
        self.process = subprocess.Popen(
            [os.environ["GEARMAND"], "-L", "127.0.0.1", "-p", str(self.port), "-l", "stderr",
             *queue], stderr=subprocess.DEVNULL)
        test.addCleanup(self.end)

    def end(self, how="kill"):
        getattr(self.process, how)()
        self.process.wait()


def drain(port, functions):
    """All jobs of each function, in the order in which a worker gets them."""
    found = {}
    for function in functions:
        worker = Peer(port)
        worker.say(CAN_DO, function)
        found[function] = []
        while job := worker.take():
            found[function].append(job)
        worker.close()
    return found


def load(chance, port, functions, submits=SUBMITS):
    """Adds jobs, and lets workers complete some of them."""
    client, worker = Peer(port), Peer(port)
    for function in functions:
        worker.say(CAN_DO, function)
    for number in range(chance.randrange(20, 120)):
        unique = chance.choice([b"", b"-", b"u%d" % chance.randrange(40), b"n%d" % number])
        data = chance.randbytes(chance.choice([1, 9, 3000])) + b"%d" % number
        client.say(chance.choice(submits), chance.choice(functions), unique, data)
        # PostgreSQL stores no second job with the key of a reserved job.
        kind, said = client.hear()
        assert kind in (JOB_CREATED, ERROR), said
        if chance.random() < 0.3:
            worker.take()
    client.close()
    worker.close()


class WithGearmand(broker_test.WithBroker):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.config).parent
        self.file = self.folder / "queue.db"
        self.source = f"gearmand-sqlite:{self.file}"

    def exported(self):
        return [json.loads(line) for line in self.run_ctl("export").stdout.splitlines()]

    def table(self, rows, name="gearman_queue", create=CREATE):
        base = sqlite3.connect(self.file)
        base.execute(create.replace("gearman_queue", name))
        marks = ",".join("?" * (create.count(",") - 1 if "PRIMARY" in create else 4))
        base.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)
        base.commit()
        base.close()


class Replay(WithGearmand):
    def setUp(self):
        super().setUp()
        # gearmand syncs each job, which is fast on a file system in memory.
        place = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        memory = tempfile.TemporaryDirectory(prefix="tandem-", dir=place)
        self.addCleanup(memory.cleanup)
        self.file = pathlib.Path(memory.name) / "queue.db"
        self.source = f"gearmand-sqlite:{self.file}"

    def test_what_comes_over_is_what_gearmand_itself_replays(self):
        gearman_port = int(self.broker.addresses["gearman"][0].rsplit(":", 1)[1])
        for number in range(int(os.environ.get("ROUNDS", "3"))):
            with self.subTest(seed=number):
                chance = random.Random(number)
                functions = [b"f%d/%d" % (number, i) for i in range(3)]
                for path in self.file.parent.iterdir():
                    path.unlink()
                for _ in range(chance.randrange(1, 3)):
                    gearmand = Gearmand(self, "-q", "libsqlite3", "--libsqlite3-db", str(self.file))
                    load(chance, gearmand.port, functions)
                    gearmand.end(chance.choice(["kill", "terminate"]))
                copy = self.file.with_name("copy.db")
                # The rollback journal undoes the deletion during which it was killed.
                for path in list(self.file.parent.iterdir()):
                    shutil.copyfile(path, path.with_name(path.name.replace("queue", "copy")))
                before = hashlib.sha256(self.file.read_bytes()).digest()
                done = self.good("import", self.source)
                self.assertEqual(hashlib.sha256(self.file.read_bytes()).digest(), before)
                gearmand = Gearmand(self, "-q", "libsqlite3", "--libsqlite3-db", str(copy))
                wanted = drain(gearmand.port, functions)
                gearmand.end()
                found = drain(gearman_port, functions)
                for function in functions:
                    # A job without a unique key has no key here, and an empty one in gearmand.
                    self.assertEqual(found[function], wanted[function])
                self.assertRegex(done, rf"^{sum(map(len, wanted.values()))} jobs? imported")


class Sqlite(WithGearmand):
    def test_what_a_writer_has_begun_when_it_was_killed_is_undone_and_nothing_is_touched(self):
        self.table([("a", "f", 1, b"one", 0), ("b", "f", 1, b"two", 0)])
        written = self.folder / "written.db"
        shutil.copyfile(self.file, written)
        writer = sqlite3.connect(written, isolation_level=None)
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("BEGIN")
        writer.execute("UPDATE gearman_queue SET data = 'three'")
        writer.executemany("INSERT INTO gearman_queue VALUES (?, 'f', 1, ?, 0)",
                           ((f"n{i}", b"x" * 5000) for i in range(100)))
        shutil.copyfile(written, self.file)
        shutil.copyfile(f"{written}-journal", f"{self.file}-journal")
        writer.close()
        files = {path: path.read_bytes() for path in self.folder.glob("queue.db*")}
        self.assertEqual(len(files), 2)
        self.assertEqual(self.good("import", self.source),
                         "2 jobs imported, 0 joined, 0 refused.\n")
        self.assertEqual([job["body"]["data"] for job in self.exported()], ["one", "two"])
        self.assertEqual({path: path.read_bytes() for path in self.folder.glob("queue.db*")}, files)

    def test_priority_moment_key_and_order_come_over(self):
        later = int(time.time()) + 900
        self.table([("", "f", 1, b"no key", 0), ("k", "f", 0, b"high", 0), ("k", "g", 2, None, 0),
                    ("-", "f", 1, b"as data", 0), ("e", "f", 1, b"later", later),
                    ("p", "f", 1, b"past", 5)])
        self.good("import", self.source)
        jobs = self.exported()
        self.assertEqual([job["body"]["data"] for job in jobs],
                         ["no key", "high", "", "as data", "later", "past"])
        self.assertEqual([job["key_kind"] for job in jobs],
                         ["none", "name", "name", "content", "name", "name"])
        self.assertEqual([job["priority"] for job in jobs[:3]], [65536, 512, 2147549184])
        self.assertEqual([job["due_at"] for job in jobs], [None] * 4 + [later, None])
        self.assertEqual([(job["ttr_seconds"], job["on_failure"]) for job in jobs],
                         [(0, "drop")] * 6)
        self.assertTrue(all(abs(job["created_at"] - time.time()) < 600 for job in jobs))

    def test_a_table_of_another_name_and_an_older_one_are_read(self):
        self.table([("k", "f", 1, b"x")], "old", "CREATE TABLE gearman_queue (unique_key TEXT, "
                   "function_name TEXT, priority INTEGER, data BLOB)")
        self.assertIn("no such table: gearman_queue",
                      self.run_ctl("import", self.source).stderr.decode())
        self.good("import", f"{self.source}?table=old")
        self.assertEqual(self.exported()[0]["key"], "k")

    def test_rows_that_are_no_jobs_are_told_and_left_only_where_that_is_wanted(self):
        self.table([("a", "f", 1, b"good", 0), ("b", "", 1, b"x", 0), ("c", "f", 7, b"x", 0),
                    ("d", "f", None, b"x", 0), ("e", "f" * 600, 1, b"x", 0)])
        done = self.run_ctl("import", self.source)
        self.assertEqual((done.returncode, self.exported()), (program.FAILED, []))
        for row in range(2, 6):
            self.assertIn(f"gearman_queue, at {row}: ", done.stderr.decode())
        done = self.run_ctl("import", self.source, "--repair")
        self.assertEqual(done.stdout, b"1 job imported, 0 joined, 0 refused.\n")

    def test_what_gearmand_still_uses_is_refused(self):
        gearmand = Gearmand(self, "-q", "libsqlite3", "--libsqlite3-db", str(self.file))
        Peer(gearmand.port).close()
        done = self.run_ctl("import", self.source)
        self.assertIn("stop gearmand first", done.stderr.decode())

    def test_what_is_no_database_is_said_to_be_none(self):
        self.file.write_bytes(b"nonsense " * 1000)
        done = self.run_ctl("import", self.source)
        self.assertEqual(done.returncode, program.FAILED)
        self.assertIn("file is not a database", done.stderr.decode())

    def test_what_has_no_end_is_not_begun(self):
        base = sqlite3.connect(self.file)
        base.execute("CREATE VIEW gearman_queue AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL "
                     "SELECT x + 1 FROM n) SELECT x AS rowid, 'u' AS unique_key, 'f' AS "
                     "function_name, 1 AS priority, 'd' AS data, 0 AS when_to_run FROM n")
        base.commit()
        base.close()
        done = self.run_ctl("import", self.source)
        self.assertEqual(done.returncode, program.FAILED)
        self.assertIn("is a view or a virtual table", done.stderr.decode())

    def test_it_does_not_wait_for_a_pipe(self):
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        for kind in ("sqlite", "mysql-dump"):
            done = self.run_ctl("import", f"gearmand-{kind}:{pipe}")
            self.assertEqual(done.returncode, program.FAILED)
            self.assertIn("is not a regular file", done.stderr.decode())


class Dump(WithGearmand):
    def test_a_dump_of_mysql_comes_over_and_damage_is_named_by_its_line(self):
        dump = self.folder / "dump.sql"
        rows = b"('a','f',1,'it\\'s\\0',0),\n('b','f',0,0x4142,0)"
        dump.write_bytes(b"INSERT INTO `gearman_queue` VALUES " + rows + b";\n")
        self.assertEqual(self.good("import", f"gearmand-mysql-dump:{dump}"),
                         "2 jobs imported, 0 joined, 0 refused.\n")
        self.assertEqual([job["body"]["data"] for job in self.exported()], ["aXQncwA=", "AB"])
        dump.write_bytes(b"INSERT INTO `gearman_queue` VALUES\n('c','f',1,'x',0),\n('d','f")
        done = self.run_ctl("import", f"gearmand-mysql-dump:{dump}")
        self.assertEqual((done.returncode, done.stdout), (program.FAILED, b""))
        self.assertIn("line, at 3: the dump ends within a value", done.stderr.decode())
        done = self.run_ctl("import", f"gearmand-mysql-dump:{dump}", "--repair")
        self.assertEqual(done.stdout, b"1 job imported, 0 joined, 0 refused.\n")

    def test_a_dump_without_the_table_is_no_dump_of_an_empty_one(self):
        dump = self.folder / "dump.sql"
        for text in ("", "CREATE TABLE `other` (`gearman_queue` int);\n",
                     "INSERT INTO `gearman_queue`.`other` VALUES (1);\n",
                     "LOCK TABLES `other` WRITE;\nUNLOCK TABLES;\n"):
            dump.write_text(text)
            done = self.run_ctl("import", f"gearmand-mysql-dump:{dump}")
            self.assertEqual((done.returncode, done.stdout), (program.FAILED, b""), text)
            self.assertIn("the dump has no table gearman_queue", done.stderr.decode())
        for text in ("CREATE TABLE `gearman_queue` (`data` longblob);\n",
                     "LOCK TABLES `gearman_queue` WRITE;\nUNLOCK TABLES;\n"):
            dump.write_text(text)
            self.assertEqual(self.good("import", f"gearmand-mysql-dump:{dump}"),
                             "0 jobs imported, 0 joined, 0 refused.\n", text)


del broker_test

if __name__ == "__main__":
    unittest.main(verbosity=2)
