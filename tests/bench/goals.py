# SPDX-License-Identifier: MIT
"""The goals, and the results beside them. A rate counts as the server's where its core was busy;
where one of two was not, their CPU time per job is compared instead. Beside a goal that was missed
stands what the floor reaches in our place, so that one that no server can reach shows as such."""

import statistics

import cases
import cluster
import durable
import encrypted
import posts
import started
import takeover
import threads
import turns
import watched
from floor import NAME as FLOOR
from tables import BUSY, OURS, durable_bound, median

PEER, NGINX = "beanstalkd", "nginx"


def by_cpu(*measured):
    return any(median(rounds, "server_busy") < BUSY for rounds in measured)


def capacity(rounds, compare_cpu):
    return 1e6 / median(rounds, "server_cpu_us") if compare_cpu else median(rounds, "rate")


def faster(ours, theirs):
    """(how many times as fast, whether by CPU time)"""
    cpu = by_cpu(ours, theirs)
    return capacity(ours, cpu) / capacity(theirs, cpu), cpu


#
# How a goal is found: each of these makes a function of what was measured and of whose number is
# wanted, ours or the floor's. It raises KeyError where there is none.
#


def than(title, name):
    """The speed as a share of another server's, which has no share itself."""
    def reached(by_title, who):
        if who == name:
            raise KeyError(who)
        return faster(by_title[title][who], by_title[title][name])
    return reached


def than_gearmand(title):
    """The speed as a share of the faster gearmand that was measured."""
    def reached(by_title, who):
        return min(faster(by_title[title][who], rounds)
                   for name, rounds in by_title[title].items() if name.startswith("gearmand"))
    return reached


def of_third(by_title, who):
    """A cycle is three requests: it can be a third as fast as the floor's puts."""
    share, cpu = faster(by_title[cases.CYCLE_50][who], by_title[cases.PUT_1][FLOOR])
    return 3 * share, cpu


def of_own(title, other):
    return lambda by_title, who: faster(by_title[title][who], by_title[other][who])


def drain_against_equal(by_title, who):
    """Ours of random priorities, theirs of equal ones."""
    return faster(by_title[cases.DRAIN_RANDOM][who], by_title[cases.DRAIN_EQUAL][PEER])


def worst_beside(by_title, who):
    worst = (float("inf"), False)
    for title, by_server in by_title.items():
        load = title.partition(": ")[0]
        alone = by_title[f"{load}: {cases.ALONE}"][who]
        worst = min(worst, faster(by_server[who], alone))
    return worst


def last_of_first(by_queued, who):
    steps = [by_queued[queued][who] for queued in sorted(by_queued) if who in by_queued[queued]]
    if not steps:
        raise KeyError(who)
    return faster(steps[-1], steps[0])


def all_keys(by_queued):
    return f"with a unique each, {max(by_queued):,} queued"


def share_of(title, key, others):
    """The number as a share of the least of theirs; not for rates."""
    def reached(by_title, who):
        by_server = by_title[title]
        least = min(median(rounds, key) for name, rounds in by_server.items()
                    if name.startswith(others))
        return median(by_server[who], key) / least, False
    return reached


def of_disk(connections):
    """Of what the disk allows, or of what we do without one where that is less."""
    def reached(by_title, who):
        by_server = by_title[durable.always_title(connections)]
        disk = by_title[durable.syncs_title(connections)]["disk"]
        bound = durable_bound(connections, by_server, disk)
        return median(by_server[who], "rate") / bound, False
    return reached


def acknowledged(connections):
    """Rates only: the server that waits for its disk is not busy, and need not be."""
    def reached(by_title, who):
        by_server = by_title[durable.always_title(connections)]
        return median(by_server[who], "rate") / median(by_server[PEER], "rate"), False
    return reached


def of_replay(by_title, who):
    times = by_title[durable.REPLAY]
    return statistics.median(times[who]) / statistics.median(times[PEER]), False


def own_number(*path):
    def reached(content, who):
        for key in path:
            content = content[key]
        return content[who], False
    return reached


def beside(title, name, key, other, other_key):
    """A figure of ours, by the name of what it was measured with, as a share of another's."""
    def reached(by_title, who):
        if who != OURS:
            raise KeyError(who)
        by_server = by_title[title]
        return median(by_server[name], key) / median(by_server[other], other_key), False
    return reached


def with_threads(title, key):
    """CPU time with I/O threads as a share of what one thread needs."""
    return beside(title, threads.WITH_THREADS, key, OURS, "server_cpu_us")


def in_figures(title, key):
    return lambda by_title, who: (median(by_title[title][who], key), False)


LEAST, MOST = ">=", "<="


def durable_goals(connections):
    title = durable.always_title(connections)
    return [("durable", title, "of disk or memory", LEAST, 0.8, of_disk(connections)),
            ("durable", title, "x beanstalkd", LEAST, 1, acknowledged(connections))]


