#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The life of the package in a clean root: installed, served from, upgraded with its jobs kept,
removed, installed again and purged. By hand, as root: ./tandem package try

    package_life.py OLDER.deb NEWER.deb [--root DIR]

The root is made by debootstrap, from Debian's archive, with what the package depends on; --root
names one that is there already, which is changed. No systemd runs in it: the unit is read here, and
what it says is done. All of it is in a network of its own, so that the default ports are free.
"""

import argparse
import json
import pathlib
import platform
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

INSIDE = "--inside"
PATIENCE_S = 120
JOBS = 1000
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
UNIT = "usr/lib/systemd/system/tandemd.service"
EDIT = "\n#max_job_size = 65535", "\nmax_job_size = 70000"


def say(words):
    print(f"{time.monotonic() - BEGAN:7.1f} s  {words}", flush=True)


def run(*words):
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout


def check(good, words):
    if not good:
        sys.exit(f"package_life: {words}")


def make_root(root, package):
    """Makes a Debian system of this machine's release with the package's dependencies; of
    alternatives, the first one."""
    depends = run("dpkg-deb", "--field", package, "Depends")
    names = [re.match(r"\S+", part.strip())[0] for part in depends.split(",")]
    run("debootstrap", "--variant=minbase", f"--include={','.join(names)}",
        platform.freedesktop_os_release()["VERSION_CODENAME"], root)


class Root:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        run("mount", "-t", "proc", "proc", self.path / "proc")

    def run(self, *words):
        env = {"PATH": PATH, "DEBIAN_FRONTEND": "noninteractive",
               "LC_ALL": "C"}
        return subprocess.run(["chroot", self.path, *words], check=True, env=env,
                              stdout=subprocess.PIPE, text=True).stdout

    def install(self, package):
        (self.path / "tmp/tandem.deb").write_bytes(pathlib.Path(package).read_bytes())
        self.run("dpkg", "--install", "/tmp/tandem.deb")

    def version(self):
        return self.run("dpkg-query", "--show", "--showformat=${Version}", "tandem")


class Service:
    """The actions of systemd for the unit, as far as they work without systemd."""

    def __init__(self, root):
        keys = re.findall(r"(?m)^([A-Za-z]+)=(.*)$", (root.path / UNIT).read_text())
        self.unit = dict(keys)
        for key, parent in (("StateDirectory", "var/lib"), ("RuntimeDirectory", "run"),
                            ("LogsDirectory", "var/log")):
            root.run("install", "-d", "-o", self.unit["User"], "-g", self.unit["Group"],
                     "-m", self.unit.get(f"{key}Mode", "0755"), f"/{parent}/{self.unit[key]}")
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind("\0tandem-package-life")
        self.manager.settimeout(PATIENCE_S)
        watched = int(self.unit["WatchdogSec"]) * 1000000
        words = ["chroot", root.path, "setpriv", f"--reuid={self.unit['User']}",
                 f"--regid={self.unit['Group']}", "--clear-groups", "--bounding-set=-all",
                 "--no-new-privs", *shlex.split(self.unit["ExecStart"])]
        self.process = subprocess.Popen(
            words, env={"PATH": PATH, "NOTIFY_SOCKET": "@tandem-package-life",
                        "WATCHDOG_USEC": str(watched)},
            umask=int(self.unit["UMask"], 8))
        self.expect("READY=1")

    def expect(self, words):
        while (got := self.manager.recv(1000).decode()) != words:
            check(got.startswith(("WATCHDOG=1", "EXTEND_TIMEOUT")), f"the manager was told {got}")

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        check(self.process.wait(PATIENCE_S) == 0, "it did not end well")
        self.manager.close()


class Beanstalk:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", 11300), PATIENCE_S)
        self.file = self.socket.makefile("rb")

    def ask(self, words):
        self.socket.sendall(words)
        return self.file.readline()

    def put(self, tube, body):
        self.ask(b"use %s\r\n" % tube)
        check(self.ask(b"put 0 0 60 %d\r\n%s\r\n" % (len(body), body)).startswith(b"INSERTED"),
              "a job was not taken")

    def take_all(self, tube):
        """The bodies of all jobs of the tube, which are deleted."""
        self.ask(b"watch %s\r\n" % tube)
        self.ask(b"ignore default\r\n")
        bodies = []
        while (line := self.ask(b"reserve-with-timeout 0\r\n")) != b"TIMED_OUT\r\n":
            _, number, size = line.split()
            bodies.append(self.file.read(int(size) + 2)[:-2])
            check(self.ask(b"delete %s\r\n" % number) == b"DELETED\r\n", "a job was not deleted")
        return bodies


def submit_by_gearman(function, body):
    data = b"\0".join([function, b"", body])
    with socket.create_connection(("127.0.0.1", 4730), PATIENCE_S) as client:
        client.sendall(b"\0REQ" + (18).to_bytes(4, "big") + len(data).to_bytes(4, "big") + data)
        check(client.recv(100)[:8] == b"\0RES" + (8).to_bytes(4, "big"), "Gearman's job was refused")


def submit_by_http(function, body):
    request = urllib.request.Request(f"http://127.0.0.1:8080/{function}", data=body,
                                     headers={"X-Gearman-Background": "true"})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        check(answer.status in (200, 202), "the POST was refused")


def read_operators():
    with urllib.request.urlopen("http://127.0.0.1:9180/api/v1/openapi.json",
                                timeout=PATIENCE_S) as answer:
        return json.load(answer)


def hand_in():
    """Jobs by all protocols; what is in each queue then."""
    client = Beanstalk()
    jobs = {b"mail": [], b"lines": [], b"pages": []}
    for number in range(JOBS):
        jobs[b"mail"].append(b"mail %d" % number)
        client.put(b"mail", jobs[b"mail"][-1])
    for number in range(JOBS // 10):
        jobs[b"lines"].append(b"line %d" % number)
        submit_by_gearman(b"lines", jobs[b"lines"][-1])
        jobs[b"pages"].append(b"page %d" % number)
        submit_by_http("pages", jobs[b"pages"][-1])
    check("paths" in read_operators(), "operators have no API")
    return jobs


def live(root, older, newer):
    root.install(older)
    say(f"installed {root.version()}")
    conf = root.path / "etc/tandem/tandemd.conf"
    check(EDIT[0] in conf.read_text(), "the configuration is not as it was thought")
    conf.write_text(conf.read_text().replace(*EDIT, 1))
    service = Service(root)
    say("started from the unit, and ready")
    jobs = hand_in()
    say(f"{sum(map(len, jobs.values()))} jobs by three protocols, and the API at the fourth port")
    root.install(newer)
    service.stop()
    check(EDIT[1] in conf.read_text(), "the edited configuration was replaced")
    service = Service(root)
    service.stop()
    say(f"upgraded to {root.version()} and restarted; the edited configuration was kept")
    root.run("dpkg", "--remove", "tandem")
    check(not (root.path / "usr/bin/tandemd").exists(), "the program is still there")
    check(list((root.path / "var/lib/tandem").iterdir()), "the jobs went with the package")
    check(conf.exists(), "the configuration went with the package")
    say("removed; jobs and configuration are still there")
    root.install(newer)
    service = Service(root)
    for tube, bodies in jobs.items():
        check(Beanstalk().take_all(tube) == bodies, f"the jobs of {tube.decode()} differ")
    service.stop()
    say("installed again: all jobs are there, in their order")
    root.run("dpkg", "--purge", "tandem")
    for name in ("var/lib/tandem", "var/log/tandem", "etc/tandem", "etc/logrotate.d/tandem",
                 "usr/share/doc/tandem"):
        check(not (root.path / name).exists(), f"/{name} is still there")
    say("purged: nothing of it is left but the user")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("older")
    parser.add_argument("newer")
    parser.add_argument("--root")
    parser.add_argument(INSIDE, action="store_true")
    options = parser.parse_args()
    if options.inside:
        root = Root(options.root)
        try:
            live(root, options.older, options.newer)
        finally:
            run("umount", root.path / "proc")
        return
    with tempfile.TemporaryDirectory(prefix="tandem-root-") as folder:
        # The user of the package must be able to enter the root, and nobody enters the folder.
        path = options.root or f"{folder}/root"
        if not options.root:
            make_root(path, options.newer)
            say("made a root")
        sys.exit(subprocess.run(
            ["unshare", "--net", "--mount", "sh", "-c", 'ip link set lo up && exec "$@"', "sh",
             sys.executable, __file__, options.older, options.newer,
             "--root", path, INSIDE], check=False).returncode)


BEGAN = time.monotonic()
main()
