# SPDX-License-Identifier: MIT
"""How servers are started that speak the Gearman protocol, and how they are asked."""

import os
import socket
import struct

NAME = "gearman"
PORTS = 1
SECONDS = 3  # of a measurement: with three servers there are many
HEADER = struct.Struct(">4sII")
JOB_CREATED = 8
SUBMIT_JOB_BG = 18


def tandemd(options, port):
    return [options.tandemd, "--config", os.devnull, "--set", "beanstalk.listen=",
            "--set", f"gearman.listen=127.0.0.1:{port}", "--set", "http.listen=",
            "--set", "admin.listen="]


def gearmand(threads):
    return lambda options, port: [options.gearmand, f"--config-file={os.devnull}",
                                  "-L", "127.0.0.1", "-p", str(port), "-l", "stderr",
                                  "-t", str(threads)]


COMMANDS = {"tandemd": tandemd, "gearmand-t1": gearmand(1), "gearmand-t4": gearmand(4)}


def status(port):
    """The numbers of each function: jobs, running jobs, workers."""
    with socket.create_connection(("127.0.0.1", port)) as conn:
        conn.sendall(b"status\n")
        functions = []
        for line in conn.makefile("rb"):
            if line == b".\n":
                return functions
            functions.append([int(number) for number in line.split(b"\t")[1:]])
    raise ConnectionError("the answer to status has no end")


def books(port):
    """The number of jobs left. gearmand does not count the jobs that are done."""
    return {"left": sum(jobs for jobs, _, _ in status(port))}


def workers(port):
    return sum(count for _, _, count in status(port))


class Peer:
    """One connection to a server, for as long as somebody is to be there."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.replies = self.socket.makefile("rb")

    def submit(self, functions, body):
        """One background job for each of the functions."""
        bodies = [name.encode() + b"\0\0" + body for name in functions]
        self.socket.sendall(b"".join(HEADER.pack(b"\0REQ", SUBMIT_JOB_BG, len(body)) + body
                                     for body in bodies))
        for _ in bodies:
            magic, kind, length = HEADER.unpack(self.replies.read(HEADER.size))
            reply = self.replies.read(length)
            if (magic, kind) != (b"\0RES", JOB_CREATED):
                raise ConnectionError(f"no job was created: {reply!r}")

    def close(self):
        self.replies.close()
        self.socket.close()
