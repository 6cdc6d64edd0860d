#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The life of an image, as root and without an engine: image_life.py ROOT CONFIG, where ROOT is the
image's root and CONFIG the JSON of its configuration (`buildah inspect --type image`).

Each container is a process of namespaces for mounts, processes and the network, in which the image's
root is read-only and the entry point is the first process, with the image's user and without
capabilities. Its ports are those of the image. tandemctl runs beside it, as with `exec` of an engine."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

SECONDS = 60
# What an engine does before it starts the first process.
PREPARE = """
set -e
ip link set lo up
mount --bind "$ROOT" "$ROOT"
mount --bind "$VOLUME" "$ROOT/var/lib/tandem"
mount -o remount,bind,"$MODE" "$ROOT"
mount -t proc proc "$ROOT/proc"
[ -z "$CGROUP" ] || echo 0 >"$CGROUP/cgroup.procs"
exec chroot "$ROOT" /usr/bin/setpriv --reuid "$ID" --regid "$ID" --clear-groups --no-new-privs \\
    --bounding-set=-all --inh-caps=-all /usr/bin/env -i PATH="$PATH" "$@"
"""
MIB = 1024 * 1024


def read_image(path):
    """Its configuration, in the form of Docker."""
    said = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    return said["Docker"]["config"]


ROOT, IMAGE = sys.argv[1], read_image(sys.argv[2])


class Cgroup:
    """A limit of memory, in whichever version of cgroups this machine has. None if it has none that
    can be written."""

    @classmethod
    def make(cls, most):
        unified = pathlib.Path("/sys/fs/cgroup")
        for place, limit in ((unified, "memory.max"),
                             (unified / "memory", "memory.limit_in_bytes")):
            try:
                folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-", dir=place))
            except OSError:
                continue
            if (folder / limit).exists():
                (folder / limit).write_text(str(most))
                return cls(folder)
            folder.rmdir()
        return None

    def __init__(self, folder):
        self.folder = folder

    def kills(self):
        """How often a process was killed for want of memory."""
        for name in "memory.events", "memory.oom_control":
            if (self.folder / name).exists():
                words = dict(line.split() for line in (self.folder / name).read_text().splitlines())
                return int(words["oom_kill"])
        raise RuntimeError("this cgroup counts no kills")

    def close(self):
        self.folder.rmdir()


class Container:
    def __init__(self, volume, *words, user=None, mode="ro", cgroup=None):
        self.user = user or IMAGE["User"].partition(":")[0]
        environment = {**os.environ, "ROOT": ROOT, "VOLUME": str(volume), "MODE": mode,
                       "ID": self.user, "CGROUP": str(cgroup.folder) if cgroup else ""}
        environment["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
        self.log, self.changed = [], threading.Condition()
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "sh", "-c", PREPARE,
             "sh", *IMAGE["Entrypoint"], *words],
            env=environment, stderr=subprocess.PIPE)
        self.reader = threading.Thread(target=self.read_log)
        self.reader.start()

    def read_log(self):
        for line in self.process.stderr:
            with self.changed:
                self.log.append(json.loads(line) if line.startswith(b"{") else line.decode())
                self.changed.notify_all()
        with self.changed:
            self.log.append(None)
            self.changed.notify_all()

    def events(self):
        return [line["event"] for line in self.log if isinstance(line, dict)]

    def started(self):
        with self.changed:
            self.changed.wait_for(lambda: "started" in self.events() or None in self.log, SECONDS)
            assert "started" in self.events(), self.log
        return self

    def first(self):
        """The process that is the first one in the container."""
        pid = self.process.pid
        return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])

    def execute(self, *command, stdin=b""):
        """The exit code and the output. Its process is not one of the container's, so that it can
        tell of their end."""
        done = subprocess.run(
            ["nsenter", "--target", str(self.first()), "--mount", "--net", "--root",
             "--setuid", self.user, "--setgid", self.user, "/usr/bin/env", "-i",
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *command],
            input=stdin, capture_output=True, timeout=SECONDS, check=False)
        return done.returncode, (done.stdout + done.stderr).decode()

    def ctl(self, *words, **more):
        return self.execute("tandemctl", *words, **more)

    def is_healthy(self):
        how, *command = IMAGE["Healthcheck"]["Test"]
        assert how == "CMD"
        return self.execute(*command)[0] == 0

    def ends(self):
        """Waits for that; the exit code."""
        code = self.process.wait(SECONDS)
        self.reader.join()
        self.process.stderr.close()
        return code

    def kill(self):
        """Without its first process, which has another user, unshare could not end the others."""
        if self.process.poll() is None:
            os.kill(self.first(), signal.SIGKILL)
            self.ends()

    def stop(self):
        """The exit code after the image's signal to stop."""
        os.kill(self.first(), getattr(signal, IMAGE.get("StopSignal", "SIGTERM")))
        return self.ends()


