# SPDX-License-Identifier: MIT
"""The Debian package of a build: what is in it, and that Debian's own checks find nothing wrong.

    package_test.py BUILD_DIR
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TREE = pathlib.Path(sys.argv.pop())
CONTROL = ROOT / "debian"

FILES = """
./etc/logrotate.d/tandem
./etc/tandem/tandemd.conf
./usr/bin/tandemctl
./usr/bin/tandemd
./usr/lib/systemd/system/tandemd-admin.socket
./usr/lib/systemd/system/tandemd-gearman.socket
./usr/lib/systemd/system/tandemd-http.socket
./usr/lib/systemd/system/tandemd.service
./usr/lib/systemd/system/tandemd.socket
./usr/lib/sysusers.d/tandem.conf
./usr/share/bash-completion/completions/tandemctl
./usr/share/doc/tandem/README.md
./usr/share/doc/tandem/access.example
./usr/share/doc/tandem/changelog.Debian.gz
./usr/share/doc/tandem/copyright
./usr/share/doc/tandem/core/MODEL.md
./usr/share/doc/tandem/docs/COOKBOOK.md
./usr/share/doc/tandem/grafana-tandem.json
./usr/share/doc/tandem/haproxy-standby.cfg
./usr/share/doc/tandem/keepalived-standby.conf
./usr/share/doc/tandem/tandem-alerts.yml
./usr/share/man/man1/tandemctl.1.gz
./usr/share/man/man5/tandemd.conf.5.gz
./usr/share/man/man8/tandemd.8.gz
./usr/share/zsh/vendor-completions/_tandemctl
""".split()


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, check=True, **options).stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tandem-package-")
        out = pathlib.Path(cls.folder.name)
        shutil.copytree(CONTROL, out / "source/debian")
        # The package's modes must not depend on the umask of the build.
        run("debian/rules", "binary", cwd=out / "source", umask=0o077,
            env={**os.environ, "TANDEM_BUILT": str(TREE), "DEB_BUILD_OPTIONS": "noautodbgsym"})
        cls.path = next(out.glob("*.deb"))
        cls.files = {}
        for line in run("dpkg-deb", "--contents", cls.path).splitlines():
            mode, owner, _, _, _, name = line.split(maxsplit=5)
            cls.files[name] = mode, owner
        cls.root = out / "root"
        run("dpkg-deb", "--extract", cls.path, cls.root)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_it_has_what_belongs_to_it(self):
        self.assertEqual([name for name in FILES if name not in self.files], [])

    def test_all_of_it_is_roots_and_readable_for_everybody(self):
        for name, (mode, owner) in self.files.items():
            with self.subTest(name=name):
                program = name.startswith("./usr/bin/") or name.endswith("/")
                self.assertEqual((mode[1:], owner),
                                 ("rwxr-xr-x" if program else "rw-r--r--", "root/root"))

    def test_it_takes_no_name_of_another_broker(self):
        self.assertEqual(sorted(name for name in self.files if name.startswith("./usr/bin/t")),
                         sorted(name for name in self.files if re.match(r"\./usr/s?bin/.", name)))

    def test_all_that_an_administrator_edits_is_kept_by_dpkg(self):
        conffiles = run("dpkg-deb", "--info", self.path, "conffiles").split()
        self.assertEqual(sorted(conffiles), sorted(name[1:] for name in self.files
                                                   if re.match(r"\./etc/.*[^/]$", name)))

    def test_it_depends_on_the_libraries_that_it_is_linked_with(self):
        depends = run("dpkg-deb", "--field", self.path, "Depends")
        for package in ("adduser", "libc6", "libevent-core", "libssl3", "tzdata"):
            self.assertRegex(depends, rf"(^|, ){package}")
        self.assertEqual(run("dpkg-deb", "--field", self.path, "Recommends").strip(),
                         "ca-certificates")

    def test_the_unit_starts_the_program_with_the_configuration(self):
        unit = (self.root / "usr/lib/systemd/system/tandemd.service").read_text()
        self.assertIn("\nExecStart=/usr/bin/tandemd --config /etc/tandem/tandemd.conf\n", unit)
        self.assertIn("\nUser=tandem\n", unit)
        self.assertRegex(unit, r"\nWatchdogSec=\d+\n")

    def test_the_configuration_has_a_journal_and_listens_at_the_loopback(self):
        conf = (self.root / "etc/tandem/tandemd.conf").read_text()
        self.assertEqual(re.findall(r"(?m)^[a-z_]+ *=.*", conf), ["dir = /var/lib/tandem"])
        checked = run(self.root / "usr/bin/tandemd", "--config",
                      self.root / "etc/tandem/tandemd.conf", "--check-config")
        self.assertEqual(re.findall(r"(?m)^listen = (.*):\d+$", checked), ["127.0.0.1"] * 4)

    def test_pages_that_the_first_one_names_are_there(self):
        doc = self.root / "usr/share/doc/tandem"
        for page in re.findall(r"\]\(([\w/.-]+\.(?:md|svg))\)", (doc / "README.md").read_text()):
            self.assertTrue((doc / page).is_file(), page)

    def test_scripts_of_dpkg_are_ours_alone(self):
        for name in ("postinst", "prerm", "postrm"):
            run("dash", "-n", CONTROL / f"tandem.{name}")
            self.assertEqual(run("dpkg-deb", "--info", self.path, name).rstrip(),
                             (CONTROL / f"tandem.{name}").read_text().replace("#DEBHELPER#\n", "").rstrip())

    def test_its_version_is_that_of_the_program(self):
        version = run("dpkg-deb", "--field", self.path, "Version").strip()
        said = run(self.root / "usr/bin/tandemd", "--version").split()
        self.assertIn(version.rpartition("-")[0], said)

    def test_it_is_built_with_what_tandem_up_installs(self):
        script = re.search(r"BUILD_PACKAGES=\((.*?)\)", (ROOT / "tandem").read_text(), re.S)
        fields = (CONTROL / "control").read_text().partition("\nBuild-Depends:\n")[2]
        wanted = re.findall(r"^ ([\w.+-]+)(?! *<)[^<\n]*$", fields.partition("\n\n")[0], re.M)
        # Every package may use a compiler; pkg-config is what Debian 12 and 13 call pkgconf, too.
        names = set(script[1].split()) - {"gcc", "libc6-dev"} | {"debhelper-compat"}
        self.assertEqual(sorted(wanted), sorted(names - {"pkg-config"} | {"pkgconf"}))

    @unittest.skipUnless(shutil.which("lintian"), "lintian is not installed")
    def test_lintian_finds_nothing_wrong(self):
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "warning,error", self.path],
                              capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_what_lintian_is_not_to_say_is_argued(self):
        lines = (CONTROL / "tandem.lintian-overrides").read_text().splitlines()
        for before, line in zip([""] + lines, lines):
            self.assertTrue(line.startswith("#") or before.startswith("#"), line)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_the_unit_exposes_little(self):
        said = run("systemd-analyze", "security", "--offline=yes", "--no-pager",
                   self.root / "usr/lib/systemd/system/tandemd.service",
                   env={**os.environ, "LC_ALL": "C"})
        level = float(re.search(r"Overall exposure level for tandemd.service: (\d+\.\d+)", said)[1])
        self.assertLessEqual(level, 2.0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
