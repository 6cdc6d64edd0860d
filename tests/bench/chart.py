#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws what rows.py has written: jobs a second of the chosen cases, a bar for each server, and a
line where the floor is. Each case has a scale of its own, on which the fastest is as long as there
is room. Readable on light and on dark pages.

usage: chart.py CSV SVG"""

import html
import itertools
import pathlib
import sys

sys.dont_write_bytecode = True

import cases
import durable
import posts
import rows
from floor import NAME as FLOOR

# The bars, the part of each, and its heading. All other results is in the tables.
CHOSEN = {
    "speed": ("beanstalk protocol, jobs a second",
              [cases.PUT_1, cases.PUT_16, cases.CYCLE_50, cases.CYCLE_1000, cases.PAIRS,
               cases.DRAIN_RANDOM]),
    "gearman-speed": ("Gearman protocol, jobs a second",
                      [cases.SUBMIT_1, cases.SUBMIT_16, cases.WORKERS_50, cases.TRIPS_50]),
    "http": ("HTTP, 50 connections, requests a second",
             [posts.BACKGROUND_64, posts.FOREGROUND_64]),
    "durable": ("beanstalk protocol with a journal, jobs a second",
                [*map(durable.always_title, durable.CONNECTIONS),
                 durable.relaxed_title("50 ms", 16)]),
}
# A name and a colour for each server, on light and on dark pages.
SERVERS = {"tandemd": ("Tandem", "#0969da", "#58a6ff"),
           "beanstalkd": ("beanstalkd", "#bc6c00", "#e3a04a"),
           "gearmand-t1": ("gearmand, 1 thread", "#8250df", "#bc8cff"),
           "gearmand-t4": ("gearmand, 4 threads", "#bf5aa8", "#e58fd0"),
           "nginx": ("nginx, a fixed answer", "#1a7f37", "#56d364"),
           FLOOR: ("floor: a server that does nothing", "#cf222e", "#ff7b72")}
PAGES = [("#ffffff", "#1f2328", "#59636e"), ("#0d1117", "#e6edf3", "#9198a1")]
# Pixels.
WIDTH, MARGIN = 840, 16
BARS_AT, BARS_WIDTH = 280, 460
BAR, GAP, CASE_GAP, HEADING, LINE, TITLE = 13, 3, 14, 40, 18, 15
LETTER = 7  # of a legend, about


def style():
    def rules(place):
        bars = "".join(f".{name}{{fill:{colours[place]}}}"
                       for name, (_, *colours) in SERVERS.items())
        page, ink, quiet = PAGES[place]
        return f".page{{fill:{page}}}text{{fill:{ink}}}.quiet{{fill:{quiet}}}{bars}"

    return ("<style>text{font:12px system-ui,-apple-system,'Segoe UI',sans-serif}"
            ".head{font-weight:600;font-size:14px}"
            + rules(0) + "@media(prefers-color-scheme:dark){" + rules(1) + "}</style>")


def text(x, y, what, look="", anchor="start"):
    return (f'<text x="{x}" y="{y}" class="{look}" text-anchor="{anchor}">'
            f"{html.escape(what)}</text>")


def box(x, y, width, height, name):
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" class="{name}"/>'


def rate(row):
    return float(row["jobs_per_s"])


def draw_case(case, of_case, y):
    """(what is drawn, where it ends)"""
    scale = BARS_WIDTH / max(map(rate, of_case))
    bars = [row for row in of_case if row["server"] != FLOOR]
    height = len(bars) * (BAR + GAP) - GAP
    lines = [case]
    drawn = []
    for place, row in enumerate(bars):
        top = y + place * (BAR + GAP)
        drawn.append(box(BARS_AT, top, max(1, round(rate(row) * scale)), BAR, row["server"]))
        drawn.append(text(WIDTH - MARGIN, top + BAR - 2, f"{rate(row):,.0f}", anchor="end"))
    for row in of_case:
        if row["server"] == FLOOR:
            drawn.append(box(BARS_AT + round(rate(row) * scale) - 1, y - 3, 2, height + 6, FLOOR))
            lines.append(f"floor {rate(row):,.0f}")
    middle = y + height / 2 + 4 - TITLE / 2 * (len(lines) - 1)
    for place, line in enumerate(lines):
        drawn.append(text(BARS_AT - 10, middle + place * TITLE, line, "quiet" if place else "",
                          "end"))
    return drawn, y + height + CASE_GAP


def legend(names, y):
    """(what is drawn, where it ends)"""
    drawn, x = [], MARGIN
    for name in names:
        title = SERVERS[name][0]
        needed = 30 + LETTER * len(title)
        if x + needed > WIDTH - MARGIN:
            x, y = MARGIN, y + LINE
        drawn.append(box(x + (5 if name == FLOOR else 0), y - 11, 2 if name == FLOOR else 12, 13,
                         name))
        drawn.append(text(x + 18, y, title))
        x += needed
    return drawn, y


def chosen(all_rows):
    """The rows to draw, in the order of the lists above."""
    by_case = {}
    for row in all_rows:
        if row["server"] in SERVERS and row["jobs_per_s"]:
            by_case.setdefault((row["part"], row["case"]), []).append(row)
    names = list(SERVERS)
    for part, (_, titles) in CHOSEN.items():
        for title in titles:
            yield from sorted(by_case.get((part, title), []),
                              key=lambda row: names.index(row["server"]))


def draw(all_rows):
    """The chart, None where there is nothing to draw."""
    shown = list(chosen(all_rows))
    if not shown:
        return None
    names = [name for name in SERVERS if any(row["server"] == name for row in shown)]
    drawn, y = legend(names, MARGIN + 12)
    for part, of_part in itertools.groupby(shown, lambda row: row["part"]):
        drawn.append(text(MARGIN, y + HEADING - 12, CHOSEN[part][0], "head"))
        y += HEADING
        for case, of_case in itertools.groupby(of_part, lambda row: row["case"]):
            more, y = draw_case(case, list(of_case), y)
            drawn += more
    rounds = int(shown[0]["rounds"])
    drawn.append(text(MARGIN, y + LINE, "Longer is better, each case on its own scale. "
                      f"{'Medians of ' if rounds > 1 else ''}{rounds} round{'s' * (rounds > 1)}; "
                      "the server has one core, the load another.", "quiet"))
    height = round(y + LINE + MARGIN)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Jobs a second of each '
            f'server, case by case">\n' + style()
            + '\n<rect class="page" width="100%" height="100%"/>\n' + "\n".join(drawn)
            + "\n</svg>\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    drawn = draw(rows.read(sys.argv[1]))
    if drawn is None:
        sys.exit(f"{sys.argv[1]}: nothing to draw")
    pathlib.Path(sys.argv[2]).write_text(drawn)


if __name__ == "__main__":
    main()
