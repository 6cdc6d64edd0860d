# SPDX-License-Identifier: MIT
"""PostgreSQL clusters for tests, each in a folder that is removed with it. INITDB is the path of
`initdb`; the other programs of the server are beside it. The clusters do not sync: committed data
survives a kill of their processes, but not a crash of the machine.

As a program, it starts a cluster and runs a command, with the cluster's connection string in the
environment variable POSTGRES: postgres.py [SETTING=VALUE]... COMMAND..."""

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



def newest_initdb():
    """Debian installs each version into a folder of its own."""
    found = pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max(map(str, found), key=lambda path: float(path.split("/")[4]), default="initdb")


INITDB = shutil.which(os.environ.get("INITDB") or newest_initdb())
SECONDS = 120

# PostgreSQL refuses to run as root, and must be able to read its folder.
ROOT = os.getuid() == 0
USER = "nobody" if ROOT else pwd.getpwuid(os.getuid()).pw_name
AS_USER = {"user": "nobody", "group": "nogroup", "extra_groups": []} if ROOT else {}

QUICK = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "16MB",
         "max_connections": "50", "log_min_messages": "fatal"}


def tool(name):
    """The path of a program of PostgreSQL. The client programs are in a package of their own: the
    server's may have been unpacked elsewhere, and then theirs are where they are installed."""
    beside = pathlib.Path(INITDB).resolve().parent / name
    version = beside.parents[1].name
    return str(beside if beside.exists() else
               pathlib.Path("/usr/lib/postgresql", version, "bin", name))


def run(name, *arguments, **options):
    """Runs a program of PostgreSQL as the user who owns the clusters. Returns its output."""
    return subprocess.run([tool(name), *arguments], check=True, cwd="/", text=True,
                          stdout=subprocess.PIPE, **AS_USER, **options).stdout


class Cluster:
    """A PostgreSQL server that listens at a unix socket in its folder, and at a free port. Clients
    connect without a password, as USER, who is a superuser."""

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
        """Creates a new cluster."""
        run("initdb", "-D", self.data, "-A", "trust", "-E", "SQL_ASCII", "--locale", "C",
            "--no-sync")
        return self

    def copy(self, primary, **conninfo):
        """Makes this a standby of another cluster, which it follows from its start on, by a
        connection with these parameters."""
        return self.back_up(primary).follow_on(primary, **conninfo)

    def back_up(self, primary, *options):
        """Copies the files of a primary, which may be running."""
        run("pg_basebackup", "-D", self.data, "--no-sync", "-c", "fast", "-d", primary.place(),
            *options)
        return self

    def recover(self, archive):
        """At its next start it replays that folder of WAL files."""
        self.settings["restore_command"] = f"cp {archive}/%f %p"
        self.begin_as("recovery")
        return self

    def rewind(self, primary):
        """Makes a former primary, which still has its files, a standby of the new one."""
        primary.sql("CHECKPOINT")  # otherwise its files may not show yet that it was promoted
        run("pg_rewind", "-D", self.data, "--no-sync", "--source-server", primary.place())
        return self.follow_on(primary)

    def follow_on(self, primary, **conninfo):
        """From its next start on, it follows the primary whose files it has."""
        words = {"host": primary.folder, "port": primary.port, "user": USER, **conninfo}
        self.settings["primary_conninfo"] = " ".join(f"{key}={value}"
                                                     for key, value in words.items())
        self.follow()
        return self

    def follow(self):
        """From its next start on, it is a standby."""
        self.begin_as("standby")

    def begin_as(self, what):
        path = pathlib.Path(self.data, f"{what}.signal")
        path.touch()
        if ROOT:
            shutil.chown(path, "nobody")

    def start(self):
        """Starts the server. Returns when it accepts connections."""
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
        """A connection string; `words` replace its parameters, which name the unix socket."""
        words = {"host": self.folder, "port": self.port, "user": USER, "dbname": "postgres",
                 **words}
        return " ".join(f"{key}={value}" for key, value in words.items())

    def address(self, **words):
        """The same for TCP."""
        return self.place(host="127.0.0.1", **words)

    def sql(self, text):
        """Executes the statement. Returns lines, with | between fields."""
        return run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", self.place(),
                   "-c", text).strip()

    def reload(self, **settings):
        """Changes settings, also for open connections, which apply them a little later."""
        for key, value in settings.items():
            self.sql(f"ALTER SYSTEM SET {key} = {value}")
            self.settings.pop(key, None)
        self.sql("SELECT pg_reload_conf()")

    def promote(self):
        """Promotes a standby. Returns when it accepts writes."""
        self.sql("SELECT pg_promote()")
        self.wait_until(lambda: self.sql("SELECT pg_is_in_recovery()") == "f")

    def stop(self, with_signal=signal.SIGINT):
        """Stops the server: SIGINT closes all connections, SIGQUIT is a crash."""
        if self.process:
            self.process.send_signal(with_signal)
            self.process.wait()
            self.process = None

    def processes(self):
        """The ids of all its processes; the first one is the parent of the others."""
        first = self.process.pid
        others = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, others)]

    def signal_all(self, with_signal):
        for process in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, with_signal)

    def kill(self):
        """Kills all its processes at once, as a power failure does."""
        if self.process:
            self.process.send_signal(signal.SIGSTOP)  # it starts no further processes
            self.signal_all(signal.SIGKILL)
            self.process.wait()
            self.process = None

    def close(self):
        """Stops the server, and removes its folder."""
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
