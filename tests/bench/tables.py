# SPDX-License-Identifier: MIT
"""The results, as tables."""

import statistics

from floor import NAME as FLOOR

COLUMNS = ["rate", "server_cpu_us", "p50_us", "p99_us", "p999_us"]
OURS = "tandemd"
# How busy a core is whose server could not have done more.
BUSY = 0.95


def median(rounds, key):
    return statistics.median(one[key] for one in rounds)


def spread(rounds, key):
    """Half of the range, in percent of the median."""
    values = [one[key] for one in rounds]
    middle = statistics.median(values)
    return 50 * (max(values) - min(values)) / middle if middle else 0


def ratio(ours, theirs, key):
    """As text; there is none to what was not measured."""
    divisor = median(theirs, key)
    return f"{median(ours, key) / divisor:.2f}" if divisor else "-"


def print_speed(results):
    print(f"{'':36}{'server':12}{'jobs/s':>9}{'+-':>5}{'cpu us/job':>12}{'+-':>5}"
          f"{'p50 us':>9}{'p99 us':>9}{'p99.9 us':>10}{'busy':>6} {'load':>6}{'MiB':>8}")
    for title, by_server in results.items():
        servers = list(by_server)
        for name in servers:
            rounds = by_server[name]
            rate, cpu, *latencies = [median(rounds, key) for key in COLUMNS]
            busy = median(rounds, "server_busy")
            print(f"{title if name == servers[0] else '':36}{name:12}{rate:9.0f}"
                  f"{spread(rounds, 'rate'):4.0f}%{cpu:12.2f}"
                  f"{spread(rounds, 'server_cpu_us'):4.0f}%"
                  f"{latencies[0]:9.0f}{latencies[1]:9.0f}{latencies[2]:10.0f}"
                  f"{100 * busy:5.0f}%{'*' if busy < BUSY else ' '}"
                  f"{100 * median(rounds, 'load_busy'):5.0f}%"
                  f"{median(rounds, 'resident') / 2**20:8.1f}")
        print_ratios(by_server, servers)
    print("+-: half the range of the rounds. *: the server's core was less than 95 % busy, so the\n"
          "rate is not the server's limit: compare the CPU time per job. load: how busy the core\n"
          "of the load generator was. MiB: resident at the end, which after puts grows with the\n"
          "number of jobs that were put. All threads of a server share its core.\n"
          + ("" if not any(FLOOR in by_server for by_server in results.values()) else
             "floor: a server that reads and writes as often as the protocol needs at least, and\n"
             "does nothing else. Beside drains, and workers that grab, it answers puts: those are\n"
             "one read and one write, too. Its latency of a hand-over is not known (0).\n"))


def print_ratios(by_server, servers):
    first = by_server[servers[0]]
    for other in servers[1:]:
        rate, cpu, *latencies = [ratio(first, by_server[other], key) for key in COLUMNS]
        print(f"{'ratio to ':>36}{other:12}{rate:>9}{'':5}{cpu:>12}{'':5}"
              f"{latencies[0]:>9}{latencies[1]:>9}{latencies[2]:>10}")
    if len(servers) > 1:
        print()


def durable_bound(connections, by_server, disk):
    """Acknowledged puts a second that the disk allows, or the rate in memory where that is less."""
    return min(connections * median(disk, "rate"), median(by_server["in memory"], "rate"))


def print_disk(results, disk, servers):
    """Each server's puts, told after a sync, beside what its disk can do."""
    print(f"{'fsync = always, 1 in flight':30}{'syncs/s':>9}{'+-':>5}{'bound':>9}"
          + "".join(f"{name:>12}" for name in servers) + f"{'puts/sync':>11}")
    for connections, by_server in results.items():
        syncs = median(disk[connections], "rate")
        print(f"{format(connections) + ' connections':30}{syncs:9.0f}"
              f"{spread(disk[connections], 'rate'):4.0f}%"
              f"{durable_bound(connections, by_server, disk[connections]):9.0f}"
              + "".join(f"{median(by_server[name], 'rate'):12.0f}" for name in servers)
              + f"{median(by_server[servers[0]], 'rate') / syncs:11.1f}")
    print("syncs/s: of the disk, for as many records as there are connections. bound: the smaller\n"
          "of connections x syncs/s and the rate in memory. puts/sync: those of "
          f"{servers[0]}.\n")


