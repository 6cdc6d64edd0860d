#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Debian's units and init scripts of beanstalkd and gearmand, as their packages have them: only the
program is another, and the places of the system are in a folder of the test's own."""

import os
import pathlib
import pwd
import re
import shlex
import shutil
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True

import party

BINARIES = {"beanstalkd": "usr/bin/beanstalkd", "gearmand": "usr/sbin/gearmand"}
PLACES = ["/usr/bin/beanstalkd", "/usr/sbin/gearmand", "/etc/default/", "/run/gearman",
          "/var/run/", "/var/log/"]
IS_ROOT = os.geteuid() == 0
# The user of gearmand: it becomes that user where it is started by root.
USER = "nobody" if IS_ROOT else pwd.getpwuid(os.geteuid()).pw_name


class Deployment(party.Sandbox):
    def setUp(self):
        super().setUp()
        for folder in "etc/default", "var/run", "var/log/gearman-job-server", "run/gearman":
            (self.folder / folder).mkdir(parents=True)
        for name, path in BINARIES.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            # Its own file: start-stop-daemon looks for processes that run it.
            shutil.copy(party.TANDEMD, self.folder / path)
            package = {"gearmand": "gearman-job-server"}.get(name, name)
            defaults = party.debian_file(name, f"etc/default/{package}")
            (self.folder / "etc/default" / package).write_text(self.moved(defaults.read_text()))
        if IS_ROOT:
            user = pwd.getpwnam(USER)
            for folder in "var/log/gearman-job-server", "run/gearman":
                os.chown(self.folder / folder, user.pw_uid, user.pw_gid)

    def moved(self, text):
        """Moves the system's paths into our folder, but not where they are part of another path."""
        for place in PLACES:
            text = re.sub(rf"(?<![\w./-]){re.escape(place)}", f"{self.folder}{place}", text)
        return text

    def add_default(self, package, line):
        """A line behind the others of the file of defaults: any free port."""
        with (self.folder / "etc/default" / package).open("a") as file:
            file.write(f"{line}\n")

    def defaults(self, package):
        """The settings of the file, read as systemd reads them: backslashes join lines."""
        text = (self.folder / "etc/default" / package).read_text().replace("\\\n", "")
        pairs = [line.split("=", 1) for line in text.splitlines()
                 if re.match(r"\w+=", line.strip())]
        return {key: " ".join(shlex.split(value)) for key, value in pairs}

    def unit(self, name, package):
        """The keys of [Service], with places in our folder."""
        text = party.debian_file(name, f"lib/systemd/system/{package}.service").read_text()
        service = text.split("[Service]\n", 1)[1].split("\n[", 1)[0]
        return dict(line.split("=", 1) for line in self.moved(service).splitlines() if "=" in line)

    def command(self, unit, package):
        """The words of ExecStart: ${NAME} is part of a word, $NAME as many as it has."""
        values = self.defaults(package)
        words = []
        for word in unit["ExecStart"].split():
            if plain := re.fullmatch(r"\$(\w+)", word):
                words += values.get(plain[1], "").split()
            else:
                words.append(re.sub(r"\$\{(\w+)\}", lambda match: values.get(match[1], ""), word))
        return words

    def test_the_unit_of_beanstalkd_serves(self):
        self.add_default("beanstalkd", "BEANSTALKD_LISTEN_PORT=0")
        unit = self.unit("beanstalkd", "beanstalkd")
        command = self.command(unit, "beanstalkd")
        self.assertEqual(command[1:], ["-l", "127.0.0.1", "-p", "0"])
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as broker:
            try:
                party.do_beanstalk_job(self, self.await_port(broker.pid))
            finally:
                broker.terminate()
            self.assertEqual(broker.wait(party.SECONDS), 0)

    def test_the_unit_of_gearmand_forks_and_its_pid_file_names_the_daemon(self):
        defaults = self.folder / "etc/default/gearman-job-server"
        text = defaults.read_text()
        self.assertIn('PARAMS="--listen', text)
        # systemd does not put in what a variable was before.
        defaults.write_text(text.replace('PARAMS="--listen', 'PARAMS="--port=0 --listen'))
        unit = self.unit("gearmand", "gearman-job-server")
        self.assertEqual(unit["Type"], "forking")
        become = {"user": USER, "group": pwd.getpwnam(USER).pw_gid,
                  "extra_groups": []} if IS_ROOT else {}
        command = self.command(unit, "gearman-job-server")
        self.assertIn("--daemon", command)
        started = subprocess.run(command, timeout=party.SECONDS, check=False, **become)
        self.assertEqual(started.returncode, 0)
        # systemd reads it once the first process has ended.
        pid_file = pathlib.Path(unit["PIDFile"])
        pid = int(pid_file.read_text())
        self.addCleanup(self.end, pid)
        party.do_gearman_job(self, self.await_port(pid))
        self.end(pid)
        self.assertFalse(pid_file.exists())
        log = self.folder / "var/log/gearman-job-server/gearmand.log"
        self.assertIn(" info stopped ", log.read_text())

    def script(self, name, package, *changes):
        """The init script, in our folder."""
        text = self.moved(party.debian_file(name, f"etc/init.d/{package}").read_text())
        for what, instead in changes:
            self.assertIn(what, text)
            text = text.replace(what, instead)
        path = self.folder / package
        path.write_text(text)

        def act(action):
            done = party.run("/bin/sh", "sh", str(path), action)
            return done.returncode, done.stdout + done.stderr
        return act

    @unittest.skipUnless(os.path.exists("/lib/lsb/init-functions"), "no init functions")
    @unittest.skipUnless(shutil.which("start-stop-daemon"), "no start-stop-daemon")
    def test_the_init_script_of_gearmand_starts_and_stops_it(self):
        self.add_default("gearman-job-server", 'PARAMS="$PARAMS --port=0"')
        act = self.script("gearmand", "gearman-job-server",
                          ("prefix=/usr\n", f"prefix={self.folder}/usr\n"),
                          ('GEARMANUSER="gearman"', f'GEARMANUSER="{USER}"'))
        code, words = act("start")
        self.assertEqual(code, 0, words)
        pid_file = self.folder / "run/gearman/gearmand.pid"
        pid = self.await_pid(pid_file)
        self.assertEqual(pathlib.Path(f"/proc/{pid}").stat().st_uid, pwd.getpwnam(USER).pw_uid)
        party.do_gearman_job(self, self.await_port(pid))
        code, words = act("status")
        self.assertEqual(code, 0, words)
        code, words = act("stop")
        self.assertEqual(code, 0, words)
        self.await_that("it stops", lambda: not party.is_alive(pid))
        self.assertFalse(pid_file.exists())

    @unittest.skipUnless(os.path.exists("/lib/lsb/init-functions"), "no init functions")
    @unittest.skipUnless(shutil.which("start-stop-daemon"), "no start-stop-daemon")
    def test_the_init_script_of_beanstalkd_starts_and_stops_it(self):
        me = pwd.getpwuid(os.geteuid()).pw_name
        self.add_default("beanstalkd", "BEANSTALKD_LISTEN_PORT=0")
        act = self.script("beanstalkd", "beanstalkd",
                          ("DAEMONUSER=beanstalkd", f"DAEMONUSER={me}"))
        # It looks a second later, which on a busy machine may be too soon.
        act("start")
        pid = self.await_pid(self.folder / "var/run/beanstalkd.pid")
        party.do_beanstalk_job(self, self.await_port(pid))
        code, words = act("stop")
        self.assertEqual(code, 0, words)
        self.await_that("it stops", lambda: not party.is_alive(pid))


if __name__ == "__main__":
    unittest.main()
