#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tandemd starts on what a beanstalkd has left, and starts again.

    start_test.py BEANSTALKD, and TANDEMD in the environment"""

import contextlib
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request

import binlog
from beans import SECONDS, Reference, Tandem, refusal, yaml

TANDEMD = os.environ["TANDEMD"]


class Case(unittest.TestCase):
    reference = None

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tandem-import-"))
        self.addCleanup(shutil.rmtree, self.directory)
        self.old = self.directory / "old"
        self.journal = self.directory / "journal"

    def start(self, source=True, *more, options=()):
        tandem = Tandem(TANDEMD, self.journal, self.old if source else None, *more,
                        options=options)
        self.addCleanup(tandem.kill)
        client = tandem.client()
        self.addCleanup(client.close)
        return tandem, client

    def stats(self, client, job):
        words, body = client.ask(b"stats-job %d\r\n" % job)
        return yaml(body) if words[0] == b"OK" else None

    def refuse(self, words, *options, source=True):
        self.assertIn(words, refusal(TANDEMD, self.journal, self.old if source else None, *options))


class OldFormat(Case):
    def test_each_job_of_format_5_comes_with_its_state_and_its_counters(self):
        now = time.time()
        binlog.write(self.old, 1, [
            binlog.record(5, 3, b"mail", b"three", pri=7, ttr=99, created=now - 500),
            binlog.record(5, 4, b"mail", b"four", state="delayed", delay=9000, deadline=now + 5000),
            binlog.record(5, 5, b"mail", b"five", state="delayed", delay=9, deadline=now - 1),
            binlog.record(5, 6, b"mail", b"six", state="reserved", counts=(5, 4, 3, 2, 1)),
            binlog.record(5, 7, b"mail", b"seven"),
            binlog.record(5, 7, state="deleted", size=7),
        ], version=5)
        binlog.write(self.old, 2, [
            binlog.record(5, 9, b"b", b"nine", state="buried", counts=(1, 0, 0, 1, 0)),
            binlog.record(5, 8, b"b", b"eight", state="buried", counts=(1, 0, 0, 1, 0)),
            binlog.record(5, 3, state="ready", pri=11, ttr=99, created=now - 500, size=7),
        ], version=5)
        _, client = self.start()
        three = self.stats(client, 3)
        self.assertEqual((three["tube"], three["state"], three["pri"], three["ttr"]),
                         ("mail", "ready", "11", "99"))
        self.assertGreaterEqual(int(three["age"]), 500)
        self.assertEqual(self.stats(client, 4)["state"], "delayed")
        self.assertLessEqual(int(self.stats(client, 4)["time-left"]), 5000)
        self.assertEqual(self.stats(client, 5)["state"], "ready")
        six = self.stats(client, 6)
        self.assertEqual([six[key] for key in ("state", "reserves", "timeouts", "releases",
                                               "buries", "kicks")],
                         ["ready", "5", "4", "3", "2", "1"])
        self.assertIsNone(self.stats(client, 7))
        client.ask(b"use b\r\n")
        self.assertEqual(client.ask(b"peek-buried\r\n"), ([b"FOUND", b"9", b"4"], b"nine\r\n"))


class Starts(Case):
    def leave(self, count=20):
        """The files of a beanstalkd that was killed."""
        server = Reference(self.reference, self.old)
        client = server.client()
        for job in range(count):
            client.put(b"mail", b"job %d" % (job + 1))
        client.close()
        server.kill()

    def test_jobs_are_worked_as_if_nothing_had_happened_and_ids_go_on(self):
        self.leave()
        tandem, client = self.start()
        client.ask(b"watch mail\r\n")
        self.assertEqual(client.ask(b"reserve\r\n"), ([b"RESERVED", b"1", b"5"], b"job 1\r\n"))
        self.assertEqual(client.ask(b"delete 1\r\n")[0], [b"DELETED"])
        self.assertGreater(client.put(b"mail", b"new"), 20)
        self.assertEqual(tandem.stop(), 0)

    def test_a_second_start_imports_nothing_whether_asked_to_or_not(self):
        self.leave()
        tandem, client = self.start()
        client.ask(b"delete 1\r\n")
        tandem.stop()
        for source in True, False:
            tandem, client = self.start(source)
            self.assertIsNone(self.stats(client, 1))
            self.assertEqual(self.stats(client, 2)["state"], "ready")
            tandem.stop()

    def test_files_with_other_times_are_the_same_files_and_gone_ones_are_no_loss(self):
        self.leave()
        self.start()[0].stop()
        for path in self.old.glob("binlog.*"):
            os.utime(path, (1, 1))
        self.start()[0].stop()
        shutil.rmtree(self.old)
        tandem, client = self.start()
        self.assertEqual(self.stats(client, 20)["state"], "ready")

    def test_a_binlog_that_has_grown_since_refuses_the_start(self):
        self.leave()
        self.start()[0].stop()
        server = Reference(self.reference, self.old)
        client = server.client()
        client.put(b"mail", b"one more")
        client.close()
        server.kill()
        self.refuse("another broker has changed it since")
        self.start(False)

    def test_one_that_beanstalkd_only_looked_at_is_the_same(self):
        self.leave()
        self.start()[0].stop()
        Reference(self.reference, self.old).kill()
        self.start()

    def test_beanstalkd_goes_back_to_its_files_after_a_journal_in_the_same_directory(self):
        self.leave()
        self.journal = self.old
        tandem, client = self.start()
        client.ask(b"delete 1\r\n")
        tandem.stop()
        tandem, client = self.start()
        self.assertIsNone(self.stats(client, 1))
        tandem.stop()
        server = Reference(self.reference, self.old)
        self.addCleanup(server.kill)
        client = server.client()
        self.assertEqual(self.stats(client, 20)["state"], "ready")
        client.close()

    def test_files_in_the_directory_of_the_journal_are_not_overlooked(self):
        self.leave()
        self.journal = self.old
        self.refuse(f"journal.import = beanstalkd:{self.old}", source=False)
        tandem, client = self.start(False, options=["--ignore-binlog"])
        self.assertIsNone(self.stats(client, 1))

    def test_a_running_beanstalkd_refuses_the_start(self):
        server = Reference(self.reference, self.old)
        self.addCleanup(server.kill)
        self.refuse(f"beanstalkd (pid {server.process.pid}) is running on it: stop it first")

    def names(self):
        """The source's directory, spelled in other ways."""
        link = self.directory / "link"
        link.symlink_to(self.old.name)
        return [link, f"{self.directory}//./old/", os.path.relpath(self.old),
                self.directory / "link" / ".." / "old"]

    def test_what_is_done_is_done_however_its_directory_is_spelled(self):
        self.leave()
        real = self.old
        for own in False, True:
            self.journal = real if own else self.journal
            self.old = real
            tandem, client = self.start()
            client.ask(b"delete 1\r\n")
            tandem.stop()
            for name in self.names():
                self.old = name
                self.journal = name if own else self.journal
                tandem, client = self.start()
                self.assertIsNone(self.stats(client, 1))
                self.assertEqual(self.stats(client, 2)["state"], "ready")
                self.assertEqual(tandem.stop(), 0)
            (self.directory / "link").unlink()

    def test_what_is_done_is_refused_where_its_directory_has_moved(self):
        self.leave()
        self.start()[0].stop()
        first = self.old
        said = f"its jobs were imported before from beanstalkd:{first}; start without"
        self.old = first.rename(self.directory / "moved")
        self.refuse(said)
        # With other times, so that it is read before it is known.
        self.old = shutil.copytree(self.old, self.directory / "copy", copy_function=shutil.copy)
        self.refuse(said)
        self.old = self.old.rename(first)
        self.start()

    def test_a_journal_and_what_lies_beside_it_move_together(self):
        self.leave()
        self.journal = self.old
        tandem, client = self.start()
        client.ask(b"delete 1\r\n")
        tandem.stop()
        self.old = self.journal = self.directory / "moved"
        shutil.copytree(self.directory / "old", self.old, copy_function=shutil.copy)
        tandem, client = self.start()
        self.assertIsNone(self.stats(client, 1))
        tandem.stop()
        binlog.write(self.old, 99, [binlog.record(7, 99, b"mail", b"more")])
        self.refuse("start with --ignore-binlog, and without journal.import")

    def test_ids_are_not_given_out_twice(self):
        self.leave()
        tandem, client = self.start(False)
        own = client.put(b"mail", b"own")
        tandem.stop()
        self.refuse("the journal has or had jobs, whose ids may be the same")
        tandem, client = self.start(False)
        client.ask(b"delete %d\r\n" % own)
        tandem.stop()
        for source in True, False, True:
            if source:
                self.refuse("the journal has or had jobs, whose ids may be the same")
            else:
                self.start(False)[0].stop()

    def test_a_journal_that_has_given_out_no_id_takes_jobs_later_on(self):
        for _ in range(3):
            tandem, client = self.start(False)
            client.ask(b"stats\r\n")
            self.assertEqual(tandem.stop(), 0)
        self.refuse("there are no beanstalkd binlogs")
        self.leave()
        (self.old / "binlog.77").write_bytes(b"\xff" * 50)
        self.refuse("--repair")
        (self.old / "binlog.77").unlink()
        tandem, client = self.start()
        self.assertEqual(self.stats(client, 1)["state"], "ready")
        tandem.stop()

    def test_no_beanstalkd_starts_beside_a_journal_and_no_tandemd_beside_a_beanstalkd(self):
        self.leave()
        self.journal = self.old
        tandem, _ = self.start()
        with contextlib.suppress(RuntimeError):
            Reference(self.reference, self.old).kill()
            self.fail("beanstalkd has started")
        tandem.stop()
        server = Reference(self.reference, self.old)
        self.addCleanup(server.kill)
        self.refuse("a beanstalkd is running on this directory: stop it first", "--ignore-binlog",
                    source=False)
        server.kill()
        self.start()

    def test_a_directory_that_may_have_been_beanstalkds_needs_no_binlog(self):
        self.journal = self.old
        tandem, client = self.start()
        own = client.put(b"mail", b"own")
        tandem.stop()
        tandem, client = self.start()
        self.assertEqual(self.stats(client, own)["state"], "ready")

    def test_a_source_without_binlogs_refuses_the_start(self):
        self.old.mkdir()
        self.refuse("there are no beanstalkd binlogs (binlog.N)")

    def test_a_file_that_gearmand_would_make_need_not_be_there(self):
        place = self.directory / "queue.db"
        self.journal = self.directory / "queue.db.tandem"
        for source in f"gearmand-sqlite:{place}", f"gearmand-sqlite:{place}?table=jobs":
            tandem = Tandem(TANDEMD, self.journal, None, f"journal.import={source}")
            self.addCleanup(tandem.kill)
            tandem.stop()

    def test_a_table_of_gearmands_is_known_however_its_file_is_spelled(self):
        place = self.directory / "queue.db"
        with contextlib.closing(sqlite3.connect(place)) as database:
            database.execute("CREATE TABLE gearman_queue (unique_key TEXT, function_name TEXT, "
                             "priority INTEGER, data BLOB, when_to_run INTEGER)")
            database.execute("INSERT INTO gearman_queue VALUES ('u', 'mail', 1, 'body', 0)")
            database.commit()
        (self.directory / "link").symlink_to(".")
        for journal in "elsewhere", "queue.db.tandem":
            self.journal = self.directory / journal
            for name in place, f"{self.directory}/link//queue.db?table=gearman_queue":
                tandem = Tandem(TANDEMD, self.journal, None,
                                f"journal.import=gearmand-sqlite:{name}")
                self.addCleanup(tandem.kill)
                client = tandem.client()
                self.assertEqual(client.ask(b"delete 1\r\n")[0],
                                 [b"DELETED" if name == place else b"NOT_FOUND"])
                client.close()
                tandem.stop()

    def test_a_password_that_is_part_of_where_jobs_come_from_is_not_told(self):
        source = f"gearmand-postgres:host={self.directory} user=me password=hunter2"
        said = refusal(TANDEMD, self.journal, None, "--set", f"journal.import={source}")
        self.assertIn(f"journal.import = gearmand-postgres:host={self.directory} user=me ", said)
        self.assertNotIn("hunter2", said)