# Of what one thread needs, how much at the most: the busiest one, the core's, all together.
SHARES = {
    **dict.fromkeys(["put-1000", "cycle-1000", "foreground-1000", "post-1000"],
                    (0.55, 0.25, 1.15)),
    **dict.fromkeys(["put-50", "cycle-50", "pairs-50", "foreground-50", "post-50"],
                    (0.7, 0.3, 1.4)),
}
WHOSE = [("busiest_us", "busiest, of one thread"), ("core_us", "core's, of one thread"),
         ("server_cpu_us", "all, of one thread")]
LONE = ["put-1", "foreground-1"]
# Two servers are equally fast if they differ by no more than rounds do.
NOISE = 1.03


def thread_goals():
    for key, load in threads.LOADS.items():
        for share, (whose, what) in zip(SHARES.get(key, ()), WHOSE):
            yield load.title, what, MOST, share, with_threads(load.title, whose)
        if key in LONE:
            yield (load.title, "p50, of one thread's", MOST, 1.05,
                   beside(load.title, threads.WITH_THREADS, "p50_us", OURS, "p50_us"))
        yield (load.title, "one thread, of before", MOST, NOISE,
               beside(load.title, OURS, "server_cpu_us", started.BEFORE, "server_cpu_us"))
    short, trips = [threads.LOADS[key].title for key in (threads.SHORT, threads.TRIPS)]
    yield short, "us of CPU, one thread", MOST, 28, in_figures(short, "server_cpu_us")
    yield short, "busiest, of one thread", MOST, 0.6, with_threads(short, "busiest_us")
    for count in threads.GEARMAND_THREADS:
        yield (trips, f"busiest, of gearmand -t {count}", MOST, 0.5,
               beside(trips, threads.WITH_THREADS, "busiest_us", f"gearmand-t{count}",
                      "busiest_us"))
    for count in set(threads.GEARMAND_THREADS) - {threads.IO_THREADS}:
        yield (trips, f"of {count}, of gearmand -t {count}", MOST, 0.5,
               beside(trips, threads.with_io(count), "busiest_us", f"gearmand-t{count}",
                      "busiest_us"))


def tls_goals():
    for title, most in ((encrypted.PUT, 1.6), (encrypted.RESULTS, 2.5)):
        yield (title, "TLS, of plain", MOST, most,
               beside(title, encrypted.TLS, "server_cpu_us", OURS, "server_cpu_us"))
    yield (encrypted.PUT, "stunnel's CPU, of TLS", LEAST, 3,
           beside(encrypted.PUT, encrypted.STUNNEL, "server_cpu_us", encrypted.TLS,
                  "server_cpu_us"))


def for_watchers(title):
    """The part of a core, which clients lose if it is busy."""
    def reached(by_title, who):
        if who != OURS:
            raise KeyError(who)
        return watched.of_core(by_title[title][watched.WATCHED], by_title[title][OURS]), False
    return reached


def puts_than(connections, title, name):
    """Rates: of puts that are committed to PostgreSQL, by what else was measured."""
    def reached(by_title, who):
        if who != OURS:
            raise KeyError(who)
        rounds = by_title[cluster.puts_title(connections)][cluster.ROWS]
        return median(rounds, "rate") / median(by_title[title][name], "rate"), False
    return reached


def of_files(title):
    """The time until all jobs are there, as a share of that of a start with files."""
    def reached(by_title, who):
        if who != OURS:
            raise KeyError(who)
        return (statistics.median(by_title[title][cluster.ROWS])
                / statistics.median(by_title[cluster.REPLAY][cluster.FILES])), False
    return reached


def worst_of(title):
    def reached(by_title, who):
        if who != OURS:
            raise KeyError(who)
        return max(by_title[title][cluster.ROWS]), False
    return reached


def cluster_goals():
    one, most = cluster.insert_name(1), cluster.puts_title(500)
    yield (cluster.puts_title(50), "x one INSERT for each", LEAST, 20, puts_than(50, one, one))
    yield most, "of files", LEAST, 0.5, puts_than(500, most, cluster.FILES)
    for title in (cluster.REPLAY, cluster.CATCH_UP):
        yield title, "of a start with files", MOST, 2, of_files(title)
    for way, seconds in ((takeover.KILL, 6), (takeover.STOP, 1), (takeover.HANDOVER, 1)):
        yield takeover.title(way), "seconds at worst", MOST, seconds, worst_of(takeover.title(way))


