# SPDX-License-Identifier: MIT
"""Everything that was measured as rows, one for each case and server, to keep and to draw."""

import csv

from tables import BUSY, OURS, median, spread

TIMES = {"p50_us": "p50_us", "p99_us": "p99_us", "p999_us": "p999_us",
         "server_cpu_us": "cpu_us_per_job", "busiest_us": "busiest_us_per_job",
         "core_us": "core_us_per_job", "server_busy": "server_busy", "load_busy": "load_busy",
         "resident": "resident_bytes"}
COLUMNS = ["part", "case", "server", "rounds", "jobs_per_s", "spread_percent",
           *TIMES.values(), "cpu_spread_percent", "limit", "value", "our_rate_to_it",
           "our_cpu_to_it"]


def walk(path, node):
    """(part, case, {server: what was measured of it}), however deep it stands."""
    if any(isinstance(value, dict) for value in node.values()):
        for key, value in node.items():
            yield from walk([*path, str(key)], value)
    else:
        yield path[0], ", ".join(path[1:]), node


def speed_row(rounds):
    row = {column: round(median(rounds, key), 4)
           for key, column in TIMES.items() if key in rounds[0]}
    row["jobs_per_s"] = round(median(rounds, "rate"), 1)
    row["spread_percent"] = round(spread(rounds, "rate"), 1)
    if "server_busy" in rounds[0]:
        row["cpu_spread_percent"] = round(spread(rounds, "server_cpu_us"), 1)
        row["limit"] = "server" if row["server_busy"] >= BUSY else "elsewhere"
    return row


def with_ratios(row, ours):
    for key, column in (("rate", "our_rate_to_it"), ("server_cpu_us", "our_cpu_to_it")):
        its = row.get("jobs_per_s" if key == "rate" else TIMES[key])
        if ours and its and key in ours[0]:
            row[column] = round(median(ours, key) / its, 3)
    return row


def row_of(measured, ours):
    if not isinstance(measured, list):
        return {"value": round(measured, 3), "rounds": 1}
    if not isinstance(measured[0], dict):
        return {"value": round(sorted(measured)[len(measured) // 2], 3), "rounds": len(measured)}
    return with_ratios({"rounds": len(measured), **speed_row(measured)}, ours)


def rows_of(kept):
    for part, content in kept.items():
        for _, case, by_server in walk([part], content):
            ours = by_server.get(OURS)
            ours = ours if isinstance(ours, list) and isinstance(ours[0], dict) else None
            for name, measured in by_server.items():
                yield {**dict.fromkeys(COLUMNS, ""), "part": part, "case": case, "server": name,
                       **row_of(measured, ours)}


def write(path, kept):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows_of(kept))


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
