# SPDX-License-Identifier: MIT
"""keepalived finds nothing wrong with the example of conf/keepalived-standby.conf.

KEEPALIVED in the environment is Debian's keepalived."""

import os
import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Example(unittest.TestCase):
    def check(self, text):
        # Root's would try more than to read its file.
        who = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "keepalived.conf"
            path.write_text(text)
            pathlib.Path(folder).chmod(0o755)
            done = subprocess.run([os.environ["KEEPALIVED"], "--config-test", "--log-console",
                                   "--use-file", str(path)],
                                  capture_output=True, text=True, timeout=60, **who)
        # From 2.3 on, it reads a file of its package below /etc.
        if "build config options file" in done.stdout + done.stderr:
            self.skipTest("this keepalived must be installed")
        return done

    def example(self):
        there = [name for name in os.listdir("/sys/class/net") if name != "lo"]
        if not there:
            self.skipTest("no interface but the loopback's")
        text = (ROOT / "conf" / "keepalived-standby.conf").read_text()
        return text.replace("interface eth0", f"interface {min(there)}")

    def test_example_is_well_formed(self):
        done = self.check(self.example())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_mistake_in_it_would_be_found(self):
        done = self.check(self.example().replace("track_script", "trick_script"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("trick_script", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
