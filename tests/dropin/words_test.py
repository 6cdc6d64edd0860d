#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The messages of each program about its command line, and its exit code: tandemd has the same."""

import concurrent.futures
import sys
import unittest

sys.dont_write_bytecode = True

import party

# Too long for a DNS label, so it fails without a DNS query, which may take a minute.
NO_HOST = "h" * 64

BEANSTALKD = [
    ["-Z"], ["-VZ"], ["-VFZp"], ["--help"], ["--"], ["--nope"], ["-"], ["extra"], ["-V", "extra"],
    ["-p"], ["-l"], ["-z"], ["-s"], ["-f"], ["-b"], ["-u"], ["-VFz"],
    ["-z", "x"], ["-zx"], ["-s", "1k"], ["-f", "often"], ["-z", ""],
    ["-V", "-Z"], ["-z", "x", "-h"], ["-h"], ["-hZ"], ["-V", "-h", "-Z"],
]
GEARMAND = [
    ["--nope"], ["-Z"], ["-dZ"], ["-Zd"], ["-d5"], ["-d=1"], ["-v"], ["-vvv"], ["extra"],
    ["-R", "extra"], ["--nope=3"], ["--por", "1"], ["--PORT", "1"], ["--check"], ["--=3"], ["-"],
    ["--", "--check-args"], ["--port"], ["-p"], ["--port="], ["--libsqlite3-db="], ["-Rp"],
    ["--daemon=yes"], ["--check-args=1"], ["-d", "-d"], ["-d", "--daemon"],
    ["-p", "1", "-p", "2"], ["--libpq-table", "a", "--libpq-table", "b"],
    ["--backlog", "x"], ["-b", "3.5"], ["--backlog", "99999999999"], ["-j", "x"],
    ["-j", "99999999999"], ["-t", "0x10"], ["--keepalive-idle", "x"], ["--mysql-port", "x"],
    ["--hashtable-buckets=x"], ["-w", "x"], ["-f", "x"],
    ["--port", "1", "--nope", "--backlog", "x"], ["--backlog", "x", "-p", "1", "-p", "2"],
    ["--verbose"], ["--verbose", "NOISY"], ["--verbose", "WARN"], ["--verbose", "debug"],
    ["--verbose", "NOISY", "--check-args"], ["--verbose", "NOISY", "--help"],
    ["--help", "--nope"], ["-V", "--nope"], ["--config-file", "/nonexistent/file"],
    ["--check-args"], ["--check-args", "--help"], ["-p24001", "--check-args"],
    ["-Rp24001", "--check-args"], ["-p=5", "--check-args"], ["-p", "--daemon", "--check-args"],
    ["-j", "-1", "--check-args"], ["-t", "+1", "--check-args"], ["-b", "-5", "--check-args"],
    ["--keepalive-idle", "-5", "--check-args"], ["-q", "nope", "--check-args"],
    ["-r", "http", "--check-args"], ["--verbose", "WARNING", "--check-args"],
    ["--verbose", "FATAL", "--check-args"],
    ["-r", "nope", "-l", "none", "-P", "pid"],
    ["-d", "-r", "nope", "-l", "none", "-P", "pid"],
]
# Behind the words, the reason that there is none, or what to do.
BEGIN_ALIKE = [
    ["-q", "nope", "-l", "none", "-P", "pid"],
    ["-q", "libsqlite3", "-l", "none", "-P", "pid"],
]
# There, these are of the log, or end differently with each cause.
FAIL_ALIKE = [
    ["-p", "x", "-l", "none", "-P", "pid"],
    ["-P", "/nonexistent/pid", "-l", "none"],
    ["-d", "-P", "/nonexistent/pid", "-l", "none"],
    ["-u", "no-such-user", "-p", "0", "-l", "none", "-P", "pid"],
    ["-L", NO_HOST, "-p", "0", "-l", "none", "-P", "pid"],
]
# As for the user, which it looks up once it listens.
BEANSTALKD_FAILS_ALIKE = [
    ["-p", "no-such-service"], ["-l", NO_HOST, "-p", "0"],
    ["-l", "unix:/nonexistent/socket"], ["-b", "/nonexistent", "-p", "0", "-l", "127.0.0.1"],
    ["-u", "no-such-user", "-p", "0", "-l", "127.0.0.1"],
]


def first_line(text):
    return text.split("\n", 1)[0]


