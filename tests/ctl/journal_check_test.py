# SPDX-License-Identifier: MIT
"""tandemctl journal-check on journals of a real broker. TANDEMD is its path."""

import hashlib
import json
import os
import pathlib
import socket
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "clients"))
import broker
import program


class Journals(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name, "journal")
        self.broker = broker.Broker(os.environ["TANDEMD"],
                                    [*broker.loopback(), f"journal.dir={self.folder}"])
        self.addCleanup(self.broker.stop)
        self.say("use mail\r\n" + "put 0 0 60 5\r\nhello\r\n" * 3 + "put 0 900 60 2\r\nhi\r\n")

    def say(self, text):
        host, port = self.broker.addresses["beanstalk"][0].split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(text.encode() + b"quit\r\n")
            with client.makefile("rb") as answers:
                return answers.read()

    def files(self):
        return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                for path in self.folder.iterdir()}

    def check(self, code, *options):
        """The output. Checks that the directory is unchanged."""
        before = self.files()
        done = program.run("journal-check", str(self.folder), *options)
        self.assertEqual(self.files(), before)
        self.assertEqual(done.returncode, code, done)
        return done.stdout.decode() + done.stderr.decode()

    def test_a_good_journal_is_counted(self):
        self.broker.stop()
        self.assertRegex(self.check(program.DONE),
                         r"3 ready, 1 delayed, 0 buried jobs in 1 queue\.\nThe journal is intact\.")
        found = json.loads(self.check(program.DONE, "--json"))
        self.assertEqual((found["damaged"], found["ready"], found["findings"]), (False, 3, []))

    def test_a_journal_of_a_broker_that_was_killed_is_good(self):
        self.broker.process.kill()
        self.broker.process.wait()
        self.assertIn("The journal is intact.", self.check(program.DONE))

    def test_a_journal_in_use_is_left_alone(self):
        done = program.run("journal-check", str(self.folder))
        self.assertEqual(done.returncode, program.FAILED)
        self.assertIn(b"another process uses this journal", done.stderr)
        self.assertIn(b"INSERTED", self.say("put 0 0 60 1\r\nx\r\n"))

    def test_damage_is_found_and_said(self):
        self.broker.stop()
        segment = self.folder / "journal.0000000001"
        data = bytearray(segment.read_bytes())
        data[data.index(b"hello")] ^= 1
        segment.write_bytes(data)
        text = self.check(program.FAILED)
        self.assertRegex(text, r"journal.0000000001, offset \S+: a record has a wrong checksum, .* lost")
        self.assertIn("2 ready, 1 delayed", text)
        self.assertIn("tandemd --repair keeps its intact jobs", text)
        done = program.run("journal-check", str(self.folder), "--json")
        found = json.loads(done.stdout)
        self.assertEqual((done.returncode, found["damaged"]), (program.FAILED, True))
        self.assertEqual(found["findings"][0]["kind"], "lost")

    def test_a_directory_that_is_not_there_stays_so(self):
        self.broker.stop()
        for path in (self.folder / "none", self.folder / "lock"):
            done = program.run("journal-check", str(path))
            self.assertEqual(done.returncode, program.FAILED)
            self.assertRegex(done.stderr, rb"No such file|Not a directory")
        self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