class Life(unittest.TestCase):
    def setUp(self):
        self.volume = self.make_volume(int(IMAGE["User"].partition(":")[0]))

    def make_volume(self, owner):
        """As an engine makes one: like the directory of the image."""
        folder = tempfile.mkdtemp(prefix="tandem-volume-")
        self.addCleanup(shutil.rmtree, folder)
        like = os.stat(f"{ROOT}/var/lib/tandem")
        os.chown(folder, owner, owner)
        os.chmod(folder, like.st_mode & 0o7777)
        return folder

    def container(self, *words, volume=None, **more):
        made = Container(volume or self.volume, *words, **more)
        self.addCleanup(made.kill)
        return made

    def good(self, container, *words, **more):
        code, output = container.ctl(*words, **more)
        self.assertEqual(code, 0, output)
        return output

    def test_the_image_says_how_it_wants_to_be_run(self):
        self.assertEqual((IMAGE["User"], list(IMAGE["Volumes"]), IMAGE["StopSignal"],
                          sorted(IMAGE["ExposedPorts"])),
                         ("10001:10001", ["/var/lib/tandem"], "SIGTERM",
                          ["11300/tcp", "4730/tcp", "8080/tcp"]))

    def test_the_image_has_the_licence(self):
        self.assertIn("MIT", pathlib.Path(ROOT, "usr/share/doc/tandem/LICENSE").read_text())

    def test_jobs_outlive_the_container_on_its_volume(self):
        container = self.container().started()
        self.assertTrue(container.is_healthy())
        addresses = {line["protocol"]: line["address"] for line in container.log
                     if line["event"] == "listening"}
        self.assertEqual(addresses["admin"], "127.0.0.1:9180")
        self.assertEqual({addresses[name].rpartition(":")[2]
                          for name in ("beanstalk", "gearman", "http")}, {"11300", "4730", "8080"})
        self.good(container, "add", "mail", "hello")
        self.assertEqual(container.stop(), 0)
        again = self.container().started()
        self.assertIn("hello", self.good(again, "show", "1"))
        # Nothing was written elsewhere: the root is read-only.
        self.assertNotEqual(again.execute("touch", "/tmp/file")[0], 0)
        self.assertEqual(again.stop(), 0)

    def test_jobs_outlive_a_kill(self):
        container = self.container().started()
        self.good(container, "add", "mail", "hello")
        os.kill(container.first(), signal.SIGKILL)
        container.ends()
        again = self.container().started()
        self.assertIn("hello", self.good(again, "show", "1"))
        self.assertEqual(again.stop(), 0)

    def test_another_user_may_run_it_and_has_a_volume_of_its_own(self):
        container = self.container(user="4711").started()
        self.good(container, "add", "mail", "hello")
        self.assertEqual(os.stat(next(pathlib.Path(self.volume).iterdir())).st_uid, 4711)
        self.assertEqual(container.stop(), 0)
        # The journal is the other user's.
        wrong = self.container()
        self.assertNotEqual(wrong.ends(), 0)
        self.assertTrue(any("ermission denied" in str(line) for line in wrong.log), wrong.log)

    def test_a_volume_that_its_group_may_write_is_enough(self):
        """As Kubernetes leaves one for fsGroup."""
        os.chown(self.volume, 0, int(IMAGE["User"].partition(":")[2]))
        os.chmod(self.volume, 0o2770)
        for _ in range(2):
            container = self.container().started()
            self.good(container, "add", "mail", "hello")
            self.assertEqual(container.stop(), 0)

    def test_a_drained_broker_lives_is_not_ready_and_refuses_jobs(self):
        container = self.container().started()
        self.assertIn("Draining", self.good(container, "drain", "on", "--wait", "--for", "10s"))
        self.assertTrue(container.is_healthy())
        self.assertEqual(container.ctl("health", "--ready")[0], 6)
        self.assertEqual(container.ctl("add", "mail", "x")[0], 6)
        self.assertEqual(container.stop(), 0)
        # A new container takes jobs again.
        again = self.container().started()
        self.assertEqual(again.ctl("health", "--ready")[0], 0)
        self.assertEqual(again.stop(), 0)

    def limited(self, most, *words):
        """A container with that limit of memory, after 128 MiB of bodies were sent to it."""
        cgroup = Cgroup.make(most)
        if not cgroup:
            self.skipTest("no cgroup can be written")
        self.addCleanup(cgroup.close)
        container = self.container("--set=journal.fsync=never", *words, cgroup=cgroup).started()
        line = json.dumps({"queue": "mail", "body": "x" * 64 * 1024}).encode() + b"\n"
        return container, cgroup, container.ctl("import", "-", stdin=line * 2048)

    def test_below_the_limit_of_the_container_jobs_are_refused_and_nothing_is_killed(self):
        container, cgroup, (code, output) = self.limited(160 * MIB, "--set=server.max_memory=64M")
        self.assertEqual(code, 6, output)
        self.assertTrue(container.is_healthy())
        self.assertEqual((container.stop(), cgroup.kills()), (0, 0))

    def test_a_broker_that_is_killed_at_the_limit_keeps_its_jobs(self):
        container, cgroup, (code, output) = self.limited(80 * MIB, "--set=server.max_memory=0")
        self.assertEqual(code, 3, output)
        container.ends()
        self.assertEqual(cgroup.kills(), 1)
        again = self.container().started()
        said = self.good(again, "status")
        acknowledged, found = (int(re.search(words, text)[1].replace(",", "")) for words, text in (
            (r"([\d,]+) jobs? imported", output), (r"jobs +([\d,]+) ready", said)))
        self.assertGreater(acknowledged, 500)
        self.assertGreaterEqual(found, acknowledged)
        self.assertEqual(again.stop(), 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
