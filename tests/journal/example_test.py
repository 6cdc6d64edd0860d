# SPDX-License-Identifier: MIT
"""The example in journal/FORMAT.md, read by the reader that was written from that page."""

import os
import re
import sys
import struct
import tempfile

from read_journal import CHANGE, COUNTERS, MEMO, RELEASE, SET, Damage, crc32c, read

LINE = re.compile(r"^    [0-9a-f]{4} ((?: [0-9a-f]{2})+)$", re.MULTILINE)


def expect(condition, what):
    if not condition:
        sys.exit(what)


def record(kind, data, salt, at):
    """A record of that type, as it stands at that offset."""
    head = struct.pack("<IBBH", len(data), kind, 0, 0)
    data += bytes(-len(data) % 8)
    head = struct.pack("<I", crc32c(data, (salt >> 32) ^ at // 8)) + head
    return struct.pack("<I", crc32c(head, (salt & 0xFFFFFFFF) ^ at // 8)) + head + data


def main():
    with open(sys.argv[1], encoding="ascii") as page:
        example = bytes.fromhex("".join(found[1] for found in LINE.finditer(page.read())))
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "journal.0000000001")
        with open(path, "wb") as file:
            file.write(example)
        expect(read(directory, 0).memos == {(3, b"m*"): (7, (1 << 63) - 1, b"weight = 3")},
               "other memos")
        jobs = read(directory, 0).jobs
        expect(jobs.keys() == {1}, "there is another job")
        job = jobs[1]
        expect((job["queue"], job["key"], job["body"]) == ("letters", "k1", "hello"), "other names")
        expect((job["state"], job["pri"], job["ttr"]) == ("ready", 1024, 60), "another state")
        expect((job["delay"], job["kicks"], job["flags"]) == (5, 1, 34), "other details")
        # Each byte of the head and of the records but the last is checked.
        for at in range(200):
            with open(path, "wb") as file:
                file.write(example[:at] + bytes([example[at] ^ 4]) + example[at + 1:])
            try:
                expect(not read(directory, 0).jobs and at >= 72, f"byte {at} is not checked")
            except Damage:
                expect(at < 72, f"byte {at} is damage")
        # A type that came late.
        change = CHANGE.pack(1, 1 << 60, 1024, 3, 0, 2, 2)
        with open(path, "wb") as file:
            file.write(example + record(SET, change, 0x9E3779B97F4A7C15, len(example)))
        job = read(directory, 0).jobs[1]
        expect((job["state"], job["delay"], job["releases"]) == ("delayed", 3, 0), "another delay")
        expect((job["kicks"], job["reserves"], job["imposed"]) == (1, 0, False), "other counters")
        # A lease, which an operator's change leaves, and a release ends.
        salt, lease = 0x9E3779B97F4A7C15, (8, struct.pack("<Q", 1))
        kept = record(MEMO, struct.pack("<QQIHBB", 9, (1 << 63) - 1, 3, 8, 8, 0)
                      + lease[1] + b"any", salt, len(example))
        for kind, there in ((SET, True), (RELEASE, False)):
            with open(path, "wb") as file:
                file.write(example + kept + record(kind, change, salt, len(example + kept)))
            expect((lease in read(directory, 0).memos) == there, f"a lease behind {kind}")
        # A delay that no submitter asked for, with counters.
        change = CHANGE.pack(1, 1 << 60, 1024, 3, 2, 4, 6) + COUNTERS.pack(4, 3, 2, 1, 7)
        with open(path, "wb") as file:
            file.write(example + record(SET, change, 0x9E3779B97F4A7C15, len(example)))
        job = read(directory, 0).jobs[1]
        expect((job["state"], job["imposed"], job["flags"]) == ("delayed", True, 34), "not imposed")
        expect((job["reserves"], job["kicks"]) == (4, 7), "other counters")


if __name__ == "__main__":
    main()
