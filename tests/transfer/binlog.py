# SPDX-License-Identifier: MIT
"""Binlogs made by hand, byte by byte."""

import struct
import time

STATES = {"deleted": 0, "ready": 1, "reserved": 2, "buried": 3, "delayed": 4}
UNITS = {5: 10 ** 6, 7: 10 ** 9, 8: 10 ** 9}  # in a second
PAGE = 4096


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def record(version, job, tube=b"", body=b"", state="ready", pri=0, delay=0, ttr=60, created=None,
           deadline=0, counts=(0, 0, 0, 0, 0), size=None):
    """Times in seconds. A short record has no tube, and the size of the body that went before."""
    unit = UNITS[version]
    created = time.time() if created is None else created
    fields = struct.pack("<Q I 4x q q i 4x q q 5I B", job, pri, int(delay * unit), int(ttr * unit),
                         len(body) + 2 if size is None else size, int(created * unit),
                         int(deadline * unit), *counts, STATES.get(state, state))
    length = struct.pack("<Q" if version == 5 else "<i", len(tube))
    padding = b"" if version == 5 else b"\0" * 3
    whole = length + tube + fields + padding + (body + b"\r\n" if tube else b"")
    return whole + (struct.pack("<I", crc32c(whole)) if version == 8 else b"")


def up_to_page(version, behind, first=1000, last=200):
    """Records of buried jobs, at the end of which a file has `behind` bytes up to a page's end."""
    one = record(version, first, b"fill", b"", state="buried")
    many = (PAGE - 4 - behind - last) // len(one) - 1
    records = [record(version, first + i, b"fill", b"", state="buried") for i in range(many)]
    left = PAGE - 4 - behind - sum(map(len, records)) - len(one)
    return [*records, record(version, first + many, b"fill", b"x" * left, state="buried")]


def write(directory, number, records, version=7, size=4096):
    """A file, with zeros up to its size, as beanstalkd makes it."""
    directory.mkdir(exist_ok=True)
    data = struct.pack("<i", version) + b"".join(records)
    path = directory / f"binlog.{number}"
    path.write_bytes(data + bytes(max(0, size - len(data))))
    return path
