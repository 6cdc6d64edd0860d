#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The examples of a page are true: each section runs with a broker of its own, at other ports
and in a folder of its own (page.py). usage: pages_test.py PAGE...
TANDEMD and TANDEMCTL are the programs; BEANSTALKD and GEARMAND others, where they are there, and
INITDB one that has the others of a PostgreSQL beside it."""

import os
import pathlib
import re
import shutil
import signal
import socket
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/clients"))

import page
from broker import PROTOCOLS, Broker

PORTS = {"beanstalk": "11300", "gearman": "4730", "http": "8080", "admin": "9180"}
# Where programs of the pages listen themselves.
OWN_PORTS = ("9000", "11399", "4739", "5433")
# Folders of the machine stand for some in the folder of the test.
FOLDERS = re.compile(r"(?<![\w.:/}])/(?=(?:etc/tandem|var/lib|var/log|var/backups|run/tandem)\b)")
SECTION = re.compile(r"^\[(\w+)")
PORT = re.compile(r":(\d+)(?=\s|$)")
LISTEN = re.compile(r"^(listen\s*=\s*)(.*)")


def keep_port():
    """A socket that reserves a port: the system gives it to no other program, but a program that
    sets SO_REUSEADDR may listen at it, at any address of this machine."""
    kept = socket.socket()
    kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    kept.bind(("0.0.0.0", 0))
    return kept


def link_postgres(folder, initdb):
    """Links its programs, which refuse to run as root: then they run as the user nobody. A new
    cluster need not survive a crash of the machine."""
    user = "setpriv --reuid nobody --regid nogroup --clear-groups " if os.getuid() == 0 else ""
    for name, options in (("initdb", "--no-sync "), ("pg_ctl", "")):
        program = pathlib.Path(initdb).resolve().parent / name
        (folder / name).write_text(f'#!/bin/sh\nexec {user}{program} {options}"$@"\n',
                                   encoding="utf-8")
        (folder / name).chmod(0o755)


class Stage:
    """Where a section is played: a folder, a shell, and from its place on a broker, unless the
    section starts brokers itself."""

    def __init__(self, folder, has_brokers):
        self.folder = folder
        ports = (*OWN_PORTS, *(PORTS.values() if has_brokers else ()))
        self.kept = [keep_port() for _ in ports]
        self.ports = {port: str(kept.getsockname()[1]) for port, kept in zip(ports, self.kept)}
        self.words = {}
        self.broker = None
        for name in ("etc/tandem", "var/lib", "var/log/tandem", "var/backups", "run/tandem"):
            (folder / name).mkdir(parents=True)
        self.shell = page.Shell(folder, self.environment())

    def environment(self):
        """The environment of the shell and its programs."""
        programs = self.folder / "bin"
        programs.mkdir()
        for name in ("tandemd", "tandemctl", "beanstalkd", "gearmand"):
            path = os.environ.get(name.upper())
            if path and os.path.exists(path):
                (programs / name).symlink_to(pathlib.Path(path).resolve())
        if initdb := shutil.which(os.environ.get("INITDB", "")):
            link_postgres(programs, initdb)
        return {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONUNBUFFERED": "1",
                "NODE_PATH": str(ROOT / "tests/clients/node_modules")}

    def here(self, text):
        """The text with the ports, folders and words that are used."""
        for word, used in self.words.items():
            text = text.replace(word, used)
        for port, used in self.ports.items():
            text = re.sub(rf"\b{port}\b", used, text)
        return FOLDERS.sub(f"{self.folder}/", text)

    def configure(self, parts):
        """The settings of all parts, with the system's ports; {protocol: the ports shown}."""
        lines, shown, protocol = [], {}, None
        for line in "\n".join(parts).splitlines():
            if found := SECTION.match(line):
                protocol = found[1]
            if protocol in PORTS and (found := LISTEN.match(line)):
                shown[protocol] = PORT.findall(found[2])
                line = found[1] + PORT.sub(":0", found[2])
            lines.append(self.here(line))
        (self.folder / "tandemd.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return shown

    def start(self, parts):
        """The broker. Without a journal of their own, sections have one that they do not show."""
        shown = self.configure(parts)
        settings = [f"{name}.listen=127.0.0.1:0" for name in PROTOCOLS if name not in shown]
        if not any(re.search(r"^dir\s*=", part, re.M) for part in parts):
            settings.append(f"journal.dir={self.folder}/journal")
        given = os.getcwd()
        os.chdir(self.folder)  # where relative paths of the settings begin
        try:
            self.broker = Broker(os.environ["TANDEMD"], settings, "tandemd.conf")
        finally:
            os.chdir(given)
        for protocol in PROTOCOLS:
            used = [address.rpartition(":")[2] for address in self.broker.addresses[protocol]]
            self.ports.update(zip(shown.get(protocol, [PORTS[protocol]]), used))
        self.tell_ports()

    def tell_ports(self):
        """Has clients find the broker that would be at the system's ports."""
        for name, protocol, form in (("TANDEM_ADDRESS", "admin", "http://127.0.0.1:"),
                                     ("GEARMAN_SERVERS", "gearman", "127.0.0.1:")):
            self.shell.run(f"export {name}={form}{self.ports.get(PORTS[protocol], '')}")

    def close(self):
        """The exit code of the broker; 0 where there was none."""
        self.shell.close()
        for pid in self.folder.glob("*/postmaster.pid"):
            os.kill(int(pid.read_text(encoding="utf-8").split()[0]), signal.SIGQUIT)
        for kept in self.kept:
            kept.close()
        return self.broker.stop() if self.broker else 0


class Page(unittest.TestCase):
    def play(self, stage, session):
        for command, lines in page.commands(session):
            command = stage.here(command)
            lines = [stage.here(line) for line in lines]
            if found := page.PLAYED.match(command):
                if found[1]:
                    page.telnet(f"{found[1]}:{found[2]}", lines)
                else:
                    page.pipe(command, stage.folder, lines)
                continue
            written = stage.shell.run(command)
            if not page.pattern(lines).match(written):
                raise AssertionError("\n".join([command, "is shown to write", *lines,
                                                "but has written", written]))

    def act(self, stage, block):
        for said in block.remarks:
            if found := re.match(r"(\S+) stands for: (.+)", said):
                stage.words[found[1]] = stage.shell.run(stage.here(found[2])).strip()
        if block.name:
            (stage.folder / block.name).write_text(stage.here(block.text), encoding="utf-8")
        elif block.kind == "sh":
            written = stage.shell.run(stage.here(block.text))
            self.assertEqual(stage.shell.code, 0, f"{block.text}fails:\n{written}")
        elif block.kind == "console":
            self.play(stage, block.text)

    def check(self, section):
        blocks = [block for block in page.blocks(section) if page.runs(block)]
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o1777)  # also for the user nobody
        has_brokers = any(block.kind == "ini" and block.name for block in blocks)
        stage = Stage(pathlib.Path(folder.name), has_brokers)
        self.addCleanup(lambda: self.assertEqual(stage.close(), 0))
        if has_brokers:
            stage.tell_ports()
        for block in blocks:
            needs = page.remark(block, "needs:")
            if needs and "needed" not in stage.shell.run(f"{needs} && echo needed"):
                self.skipTest(f"the page needs something missing here: {needs}")
        settings = [at for at, block in enumerate(blocks) if block.kind == "ini" and not block.name]
        parts = [blocks[at].text for at in settings]
        starts_before = settings[-1] if settings else 0
        for at, block in enumerate(blocks):
            if at == starts_before and not has_brokers:
                stage.start(parts)
            self.act(stage, block)


def goes_as_shown(section):
    return lambda self: self.check(section)


def add_tests(path):
    """One of each section that shows how something is done."""
    for title, section in page.sections(path).items():
        if any(page.runs(block) for block in page.blocks(section)):
            name = f"test_{path.stem}_" + (re.sub(r"\W+", "_", title) or "beginning")
            setattr(Page, name, goes_as_shown(section))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        add_tests(pathlib.Path(name))
    if not unittest.defaultTestLoader.getTestCaseNames(Page):
        sys.exit(print("the page shows nothing to be done"))
    unittest.main(argv=sys.argv[:1])
