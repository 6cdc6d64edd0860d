# SPDX-License-Identifier: MIT
"""A PostgreSQL that syncs, with the settings that it comes with, whose commits wait for a standby,
and pgbench beside it.

All are spoken to by unix sockets. The database may use both cores, as it has a process for each
connection; pgbench has the core of the load."""

import contextlib
import os
import pathlib
import re
import subprocess
import sys

from durable import fresh_directory
from servers import LOAD_SECONDS, Failure

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import postgres

# Settings that the clusters of tests turn off, for speed.
SETTINGS = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on",
            "shared_buffers": "128MB", "max_connections": "200"}
RATE = re.compile(r"^tps = ([\d.]+) ", re.M)
LATENCY = re.compile(r"^latency average = ([\d.]+) ms", re.M)


class Database:
    """`conninfo` is how a broker finds it."""

    def __init__(self, options, cluster):
        self.core = str(options.cores[1])
        self.cluster = cluster
        self.conninfo = cluster.place()

    def sql(self, text):
        return self.cluster.sql(text)

    def seconds_of_cpu(self):
        """The CPU time of the primary's processes so far, without processes that have ended."""
        used = 0
        for process in self.cluster.processes():
            with contextlib.suppress(FileNotFoundError):
                used += int(pathlib.Path(f"/proc/{process}/schedstat").read_text().split()[0])
        return used / 1e9

    def insert(self, table, size, clients, seconds):
        """Measures committed INSERTs of a body of `size` bytes, by `clients` clients."""
        script = self.cluster.folder / "insert"
        body = "x" * size
        script.write_text(f"INSERT INTO {table} (queue, body) VALUES ('default', '{body}');\n",
                          encoding="utf-8")
        command = ["taskset", "-c", self.core, postgres.tool("pgbench"), "-n", "-M", "prepared",
                   "-h", self.cluster.folder, "-p", self.cluster.port, "-U", postgres.USER,
                   "-c", clients, "-T", seconds, "-f", script, "postgres"]
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False,
                              timeout=seconds + LOAD_SECONDS)
        rate, latency = RATE.search(done.stdout), LATENCY.search(done.stdout)
        if done.returncode != 0 or not rate or not latency:
            raise Failure(f"pgbench failed\n{done.stdout}")
        return {"rate": float(rate[1]), "mean_us": 1000 * float(latency[1])}


@contextlib.contextmanager
def database(options):
    """A fresh one, on the disk that is measured."""
    if not postgres.INITDB:
        raise Failure("there is no PostgreSQL: INITDB must name its initdb")
    with fresh_directory(options) as directory:
        os.chmod(directory, 0o755)  # for who has the cluster
        with contextlib.ExitStack() as clusters:
            primary = postgres.Cluster(parent=directory, **SETTINGS)
            clusters.callback(primary.close)
            primary.make().start()
            standby = postgres.Cluster(parent=directory, **SETTINGS)
            clusters.callback(standby.close)
            standby.copy(primary).start()
            primary.reload(synchronous_standby_names="'*'")
            primary.wait_until(lambda: primary.sql(
                "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == "1")
            yield Database(options, primary)
