# SPDX-License-Identifier: MIT
"""The programs `gearman` and `gearadmin`, as Debian packages them.

Each test has a function of its own; GEARMAN_ADDRESS (host:port) says where the server is.
"""

import hashlib
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

HOST, PORT = os.environ["GEARMAN_ADDRESS"].split(":")
WHERE = ["-h", HOST, "-p", PORT]
SECONDS = 60  # only a program that hangs takes so long
MANY = 600  # functions, each with a job
TIMES = 20


def run(*command, data=""):
    return subprocess.run(command, input=data, text=True, timeout=SECONDS, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def gearman(*arguments, data=""):
    return run("gearman", *WHERE, *arguments, data=data).stdout


def gearadmin(*arguments):
    return run("gearadmin", *WHERE, *arguments).stdout


def say_all(said, take, count):
    """Sends all of `said` on one connection, and reads `count` answers from it."""
    with socket.create_connection((HOST, int(PORT)), timeout=SECONDS) as peer:
        writer = threading.Thread(target=peer.sendall, args=(said,))
        writer.start()
        with peer.makefile("rb") as file:
            for _ in range(count):
                take(file)
        writer.join()


def take_packet(file):
    header = file.read(12)
    file.read(struct.unpack(">I", header[8:])[0])


def submission(function):
    """SUBMIT_JOB_BG, as bytes; the job's unique is the function's name."""
    body = b"\0".join((function.encode(), function.encode(), b"x"))
    return b"\0REQ" + struct.pack(">II", 18, len(body)) + body


def table(option):
    """The lines of a list, as lists of words."""
    *lines, end = gearadmin(option).splitlines()
    assert end == ".", end
    return [line.split("\t") for line in lines]


def row(option, name):
    """The numbers of a function in a list, or None."""
    for first, *numbers in table(option):
        if first == name:
            return [int(number) for number in numbers]
    return None


class ToolsTest(unittest.TestCase):
    def setUp(self):
        self.name = self.id().rpartition(".")[2] + f"-{os.getpid()}"

    def start(self, *arguments):
        """A `gearman` that runs beside the test."""
        process = subprocess.Popen(["gearman", *WHERE, *arguments], start_new_session=True,
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        """Kills it, and the command that it runs, which has its connection too."""
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        process.stdout.close()

    def client(self, *options):
        return self.start("-f", self.name, *options)

    def worker(self, *options, command=("cat",), functions=None):
        """A worker that is known to the server."""
        functions = functions or [self.name]
        before = {function: (row("--status", function) or [0])[-1] for function in functions}
        named = [word for function in functions for word in ("-f", function)]
        process = self.start("-w", *named, *options, "--", *command)
        while any((row("--status", function) or [0])[-1] <= before[function]
                  for function in functions):
            self.assertIsNone(process.poll())
        return process

    def submit_background(self, *options):
        """Puts a job aside and returns its handle."""
        said = gearman("-b", "-v", "-f", self.name, *options)
        prefix, _, handle = said.strip().partition(": ")
        self.assertEqual(prefix, "Task created")
        return handle

    # A program of the system as a worker.

    def test_a_worker_counts_the_lines_of_a_file(self):
        self.worker(command=("wc", "-l"))
        with open("/etc/hostname", encoding="utf-8") as file:
            done = subprocess.run(["gearman", *WHERE, "-f", self.name], stdin=file, text=True,
                                  timeout=SECONDS, check=True, stdout=subprocess.PIPE)
        self.assertEqual(done.stdout, "1\n")

    # gearman

    def test_a_word_is_worked_without_input(self):
        self.worker(command=("tr", "a-z", "A-Z"))
        self.assertEqual(gearman("-f", self.name, "word"), "WORD")
        self.assertEqual(gearman("-f", self.name, "-s"), "")

    def test_input_of_a_megabyte_arrives_whole(self):
        self.worker(command=("md5sum",))
        text = "0123456789abcde\n" * 65536
        self.assertEqual(gearman("-f", self.name, data=text).split()[0],
                         hashlib.md5(text.encode()).hexdigest())

    def test_each_line_is_a_job(self):
        worker = self.worker("-c", "6", command=("tr", "a-z", "A-Z"))
        self.assertEqual(gearman("-n", "-f", self.name, data="a\nb\nc\n"), "A\nB\nC\n")
        self.assertEqual(gearman("-N", "-f", self.name, data="a\nb\nc\n"), "ABC")
        self.assertEqual(worker.wait(SECONDS), 0)

    # With more lines than one, the worker sends the first ones again.
    def test_a_worker_sends_a_line_as_data(self):
        self.worker("-n")
        self.assertEqual(gearman("-P", "-f", self.name, data="a\n"),
                         f"{self.name}: a\n{self.name}: ")

    def test_a_worker_sends_a_line_without_its_end_as_data(self):
        self.worker("-N")
        self.assertEqual(gearman("-f", self.name, data="a\n"), "a")

    def test_a_job_is_done_by_each_of_several_functions(self):
        functions = [f"{self.name}-{i}" for i in range(3)]
        self.worker("-c", "3", functions=functions)
        named = [word for function in functions for word in ("-f", function)]
        self.assertEqual(sorted(gearman("-P", *named, data="x\n").splitlines()),
                         [f"{function}: x" for function in functions])

    def test_background_jobs_are_done_high_first_then_normal_then_low(self):
        for option in ("-L", "-s", "-I"):
            gearman("-b", option, "-f", self.name, data=option)
        gearman("-b", "-f", self.name, "-u", "the-same", data="once")
        gearman("-b", "-f", self.name, "-u", "the-same", data="twice")
        self.assertEqual(row("--priority-status", self.name), [1, 2, 1, 0])
        # It may be done before anybody sees it.
        worker = self.start("-w", "-f", self.name, "-c", "4", "--", "sh", "-c",
                            "cat >&2; echo >&2")
        self.assertEqual(worker.wait(SECONDS), 0)
        self.assertEqual(worker.stdout.read().split(), ["-I", "once", "-L"])

    def test_a_failed_job_is_told_as_failed(self):
        self.worker(command=("false",))
        done = run("gearman", *WHERE, "-f", self.name, "x")
        self.assertEqual((done.stdout, done.returncode), ("Job failed\n", 1))

    def test_a_client_gives_up_when_its_time_is_over(self):
        self.assertIn("GEARMAN_TIMEOUT", gearman("-t", "100", "-f", self.name, "x"))

    def test_a_worker_that_is_killed_leaves_its_job_to_another(self):
        first = self.worker(command=("sleep", "3600"))
        client = self.client("x")
        while row("--status", self.name)[1] == 0:
            pass
        self.worker()
        self.end(first)
        self.assertEqual(client.communicate(timeout=SECONDS)[0], "x")

    def test_a_process_id_file_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "pid")
            worker = self.worker("-i", path)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(int(file.read()), worker.pid)

    # gearadmin

    def test_the_server_tells_its_version_level_and_process(self):
        self.assertRegex(gearadmin("--server-version"), r"\A\d+\.\d+\S*\n\Z")
        self.assertRegex(gearadmin("--server-verbose"), r"\A[A-Z]+\n\Z")
        os.kill(int(gearadmin("--getpid")), 0)  # there is such a process

    def test_status_counts_jobs_running_ones_and_workers(self):
        self.assertIsNone(row("--status", self.name))
        self.submit_background("-u", "1", "x")
        self.submit_background("-u", "2", "x")
        self.assertEqual(row("--status", self.name), [2, 0, 0])
        self.worker("-c", "1", command=("sleep", "3600"))
        while row("--status", self.name) != [2, 1, 1]:
            pass
        self.assertEqual(row("--priority-status", self.name), [0, 1, 0, 1])

    def test_a_worker_is_listed_with_its_functions(self):
        self.worker(functions=[f"{self.name}-1", f"{self.name}-2"])
        lines = [line for line in gearadmin("--workers").splitlines() if self.name in line]
        self.assertEqual(len(lines), 1)
        party, _, functions = lines[0].partition(" :")
        self.assertRegex(party, r"\A\d+ 127\.0\.0\.1 \S+\Z")
        self.assertEqual(sorted(functions.split()), [f"{self.name}-1", f"{self.name}-2"])

    def test_jobs_are_listed_and_cancelled(self):
        handle = self.submit_background("-u", self.name, "x")
        self.assertIn([handle, "0", "0"], [line[:3] for line in table("--show-jobs")])
        self.assertIn([self.name], table("--show-unique-jobs"))
        self.assertEqual(gearadmin("--cancel-job", handle), "OK\n")
        self.assertNotIn([handle, "0", "0"], [line[:3] for line in table("--show-jobs")])

    # Debian's gearmand counts it on.
    def test_a_cancelled_job_is_gone_and_a_waiting_client_is_told(self):
        client = self.client("-u", self.name, "x")
        while [self.name] not in table("--show-unique-jobs"):
            pass
        handle = self.submit_background("-u", self.name, "x")
        self.assertEqual(gearadmin("--cancel-job", handle), "OK\n")
        self.assertEqual(client.communicate(timeout=SECONDS)[0], "Job failed\n")
        self.assertIsNone(row("--status", self.name))

    def test_a_job_that_is_not_there_cannot_be_cancelled(self):
        self.assertIn("UNKNOWN_JOB", gearadmin("--cancel-job", "H:nowhere:1"))

    def test_a_function_is_created_and_dropped(self):
        self.assertEqual(gearadmin("--create-function", self.name), "OK\n")
        self.assertEqual(row("--status", self.name), [0, 0, 0])
        self.assertEqual(gearadmin("--drop-function", self.name), "OK\n")
        self.assertIsNone(row("--status", self.name))
        self.assertIn("function not found", gearadmin("--drop-function", self.name))

    def test_a_function_with_a_worker_is_not_dropped(self):
        self.worker()
        self.assertIn("connected workers", gearadmin("--drop-function", self.name))
        self.assertEqual(row("--status", self.name), [0, 0, 1])

    # gearadmin takes what comes without a long break for the whole list; gearman_top and
    # check_gearman what comes with the first read.

    def submit_to_many(self):
        """Their names, which are short: a list of them fits into one read."""
        functions = [f"many-{os.getpid()}-{i}" for i in range(MANY)]
        drops = "".join(f"drop function {one}\n" for one in functions).encode()
        self.addCleanup(say_all, drops, lambda file: file.readline(), MANY)
        say_all(b"".join(submission(one) for one in functions), take_packet, MANY)
        return sorted(functions)

    def test_gearadmin_has_the_whole_of_long_lists_each_time(self):
        functions = self.submit_to_many()
        for option, wanted in (("--status", [[one, "1", "0", "0"] for one in functions]),
                               ("--priority-status", [[one, "0", "1", "0", "0"] for one in functions]),
                               ("--show-unique-jobs", [[one] for one in functions])):
            for _ in range(TIMES):
                self.assertEqual(sorted(line for line in table(option)
                                        if line[0].startswith("many-")), wanted)
        handles = sorted(line[0] for line in table("--show-jobs"))
        self.assertGreaterEqual(len(handles), MANY)
        for _ in range(TIMES):
            self.assertEqual(sorted(line[0] for line in table("--show-jobs")), handles)

    def test_one_read_has_the_whole_of_a_long_list_each_time(self):
        self.submit_to_many()
        with socket.create_connection((HOST, int(PORT)), timeout=SECONDS) as peer:
            for line in b"status\n", b"prioritystatus\n", b"show jobs\n", b"show unique jobs\n":
                for _ in range(TIMES):
                    peer.sendall(line)
                    heard = peer.recv(1 << 20)
                    self.assertGreaterEqual(heard.count(b"\n"), MANY + 1)
                    self.assertTrue(heard.endswith(b"\n.\n"))

    def test_several_questions_are_answered_at_once(self):
        said = gearadmin("--getpid", "--server-version", "--status")
        self.assertIn("\n.\n", "\n" + said)


class Result(unittest.TextTestResult):
    """Tells tests/tools/count-tests.awk how many there were."""

    def printErrors(self):
        super().printErrors()
        failed = len(self.errors) + len(self.failures)
        sys.stderr.write(f"# pass {self.testsRun - failed}\n# fail {failed}\n")


if __name__ == "__main__":
    unittest.main(testRunner=unittest.TextTestRunner(resultclass=Result, verbosity=2))
