# SPDX-License-Identifier: MIT
"""tandemd in the place of beanstalkd and of gearmand, and those themselves: BEANSTALKD and GEARMAND
in the environment name Debian's."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
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

    def await_that(self, what, condition):
        """Returns what the condition gives, once it gives anything."""
        give_up_at = time.monotonic() + SECONDS
        while not (found := condition()):
            self.assertLess(time.monotonic(), give_up_at, what)
            time.sleep(0.02)
        return found

    def end(self, pid):
        """Has the process end, and waits until it has."""
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            return
        self.await_that("the process ends", lambda: not is_alive(pid))

    def await_pid(self, path):
        """The process that the file names; it is ended with the test."""
        def read():
            try:
                return int(path.read_text() or 0)
            except FileNotFoundError:
                return 0
        pid = self.await_that(f"{path} names a process", read)
        self.addCleanup(self.end, pid)
        return pid

    def await_port(self, pid):
        return self.await_that("the process listens", lambda: ports(pid))[0]


def is_alive(pid):
    """One that has ended and whose parent has not asked is not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ports(pid):
    """Where the process listens at an IPv4 address, in order."""
    sockets = set()
    for path in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
        try:
            sockets.add(os.readlink(path))
        except OSError:
            pass
    rows = [line.split() for line in pathlib.Path(f"/proc/{pid}/net/tcp").read_text().splitlines()]
    return sorted(int(row[1].split(":")[1], 16) for row in rows[1:]
                  if row[3] == "0A" and f"socket:[{row[9]}]" in sockets)


def exchange(port, request, answer):
    """Sends the request to that port of the loopback. Returns up to `answer` bytes of the reply."""
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as client:
        client.sendall(request)
        got = b""
        while len(got) < answer and (more := client.recv(answer - len(got))):
            got += more
        return got


def do_beanstalk_job(test, port):
    answer = b"INSERTED 1\r\nRESERVED 1 2\r\nhi\r\nDELETED\r\n"
    test.assertEqual(exchange(port, b"put 0 0 9 2\r\nhi\r\nreserve\r\ndelete 1\r\n", len(answer)),
                     answer)


def gearman_packet(kind, *args):
    body = b"\0".join(args)
    return b"\0REQ" + kind.to_bytes(4, "big") + len(body).to_bytes(4, "big") + body


def do_gearman_job(test, port):
    """A client and a worker on one connection: the job is created, assigned and done."""
    request = (gearman_packet(1, b"turn") + gearman_packet(18, b"turn", b"", b"hi")
               + gearman_packet(9))
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as client, \
            client.makefile("rwb") as file:
        file.write(request)
        file.flush()
        kinds = []
        while not kinds or kinds[-1] != 11:
            head = file.read(12)
            test.assertEqual(len(head), 12)
            kinds.append(int.from_bytes(head[4:8], "big"))
            body = file.read(int.from_bytes(head[8:], "big"))
        test.assertEqual(kinds, [8, 11])
        test.assertEqual(body.split(b"\0")[1:], [b"turn", b"hi"])
        file.write(gearman_packet(13, body.split(b"\0")[0], b"ih") + gearman_packet(16, b"done?"))
        file.flush()
        test.assertEqual(file.read(12)[4:8], (17).to_bytes(4, "big"))
