#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""In the place of gearmand: going to the background, the pid file, the log, the user."""

import os
import pathlib
import pwd
import re
import signal
import socket
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

import party

ANYWHERE = ["-L", "127.0.0.1", "-p", "0"]


class Daemon(party.Sandbox):
    def start(self, *args, code=0):
        """gearmand -d, which must end with that code; returns what it has printed."""
        started = party.run(party.TANDEMD, "gearmand", "-d", "-P", "pid", *args, cwd=self.folder)
        self.assertEqual(started.returncode, code, started.stderr)
        self.assertEqual(started.stdout, "")
        return started.stderr

    def log(self):
        return (self.folder / "log").read_text()

    def test_when_it_returns_the_daemon_serves(self):
        self.assertEqual(self.start(*ANYWHERE, "-l", "log"), "")
        pid = int((self.folder / "pid").read_text())
        self.addCleanup(self.end, pid)
        self.await_that("it logs", lambda: " info started " in self.log())
        party.do_gearman_job(self, party.ports(pid)[0])

    def test_the_daemon_has_a_session_of_its_own_and_null_files(self):
        self.start(*ANYWHERE, "-l", "log")
        pid = self.await_pid(self.folder / "pid")
        self.assertEqual(os.getsid(pid), pid)
        self.assertEqual([os.readlink(f"/proc/{pid}/fd/{fd}") for fd in range(3)],
                         ["/dev/null"] * 3)
        self.assertEqual(os.readlink(f"/proc/{pid}/cwd"), str(self.folder))

    def test_sigterm_ends_it_and_takes_the_pid_file_away(self):
        self.start(*ANYWHERE, "-l", "log")
        pid = self.await_pid(self.folder / "pid")
        self.end(pid)
        self.assertFalse((self.folder / "pid").exists())
        self.assertIn(" info stopped ", self.log())

    def test_what_keeps_it_from_starting_is_said_and_is_the_exit_code(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            words = self.start("-L", "127.0.0.1", "-p", str(taken.getsockname()[1]), "-l", "log",
                               code=1)
        self.assertRegex(words, r"^gearmand: 127\.0\.0\.1:\d+: Address already in use\n$")
        self.assertIn(" error not_started ", self.log())
        self.assertFalse((self.folder / "pid").exists())
        words = self.start(*ANYWHERE, "-l", "log", "-u", "no-such-user", code=1)
        self.assertEqual(words, "gearmand: user no-such-user: no such user\n")
        (self.folder / "pid").mkdir()
        words = self.start(*ANYWHERE, "-l", "log", code=1)
        self.assertTrue(words.startswith("gearmand: pid_file pid: "), words)

    def test_a_second_one_with_the_same_pid_file_does_not_start(self):
        self.start(*ANYWHERE, "-l", "log")
        pid = self.await_pid(self.folder / "pid")
        words = self.start(*ANYWHERE, "-l", "log", code=1)
        self.assertEqual(words, f"gearmand: pid_file pid: another process holds it: {pid}\n")
        self.assertTrue(party.is_alive(pid))

    def test_a_pid_file_that_a_crash_left_behind_is_taken_over(self):
        self.start(*ANYWHERE, "-l", "log")
        first = self.await_pid(self.folder / "pid")
        os.kill(first, signal.SIGKILL)
        self.await_that("it is gone", lambda: not party.is_alive(first))
        self.start(*ANYWHERE, "-l", "log")
        self.assertNotEqual(self.await_pid(self.folder / "pid"), first)

    def test_options_that_mean_nothing_are_noted_whatever_the_level(self):
        self.start(*ANYWHERE, "-l", "log", "--verbose", "ERROR", "-R", "-b", "5", "--coredump")
        self.await_pid(self.folder / "pid")
        lines = self.await_that("it logs", lambda: self.log().count("\n") >= 3
                                and self.log().splitlines())
        self.assertEqual([re.search(r"warn flag note=\"(--[\w-]+) is ignored: ", line)[1]
                          for line in lines], ["--backlog", "--round-robin", "--coredump"])

    def test_lines_go_to_the_log_of_the_system(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as system:
            system.settimeout(party.SECONDS)
            system.bind(str(self.folder / "system"))
            self.start(*ANYWHERE, "--set", "server.log_file=syslog:system", "-R")
            pid = self.await_pid(self.folder / "pid")
            line = re.compile(rb"<(\d+)>\w{3} [ \d]\d \d\d:\d\d:\d\d gearmand\[%d\]: \S+Z (\w+) "
                              rb"(\w+) [^\n]*" % pid)
            seen = {}
            while b"started" not in seen:
                found = line.fullmatch(system.recv(65536))
                self.assertIsNotNone(found)
                seen[found[3]] = found[1], found[2]
            # Of the facility daemon (3), at the level of a warning (4) and of information (6).
            self.assertEqual(seen[b"flag"], (b"28", b"warn"))
            self.assertEqual(seen[b"started"], (b"30", b"info"))

    def test_a_log_of_the_system_that_is_started_anew_goes_on_to_get_lines(self):
        place = self.folder / "system"
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as system:
            system.bind(str(place))
            self.start(*ANYWHERE, "--set", "server.log_file=syslog:system")
            pid = self.await_pid(self.folder / "pid")
        place.unlink()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as system:
            system.settimeout(party.SECONDS)
            system.bind(str(place))
            os.kill(pid, signal.SIGTERM)
            while b" stopped " not in system.recv(65536):
                pass

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_it_becomes_the_user_and_can_open_its_log_again(self):
        nobody = pwd.getpwnam("nobody")
        os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
        self.start(*ANYWHERE, "-l", "log", "-u", "nobody")
        pid = self.await_pid(self.folder / "pid")
        self.assertEqual(pathlib.Path(f"/proc/{pid}").stat().st_uid, nobody.pw_uid)
        (self.folder / "log").rename(self.folder / "log.1")
        os.kill(pid, signal.SIGHUP)
        self.await_that("the log is there again", (self.folder / "log").exists)
        self.assertEqual((self.folder / "log").stat().st_uid, nobody.pw_uid)


class Beanstalkd(party.Sandbox):
    def test_it_stays_in_the_foreground_and_does_jobs(self):
        with subprocess.Popen(["beanstalkd", "-l", "127.0.0.1", "-p", "0"],
                              executable=party.TANDEMD, stderr=subprocess.PIPE) as broker:
            try:
                party.do_beanstalk_job(self, self.await_port(broker.pid))
            finally:
                broker.terminate()
            self.assertIn(b" stopped ", broker.stderr.read())
            self.assertEqual(broker.wait(), 0)


if __name__ == "__main__":
    unittest.main()
