#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions of each operation, and compares them with the figures in the tree.

A case runs with N operations and with 2 N. The difference is the cost of N operations without the
cost of starting. The test fails if a case exceeds its figure by more than the tolerance. The same
compiler makes the same instructions; another compiler needs a wider tolerance."""

import argparse
import os
import pathlib
import re
import subprocess
import sys

FIGURES = pathlib.Path(__file__).with_name("figures")
COUNT = 2000

# The C library selects its copying functions by processor. These settings make it use the baseline
# functions on each machine, so that the counts are equal.
TUNABLES = "glibc.cpu.hwcaps=" + ",".join(f"-{capability}" for capability in (
    "AVX_Fast_Unaligned_Load", "AVX2_Usable", "AVX2", "AVX512F", "AVX512VL", "EVEX", "ERMS", "FSRM",
    "SSE4_1", "SSE4_2", "SSSE3", "Fast_Unaligned_Copy"))


def collect(options, case, count):
    """Returns the instructions that `count` operations take."""
    done = subprocess.run(
        [options.valgrind, "--tool=callgrind", "--callgrind-out-file=/dev/null",
         "--toggle-collect=host_turn", options.program, case, str(count)],
        env={**os.environ, "GLIBC_TUNABLES": TUNABLES}, text=True, capture_output=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found or int(found.group(1)) == 0:
        sys.exit(f"{case}: nothing was counted\n{done.stdout}{done.stderr}")
    return int(found.group(1))


def measure(options, case):
    return round((collect(options, case, 2 * COUNT) - collect(options, case, COUNT)) / COUNT)


def read_figures():
    lines = [line.split() for line in FIGURES.read_text().splitlines() if line[:1] not in ("", "#")]
    return {name: int(figure) for name, figure in lines}


def write_figures(figures):
    head = [line for line in FIGURES.read_text().splitlines() if line.startswith("#")]
    FIGURES.write_text("\n".join(head + [f"{name} {n}" for name, n in figures.items()]) + "\n")


def compare(case, old, new, tolerance):
    """Prints a row. Returns True if the case exceeds its figure or has none."""
    if old is None:
        print(f"{case:34} {'-':>8} {new:>8}  has no figure")
        return True
    change = new / old - 1
    remark = ""
    if change > tolerance:
        remark = "  too far above its figure"
    elif change < -tolerance:
        remark = "  far below its figure: write the new figure"
    print(f"{case:34} {old:>8} {new:>8} {100 * change:>+7.1f} %{remark}", flush=True)
    return change > tolerance


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True,
                        help="the program `instruction_budget` of a release build")
    parser.add_argument("--valgrind", default="valgrind")
    parser.add_argument("--tolerance", default=2, type=float, help="percent; default: 2")
    parser.add_argument("--write", action="store_true", help="write the new figures to the file")
    parser.add_argument("cases", nargs="*", help="only these")
    options = parser.parse_args()

    names = subprocess.run([options.program], check=True, text=True, capture_output=True).stdout
    names = names.split()
    figures = read_figures()
    print(f"{'instructions for each':34} {'figure':>8} {'now':>8}")
    new = {}
    exceeded = False
    for case in options.cases or names:
        new[case] = measure(options, case)
        exceeded |= compare(case, figures.get(case), new[case], options.tolerance / 100)
    if options.write:
        merged = {**figures, **new}
        write_figures({name: merged[name] for name in names if name in merged})
    elif exceeded or set(figures) - set(names):
        for case in sorted(set(figures) - set(names)):
            print(f"{case:34} this case does not exist")
        print(f"\nIf the change is intended, write the new figures:\n"
              f"    {sys.argv[0]} --program {options.program} --write")
        sys.exit(1)


if __name__ == "__main__":
    main()
