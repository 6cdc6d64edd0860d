# SPDX-License-Identifier: MIT
"""The common parts of the tests of rules: a broker with a file of rules, and clients that come in
all ways that a rule can tell apart. TANDEMD is the path of the executable."""

import hashlib
import os
import pathlib
import signal
import socket
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "tls"))

from bed import HOST, Beanstalk, TlsCase
from broker import SECONDS

RELOADED = r" info reloaded "
REFUSED = r" error reload_failed "


def rule(name, token, rest):
    """A line for the token's owner."""
    return f"token:{name}:{hashlib.sha256(token).hexdigest()} {rest}\n"


class AccessCase(TlsCase):
    """The broker listens for beanstalk clients in three ways, in this order: plain TCP, TLS with
    certificates for those who have one, a unix socket."""

    def setUp(self):
        self.config = self.folder / "tandemd.conf"
        self.rules = self.folder / "rules"
        self.socket = self.folder / "socket"
        self.folder.chmod(0o755)

    def serve(self, rules):
        self.rules.write_text(rules)
        self.config.write_text(f"[server]\naccess_file = {self.rules}\n")
        return self.start(
            "server.socket_mode=0666", "server.log_level=debug", "tls.client_certs=optional",
            f"tls.client_ca={self.authority.certificate}", config=self.config,
            listen=[f"beanstalk.listen=127.0.0.1:0 tls:127.0.0.1:0 unix:{self.socket}",
                    "gearman.listen=", "http.listen=", "admin.listen="])

    def change(self, broker, rules, said=RELOADED):
        """The lines of the log about it."""
        count = len(broker.log())
        self.rules.write_text(rules)
        broker.process.send_signal(signal.SIGHUP)
        found = broker.expect(said, count)
        self.assertIsNotNone(found)
        return found.string

    def over_tcp(self, broker):
        return Beanstalk(self.connect_plain(broker))

    def over_tls(self, broker, pair=None):
        connection = self.context(pair).wrap_socket(self.connect_plain(broker, number=1),
                                                    server_hostname=HOST)
        self.addCleanup(connection.close)
        return Beanstalk(connection)

    def over_unix(self):
        connection = socket.socket(socket.AF_UNIX)
        self.addCleanup(connection.close)
        connection.settimeout(SECONDS)
        connection.connect(str(self.socket))
        return Beanstalk(connection)

    def over_unix_as(self, user, groups=()):
        """Where only root can be somebody else."""
        if os.geteuid() != 0:
            self.skipTest("only root can be another user")
        own = os.getgroups()
        os.setgroups(groups)
        os.setresuid(-1, user, 0)
        try:
            return self.over_unix()
        finally:
            os.setresuid(-1, 0, 0)
            os.setgroups(own)

    def assert_may(self, client, rights, tube=b"jobs"):
        """The client may do these of `submit`, `work`, `observe` and `operate`, and no others."""
        found = set()
        if submits(client, tube):
            found.add("submit")
        if client.ask(b"watch " + tube) != b"FORBIDDEN":
            found.add("work")
        if observes(client, tube):
            found.add("observe")
        if client.ask(b"pause-tube %s 0" % tube) != b"FORBIDDEN":
            found.add("operate")
        self.assertEqual(found, set(rights.split()))


def submits(client, tube):
    """Whether it may put a job into the tube; it has put one then."""
    if client.ask(b"use " + tube) == b"FORBIDDEN":
        return False
    answer = client.put(b"body")
    assert answer == b"FORBIDDEN" or answer.startswith(b"INSERTED "), answer
    return answer != b"FORBIDDEN"


def observes(client, tube):
    """Whether it may see the tube, which may not be there."""
    answer = client.ask(b"stats-tube " + tube)
    if answer.startswith(b"OK "):
        client.stream.read(int(answer.split()[1]) + 2)
    return answer != b"FORBIDDEN"
