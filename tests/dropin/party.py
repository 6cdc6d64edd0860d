# SPDX-License-Identifier: MIT
"""tandemd in the place of beanstalkd and of gearmand, and those themselves: BEANSTALKD and GEARMAND
in the environment name Debian's."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TANDEMD = pathlib.Path(os.environ["TANDEMD"]).resolve()
SECONDS = 60  # only what hangs takes so long


def reference(name):
    """The path of Debian's program of that name."""
    found = shutil.which(os.environ[name.upper()])
    if not found:
        raise RuntimeError(f"{name}: {os.environ[name.upper()]} is not there")
    return pathlib.Path(found).resolve()


def debian_file(name, path):
    """A file of the package that the program came with."""
    program = reference(name)
    root = program.parents[2]
    for place in (root / path, root / "usr" / path):
        if place.exists():
            return place
    raise RuntimeError(f"{path} is not in {root}")


def run(program, name, *args, **options):
    """Called by that name, to its end."""
    return subprocess.run([name, *args], executable=program, capture_output=True, text=True,
                          timeout=SECONDS, stdin=subprocess.DEVNULL, **options)


class Sandbox(unittest.TestCase):
    """A folder for each test, in which the programs run."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tandem-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.folder.chmod(0o755)