class Format8(Case):
    def test_each_job_of_a_fork_with_a_crc_comes_and_its_end_may_be_torn(self):
        self.assertEqual(binlog.crc32c(b"123456789"), 0xE3069283)
        large = bytes(range(256)) * 800
        binlog.write(self.old, 1, [binlog.record(7, 1, b"mail", b"older")], version=7)
        binlog.write(self.old, 2, [
            binlog.record(8, 2, b"mail", b"two", pri=7, ttr=99, counts=(5, 4, 3, 2, 1)),
            binlog.record(8, 3, b"mail", large),
            binlog.record(8, 4, b"mail", b"four"),
            binlog.record(8, 1, state="buried", size=7),
            binlog.record(8, 4, state="deleted", size=6),
            binlog.record(8, 99, state="deleted", size=6),
        ], version=8, size=1 << 20)
        torn = binlog.record(8, 5, b"mail", b"x" * 2 * binlog.PAGE)
        for number, cut in enumerate((20, binlog.PAGE, 2 * binlog.PAGE, len(torn) - 4), 3):
            binlog.write(self.old, number, [torn[:cut // binlog.PAGE * binlog.PAGE - 4
                                                 if cut % binlog.PAGE == 0 else cut]],
                         version=8, size=4 * binlog.PAGE)
        tandem, client = self.start()
        two = self.stats(client, 2)
        self.assertEqual([two[key] for key in ("pri", "ttr", "reserves", "kicks", "state")],
                         ["7", "99", "5", "1", "ready"])
        self.assertEqual(client.ask(b"peek 3\r\n")[1], large + b"\r\n")
        self.assertEqual(self.stats(client, 1)["state"], "buried")
        self.assertIsNone(self.stats(client, 4))
        self.assertIsNone(self.stats(client, 5))
        tandem.stop()
        self.start()

    def test_a_wrong_crc_is_damage_to_its_record_alone(self):
        records = [bytearray(binlog.record(8, job, b"mail", b"job %d" % job))
                   for job in range(1, 5)]
        records[1][-8] ^= 1
        records[3][-6] ^= 1
        binlog.write(self.old, 1, records, version=8)
        self.refuse("damaged in 2 places, first in binlog.1 at 103: job 2: its CRC is wrong")
        _, client = self.start(options=["--repair"])
        self.assertEqual([bool(self.stats(client, job)) for job in range(1, 5)],
                         [True, False, True, False])

    def test_a_format_that_is_not_known_is_no_damage(self):
        binlog.write(self.old, 1, [binlog.record(7, 1, b"mail", b"one")])
        for version, words in ((9, "has format 9, but this tandemd reads only"),
                               (7 << 24, "a machine with another byte order")):
            binlog.write(self.old, 2, [binlog.record(7, 2, b"mail", b"two")], version=version)
            for options in [], ["--repair"]:
                self.refuse(words, *options)
        binlog.write(self.old, 2, [], version=0x61626364)
        self.refuse("does not begin with a format version")
        binlog.write(self.old, 2, [binlog.record(8, 2, b"mail", b"two")], version=8)
        _, client = self.start()
        self.assertEqual(self.stats(client, 2)["state"], "ready")


