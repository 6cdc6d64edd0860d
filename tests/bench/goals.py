# SPDX-License-Identifier: MIT
"""What was to be reached, beside what was. A rate counts as the server's where its core was busy;
where one of two was not, their CPU time per job is compared instead."""

import cases
import turns
from tables import BUSY, OURS, median

PEER, FLOOR, NGINX = "beanstalkd", "floor", "nginx"


def by_cpu(*measured):
    return any(median(rounds, "server_busy") < BUSY for rounds in measured)


def capacity(rounds, compare_cpu):
    return 1e6 / median(rounds, "server_cpu_us") if compare_cpu else median(rounds, "rate")


def faster(ours, theirs):
    """(how many times as fast, whether by CPU time)"""
    cpu = by_cpu(ours, theirs)
    return capacity(ours, cpu) / capacity(theirs, cpu), cpu


def than(title, name, factor=1):
    """Our speed as a share of another's."""
    def reached(by_title):
        share, cpu = faster(by_title[title][OURS], by_title[title][name])
        return share * factor, cpu
    return reached


def than_gearmand(title):
    """The better one of those that were measured."""
    def reached(by_title):
        ours = by_title[title][OURS]
        return min(faster(ours, rounds) for name, rounds in by_title[title].items()
                   if name.startswith("gearmand"))
    return reached


def of_third(by_title):
    """A cycle is three requests: it can be a third as fast as the floor's puts."""
    share, cpu = faster(by_title[cases.CYCLE_50][OURS], by_title[cases.PUT_1][FLOOR])
    return 3 * share, cpu


def of_own(title, other):
    return lambda by_title: faster(by_title[title][OURS], by_title[other][OURS])


def drain_against_equal(by_title):
    """Ours of random priorities, theirs of equal ones."""
    return faster(by_title[cases.DRAIN_RANDOM][OURS], by_title[cases.DRAIN_EQUAL][PEER])


def worst_beside(by_title):
    worst = (float("inf"), False)
    for title, by_server in by_title.items():
        load = title.partition(": ")[0]
        alone = by_title[f"{load}: {cases.ALONE}"][OURS]
        worst = min(worst, faster(by_server[OURS], alone))
    return worst


def last_of_first(by_queued):
    steps = [by_queued[queued][OURS] for queued in sorted(by_queued)]
    return faster(steps[-1], steps[0])


def share_of(title, key, others):
    """Our number as a share of the least of theirs; not for rates."""
    def reached(by_title):
        by_server = by_title[title]
        least = min(median(rounds, key) for name, rounds in by_server.items()
                    if name.startswith(others))
        return median(by_server[OURS], key) / least, False
    return reached


def own_number(*path):
    def reached(content):
        for key in path:
            content = content[key]
        return content[OURS], False
    return reached


LEAST, MOST = ">=", "<="
HTTP = "background, 64 bytes, no workers"

# Part, case, what is compared, at least or at most, the goal, how it is found.
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
    ("gearman-keys", "with uniques, all queued", "of the first step", LEAST, 0.8, last_of_first),
    ("gearman-speed", cases.WORKERS_50, "x gearmand", LEAST, 4.5,
     than_gearmand(cases.WORKERS_50)),
    ("gearman-speed", cases.TRIPS_50, "x gearmand", LEAST, 1.6, than_gearmand(cases.TRIPS_50)),
    ("gearman-speed", cases.TRIPS_50, "of gearmand's p99.9", MOST, 0.2,
     share_of(cases.TRIPS_50, "p999_us", "gearmand")),
    ("gearman-speed", cases.TRIPS_1, "x gearmand", LEAST, 1.2, than_gearmand(cases.TRIPS_1)),
    ("gearman-speed", cases.TRIPS_1, "of gearmand's CPU", MOST, 0.5,
     share_of(cases.TRIPS_1, "server_cpu_us", "gearmand")),
    ("http", HTTP, "x gearmand", LEAST, 6, than_gearmand(HTTP)),
    ("http", HTTP, "of nginx", LEAST, 0.75, than(HTTP, NGINX)),
    ("memory", "a waiting job of 10 bytes", "bytes", MOST, 130, own_number()),
    ("idle", "an idle connection", "bytes", MOST, 700, own_number()),
    ("calls", "lone put", "system calls", MOST, 3, own_number("lone put")),
    ("turns", "the longest turn", "ms of CPU time", MOST, 5, own_number(turns.LONGEST)),
    ("calls", "put, batches of 64", "system calls", MOST, 0.1, own_number("put, batches of 64")),
]


def lines(kept):
    """None for what was not measured, or not with the server of the comparison."""
    for part, title, what, sense, goal, find in GOALS:
        try:
            reached, cpu = find(kept[part])
        except (KeyError, ValueError):
            continue
        reached = round(reached, 2)
        met = reached >= goal if sense == LEAST else reached <= goal
        yield (f"{title:46}{what:26}{sense + ' ' + format(goal, 'g'):>10}{reached:10.2f}  "
               f"{'met' if met else 'missed'}{', by CPU time per job' if cpu else ''}")


def print_goals(kept):
    found = list(lines(kept))
    if found:
        print("\n".join([f"{'':46}{'':26}{'goal':>10}{'reached':>10}", *found, ""]))