class Words(party.Sandbox):
    def both(self, name, args):
        """Theirs and ours; the words of both begin with the name that they were called by."""
        theirs = party.run(party.reference(name), name, *args, cwd=self.folder)
        ours = party.run(party.TANDEMD, name, *args, cwd=self.folder)
        return theirs, ours

    def each(self, name, cases):
        """The arguments and both, for each case. gearmand takes its time to fail."""
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda args: self.both(name, args), cases))
        for args, (theirs, ours) in zip(cases, answers):
            with self.subTest(name=name, args=args):
                self.assertEqual(ours.returncode, theirs.returncode, ours.stderr)
        return [(args, *answer) for args, answer in zip(cases, answers)]

    def test_beanstalkd_is_quoted_and_its_help_follows(self):
        for args, theirs, ours in self.each("beanstalkd", BEANSTALKD):
            with self.subTest(args=args):
                self.assertEqual(first_line(ours.stderr), first_line(theirs.stderr))
                self.assertEqual("Options:" in ours.stderr, "Options:" in theirs.stderr)
                self.assertEqual((ours.stdout, theirs.stdout), ("", ""))

    def test_gearmand_is_quoted(self):
        for args, theirs, ours in self.each("gearmand", GEARMAND):
            with self.subTest(args=args):
                self.assertEqual(ours.stderr, theirs.stderr)
                self.assertEqual((ours.stdout, theirs.stdout), ("", ""))

    def test_gearmand_is_quoted_where_a_queue_cannot_be_had_and_we_say_why(self):
        for args, theirs, ours in self.each("gearmand", BEGIN_ALIKE):
            with self.subTest(args=args):
                self.assertTrue(ours.stderr.startswith(theirs.stderr.rstrip("\n")), ours.stderr)

    def test_other_failures_have_the_same_exit_code(self):
        for name, cases in ("gearmand", FAIL_ALIKE), ("beanstalkd", BEANSTALKD_FAILS_ALIKE):
            for args, _, ours in self.each(name, cases):
                with self.subTest(name=name, args=args):
                    self.assertNotEqual(ours.returncode, 0)
                    self.assertIn(f"{name}: ", ours.stderr)

    def test_versions_begin_alike_and_come_on_the_same_stream(self):
        # Ours are those of Debian 12. Debian 13 has the next ones.
        versions = {"beanstalkd": ("1.12", "1.13"), "gearmand": ("1.1.20", "1.1.21")}
        for name, args in ("beanstalkd", ["-v"]), ("beanstalkd", ["-Vvh"]), ("gearmand", ["-V"]):
            with self.subTest(name=name, args=args):
                theirs, ours = self.both(name, args)
                self.assertEqual(ours.stdout.split()[:2], [name, versions[name][0]])
                self.assertEqual(theirs.stdout.split()[0], name)
                self.assertIn(theirs.stdout.split("+")[0].split()[1], versions[name])
                self.assertIn("(tandemd ", ours.stdout)
                self.assertEqual((ours.stderr, theirs.stderr), ("", ""))

    def test_helps_come_on_the_same_stream(self):
        for name in "beanstalkd", "gearmand":
            with self.subTest(name=name):
                theirs, ours = self.both(name, ["-h"])
                self.assertEqual(bool(ours.stdout), bool(theirs.stdout))
                self.assertEqual(bool(ours.stderr), bool(theirs.stderr))

    def test_as_takes_the_place_whatever_the_name_is(self):
        for args, code, words in (
                (["--as", "beanstalkd", "-Z"], 5, "tandemd: unknown flag: -Z\n"),
                (["-Z", "--as=beanstalkd"], 5, "tandemd: unknown flag: -Z\n"),
                (["--as=gearmand", "--nope"], 1, "tandemd: unrecognised option '--nope'\n"),
                (["--as", "gearmand", "--set"], 1,
                 "tandemd: the required argument for option '--set' is missing\n"),
                (["--as", "memcached"], 2,
                 "tandemd: --as: `memcached` is neither beanstalkd nor gearmand\n"),
                (["--as"], 2, "tandemd: --as: `` is neither beanstalkd nor gearmand\n")):
            with self.subTest(args=args):
                ours = party.run(party.TANDEMD, "tandemd", *args)
                self.assertEqual(ours.returncode, code)
                self.assertTrue(ours.stderr.startswith(words), ours.stderr)

    def test_absolute_names_count_by_their_last_part(self):
        ours = party.run(party.TANDEMD, "/usr/sbin/gearmand", "--nope")
        self.assertEqual(ours.stderr, "/usr/sbin/gearmand: unrecognised option '--nope'\n")
        ours = party.run(party.TANDEMD, "/usr/bin/beanstalkd", "-Z")
        self.assertEqual(first_line(ours.stderr), "/usr/bin/beanstalkd: unknown flag: -Z")
        ours = party.run(party.TANDEMD, "/srv/gearmand/tandemd", "--version")
        self.assertTrue(ours.stdout.startswith("tandemd "))


if __name__ == "__main__":
    unittest.main()