# Part, case (or what tells it by what was measured), what is compared, at least or at most, the
# goal, how it is found.
GOALS = [
    ("speed", cases.PUT_1, "of the floor", LEAST, 0.92, than(cases.PUT_1, FLOOR)),
    ("speed", cases.PUT_16, "of the floor", LEAST, 0.7, than(cases.PUT_16, FLOOR)),
    ("speed", cases.PUT_16, "x beanstalkd", LEAST, 9, than(cases.PUT_16, PEER)),
    ("speed", cases.CYCLE_50, "of a third of the floor", LEAST, 0.95, of_third),
    ("speed", cases.CYCLE_1000, "x beanstalkd", LEAST, 1.7, than(cases.CYCLE_1000, PEER)),
    ("speed", cases.CYCLE_1000, "of ours at 50", LEAST, 0.9,
     of_own(cases.CYCLE_1000, cases.CYCLE_50)),
    ("speed", cases.PAIRS, "x beanstalkd", LEAST, 1.7, than(cases.PAIRS, PEER)),
    ("speed", cases.PAIRS, "of beanstalkd's CPU", MOST, 0.5,
     share_of(cases.PAIRS, "server_cpu_us", PEER)),
    ("speed", cases.DRAIN_RANDOM, "x beanstalkd, equal ones", LEAST, 1.6, drain_against_equal),
    ("neighbours", "the worst of these", "of the same alone", LEAST, 0.95, worst_beside),
    ("gearman-speed", cases.SUBMIT_1, "of the floor", LEAST, 0.92, than(cases.SUBMIT_1, FLOOR)),
    ("gearman-speed", cases.SUBMIT_16, "of the floor", LEAST, 0.65,
     than(cases.SUBMIT_16, FLOOR)),
    ("gearman-speed", cases.SUBMIT_16, "x gearmand", LEAST, 6, than_gearmand(cases.SUBMIT_16)),
    ("gearman-keys", all_keys, "of the first step", LEAST, 0.8, last_of_first),
    ("gearman-speed", cases.WORKERS_50, "x gearmand", LEAST, 4.5,
     than_gearmand(cases.WORKERS_50)),
    ("gearman-speed", cases.TRIPS_50, "x gearmand", LEAST, 1.6, than_gearmand(cases.TRIPS_50)),
    ("gearman-speed", cases.TRIPS_50, "of gearmand's p99.9", MOST, 0.2,
     share_of(cases.TRIPS_50, "p999_us", "gearmand")),
    ("gearman-speed", cases.TRIPS_1, "x gearmand", LEAST, 1.2, than_gearmand(cases.TRIPS_1)),
    ("gearman-speed", cases.TRIPS_1, "of gearmand's CPU", MOST, 0.5,
     share_of(cases.TRIPS_1, "server_cpu_us", "gearmand")),
    ("http", posts.BACKGROUND_64, "x gearmand", LEAST, 6,
     than_gearmand(posts.BACKGROUND_64)),
    ("http", posts.BACKGROUND_64, "of nginx", LEAST, 0.75, than(posts.BACKGROUND_64, NGINX)),
    *[("threads", *goal) for goal in thread_goals()],
    *[("tls", *goal) for goal in tls_goals()],
    *[goal for connections in durable.CONNECTIONS for goal in durable_goals(connections)],
    ("durable", "back after a kill -9", "of beanstalkd's time", MOST, 0.33, of_replay),
    *[("cluster", *goal) for goal in cluster_goals()],
    ("memory", "a waiting job of 10 bytes", "bytes", MOST, 130, own_number()),
    ("idle", "an idle connection", "bytes", MOST, 700, own_number()),
    ("calls", "lone put", "system calls", MOST, 3, own_number("lone put")),
    ("calls", "put, batches of 64", "system calls", MOST, 0.1, own_number("put, batches of 64")),
    ("turns", "the longest turn", "ms of CPU time", MOST, 5, own_number(turns.LONGEST)),
    *[("watched", title, "of a core, for who looks", MOST, 0.02, for_watchers(title))
      for title in watched.LOADS],
]


def floor_reaches(content, find):
    """Empty where the floor was not measured, or is what we are compared with."""
    try:
        reached, _ = find(content, FLOOR)
    except (KeyError, ValueError):
        return ""
    return f"; the floor reaches {reached:.2f}"


def lines(kept):
    """None for what was not measured, or not with the server of the comparison."""
    for part, title, what, sense, goal, find in GOALS:
        try:
            reached, cpu = find(kept[part], OURS)
        except (KeyError, ValueError):
            continue
        title = title(kept[part]) if callable(title) else title
        reached = round(reached, 2)
        met = reached >= goal if sense == LEAST else reached <= goal
        yield (f"{title:46}{what:26}{sense + ' ' + format(goal, 'g'):>10}{reached:10.2f}  "
               f"{'met' if met else 'missed'}{', by CPU time per job' if cpu else ''}"
               f"{'' if met else floor_reaches(kept[part], find)}")


def print_goals(kept):
    found = list(lines(kept))
    if found:
        print("\n".join([f"{'':46}{'':26}{'goal':>10}{'reached':>10}", *found, ""]))
