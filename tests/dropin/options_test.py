#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each option that gearmand and beanstalkd have comes to a setting, or to a note in the log."""

import re
import sys
import unittest

sys.dont_write_bytecode = True

import party

# `-b [ --backlog ] arg (=32)`, `--keepalive`
GEARMAND_OPTION = re.compile(r"^  (?:-(\w) \[ )?--([\w-]+)(?: \])?( arg)?")
BEANSTALKD_OPTION = re.compile(r"^ -(\w) +([A-Z]+)? ", re.M)
# Options that settings do not show.
ACTIONS = {"help", "version", "daemon", "config-file", "queue-type"}
VALUES = {"verbose": "DEBUG", "protocol": "http", "port": "7", "http-port": "8", "log-file": "log",
          "pid-file": "pid", "listen": "127.0.0.3", "user": "root", "job-handle-prefix": "J:x"}
# Options that only have a meaning with another option.
BESIDE = {"ssl": ["--ssl-certificate", "server.pem", "--ssl-key", "server.key"],
          "ssl-certificate": [], "http-port": ["-r", "http"]}


def settings(name, *args, cwd):
    ours = party.run(party.TANDEMD, name, *args, "--check-config", cwd=cwd)
    return ours.stdout, ours.stderr, ours.returncode


class Options(party.Sandbox):
    def gearmand_options(self):
        """By name: the letter, and whether there is a value."""
        text = party.run(party.reference("gearmand"), "gearmand", "--help").stdout
        found = [match for line in text.splitlines() if (match := GEARMAND_OPTION.match(line))]
        self.assertGreater(len(found), 40)
        return {match[2]: (match[1], bool(match[3])) for match in found}

    def test_our_help_has_each_option_of_gearmand(self):
        ours = party.run(party.TANDEMD, "gearmand", "--help").stdout
        for name, (letter, valued) in self.gearmand_options().items():
            with self.subTest(name=name):
                                # The letter of --syslog is that of other versions.
                words = rf"-{letter or '.'} \[ --{name} \]" + ("" if letter else f"|--{name}")
                self.assertRegex(ours, rf"(?m)^  ({words}){' arg' if valued else ''}  ")

    def test_each_option_of_gearmand_is_a_setting_or_noted(self):
        plain, notes, code = settings("gearmand", cwd=self.folder)
        self.assertEqual(code, 0, notes)
        for name, (letter, valued) in self.gearmand_options().items():
            if name in ACTIONS or name == "ssl":
                continue
            with self.subTest(name=name):
                value = [VALUES.get(name, "5")] if valued else []
                beside = BESIDE.get(name, [])
                shown, notes, code = settings("gearmand", *beside, f"--{name}", *value,
                                              cwd=self.folder)
                self.assertEqual(code, 0, notes)
                without = settings("gearmand", *beside, cwd=self.folder)[0] if beside else plain
                self.assertTrue(shown != without or f"--{name} is ignored: " in notes
                                or (name == "syslog" and "log_file = syslog" in shown), notes)
                if letter:
                    self.assertEqual(settings("gearmand", *beside, f"-{letter}", *value,
                                              cwd=self.folder), (shown, notes, code))

    def test_options_of_other_versions_of_gearmand_are_known(self):
        _, notes, code = settings("gearmand", "--log-size", "5", "-s", cwd=self.folder)
        self.assertEqual(code, 0)
        self.assertIn("--log-size is ignored: ", notes)

    def test_each_flag_of_beanstalkd_is_known(self):
        text = party.run(party.reference("beanstalkd"), "beanstalkd", "-h").stderr
        ours = party.run(party.TANDEMD, "beanstalkd", "-h").stderr
        flags = BEANSTALKD_OPTION.findall(text)
        self.assertEqual(len(flags), 11)
        plain = settings("beanstalkd", cwd=self.folder)[0]
        values = {"b": ".", "f": "7", "l": "127.0.0.3", "p": "7", "u": "root", "z": "9",
                  "s": "8192"}
        for letter, valued in flags:
            with self.subTest(letter=letter):
                self.assertRegex(ours, rf"(?m)^  -{letter} +{valued} ")
                if letter in values:
                    args = [f"-{letter}", values[letter]]
                elif letter == "F":
                    args = ["-b", ".", "-F"]
                else:
                    args = ["-V"]
                shown, notes, code = settings("beanstalkd", *args, cwd=self.folder)
                self.assertEqual(code, 0, notes)
                self.assertNotEqual(shown, plain)

    def check_shown(self, name, args, *lines):
        shown, notes, code = settings(name, *args, cwd=self.folder)
        self.assertEqual(code, 0, notes)
        for line in lines:
            section, key = line.split(".", 1)
            body = shown.split(f"[{section}]\n", 1)[1].split("\n[", 1)[0]
            self.assertIn(key, [line.rstrip() for line in body.splitlines()])

    def test_only_that_protocol_listens_where_that_program_does(self):
        self.check_shown("gearmand", [], "gearman.listen = *:4730", "beanstalk.listen =",
                         "http.listen =", "admin.listen =")
        self.check_shown("beanstalkd", [], "beanstalk.listen = 0.0.0.0:11300", "gearman.listen =",
                         "http.listen =", "admin.listen =")
        self.check_shown("gearmand", ["-r", "http", "-L", "::1"], "gearman.listen = [::1]:4730",
                         "http.listen = [::1]:8080")

    def test_settings_may_have_more_listen(self):
        config = self.folder / "tandemd.conf"
        config.write_text("[admin]\nlisten = 127.0.0.1:9180\n[gearman]\nlisten = 127.0.0.9:1\n")
        self.check_shown("gearmand", ["--config", str(config), "--set", "http.listen=:81"],
                         "gearman.listen = 127.0.0.9:1", "admin.listen = 127.0.0.1:9180",
                         "http.listen = :81")
        self.check_shown("gearmand", ["--config", str(config), "-p", "5"], "gearman.listen = *:5")

    def test_values_mean_what_they_mean_there(self):
        self.check_shown("gearmand", ["-j", "3", "-t", "2", "-w", "4", "-f", "100"],
                         "gearman.job_retries = 3", "server.io_threads = 2",
                         "gearman.worker_wakeup = 4", "server.max_connections = 100")
        self.check_shown("gearmand", ["-t", "0", "-w", "0", "-f", "0"],
                         "gearman.job_retries = -1", "server.io_threads = auto",
                         "gearman.worker_wakeup = 0", "server.max_connections = 0")
        self.check_shown("gearmand", ["-j", "-1", "-t", "-1"], "gearman.job_retries = -1",
                         "server.io_threads = 64")
        for theirs, ours in (("FATAL", "error"), ("ALERT", "error"), ("CRITICAL", "error"),
                             ("ERROR", "error"), ("WARNING", "warn"), ("NOTICE", "info"),
                             ("INFO", "info"), ("DEBUG", "debug")):
            self.check_shown("gearmand", ["--verbose", theirs], f"server.log_level = {ours}")
        self.check_shown("gearmand", ["-l", "none"], "server.log_file = /dev/null")
        self.check_shown("gearmand", ["-l", "stderr"], "server.log_file =")
        self.check_shown("gearmand", ["-l", "my.log", "-P", "my.pid"], "server.log_file = my.log",
                         "server.pid_file = my.pid")

    def test_job_retries_are_those_of_gearmand_2(self):
        for words in (["-j0"], ["-j", "0"], ["--job-retries=0"], ["--job-retries", "0"]):
            shown, notes, code = settings("gearmand", *words, cwd=self.folder)
            self.assertEqual(code, 0, notes)
            self.assertRegex(shown, r"(?m)^job_retries = 0 *$")
            self.assertIn("--job-retries=0 is one attempt, as in gearmand 2; gearmand 1.1 meant no "
                          "limit, which is -1", notes)
        for number, ours in (("-1", "-1"), ("1", "1"), ("255", "255"), ("257", "257"),
                             ("1000000", "1000")):
            shown, notes, code = settings("gearmand", f"--job-retries={number}", cwd=self.folder)
            self.assertEqual((code, notes.count("job-retries")), (0, 0), notes)
            self.assertRegex(shown, rf"(?m)^job_retries = {ours} *$")
        for number in ("-2", "-4294967295", "x", "4294967296"):
            shown, notes, code = settings("gearmand", f"--job-retries={number}", cwd=self.folder)
            self.assertEqual((code, shown), (1, ""))
            self.assertIn(f"the argument ('{number}') for option '--job-retries' is invalid", notes)

    def test_a_file_of_arguments_counts_where_the_command_line_says_nothing(self):
        (self.folder / "args").write_text("--port=5 -j\n7\r\n # stray words\n")
        self.check_shown("gearmand", ["--config-file", "args"], "gearman.listen = *:5",
                         "gearman.job_retries = 7")
        self.check_shown("gearmand", ["--config-file", "args", "-p", "6"], "gearman.listen = *:6",
                         "gearman.job_retries = 7")
        (self.folder / "args").write_text("--set a.b=1")
        ours = party.run(party.TANDEMD, "gearmand", "--config-file", "args", cwd=self.folder)
        self.assertEqual((ours.returncode, ours.stderr),
                         (1, "gearmand: unrecognised option '--set'\n"))

    def test_words_of_the_file_that_are_no_options_are_told_of(self):
        for text, told in (("port = 5\n--verbose DEBUG\n", "'port' and 2 more words"),
                           ("--port=5\nround-robin\n", "'round-robin'")):
            (self.folder / "args").write_text(text)
            _, notes, code = settings("gearmand", "--config-file", "args", cwd=self.folder)
            self.assertEqual(code, 0, notes)
            self.assertIn(f"{told} in the configuration file", notes)
        (self.folder / "args").write_text("--port=5\n")
        self.assertEqual(settings("gearmand", "--config-file", "args", cwd=self.folder)[1], "")

    def test_a_port_in_the_environment_is_the_default(self):
        environment = {"GEARMAND_PORT": "7"}
        ours = party.run(party.TANDEMD, "gearmand", "--check-config", env=environment)
        self.assertIn("listen = *:7\n", ours.stdout)
        ours = party.run(party.TANDEMD, "gearmand", "-p", "8", "--check-config", env=environment)
        self.assertIn("listen = *:8\n", ours.stdout)

    def test_queues_of_gearmand_come_over_to_a_journal(self):
        self.check_shown("gearmand", ["-q", "libsqlite3", "--libsqlite3-db", "q.db"],
                         "journal.dir = q.db.tandem", "journal.import = gearmand-sqlite:q.db")
        note = "gearmand: q.db is not created: jobs of -q libsqlite3 are stored in q.db.tandem, "
        words = ["-q", "libsqlite3", "--libsqlite3-db", "q.db"]
        self.assertIn(note, settings("gearmand", *words, cwd=self.folder)[1])
        (self.folder / "q.db").touch()
        self.assertNotIn("q.db", settings("gearmand", *words, cwd=self.folder)[1])
        self.check_shown("gearmand", ["-q", "libsqlite3", "--libsqlite3-db", "q.db",
                                      "--libsqlite3-table", "jobs"],
                         "journal.import = gearmand-sqlite:q.db?table=jobs")
        conninfo = ["--libpq-conninfo", "host=db dbname=jobs"]
        for name in "libpq", "Postgres":
            self.check_shown("gearmand", ["-q", name, *conninfo, "--set", "journal.dir=kept"],
                             "journal.dir = kept",
                             "journal.import = gearmand-postgres:host=db dbname=jobs")
        self.check_shown("gearmand", ["-q", "builtin"], "journal.dir =", "journal.import =")

    def test_queues_that_are_kept_elsewhere_are_refused_with_what_to_do(self):
        for name in "redis", "mysql", "libmemcached", "libtokyocabinet":
            ours = party.run(party.TANDEMD, "gearmand", "-q", name, "-l", "none", cwd=self.folder)
            self.assertEqual(ours.returncode, 1)
            self.assertIn("tandemctl import", ours.stderr)

    def test_a_log_that_cannot_be_had_is_standard_error(self):
        shown, notes, code = settings("gearmand", "-l", "/nonexistent/log", cwd=self.folder)
        self.assertEqual(code, 0)
        self.assertIn('Could not open log file "/nonexistent/log", switching to stderr.', notes)
        self.assertIn("\nlog_file = \n", shown)


if __name__ == "__main__":
    unittest.main()
