# SPDX-License-Identifier: MIT
"""tandemctl export and import with a real broker. TANDEMD is its path."""

import json
import os
import pathlib
import stat
import threading
import unittest

import broker_test
import program


def bare(text):
    """The parts of lines that an import must preserve, in order."""
    jobs = []
    for line in text.splitlines():
        job = json.loads(line)
        del job["id"], job["burial"]
        # Computed from two clocks of the machine.
        job["due_at"] = job["due_at"] and round(job["due_at"] / 60)
        job["created_at"] = round(job["created_at"] / 60)
        jobs.append(job)
    return jobs


class OutAndIn(broker_test.WithBroker):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(self.config).parent

    def fill(self):
        self.client.put(b"first", priority=7)
        self.client.put(b"\0\xff")
        self.client.put(b"later", delay=900)
        for _ in range(2):
            self.client.say(f"bury {self.client.reserve()} 9")
        for number in range(50):
            self.client.put(b"%d" % number)
        self.client.reserve()
        self.run_ctl("add", "keys", "x", "--unique", "k", "--attempts", "3")

    def empty(self):
        for queue in "mail", "keys":
            self.run_ctl("delete", "--queue", queue, "--yes", "--state",
                         "ready,delayed,reserved,buried")

    def test_devices_pipes_and_links_stay_what_they_are(self):
        self.fill()
        text = self.run_ctl("export").stdout
        pipe, link, real = (self.folder / name for name in ("pipe", "link", "real"))
        os.mkfifo(pipe)
        os.mkdir(self.folder / "away")
        link.symlink_to(self.folder / "away" / "real")
        heard = []
        reader = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
        reader.start()
        self.assertEqual(self.run_ctl("export", str(pipe)).returncode, 0)
        reader.join()
        self.assertEqual((heard, stat.S_ISFIFO(pipe.lstat().st_mode)), ([text], True))
        # A dangling symbolic link is not replaced by a new file.
        self.assertEqual(self.run_ctl("export", str(link)).returncode, program.FAILED)
        (self.folder / "away" / "real").write_text("old")
        (self.folder / "away" / "real").chmod(0o640)
        self.assertEqual(self.run_ctl("export", str(link)).returncode, 0)
        self.assertTrue(link.is_symlink())
        real = self.folder / "away" / "real"
        self.assertEqual((real.read_bytes(), real.stat().st_mode & 0o777), (text, 0o640))
        full = self.folder / "full"
        full.symlink_to("/dev/full")
        self.assertEqual(self.run_ctl("export", str(full)).returncode, program.FAILED)
        self.assertTrue(stat.S_ISCHR(os.stat(full).st_mode))
        self.assertIn("directory", self.run_ctl("export", str(self.folder)).stderr.decode().lower())

    def test_what_was_written_comes_back_the_same_but_for_its_numbers(self):
        self.fill()
        path = self.folder / "jobs"
        done = self.run_ctl("export", str(path))
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b"54 jobs exported.\n"))
        before = path.read_text()
        self.assertEqual(self.run_ctl("export").stdout.decode(), before)
        self.assertEqual([job["state"] for job in bare(before)[-2:]], ["buried"] * 2)
        self.assertEqual([job["body"]["data"] for job in bare(before)[-2:]], ["first", "AP8="])
        self.empty()
        self.assertEqual(self.run_ctl("export").stdout, b"")
        self.assertEqual(self.good("import", str(path)),
                         "54 jobs imported, 0 joined, 0 refused.\n")
        after = self.run_ctl("export", "-").stdout.decode()
        self.assertEqual(bare(after), bare(before))
        self.assertEqual(sorted(os.listdir(self.folder)), ["jobs", "journal", "tandemd.conf"])
        self.assertEqual(bare(self.run_ctl("export", "--queues", "k*").stdout.decode()),
                         [job for job in bare(after) if job["queue"] == "keys"])

    def test_a_line_that_is_refused_is_told_and_the_rest_comes_in(self):
        lines = b'{"queue": "a", "body": "x"}\n{"queue": 5}\n\n{"queue": "a"}\nnonsense'
        done = self.run_ctl("import", "-", stdin=lines)
        self.assertEqual(done.returncode, program.FAILED)
        self.assertEqual(done.stdout, b"2 jobs imported, 0 joined, 2 refused.\n")
        for number in 2, 5:
            self.assertIn(f"tandemctl: -, line {number}: ", done.stderr.decode())
        done = self.run_ctl("import", "-", "--json", "--from", "4", stdin=lines)
        self.assertEqual(json.loads(done.stdout),
                         {"imported": 1, "joined": 0, "refused": 1, "next": 6})

    def test_a_nul_byte_makes_no_line_behind_it_vanish(self):
        lines = b'{"queue": "a", "body": "x"}\n\0\0\n{"queue": "a", "body": "y"}\n'
        done = self.run_ctl("import", "-", stdin=lines)
        self.assertEqual(done.returncode, program.FAILED)
        self.assertEqual(done.stdout, b"2 jobs imported, 0 joined, 1 refused.\n")
        self.assertIn("tandemctl: -, line 2: it has a NUL byte", done.stderr.decode())

    def test_the_last_moment_that_a_job_can_wait_for_comes_back(self):
        line = (b'{"queue": "a", "state": "delayed", "due_by_calendar": true, '
                b'"due_at": 9223372036}\n')
        self.assertEqual(self.run_ctl("import", "-", stdin=line).returncode, 0)
        out = self.run_ctl("export", "-").stdout
        self.assertEqual(json.loads(out)["due_at"], 9223372036)
        self.assertEqual(self.run_ctl("import", "-", stdin=out).returncode, 0)

    def test_an_import_that_stops_goes_on_where_it_was(self):
        path = self.folder / "jobs"
        path.write_text("".join(json.dumps({"queue": "a", "body": str(i)}) + "\n"
                                for i in range(5000)))
        state = self.folder / "jobs.imported"
        self.good("drain")
        done = self.run_ctl("import", str(path))
        self.assertEqual(done.returncode, program.NOT_NOW)
        self.assertIn("The next line is 1.\n", done.stderr.decode())
        self.good("drain", "off")
        about = path.stat()
        state.write_text(f"tandem import: line 4001 of {about.st_size} bytes of "
                         f"{int(about.st_mtime)}\n")
        done = self.run_ctl("import", str(path))
        self.assertEqual(done.stdout, b"1,000 jobs imported, 0 joined, 0 refused.\n")
        self.assertIn("up to line 4000", done.stderr.decode())
        self.assertFalse(state.exists())
        state.write_text("tandem import: line 2 of 7 bytes of 1\n")
        self.assertRegex(self.run_ctl("import", str(path)).stderr.decode(),
                         r"^tandemctl: .* has changed since an import .*\n$")
        self.assertEqual(self.good("import", str(path), "--from", "4991"),
                         "10 jobs imported, 0 joined, 0 refused.\n")

    def test_what_the_broker_takes_only_in_parts_is_sent_so(self):
        large = {"queue": "large", "body": "x" * 60000}
        lines = "".join(json.dumps(large) + "\n" for _ in range(40)).encode()
        self.config.write_text("[admin]\nmax_body = 100000\n")
        self.good("reload")
        self.assertEqual(self.good("import", "-", stdin=lines),
                         "40 jobs imported, 0 joined, 0 refused.\n")

    def test_files_that_are_not_there_are_named(self):
        self.assertIn("nowhere", self.run_ctl("import", "nowhere").stderr.decode())
        for source in ("gearmand-sqlite:/nowhere/db", "gearmand-mysql-dump:/nowhere/dump",
                       "gearmand-postgres:host=/nowhere"):
            done = self.run_ctl("import", source)
            self.assertEqual(done.returncode, program.FAILED, source)
            self.assertIn("nowhere", done.stderr.decode())
        self.assertEqual(self.run_ctl("export", "/nowhere/file").returncode, program.FAILED)


del broker_test

if __name__ == "__main__":
    unittest.main(verbosity=2)