class Broken(Case):
    def records(self, *jobs):
        return [binlog.record(7, job, b"mail", b"job %d" % job) for job in jobs]

    def test_what_was_being_written_is_left_out_and_stops_nothing(self):
        whole = self.records(1)[0]
        cuts = range(len(whole))
        for number, cut in enumerate(cuts, 1):
            binlog.write(self.old, number, [*self.records(1000 + number), whole[:cut]])
        tandem, client = self.start()
        self.assertIsNone(self.stats(client, 1))
        for number, _ in enumerate(cuts, 1):
            self.assertEqual(self.stats(client, 1000 + number)["state"], "ready")
        self.assertTrue(tandem.broker.expect("import_torn .*job 1 was being written"))

    def test_a_change_that_a_power_cut_has_torn_is_no_deletion(self):
        for version in 5, 7:
            change = binlog.record(version, 1, state="buried", size=5, counts=(9, 9, 9, 9, 9))
            state_at = 8 + 76 if version == 5 else 4 + 76
            for behind in sorted({12, 13, state_at, state_at + 1, *range(1, len(change), 7)}):
                binlog.write(self.old, 1, [binlog.record(version, 1, b"mail", b"one"),
                                           binlog.record(version, 2, b"mail", b"two")], version)
                binlog.write(self.old, 2, [*binlog.up_to_page(version, behind), change[:behind]],
                             version, size=3 * binlog.PAGE)
                with self.subTest(version=version, behind=behind):
                    shutil.rmtree(self.journal, ignore_errors=True)
                    tandem, client = self.start()
                    state = "ready" if behind <= state_at else "buried"
                    self.assertEqual(self.stats(client, 1)["state"], state)
                    self.assertEqual(self.stats(client, 2)["state"], "ready")
                    tandem.stop()

    def test_a_deletion_that_more_follows_is_one_wherever_it_lies(self):
        gone = binlog.record(7, 1, state="deleted", size=5)
        for more in [], [binlog.record(7, 2, b"mail", b"two")]:
            binlog.write(self.old, 1, [binlog.record(7, 1, b"mail", b"one")])
            binlog.write(self.old, 2, [*binlog.up_to_page(7, 70), gone, *more], size=3 * 4096)
            tandem, client = self.start()
            self.assertEqual(self.stats(client, 1) is None, bool(more))
            if not more:
                self.assertTrue(tandem.broker.expect("import_torn .*a change of job 1, perhaps"))
            tandem.stop()
            shutil.rmtree(self.journal)

    def test_zeros_where_records_must_have_been_are_damage(self):
        for number in 1, 2, 3, 4, 5, 6:
            binlog.write(self.old, number, self.records(number) if number in (1, 4) else [])
        for number in 2, 3, 6:
            (self.old / f"binlog.{number}").write_bytes(bytes(4096 if number != 3 else 0))
        self.refuse("damaged in 1 places, first in binlog.2 at 0: 2 files from this one on contain only zeros")
        _, client = self.start(options=["--repair"])
        self.assertEqual(self.stats(client, 4)["state"], "ready")

    def test_a_body_of_zeros_before_other_records_damages_its_job_only(self):
        torn = self.records(2)[0]
        binlog.write(self.old, 1, [*self.records(1), torn[:-7] + bytes(7), *self.records(3)])
        self.refuse("damaged in 1 places, first in binlog.1 at 99: job 2: its body ends in zeros")
        _, client = self.start(options=["--repair"])
        self.assertIsNone(self.stats(client, 2))
        self.assertEqual(self.stats(client, 3)["state"], "ready")

    def test_an_id_that_leaves_none_for_other_jobs_is_damage(self):
        for job in 1 << 48, 1 << 61:
            binlog.write(self.old, 1, self.records(1) + [binlog.record(7, job, b"mail", b"high")])
            self.refuse("a job has an impossible state")
        tandem, client = self.start(options=["--repair"])
        tandem.stop()
        tandem, client = self.start()
        self.assertEqual(self.stats(client, 1)["state"], "ready")

    def test_readable_jobs_of_damaged_binlogs_are_imported_with_repair_only(self):
        cut = self.records(4)[0]
        broken = [
            ("a body does not end with CR LF", 0, [cut[:-2] + b"xx", *self.records(5)]),
            ("an impossible length", 0, [binlog.record(7, 4, b"mail", b"four", size=-5)]),
            ("an impossible length", 0, [binlog.record(7, 4, b"mail", b"four", size=1 << 30)]),
            ("has an impossible state", 0, [binlog.record(7, 4, b"mail", b"four", state=9)]),
            ("has an impossible state", 0, [binlog.record(7, (1 << 64) - 1, b"mail", b"four")]),
            ("a tube has an invalid name", 0, [binlog.record(7, 4, b"ma\nil", b"four")]),
            ("name of a tube is too long", 0, [binlog.record(7, 4, b"m" * 201, b"four")]),
            ("invalid data instead of a record", 0, [bytes(300), cut]),
            ("has no id", 0, [binlog.record(7, 0, b"mail", b"four")]),
            ("the length of a body has changed", 0, [binlog.record(7, 1001, size=99)]),
            ("a record is truncated", -4096, [cut[:50]]),
        ]
        binlog.write(self.old, 1, self.records(1001))
        for number, (_, size, records) in enumerate(broken, 2):
            binlog.write(self.old, number, [*self.records(1000 + number), *records],
                         size=4096 + size)
        binlog.write(self.old, 20, self.records(1020))
        binlog.write(self.old, 21, self.records(4), version=0x12345678)
        self.refuse("damaged in 13 places, first in binlog.2 at 102: a body does not end with CR LF")
        tandem, client = self.start(options=["--repair"])
        said = [line for line in tandem.broker.log() if "import_damage" in line]
        for what in [*(what for what, _, _ in broken), "7 files from this one on are missing",
                     "not begin with a format version"]:
            self.assertTrue(any(what in line for line in said), what)
        for number in [*range(1, len(broken) + 2), 20]:
            self.assertEqual(self.stats(client, 1000 + number)["state"], "ready")
        self.assertIsNone(self.stats(client, 4))
        tandem.stop()
        self.start()


    def test_an_import_that_imported_no_job_need_not_be_abandoned(self):
        binlog.write(self.old, 1, [binlog.record(7, 1, b"mail", b"x"), b"\xff" * 200])
        self.refuse("--repair")
        tandem, _ = self.start(False)
        tandem.stop()
        self.old = self.directory / "mistyped"
        self.refuse("journal.import = beanstalkd:")
        self.start(False)