def print_replay(results, servers, jobs):
    medians = {name: statistics.median(results[name]) for name in servers}
    print_sizes("killed, until it answers again", medians, servers,
                f"seconds, {jobs:,} jobs of 10 bytes", decimals=2)
    print()


def print_neighbours(results, servers):
    print(f"{'beside':52}{'server':12}{'jobs/s':>9}{'share':>7}{'cpu us/job':>12}{'share':>7}"
          f"{'busy':>6}")
    alone, load = None, None
    for title, by_server in results.items():
        if title.partition(": ")[0] != load:
            alone, load = by_server, title.partition(": ")[0]
        for name in servers:
            rate, cpu = [median(by_server[name], key) for key in COLUMNS[:2]]
            busy = median(by_server[name], "server_busy")
            print(f"{title if name == servers[0] else '':52}{name:12}{rate:9.0f}"
                  f"{rate / median(alone[name], 'rate'):7.2f}{cpu:12.2f}"
                  f"{cpu / median(alone[name], 'server_cpu_us'):7.2f}"
                  f"{100 * busy:5.0f}%{'*' if busy < BUSY else ''}")
    print("share: of the same with nothing else there.\n")


def print_keys(results, servers):
    """Prints no line for a server that was not measured with that number of jobs."""
    print("background with a unique each, 50 connections, 16 in flight\n"
          f"{'jobs queued up to':36}{'server':12}{'jobs/s':>9}{'+-':>5}{'cpu us/job':>12}{'+-':>5}"
          f"{'MiB':>8}")
    for queued, by_server in results.items():
        measured = [name for name in servers if name in by_server]
        for name in measured:
            rounds = by_server[name]
            print(f"{format(queued, ',') if name == measured[0] else '':36}{name:12}"
                  f"{median(rounds, 'rate'):9.0f}{spread(rounds, 'rate'):4.0f}%"
                  f"{median(rounds, 'server_cpu_us'):12.2f}"
                  f"{spread(rounds, 'server_cpu_us'):4.0f}%"
                  f"{median(rounds, 'resident') / 2**20:8.1f}")
    print()


def print_sizes(title, by_server, servers, unit, decimals=1):
    row = "".join(f"{name} {by_server[name]:.{decimals}f}   " for name in servers)
    ratio = (f"ratio {by_server[servers[0]] / by_server[servers[1]]:.2f}"
             if len(servers) == 2 and by_server[servers[1]] else "")
    print(f"{title:36}{row}{ratio}   ({unit})")


def print_posts(results):
    print(f"{'wrk, 1 thread, 50 connections':34}{'server':12}{'req/s':>9}{'+-':>5}"
          f"{'cpu us/req':>12}{'+-':>5}{'p50 us':>9}{'p99 us':>9}{'p99.9 us':>10}{'busy':>6} "
          f"{'errors':>7}{'MiB':>8}")
    for title, by_server in results.items():
        servers = list(by_server)
        for name in servers:
            rounds = by_server[name]
            busy = median(rounds, "server_busy")
            print(f"{title if name == servers[0] else '':34}{name:12}"
                  f"{median(rounds, 'rate'):9.0f}{spread(rounds, 'rate'):4.0f}%"
                  f"{median(rounds, 'server_cpu_us'):12.2f}"
                  f"{spread(rounds, 'server_cpu_us'):4.0f}%{median(rounds, 'p50_us'):9.0f}"
                  f"{median(rounds, 'p99_us'):9.0f}{median(rounds, 'p999_us'):10.0f}"
                  f"{100 * busy:5.0f}%{'*' if busy < BUSY else ' '}"
                  f"{sum(one['errors'] for one in rounds):7.0f}"
                  f"{median(rounds, 'resident') / 2**20:8.1f}")
        print_post_ratios(by_server, servers)
    print("gearmand hangs up behind each answer, so wrk reconnects for each request, which it\n"
          "counts in no latency. busy: the server's core, which all its threads share; wrk and\n"
          "the workers share the other. *: it was less than 95 % busy: compare the CPU time.\n")


def print_post_ratios(by_server, servers):
    for other in servers[1:]:
        rate, cpu, *latencies = [ratio(by_server[servers[0]], by_server[other], key)
                                 for key in COLUMNS]
        print(f"{'ratio to ':>34}{other:12}{rate:>9}{'':5}{cpu:>12}{'':5}"
              f"{latencies[0]:>9}{latencies[1]:>9}{latencies[2]:>10}")
    if len(servers) > 1:
        print()
