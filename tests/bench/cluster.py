# SPDX-License-Identifier: MIT
"""The cost of a journal in PostgreSQL, each commit of which waits for a standby: ours
with its journal there, beside a committed INSERT for each job, and beside our journal in files.

All of it in one run on one machine and one disk. The database and pgbench are those of
database.py; the broker has the first core, and the producers have the second."""

import os
import signal
import statistics
import subprocess
import time

import beanstalk
import takeover
from database import database
from durable import BODY, REPLAY_FILL, Kept, fresh_directory, measure_syncs, timing
from measure import order_of, progress
from servers import STOP_SECONDS, Failure, Server, run_load
from started import arguments_of, with_settings
from tables import OURS, median, print_sizes, spread
from takeover import wait_until_serves

ROWS, FILES = "in PostgreSQL", "in files"
COMMANDS = {ROWS: None}
CONNECTIONS = (1, 50, 500)
CLIENTS = (1, 50)  # of pgbench
# Of the database, for a put, and puts in a commit.
WAL, DATABASE, BATCH = "wal_bytes", "database_cpu_us", "puts_per_commit"
SYNCS = "syncs of the disk"
REPLAY = "start with all jobs, seconds"
CATCH_UP = "follower has all jobs, seconds"
TABLE = "jobs"  # of what would have no broker
COLUMNS = "id bigserial PRIMARY KEY, queue text NOT NULL, body bytea NOT NULL"


def puts_title(connections):
    return f"put, {connections} conn{'s' if connections > 1 else ''}, committed"


def insert_name(clients):
    return f"INSERT, {clients}"


