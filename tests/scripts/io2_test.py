# SPDX-License-Identifier: MIT
"""Each test of the program runs with two I/O threads, too, and these are there.

    io2_test.py BUILD_DIR TANDEMD TANDEMD_IO2
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TREE, PLAIN, THREADED = sys.argv[1:4]
TWICE = {"clients", "compat", "bounds", "process"}
# Tests without a connection of clients, of programs that ask the broker, and of the tests
# themselves.
ONCE = re.compile(r"clients_install|crash_cut_\w+|server_(check|safe_path|install)_test|ctl_\w+|"
                  r"admin_metrics_prometheus|journal_(rows_\w+|schema)_test|server_init_store")
STARTED = re.compile(rb" started .*pid=(\d+)")


def read_tests():
    """By name: the labels, and the words of the command and of the environment."""
    with tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        # In a folder of its own: ctest would empty the log of the run that this is a part of.
        pathlib.Path(folder, "CTestTestfile.cmake").write_text(f'subdirs("{TREE}")\n')
        listing = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"],
                                 capture_output=True, check=True)
    tests = {}
    for test in json.loads(listing.stdout)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        words = test.get("command", []) + [
            setting.split("=", 1)[1] for setting in properties.get("ENVIRONMENT", [])]
        tests[test["name"]] = set(properties.get("LABELS", [])), words
    return tests


def io_threads(program):
    """How many a program has that was started for connections."""
    words = [word for name, address in (("beanstalk", "127.0.0.1:0"), ("gearman", ""), ("http", ""),
                                           ("admin", ""))
             for word in ("--set", f"{name}.listen={address}")]
    with subprocess.Popen([program, "--config", "/dev/null", *words],
                          stderr=subprocess.PIPE) as broker:
        try:
            pid = next(found[1] for found in map(STARTED.search, broker.stderr) if found).decode()
            names = [path.read_text() for path in pathlib.Path("/proc", pid).glob("task/*/comm")]
        finally:
            broker.terminate()
    return sum(name.startswith("tandem-io-") for name in names)


class Io2(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tests = read_tests()

    def test_each_test_of_the_program_runs_with_threads_too(self):
        alone = [name for name, (labels, _) in self.tests.items()
                 if labels & TWICE and not name.endswith("_io2") and not ONCE.fullmatch(name)
                 and f"{name}_io2" not in self.tests]
        self.assertEqual(alone, [])

    def test_those_with_threads_start_the_program_that_has_them(self):
        again = {name: words for name, (labels, words) in self.tests.items()
                 if "io2" in labels}
        self.assertGreater(len(again), 30)
        for name, words in again.items():
            self.assertIn(THREADED, words, name)
            self.assertNotIn(PLAIN, words, name)

    def test_that_program_has_two_threads_and_the_other_has_none(self):
        self.assertEqual((io_threads(PLAIN), io_threads(THREADED)), (0, 2))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
