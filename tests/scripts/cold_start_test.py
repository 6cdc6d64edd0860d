# SPDX-License-Identifier: MIT
"""tandemd needs no capability but the one to listen at low ports: it is run with that one, and with
none. In a network of its own, so that low ports are free; skipped where there can be none, as for
anybody but root.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

PATIENCE_S = 60
PORT = 71
INSIDE = "--inside"


def confined(user, kept):
    """The words that run a program as that user with no other capabilities than these."""
    names = ",".join(["-all", *(f"+{name}" for name in kept)])
    return ["setpriv", f"--reuid={user}", "--clear-groups", f"--inh-caps={names}",
            f"--ambient-caps={names}", f"--bounding-set={names}", "--no-new-privs"]


def succeeds(*words):
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def can_separate():
    """Whether a process can have a network of its own, and `nobody` can run the program."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "setpriv", "ip"))):
        return False
    return succeeds("unshare", "--net", "ip", "link", "set", "lo", "up") and \
        succeeds(*confined("nobody", []), os.environ["TANDEMD"], "--version")


class ColdStart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if INSIDE not in sys.argv:
            raise unittest.SkipTest("there can be no network of its own")

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tandem-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"

    def start(self, user, port, kept):
        """With all the files that it can have, in a directory of the user's."""
        shutil.chown(self.folder, user)
        settings = {"beanstalk.listen": f"127.0.0.1:{port}", "gearman.listen": "",
                    "http.listen": "", "admin.listen": "", "journal.dir": self.folder / "journal",
                    "server.log_file": self.log, "server.pid_file": self.folder / "pid"}
        words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        broker = subprocess.Popen(
            [*confined(user, kept), os.environ["TANDEMD"], "--config", "/dev/null", *words],
            # A process that has changed its user cannot be searched for leaks.
            env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}, stdin=subprocess.DEVNULL)
        self.addCleanup(broker.wait)
        self.addCleanup(broker.kill)
        return broker

    def expect_log(self, broker, words):
        until = time.monotonic() + PATIENCE_S
        while True:
            ended = broker.poll() is not None
            text = self.log.read_text() if self.log.exists() else ""
            if words in text:
                return
            self.assertFalse(ended or time.monotonic() > until, text)
            time.sleep(0.02)

    def expect_service(self, user, port, kept):
        broker = self.start(user, port, kept)
        self.expect_log(broker, " info started ")
        capabilities = pathlib.Path("/proc", str(broker.pid), "status").read_text()
        self.assertIn(f"CapEff:\t{0x400 if kept else 0:016x}\n", capabilities)
        with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as client:
            client.sendall(b"put 0 0 60 1\r\na\r\n")
            self.assertEqual(client.recv(100), b"INSERTED 1\r\n")
        broker.terminate()
        self.assertEqual(broker.wait(PATIENCE_S), 0)
        self.assertFalse((self.folder / "pid").exists())

    def test_a_user_with_the_capability_to_bind_listens_at_a_low_port(self):
        self.expect_service("nobody", PORT, ["net_bind_service"])

    def test_root_needs_no_other_one_either(self):
        self.expect_service("root", PORT, ["net_bind_service"])

    def test_a_user_without_any_serves_other_ports(self):
        self.expect_service("nobody", 11300, [])

    def test_without_the_capability_a_low_port_is_an_error(self):
        broker = self.start("nobody", PORT, [])
        self.assertEqual(broker.wait(PATIENCE_S), 1)
        self.expect_log(broker, "127.0.0.1:71: Permission denied")


if __name__ == "__main__":
    if INSIDE not in sys.argv and can_separate():
        os.execvp("unshare", ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh",
                              sys.executable, *sys.argv, INSIDE])
    unittest.main(argv=sys.argv[:1], verbosity=2)
