# SPDX-License-Identifier: MIT
"""Imports the queue of a real gearmand in PostgreSQL into a real broker."""

import random
import time
import unittest

import gearmand_test
import postgres


@unittest.skipUnless(postgres.INITDB, "there is no PostgreSQL")
class Postgres(gearmand_test.WithGearmand):
    def setUp(self):
        super().setUp()
        cluster = postgres.Cluster()
        self.addCleanup(cluster.close)
        self.place = cluster.make().start().place()
        self.source = f"gearmand-postgres:{self.place}"

    def start(self):
        return gearmand_test.Gearmand(self, "-q", "Postgres", "--libpq-conninfo", self.place)

    def import_when_it_has_gone(self):
        """The server may not have noticed yet that gearmand was killed."""
        give_up_at = time.monotonic() + gearmand_test.SECONDS
        while True:
            done = self.run_ctl("import", self.source)
            if b"stop gearmand first" not in done.stderr:
                return done
            self.assertLess(time.monotonic(), give_up_at)

    def test_what_comes_over_is_what_gearmand_itself_replays(self):
        functions = [b"f", b"g\xff"]
        gearmand = self.start()
        # gearmand loses the priorities when it reads the jobs back; Tandem keeps them.
        gearmand_test.load(random.Random(1), gearmand.port, functions, [gearmand_test.SUBMIT_BG])
        client = gearmand_test.Peer(gearmand.port)
        for submit in gearmand_test.SUBMITS:
            client.say(submit, b"p", b"u%d" % submit, b"x")
            self.assertEqual(client.hear()[0], gearmand_test.JOB_CREATED)
        client.close()
        self.assertIn(b"stop gearmand first", self.run_ctl("import", self.source).stderr)
        gearmand.end()
        done = self.import_when_it_has_gone()
        self.assertEqual([job["priority"] for job in self.exported() if job["queue"] == "p"],
                         [65536, 512, 2147549184])
        gearmand = self.start()
        wanted = gearmand_test.drain(gearmand.port, [*functions, b"p"])
        gearmand.end()
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout, rb"^%d jobs? imported" % sum(map(len, wanted.values())))
        port = int(self.broker.addresses["gearman"][0].rsplit(":", 1)[1])
        found = gearmand_test.drain(port, [*functions, b"p"])
        self.assertEqual(sorted(found.pop(b"p")), sorted(wanted.pop(b"p")))
        self.assertEqual(found, wanted)

    def test_a_table_that_is_not_there_is_named(self):
        done = self.run_ctl("import", f"{self.source}?table=nowhere")
        self.assertIn(b"nowhere", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
