# SPDX-License-Identifier: MIT
"""PostgreSQL clusters that are a test's own, in a folder that goes with them. INITDB names that
program of a PostgreSQL, which has the server's others beside it. They do not sync: what they say was
committed is there after a kill of theirs, but not after one of the machine.

Run, it starts a cluster, and then a command, to whose environment it adds the cluster's connection
string as POSTGRES: postgres.py [SETTING=VALUE]... COMMAND..."""

import contextlib
import os
import pathlib
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import ports

INITDB = shutil.which(os.environ.get("INITDB", "/usr/lib/postgresql/15/bin/initdb"))
CLIENTS = "/usr/lib/postgresql/15/bin"
SECONDS = 120

# It does not run as root, nor in a folder that is only root's.
ROOT = os.getuid() == 0
USER = "nobody" if ROOT else pwd.getpwuid(os.getuid()).pw_name
AS_USER = {"user": "nobody", "group": "nogroup", "extra_groups": []} if ROOT else {}

QUICK = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "16MB",
         "max_connections": "50", "log_min_messages": "fatal"}


def tool(name):
    """The path of a program of that PostgreSQL. Those of clients come by a package of their own,
    and are where that one is installed, if the server is not."""
    beside = pathlib.Path(INITDB).resolve().parent / name
    return str(beside if beside.exists() else pathlib.Path(CLIENTS, name))


def run(name, *arguments, **options):
    """Runs such a program to its end, as the user who has the clusters."""
    return subprocess.run([tool(name), *arguments], check=True, cwd="/", text=True,
                          stdout=subprocess.PIPE, **AS_USER, **options).stdout


class Cluster:
    """A PostgreSQL that listens at a unix socket, in its folder, and at a free port. Others connect
    without a password, as USER, who may do everything."""

    def __init__(self, parent=None, **settings):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tandem-postgres-", dir=parent))
        if ROOT:
            shutil.chown(self.folder, "nobody")
        self.data = f"{self.folder}/data"
        self.reserved = ports.reserve()
        self.port = ports.number(self.reserved)
        self.settings = {**QUICK, **settings}
        self.process = None

    def make(self):
        """A new one."""
        run("initdb", "-D", self.data, "-A", "trust", "-E", "SQL_ASCII", "--locale", "C",
            "--no-sync")
        return self

    def copy(self, primary, **conninfo):
        """A standby of another cluster, which it follows from its start on. The words of
        `conninfo` are those of its connection to that one."""
        return self.back_up(primary).follow_on(primary, **conninfo)

    def back_up(self, primary, *options):
        """Begins as that one is, which may be at work."""
        run("pg_basebackup", "-D", self.data, "--no-sync", "-c", "fast", "-d", primary.place(),
            *options)
        return self

    def recover(self, archive):
        """From its next start on it has what that folder of WAL files has."""
        self.settings["restore_command"] = f"cp {archive}/%f %p"
        self.begin_as("recovery")
        return self

    def rewind(self, primary):
        """The same of one that was a primary itself and has its files still."""
        primary.sql("CHECKPOINT")  # or its files do not say yet that it was promoted
        run("pg_rewind", "-D", self.data, "--no-sync", "--source-server", primary.place())
        return self.follow_on(primary)

    def follow_on(self, primary, **conninfo):
        """Follows that one, whose files it has, from its next start on."""
        words = {"host": primary.folder, "port": primary.port, "user": USER, **conninfo}
        self.settings["primary_conninfo"] = " ".join(f"{key}={value}"
                                                     for key, value in words.items())
        self.follow()
        return self

    def follow(self):
        """Is a standby from its next start on."""
        self.begin_as("standby")

    def begin_as(self, what):
        path = pathlib.Path(self.data, f"{what}.signal")
        path.touch()
        if ROOT:
            shutil.chown(path, "nobody")

    def start(self):
        """Returns when it takes connections."""
        settings = {"listen_addresses": "127.0.0.1", "port": self.port,
                    "unix_socket_directories": self.folder, **self.settings}
        words = [word for key, value in settings.items() for word in ("-c", f"{key}={value}")]
        with open(f"{self.folder}/log", "ab") as log:
            self.process = subprocess.Popen([tool("postgres"), "-D", self.data, *words], cwd="/",
                                            stdout=log, stderr=log, **AS_USER)
        self.wait_until(self.is_ready)
        return self

    def is_ready(self):
        if self.process.poll() is not None:
            raise RuntimeError(pathlib.Path(self.folder, "log").read_text()[-2000:])
        return subprocess.run([tool("pg_isready"), "-q", "-d", self.place()], check=False,
                              cwd="/").returncode == 0

    def wait_until(self, condition):
        give_up_at = time.monotonic() + SECONDS
        while not condition():
            if time.monotonic() > give_up_at:
                raise TimeoutError(condition)
            time.sleep(0.02)

    def place(self, **words):
        """A connection string, by the unix socket unless `words` say otherwise."""
        words = {"host": self.folder, "port": self.port, "user": USER, "dbname": "postgres",
                 **words}
        return " ".join(f"{key}={value}" for key, value in words.items())

    def address(self, **words):
        """The same by TCP."""
        return self.place(host="127.0.0.1", **words)

    def sql(self, text):
        """What it answers: lines, with | between fields."""
        return run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.place(),
                   "-c", text).strip()

    def reload(self, **settings):
        """Changes settings, for those who are connected too, sooner or later."""
        for key, value in settings.items():
            self.sql(f"ALTER SYSTEM SET {key} = {value}")
            self.settings.pop(key, None)
        self.sql("SELECT pg_reload_conf()")

    def promote(self):
        """A standby becomes a primary. Returns when it takes writes."""
        self.sql("SELECT pg_promote()")
        self.wait_until(lambda: self.sql("SELECT pg_is_in_recovery()") == "f")

    def stop(self, with_signal=signal.SIGINT):
        """Ends it: SIGINT drops who is connected, SIGQUIT is a crash."""
        if self.process:
            self.process.send_signal(with_signal)
            self.process.wait()
            self.process = None

    def processes(self):
        """The numbers of all its processes, the first of which starts the others."""
        first = self.process.pid
        others = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, others)]

    def signal_all(self, with_signal):
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, with_signal)

    def kill(self):
        """All its processes at once, as when the machine loses power."""
        if self.process:
            self.process.send_signal(signal.SIGSTOP)  # it starts no more others
            self.signal_all(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def close(self):
        """Ends it, and leaves nothing behind."""
        self.stop(signal.SIGQUIT)
        self.reserved.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def main(words):
    settings = {}
    while "=" in words[0]:
        key, _, value = words.pop(0).partition("=")
        settings[key] = value
    cluster = Cluster(**settings)
    try:
        cluster.make().start()
        return subprocess.run(words, check=False,
                              env={**os.environ, "POSTGRES": cluster.place()}).returncode
    finally:
        cluster.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