class Shards:
    """Empty shards in one database, a new one for each broker that starts."""

    def __init__(self, options, base):
        self.options, self.base, self.count = options, base, 0

    def rows(self):
        """How many there are so far in the newest, which is how often was committed."""
        return int(self.base.sql(f"SELECT seq FROM tandem.lease WHERE shard = 'bench{self.count}'"))

    def fresh(self):
        """The settings of a broker, and of all that are to share what it keeps."""
        self.count += 1
        pairs = ["journal.store=postgres", f"journal.postgres={self.base.conninfo}",
                 f"journal.shard=bench{self.count}", "journal.address=127.0.0.1",
                 "journal.require_quorum=yes"]
        done = subprocess.run([self.options.tandemd, "--config", os.devnull, "--init-store",
                               *arguments_of(pairs)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"--init-store failed\n{done.stdout}")
        return pairs


def measure_in_rows(options, shards, arguments):
    protocol = with_settings(beanstalk, shards.fresh(), ROWS)
    with Server(protocol, ROWS, options) as server:
        wait_until_serves(server)
        base = shards.base
        lsn = base.sql("SELECT pg_current_wal_lsn()")
        used, rows = base.seconds_of_cpu(), shards.rows()
        result = run_load(options, server, arguments)
        used, rows = base.seconds_of_cpu() - used, shards.rows() - rows
        written = int(base.sql(f"SELECT pg_current_wal_lsn() - '{lsn}'"))
    puts = result["accepted"]
    return {**result, WAL: written / puts, BATCH: puts / rows, DATABASE: 1e6 * used / puts}


def measure_in_files(options, arguments):
    with fresh_directory(options) as directory, \
            Server(Kept(beanstalk, directory, "always"), OURS, options) as server:
        return run_load(options, server, arguments)


def measure_inserts(options, base, clients):
    base.sql(f"TRUNCATE {TABLE}")
    seconds = beanstalk.SECONDS if options.seconds is None else options.seconds
    return base.insert(TABLE, BODY, clients, max(round(seconds), 1))


def measure_puts(options, base, shards):
    """{title: {who: [results]}}"""
    base.sql(f"CREATE TABLE {TABLE} ({COLUMNS})")
    results = {}

    def keep(title, name, measured):
        results.setdefault(title, {}).setdefault(name, []).append(measured)

    for round_number in range(options.rounds):
        for count in CONNECTIONS:
            arguments = ["put", "--conns", str(count), "--size", str(BODY),
                         *timing(options, beanstalk)]
            for name in order_of([ROWS, FILES], round_number):
                progress(f"round {round_number + 1} of {options.rounds}: {count} connections: "
                         f"{name}")
                base.sql("CHECKPOINT")
                keep(puts_title(count), name, measure_in_rows(options, shards, arguments)
                     if name == ROWS else measure_in_files(options, arguments))
        keep(SYNCS, "disk", measure_syncs(options, 1))
        for clients in order_of(CLIENTS, round_number):
            progress(f"round {round_number + 1} of {options.rounds}: {insert_name(clients)}")
            base.sql("CHECKPOINT")
            keep(insert_name(clients), insert_name(clients),
                 measure_inserts(options, base, clients))
    return results


def started_again(options, protocol, name):
    """Seconds until a broker says how many jobs it has."""
    begun = time.monotonic()
    with Server(protocol, name, options) as server:
        left = wait_until_serves(server)["left"]
        took_for = time.monotonic() - begun
    if left != options.replay_jobs:
        raise Failure(f"{name}: {left} jobs after a restart, not {options.replay_jobs}")
    return took_for


def fill_and_stop(options, protocol, name, beside=lambda: None):
    """Puts all jobs, does what is to be done beside that broker, and stops it."""
    with Server(protocol, name, options) as server:
        wait_until_serves(server)
        run_load(options, server, REPLAY_FILL + ["--jobs", str(options.replay_jobs)])
        done = beside()
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(STOP_SECONDS)
    return done


def caught_up(options, protocol):
    """Seconds until a broker that begins to follow has all jobs."""
    begun = time.monotonic()
    with Server(protocol, takeover.OWNER, options) as server:
        takeover.wait_until_caught_up(server)
        return time.monotonic() - begun


def measure_replay(options, shards):
    """{title: {who: [seconds]}}"""
    results = {REPLAY: {ROWS: [], FILES: []}, CATCH_UP: {ROWS: []}}
    for round_number in range(options.rounds):
        for name in order_of([ROWS, FILES], round_number):
            progress(f"round {round_number + 1} of {options.rounds}: "
                     f"{options.replay_jobs} jobs come back: {name}")
            if name == ROWS:
                protocol = takeover.member(shards.fresh())
                results[CATCH_UP][ROWS].append(fill_and_stop(
                    options, protocol, takeover.OWNER, lambda of=protocol: caught_up(options, of)))
                results[REPLAY][ROWS].append(started_again(options, protocol, takeover.OWNER))
            else:
                with fresh_directory(options) as directory:
                    protocol = Kept(beanstalk, directory, "always")
                    fill_and_stop(options, protocol, OURS)
                    results[REPLAY][FILES].append(started_again(options, protocol, OURS))
    return results


def measure(options):
    """{title: {who: [results]}}"""
    with database(options) as base:
        shards = Shards(options, base)
        return {**measure_puts(options, base, shards), **measure_replay(options, shards),
                **takeover.measure(options, shards.fresh(), ROWS)}


def print_puts(results):
    print(f"{'committed on two servers, then told':36}{'':16}{'jobs/s':>9}{'+-':>5}{'p50 us':>9}"
          f"{'p99 us':>9}{'cpu us/job':>12}{'database us':>13}{'WAL bytes':>11}{'a commit':>10}"
          f"{'x INSERT':>10}")
    one = median(results[insert_name(1)][insert_name(1)], "rate")
    for title in [*map(puts_title, CONNECTIONS), *map(insert_name, CLIENTS)]:
        names = list(results[title])
        for name in names:
            rounds = results[title][name]
            times = "".join(f"{median(rounds, key):{width}.{decimals}f}" if key in rounds[0]
                            else " " * width for key, width, decimals in (
                                ("p50_us", 9, 0), ("p99_us", 9, 0), ("server_cpu_us", 12, 2),
                                (DATABASE, 13, 2), (WAL, 11, 0), (BATCH, 10, 1)))
            print(f"{title if name == names[0] else '':36}{name:16}{median(rounds, 'rate'):9.0f}"
                  f"{spread(rounds, 'rate'):4.0f}%{times}{median(rounds, 'rate') / one:10.1f}")
    print("INSERT: one for each job, by as many clients of pgbench, with prepared statements.\n"
          "x INSERT: times what one of them reaches. cpu: the broker's, and the database's, for\n"
          "each job. a commit: jobs in each.\n")


def print_cluster(options, results):
    print_puts(results)
    medians = {name: statistics.median(rounds) for name, rounds in results[REPLAY].items()}
    print_sizes("stopped, until it answers again", medians, [ROWS, FILES],
                f"seconds, {options.replay_jobs:,} jobs of 10 bytes", decimals=2)
    print_sizes("until one that follows has all", {
        ROWS: statistics.median(results[CATCH_UP][ROWS])}, [ROWS], "seconds, the same jobs",
        decimals=2)
    print()
    takeover.print_takeovers(results, ROWS)


def figures_for_shards(results):
    """The figures for shards.py. Of the database's time some goes by commits and some by jobs:
    the least and the most connections tell them apart."""
    few, many = [results[puts_title(count)][ROWS] for count in (CONNECTIONS[0], CONNECTIONS[-1])]
    each, batch = [[median(rounds, key) for rounds in (few, many)] for key in (DATABASE, BATCH)]
    commit = max(each[0] - each[1], 0) / (1 / batch[0] - 1 / batch[1])
    return {"syncs": median(results[SYNCS]["disk"], "rate"),
            "put_us": median(many, "server_cpu_us"), "commit_us": commit,
            "row_us": max(each[1] - commit / batch[1], 0)}