class Killed(Case):
    COUNT = 100000

    def start_and_kill(self):
        """As soon as operators can see that a quarter of the jobs has come in."""
        command = [TANDEMD, "--config", "/dev/null"]
        for setting in ("beanstalk.listen=127.0.0.1:0", "gearman.listen=", "http.listen=",
                        "admin.listen=127.0.0.1:0", f"journal.dir={self.journal}",
                        f"journal.import=beanstalkd:{self.old}"):
            command += ["--set", setting]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            said = ""
            for line in process.stderr:
                if found := re.search(r"address=(\S+) protocol=admin", line):
                    said = self.watch(found[1])
                    break
            process.kill()
            process.communicate()
        return said

    def watch(self, address):
        give_up_at = time.monotonic() + SECONDS
        while time.monotonic() < give_up_at:
            try:
                with urllib.request.urlopen(f"http://{address}/readyz", timeout=SECONDS):
                    return "done"
            except urllib.error.HTTPError as answer:
                with answer:
                    said = answer.read().decode()
                found = re.search("being imported.* ([0-9]{5,}) jobs", said)
                if found and int(found[1]) > self.COUNT / 4:
                    return said
            except OSError:
                pass  # whom it does not serve yet it does not keep
        raise AssertionError("nothing is imported")

    def test_in_the_middle_it_goes_on_at_the_next_start_and_loses_and_doubles_nothing(self):
        binlog.write(self.old, 1, [binlog.record(7, job, b"mail", b"x" * 100)
                                   for job in range(1, self.COUNT + 1)])
        said = self.start_and_kill()
        if said != "done":
            self.assertRegex(said, r"^the jobs of another broker are being imported: \d+ %, ")
        tandem, client = self.start()
        self.assertTrue(tandem.broker.expect("import_done" if said != "done" else "import_known"))
        tube = yaml(client.ask(b"stats-tube mail\r\n")[1])
        self.assertEqual(int(tube["current-jobs-ready"]), self.COUNT)
        client.ask(b"watch mail\r\n")
        self.assertEqual(client.ask(b"reserve\r\n")[0], [b"RESERVED", b"1", b"100"])

    def begin(self):
        """An import that was killed in the middle; with more jobs, where it was done before."""
        for more in range(5):
            path = binlog.write(self.old, 1, [binlog.record(7, job, b"mail", b"x")
                                              for job in range(1, (self.COUNT << more) + 1)])
            if self.start_and_kill() != "done":
                return path
            shutil.rmtree(self.journal)
        return self.fail("it was always done")

    def test_what_is_not_done_must_go_on_or_be_given_up(self):
        path = self.begin()
        self.refuse("the import of ", source=False)
        tandem, _ = self.start(False, options=["--ignore-binlog"])
        tandem.stop()
        self.refuse("the import was abandoned by --ignore-binlog")
        path.unlink()
        self.start(False)


if __name__ == "__main__":
    Case.reference = sys.argv.pop(1)
    unittest.main(verbosity=2)
