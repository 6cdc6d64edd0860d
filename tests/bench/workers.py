# SPDX-License-Identifier: MIT
"""Workers over HTTP, against a tandemd that is asked by beanstalk how many jobs there are."""

import os

import beanstalk

NAME = "http"
PORTS = 2
LOAD_PORT = 1
SECONDS = 5  # of a measurement


def tandemd(options, port, http_port):
    return [options.tandemd, "--config", os.devnull, "--set", "gearman.listen=",
            "--set", f"beanstalk.listen=127.0.0.1:{port}", "--set", "admin.listen=",
            "--set", f"http.listen=127.0.0.1:{http_port}"]


COMMANDS = {"tandemd": tandemd}
books = beanstalk.books
