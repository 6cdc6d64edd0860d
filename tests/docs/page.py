# SPDX-License-Identifier: MIT
"""A page whose sections show how something is done, and what plays what one shows.

A section is what stands below a heading of the second level, or before the first one. In it, in the
order in which they stand:
  ini      is the configuration of the broker, or a part of it. The broker starts behind the last
           of these, or at the beginning
  text     ini, python, js, php or sh, whose first line is a comment with a file's name, is that file.
           A section with files of ini starts its brokers itself
  sh       without a name is what is typed; it must succeed
  console  is a session: `$ ` begins a command, `> ` goes on with it, and what follows is its output.
           In output, ... stands for anything within a line, and alone for any lines. `telnet`, and
           `openssl s_client`, are played by themselves: replies begin in upper case, commands in
           lower case, and a body comes from the side that announced it

Comments right above a block, which readers do not see, say of it:
  <!-- not run: REASON -->        that it is for readers only, and why
  <!-- needs: COMMAND -->         that the section is left out where this command fails
  <!-- WORD stands for: COMMAND --> that WORD is to be what the command prints
"""

import collections
import os
import pathlib
import re
import selectors
import signal
import socket
import subprocess
import time

Block = collections.namedtuple("Block", "kind text name remarks")

BLOCK = re.compile(r"^((?:<!-- .+? -->\n)*)```(\w*)\n(.*?)^```$", re.M | re.S)
REMARK = re.compile(r"<!-- (.+?) -->")
NAME = re.compile(r"(?:<\?php )?(?:#|//) ([\w-]+\.\w+)\n")
PLAYED = re.compile(r"telnet (127\.0\.0\.\d) (\d+)$|openssl s_client ")
# Kinds that stand for something that is done. Everything else only shows how something looks.
DONE = {"ini", "sh", "console", "python", "js", "php"}
SECONDS = 180  # only what hangs takes so long
END = "the command has ended with"


def sections(path):
    """{title: text}"""
    parts = re.split(r"^## (.+)\n", pathlib.Path(path).read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(["", *parts[1::2]], parts[::2]))


def blocks(text):
    """All of them."""
    found = []
    for remarks, kind, body in BLOCK.findall(text):
        name = NAME.match(body)
        found.append(Block(kind, body, name[1] if name else None, REMARK.findall(remarks)))
    return found


def remark(block, word):
    """The rest of the remark that begins with that word; None if there is none."""
    said = [line.removeprefix(word).strip() for line in block.remarks if line.startswith(word)]
    return said[0] if said else None


def runs(block):
    """Whether something is done with it."""
    return remark(block, "not run:") is None and (block.kind in DONE or block.name is not None)


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
    """The pattern for an output of these lines."""
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
        self.code = 0

    def run(self, command):
        """Its output. `code` is its exit code."""
        self.process.stdin.write(f"{command}\nprintf '\\n{END} %d\\n' $?\n")
        self.process.stdin.flush()
        output, give_up_at = "", time.monotonic() + SECONDS
        while not (ended := re.search(rf"\n{END} (\d+)\n", output)):
            if not self.arrivals.select(give_up_at - time.monotonic()):
                raise AssertionError(f"{command}\ndoes not end:\n{output}")
            output += self.process.stdout.read()
        self.code = int(ended[1])
        output = output[:ended.start()]
        return output if output.endswith("\n") or not output else output + "\n"

    def close(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.arrivals.close()


def typed(lines):
    """[(line, whether the server says it)]"""
    told, from_server, is_body = [], False, False
    for line in lines:
        from_server = from_server if is_body else line[:1].isupper()
        is_body = not is_body and bool(re.match(r"(put|put-unique|complete|RESERVED|FOUND) ", line))
        told.append((line, from_server))
    return told


def converse(lines, say, hear):
    """Says what is typed; what is heard must be what is shown."""
    for at, (line, from_server) in enumerate(typed(lines)):
        if not from_server:
            say(line)
            continue
        heard = hear()
        if heard != line:
            raise AssertionError("\n".join([*lines[:at], f"is answered {heard}, not {line}"]))


def connect(host, port):
    """A connection; a program that was begun just now may not listen yet."""
    give_up_at = time.monotonic() + SECONDS
    while True:
        try:
            return socket.create_connection((host, port), SECONDS)
        except ConnectionRefusedError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.05)


def telnet(address, lines):
    """Plays a session with that address."""
    host, port = address.rsplit(":", 1)
    with connect(host, int(port)) as conn, conn.makefile("rb") as answers:
        converse(lines, lambda line: conn.sendall(line.encode() + b"\r\n"),
                 lambda: answers.readline().decode().removesuffix("\r\n"))
        if lines[-1:] == ["quit"]:
            answers.read()  # until the server has seen it, and what it gives back is there again


def pipe(command, folder, lines):
    """Plays one with what a program says and hears, which ends within a time whatever happens."""
    with subprocess.Popen(["timeout", str(SECONDS), "bash", "-c", command], cwd=folder, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as program:
        def say(line):
            program.stdin.write(line + "\n")
            program.stdin.flush()
        try:
            converse(lines, say, lambda: program.stdout.readline().rstrip("\r\n"))
        finally:
            program.kill()
