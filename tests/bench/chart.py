#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws what rows.py has written: jobs a second, a bar for each server, the longest of a case as
long as there is room. Readable on light and on dark pages.

usage: chart.py CSV SVG"""

import html
import itertools
import pathlib
import sys

sys.dont_write_bytecode = True

import rows

HEADINGS = {"speed": "beanstalk protocol", "gearman-speed": "Gearman protocol",
            "http": "HTTP, 50 connections", "durable": "With a journal"}
# A colour for each server, on light and on dark pages.
COLOURS = {"tandemd": ("#0969da", "#58a6ff"), "beanstalkd": ("#bc6c00", "#e3a04a"),
           "gearmand-t1": ("#8250df", "#bc8cff"), "gearmand-t4": ("#bf5aa8", "#e58fd0"),
           "nginx": ("#1a7f37", "#56d364"), "floor": ("#8c959f", "#6e7681"),
           "in memory": ("#80b5f0", "#2f5d92")}
PAGES = [("#ffffff", "#1f2328", "#59636e"), ("#0d1117", "#e6edf3", "#9198a1")]
WIDTH, MARGIN = 880, 16
BARS_AT, BARS_WIDTH = 320, 380
BAR, GAP, CASE_GAP, HEADING = 12, 3, 12, 36


def style():
    def rules(place):
        bars = "".join(f".{kind(name)}{{fill:{colours[place]}}}"
                       for name, colours in COLOURS.items())
        page, ink, quiet = PAGES[place]
        return f".page{{fill:{page}}}text{{fill:{ink}}}.quiet{{fill:{quiet}}}{bars}"

    return ("<style>text{font:12px system-ui,sans-serif}.head{font-weight:600;font-size:15px}"
            + rules(0) + "@media(prefers-color-scheme:dark){" + rules(1) + "}</style>")


def kind(name):
    """The class of a server's bars."""
    return name.replace(" ", "-")


def text(x, y, what, look="", anchor="start"):
    return (f'<text x="{x}" y="{y}" class="{look}" text-anchor="{anchor}">'
            f"{html.escape(what)}</text>")


def bar(row, y, longest):
    rate = float(row["jobs_per_s"])
    width = max(1, round(BARS_WIDTH * rate / longest))
    busy = ("" if row["limit"] != "elsewhere" else
            f" ({100 * float(row['server_busy']):.0f} %, {float(row['cpu_us_per_job']):.1f} us)")
    return (f'<rect x="{BARS_AT}" y="{y}" width="{width}" height="{BAR}" rx="2" '
            f'class="{kind(row["server"])}"/>'
            + text(BARS_AT + width + 6, y + BAR - 2, f"{rate:,.0f}{busy}", "quiet"))


def draw_case(case, of_case, y):
    """(what is drawn, where it ends)"""
    longest = max(float(row["jobs_per_s"]) for row in of_case)
    height = len(of_case) * (BAR + GAP)
    drawn = [text(BARS_AT - 10, y + height / 2 + 3, case, anchor="end")]
    for place, row in enumerate(of_case):
        drawn.append(bar(row, y + place * (BAR + GAP), longest))
    return drawn, y + height + CASE_GAP


def legend(names, y):
    drawn, x = [], MARGIN
    for name in names:
        drawn.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" rx="2" '
                     f'class="{kind(name)}"/>')
        drawn.append(text(x + 18, y, name))
        x += 40 + 7 * len(name)
    drawn.append(text(WIDTH - MARGIN, y, "jobs a second", "quiet", "end"))
    return drawn


def draw(all_rows):
    """The chart, None where there is nothing to draw."""
    shown = [row for row in all_rows if row["part"] in HEADINGS
             and row["jobs_per_s"] and row["server"] in COLOURS]
    if not shown:
        return None
    names = [name for name in COLOURS if any(row["server"] == name for row in shown)]
    drawn, y = legend(names, MARGIN + 12), MARGIN + 20
    for part, of_part in itertools.groupby(shown, lambda row: row["part"]):
        drawn.append(text(MARGIN, y + HEADING - 14, HEADINGS[part], "head"))
        y += HEADING
        for case, of_case in itertools.groupby(of_part, lambda row: row["case"]):
            more, y = draw_case(case, list(of_case), y)
            drawn += more
    if any(row["limit"] == "elsewhere" for row in shown):
        drawn.append(text(MARGIN, y + 10, "In brackets, where the rate is not the server's limit: "
                          "how busy its core was, and its CPU time for each job", "quiet"))
        y += 16
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + MARGIN}" '
            f'viewBox="0 0 {WIDTH} {y + MARGIN}" role="img" aria-label="Jobs a second of each '
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
