#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The log lines of commands: of refused ones, and on demand of all of one client."""

import json
import os
import pathlib
import re
import signal
import socket
import struct
import tempfile
import time
import unittest
import urllib.request

from broker import Broker, loopback

SECONDS = 60  # only what hangs takes so long


def packet(kind, *arguments):
    body = b"\0".join(arguments)
    return b"\0REQ" + struct.pack(">II", kind, len(body)) + body


class TraceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.config = pathlib.Path(folder.name, "tandemd.conf")
        self.configure("")
        self.broker = Broker(os.environ["TANDEMD"], loopback(), config=str(self.config))
        self.addCleanup(self.broker.stop)

    def configure(self, commands, level="debug"):
        self.config.write_text(f"[server]\nlog_level = {level}\nlog_commands = {commands}\n")

    def reload(self, commands, level="debug"):
        before = len(self.broker.log())
        self.configure(commands, level)
        self.broker.process.send_signal(signal.SIGHUP)
        self.assertTrue(self.broker.expect(" reloaded", before))

    def connect(self, protocol):
        host, port = self.broker.addresses[protocol][0].split(":")
        peer = socket.create_connection((host, int(port)), timeout=SECONDS)
        self.addCleanup(peer.close)
        return peer

    @staticmethod
    def say(peer, said, end):
        peer.sendall(said)
        heard = b""
        while not heard.endswith(end):
            piece = peer.recv(65536)
            assert piece, heard
            heard += piece
        return heard

    def put(self, peer, tube):
        self.say(peer, b"use %s\r\nput 0 0 60 6\r\nsecret\r\n" % tube, b"\r\n")
        while not self.say(peer, b"list-tube-used\r\n", b"\r\n").endswith(b"USING %s\r\n" % tube):
            pass

    def until_logged(self, act, pattern):
        """Connections come to know of a reload one after the other."""
        give_up_at = time.monotonic() + SECONDS
        while not any(re.search(pattern, line) for line in self.log_by_now()):
            self.assertLess(time.monotonic(), give_up_at, pattern)
            act()

    def log_by_now(self):
        """With all that was logged before."""
        before = len(self.broker.log())
        self.broker.process.send_signal(signal.SIGHUP)
        self.assertTrue(self.broker.expect(" reloaded", before))
        return self.broker.log()

    def commands(self):
        return [line for line in self.broker.log() if " command " in line]

    def test_each_refusal_is_a_line_at_debug(self):
        peer = self.connect("beanstalk")
        self.say(peer, b"delete 99\r\n", b"NOT_FOUND\r\n")
        self.assertTrue(self.broker.expect(r"debug refused conn=\d+ answer=NOT_FOUND"))
        self.say(peer, b"nonsense\r\n", b"UNKNOWN_COMMAND\r\n")
        self.assertTrue(self.broker.expect(r"debug refused conn=\d+ answer=UNKNOWN_COMMAND"))
        peer = self.connect("gearman")
        self.say(peer, packet(14, b"H:x:1"), b"not found")
        self.assertTrue(self.broker.expect(r"debug refused conn=\d+ answer=JOB_NOT_FOUND"))
        self.say(peer, b"drop function none\r\n", b"not found\r\n")
        self.assertTrue(self.broker.expect(r'debug refused conn=\d+ answer="ERR function not'))

    def test_what_is_too_large_by_beanstalk_is_a_line_with_the_setting(self):
        peer = self.connect("beanstalk")
        self.say(peer, b"put 0 0 60 70000\r\n" + b"x" * 70000 + b"\r\n", b"JOB_TOO_BIG\r\n")
        self.assertTrue(self.broker.expect(
            r'info too_large conn=\d+ protocol=beanstalk what="a job" size=70000 '
            r"setting=beanstalk\.max_job_size$"))

    def test_what_is_too_large_by_http_is_a_line_with_the_setting(self):
        peer = self.connect("http")
        peer.sendall(b"POST /f HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
        self.assertTrue(peer.recv(65536).startswith(b"HTTP/1.1 413 "))
        self.assertTrue(self.broker.expect(
            r'info too_large conn=\d+ protocol=http what="a request\'s body" size=99999999999 '
            r"setting=http\.max_body$"))

    def test_nothing_is_logged_of_commands_unless_it_is_asked_for(self):
        self.put(self.connect("beanstalk"), b"a")
        self.assertEqual(self.commands(), [])

    def test_each_command_from_an_address_is_logged_without_its_body(self):
        early = self.connect("beanstalk")
        self.put(early, b"before")
        self.reload("127.0.0.1", level="info")
        self.until_logged(lambda: self.put(early, b"early"),
                          r"info command conn=\d+ protocol=beanstalk command=put "
                          r"about=\"0 0 60 6\"")
        gearman = self.connect("gearman")
        self.say(gearman, packet(18, b"mail", b"u-7", b"secret") + packet(16, b"end"), b"end")
        self.assertTrue(self.broker.expect(r"info command conn=\d+ protocol=gearman "
                                           r"command=SUBMIT_JOB_BG about=\"mail u-7\" size=6"))
        self.say(gearman, packet(26, b"auth:secret") + packet(16, b"end"), b"end")
        self.assertTrue(self.broker.expect(r"command=OPTION_REQ about=auth:$"))
        self.say(gearman, b"version\n", b"\n")
        self.assertTrue(self.broker.expect(r"protocol=gearman command=text about=version"))
        address = self.broker.addresses["http"][0]
        request = urllib.request.Request(f"http://{address}/mail", b"secret",
                                         {"X-Gearman-Background": "true"})
        urllib.request.urlopen(request, timeout=SECONDS).close()
        self.assertTrue(self.broker.expect(
            r"protocol=http command=POST about=/mail size=6"))
        self.assertFalse([line for line in self.broker.log() if "secret" in line])
        self.reload("", level="info")
        give_up_at = time.monotonic() + SECONDS
        count = -1
        while len(self.commands()) != count:
            self.assertLess(time.monotonic(), give_up_at)
            count = len(self.commands())
            self.put(early, b"late")
            self.log_by_now()

    def test_a_connection_is_named_by_its_number(self):
        one, other = self.connect("beanstalk"), self.connect("beanstalk")
        self.put(one, b"a")
        self.put(other, b"b")
        number = self.broker.expect(r"connected conn=(\d+) protocol=beanstalk")[1]
        self.reload(number)
        self.until_logged(lambda: (self.put(other, b"d"), self.put(one, b"c")),
                          rf"command conn={number} .* command=use about=c")
        self.assertFalse([line for line in self.commands() if f"conn={number} " not in line])

    def test_an_operator_says_whose_commands_are_logged(self):
        peer = self.connect("beanstalk")
        self.put(peer, b"before")
        number = self.broker.expect(r"connected conn=(\d+) protocol=beanstalk")[1]
        self.log_commands(number)
        self.assertTrue(self.broker.expect(rf'info log_commands whose={number} before=""$'))
        self.until_logged_now(lambda: self.put(peer, b"mine"),
                              rf"command conn={number} .* command=use about=mine")
        self.log_commands("")
        count = -1
        give_up_at = time.monotonic() + SECONDS
        while len(self.commands()) != count:
            self.assertLess(time.monotonic(), give_up_at)
            count = len(self.commands())
            self.put(peer, b"late")
            self.log_commands("")
        self.log_commands("127.0.0.1")
        self.reload("")
        self.assertTrue(self.broker.expect(r"setting_changed section=server key=log_commands "
                                           r"old=127.0.0.1 new="))

    def log_commands(self, whose):
        """Once the answer is there, all that was logged before is."""
        address = self.broker.addresses["admin"][0]
        body = json.dumps({"log_commands": whose}).encode()
        request = urllib.request.Request(f"http://{address}/api/v1/log-commands", body,
                                         {"X-Tandem-Request": "1",
                                          "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            self.assertEqual(json.load(answer), {"log_commands": whose})

    def until_logged_now(self, act, pattern):
        """As until_logged(), without a reload, which would end it."""
        give_up_at = time.monotonic() + SECONDS
        while not any(re.search(pattern, line) for line in self.broker.log()):
            self.assertLess(time.monotonic(), give_up_at, pattern)
            act()


if __name__ == "__main__":
    unittest.main(verbosity=2)
