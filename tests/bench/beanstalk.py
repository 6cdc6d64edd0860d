# SPDX-License-Identifier: MIT
"""How servers are started that speak the beanstalk protocol, and how they are asked."""

import os
import socket

NAME = "beanstalk"
PORTS = 1
SECONDS = 5  # of a measurement


def tandemd(options, port):
    return [options.tandemd, "--config", os.devnull, "--set", "gearman.listen=",
            "--set", "http.listen=", "--set", "admin.listen=",
            "--set", f"beanstalk.listen=127.0.0.1:{port}"]


def beanstalkd(options, port):
    return [options.beanstalkd, "-l", "127.0.0.1", "-p", str(port)]


COMMANDS = {"tandemd": tandemd, "beanstalkd": beanstalkd}


def books(port):
    """How many jobs there were, and how many there are."""
    with socket.create_connection(("127.0.0.1", port)) as conn:
        conn.sendall(b"stats\r\nquit\r\n")
        text = conn.makefile("rb").read().decode()
    stats = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    return {"accepted": int(stats["total-jobs"]),
            "left": sum(int(stats[f"current-jobs-{state}"])
                        for state in ("ready", "reserved", "delayed", "buried"))}


class Peer:
    """One connection to a server, for as long as somebody is to be there."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.replies = self.socket.makefile("rb")

    def ask(self, text, count):
        """Sends commands that get `count` replies of one line."""
        self.socket.sendall(text.encode())
        for _ in range(count):
            self.replies.readline()

    def close(self):
        self.replies.close()
        self.socket.close()
