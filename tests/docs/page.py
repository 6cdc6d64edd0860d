# SPDX-License-Identifier: MIT
"""A page whose sections show how something is done, and a shell in which what one shows is done.

In a section, in the order in which they stand:
  ini      is the configuration of the broker, or a part of it
  python   or sh, whose first line is a comment with a file's name, is that file
  console  is a session: `$ ` begins a command, `> ` goes on with it, and what follows is its output.
           In output, ... stands for anything within a line, and alone for any lines. `telnet` is
           played by itself: replies begin in upper case, commands in lower case, and a body comes
           from whoever announced it
"""

import os
import pathlib
import re
import selectors
import signal
import socket
import subprocess
import time

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
SECONDS = 60  # only what hangs takes so long
END = "the command has ended with"


def sections(path):
    """{title: text} of what stands below each heading of the second level."""
    parts = re.split(r"^## (.+)\n", pathlib.Path(path).read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def blocks(text):
    """[(language, text)]"""
    return BLOCK.findall(text)


def commands(session):
    """[(command, the lines of its output)]"""
    found = []
    for line in session.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") and found and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line[2:], [])
        else:
            found[-1][1].append(line)
    return found


def pattern(lines):
    """What matches an output of these lines."""
    parts = [r"(?:.*\n)*?" if line == "..." else
             ".*".join(re.escape(part) for part in line.split("...")) + "\n" for line in lines]
    return re.compile("".join(parts) + r"\Z")


class Shell:
    """A shell that knows the broker, in a folder of its own. Leaving it ends what it has begun."""

    def __init__(self, folder, environment):
        self.process = subprocess.Popen(
            ["bash", "--norc"], cwd=folder, env={**os.environ, **environment}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            start_new_session=True)
        os.set_blocking(self.process.stdout.fileno(), False)
        self.arrivals = selectors.DefaultSelector()
        self.arrivals.register(self.process.stdout, selectors.EVENT_READ)

    def run(self, command):
        """What it writes."""
        self.process.stdin.write(f"{command}\nprintf '\\n{END} %d\\n' $?\n")
        self.process.stdin.flush()
        output, give_up_at = "", time.monotonic() + SECONDS
        while not (ended := re.search(rf"\n{END} \d+\n", output)):
            if not self.arrivals.select(give_up_at - time.monotonic()):
                raise AssertionError(f"{command}\ndoes not end:\n{output}")
            output += self.process.stdout.read()
        output = output[:ended.start()]
        return output if output.endswith("\n") or not output else output + "\n"

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.arrivals.close()


def converse(address, lines):
    """Plays a session of telnet; the answers must be those that are shown."""
    host, port = address.split(":")
    from_server = is_body = False
    with socket.create_connection((host, int(port)), SECONDS) as conn, \
            conn.makefile("rb") as answers:
        for at, line in enumerate(lines):
            from_server = from_server if is_body else line[:1].isupper()
            is_body = not is_body and bool(re.match(r"(put|put-unique|complete|RESERVED|FOUND) ", line))
            if not from_server:
                conn.sendall(line.encode() + b"\r\n")
                continue
            heard = answers.readline().decode().removesuffix("\r\n")
            if heard != line:
                raise AssertionError("\n".join([*lines[:at], f"is answered {heard}, not {line}"]))
