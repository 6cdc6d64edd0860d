# SPDX-License-Identifier: MIT
"""./tandem up: what it installs or asks for, on machines of which only the programs in PATH exist."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Need(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tandem-need-")
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name)
        self.bin = self.top / "bin"
        self.bin.mkdir()
        shutil.copy(ROOT / "tandem", self.top)
        for name in ("bash", "dirname", "env", "mkdir"):
            (self.bin / name).symlink_to(shutil.which(name))
        self.has("nproc", "echo 1")
        self.user(1000)

    def has(self, name, script="exit 0"):
        path = self.bin / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def user(self, uid):
        self.has("id", f"echo {uid}")

    def apt(self, query="exit 1"):
        self.has("dpkg-query", query)
        self.has("apt-get", 'echo "apt-get $*" >>"$0.log"')

    def installed(self):
        log = self.bin / "apt-get.log"
        return log.read_text().splitlines() if log.exists() else []

    def tools(self):
        """All that a build needs, but for what gets as far as CMake."""
        for name in ("cc", "pkg-config", "ninja"):
            self.has(name)
        self.has("cmake", "echo configured >&2; exit 7")

    def up(self):
        return subprocess.run([self.bin / "bash", self.top / "tandem", "up"], env={
            "PATH": str(self.bin), "HOME": str(self.top)}, capture_output=True, text=True)

    def test_without_apt_one_line_names_what_is_missing_and_where_to_read_on(self):
        self.tools()
        self.has("pkg-config", '[[ $* != *libcurl* && $* != *glib* ]]')
        done = self.up()
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stderr, "tandem: install what Debian calls libcurl4-openssl-dev "
                         'libglib2.0-dev, see "Building it yourself" in docs/INSTALL.md\n')

    @unittest.skipUnless(os.path.isdir("/usr/share/zoneinfo"), "no time zones are installed")
    def test_without_apt_it_builds_where_nothing_is_missing(self):
        self.tools()
        self.assertIn("configured", self.up().stderr)

    def test_without_sudo_the_whole_line_for_root_is_printed(self):
        self.apt()
        done = self.up()
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\Atandem: run as root: apt-get update && apt-get install "
                         r"--yes --no-install-recommends gcc libc6-dev [^\n]* tzdata\n\Z")
        self.assertEqual(self.installed(), [])

    def test_root_installs_only_what_is_missing(self):
        self.user(0)
        self.tools()
        self.apt('for p in "${@:4}"; do [ $p = libpq-dev ] || echo $p installed; done')
        self.up()
        self.assertEqual(self.installed(), [
            "apt-get update", "apt-get install --yes --no-install-recommends libpq-dev"])

    def test_others_install_with_sudo(self):
        self.tools()
        self.apt('for p in "${@:4}"; do [ $p = libpq-dev ] || echo $p installed; done')
        self.has("sudo", '"$@"')
        self.up()
        self.assertEqual(len(self.installed()), 2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
