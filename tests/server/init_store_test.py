# SPDX-License-Identifier: MIT
"""`tandemd --init-store`, with a PostgreSQL whose connection string is POSTGRES
(tests/support/postgres.py)."""

import os
import subprocess
import unittest

DATABASE = os.environ["POSTGRES"]
SECONDS = 120


def init(*settings):
    """Runs it; what it has printed, what it complains of, and its exit code."""
    sets = [word for each in settings for word in ("--set", each)]
    done = subprocess.run([os.environ["TANDEMD"], "--config", "/dev/null", "--init-store", *sets],
                          capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.stdout, done.stderr, done.returncode


def kept_in(database, shard="main"):
    return "journal.store=postgres", f"journal.postgres={database}", f"journal.shard={shard}"


class InitStore(unittest.TestCase):
    def test_it_makes_what_a_shard_needs_and_prints_the_grants_as_often_as_it_is_called(self):
        for shard in "main", "other", "main":
            with self.subTest(shard=shard):
                out, complaint, code = init(*kept_in(DATABASE, shard))
                self.assertEqual((complaint, code), ("", 0))
                self.assertIn(f"-- The database keeps a journal for the shard {shard}.\n", out)
                self.assertIn("GRANT USAGE ON SCHEMA tandem TO tandem;\n", out)
                self.assertIn(f"tandem.rows_{shard}_63 TO tandem;\n", out)

    def test_a_database_that_cannot_be_reached_is_told_without_its_password(self):
        # No server listens at port 1.
        place = "host=127.0.0.1 port=1 user=broker password=geheim connect_timeout=5"
        out, complaint, code = init(*kept_in(place))
        self.assertEqual((out, code), ("", 1))
        self.assertIn("tandemd: --init-store: ", complaint)
        self.assertNotIn("geheim", complaint)

    def test_a_journal_of_files_needs_none(self):
        out, complaint, code = init()
        self.assertEqual((out, code), ("", 2))
        self.assertIn("--init-store: needs `store = postgres` in [journal]", complaint)


if __name__ == "__main__":
    unittest.main(verbosity=2)
