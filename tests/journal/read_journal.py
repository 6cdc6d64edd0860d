# SPDX-License-Identifier: MIT
"""Prints the live jobs of a journal directory, or what is wrong with it: a reader that was written
from journal/FORMAT.md alone.

read_journal.py DIRECTORY [NOW]. One job a line, a JSON object, in the order of their ids, then one
line for each paused queue and each memo. NOW is the present in nanoseconds, for delays and pauses that are over;
without it, none is.
"""

import json
import os
import re
import struct
import sys

(JOB, RELEASE, BURY, KICK, TAKE, END, PAUSE, IDS, SYNCED, DROPPED, START, SET,
 MOVE, MEMO) = range(1, 15)
STATES = {1: "ready", 2: "delayed", 3: "buried", 4: "delayed"}
HEAD, SEGMENT_HEAD = 16, 72
ABOUT = struct.Struct("<8sIIQQ64sII")
SEGMENT = struct.Struct("<8sIIQQQQQQII")
RECORD = struct.Struct("<IIIBBH")
PAST = struct.Struct("<QHHB3s")
WHYS = {1: "attempts", 2: "failed", 3: "exception", 4: "expired"}
FIXED = struct.Struct("<QQQIIIIIIIIIHHHHHBB")
CHANGE = struct.Struct("<QQIIHBB")
COUNTERS = struct.Struct("<IIIII")
COUNTED = 4
COUNTER_NAMES = ("reserves", "timeouts", "releases", "buries", "kicks")
PAUSED = struct.Struct("<QQH6s")
REMEMBERED = struct.Struct("<QQIHBB")
LEASE = 8


class Damage(Exception):
    pass


def make_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = make_table()


def crc32c(data, register=0xFFFFFFFF):
    for byte in data:
        register = TABLE[(register ^ byte) & 255] ^ (register >> 8)
    return register ^ 0xFFFFFFFF


class Segment:
    def __init__(self, path, number):
        self.name = os.path.basename(path)
        self.number = number
        with open(path, "rb") as file:
            self.bytes = file.read()
        if len(self.bytes) < SEGMENT_HEAD:
            raise Damage(f"{self.name}: no head")
        (magic, self.version, size, says, self.salt, before, self.previous_end, self.ids_end, _,
         checksum, zero) = SEGMENT.unpack_from(self.bytes)
        if magic != b"TANDEMJ\n" or checksum != crc32c(self.bytes[:64]):
            raise Damage(f"{self.name}: the head does not check")
        self.unsure = self.version > 1 and self.previous_end >> 63 == 1
        if self.unsure:
            self.previous_end -= 1 << 63
        if self.version not in (1, 2, 3, 4, 5):
            raise Damage(f"{self.name}: version {self.version}")
        if size != SEGMENT_HEAD or says != number or before != number - 1 or zero:
            raise Damage(f"{self.name}: the head does not check")

    def record(self, at, end):
        """The type and the data of the record there, and its size; None if none checks."""
        if at + HEAD > end:
            return None
        head_sum, data_sum, length, kind, zero, zeros = RECORD.unpack_from(self.bytes, at)
        size = (HEAD + length + 7) // 8 * 8
        place = (at // 8) & 0xFFFFFFFF
        if not JOB <= kind <= MEMO or zero or zeros or at + size > end:
            return None
        if crc32c(self.bytes[at + 4:at + 16], (self.salt & 0xFFFFFFFF) ^ place) != head_sum:
            return None
        if crc32c(self.bytes[at + 16:at + size], (self.salt >> 32) ^ place) != data_sum:
            return None
        if any(self.bytes[at + HEAD + length:at + size]):
            return None
        return kind, self.bytes[at + HEAD:at + HEAD + length], size

    def records(self, end, open_end):
        """All records up to the end, or, where that is open, up to an earlier one."""
        at = SEGMENT_HEAD
        while at < end:
            found = self.record(at, min(end, len(self.bytes)))
            if not found:
                if open_end and not self.was_safe(at, min(end, len(self.bytes))):
                    return
                raise Damage(f"{self.name}: damaged at offset {at}")
            yield found[0], found[1]
            at += found[2]

    def was_safe(self, end, limit):
        """Whether a record behind the end says that the segment was safe beyond it."""
        at = end + 8
        while at < limit:
            found = self.record(at, limit)
            if found and found[0] == SYNCED and struct.unpack("<Q", found[1])[0] > end:
                return True
            at += found[2] if found else 8
        return False


def text(name):
    return name.decode("latin-1")


def read_past(data):
    """A past, and how long it is."""
    at, attempts, length, why, zeros = PAST.unpack_from(data)
    if any(zeros):
        raise Damage("zeros are not zero")
    return {"from": text(data[16:16 + length]), "why": WHYS[why], "attempts": attempts,
            "at": at}, 16 + length


def read_job(data):
    (ident, moment, created, pri, delay, ttr, reserves, timeouts, releases, buries, kicks, body_len,
     attempts, most, queue_len, key_len, reducer_len, state, flags) = FIXED.unpack_from(data)
    queue = data[72:72 + queue_len]
    key = data[72 + queue_len:][:key_len]
    reducer = data[72 + queue_len + key_len:][:reducer_len]
    body = data[72 + queue_len + key_len + reducer_len:]
    past = None
    if flags & 128:
        past, past_len = read_past(body)
        body = body[past_len:]
    if len(body) != body_len:
        raise Damage(f"job {ident}: lengths do not add up")
    return {"id": ident, "queue": text(queue), "state": STATES[state], "moment": moment, "pri": pri,
            "imposed": state == 4, "delay": delay, "ttr": ttr, "created": created, "reserves": reserves,
            "timeouts": timeouts, "releases": releases, "buries": buries, "kicks": kicks,
            "attempts": attempts, "max_attempts": most, "key": text(key), "reducer": text(reducer),
            "flags": flags, "past": past, "body": text(body)}


class Reader:
    def __init__(self):
        self.jobs = {}
        self.pauses = {}
        self.memos = {}

    def change(self, kind, data):
        ident, moment, pri, delay, attempts, state, flags = CHANGE.unpack_from(data)
        job = self.jobs.get(ident)
        if len(data) != CHANGE.size + (COUNTERS.size if flags & COUNTED else 0):
            raise Damage(f"job {ident}: lengths do not add up")
        if job:
            job.update(state=STATES[state], moment=moment, pri=pri, delay=delay, attempts=attempts,
                       imposed=state == 4, flags=job["flags"] & ~3 | flags & 3)
            self.count(job, kind, data)

    def count(self, job, kind, data):
        """The history of the job."""
        if data[27] & COUNTED:
            job.update(zip(COUNTER_NAMES, COUNTERS.unpack_from(data, CHANGE.size)))
            return
        counter = {RELEASE: "releases", BURY: "buries", KICK: "kicks"}.get(kind)
        if counter:
            job[counter] += 1
        job["reserves"] = max(job["reserves"], job["releases"] + job["attempts"])
        job["imposed"] = job["imposed"] or (kind == RELEASE and job["state"] == "delayed")

    def move(self, data):
        ident, length, zero = struct.unpack_from("<Q20xHH", data)
        flags = data[27]
        at = 52 if flags & COUNTED else 32
        past, past_len = read_past(data[at + length:]) if flags & 128 else (None, 0)
        if at + length + past_len != len(data) or zero:
            raise Damage(f"job {ident}: lengths do not add up")
        self.change(MOVE, data[:27] + bytes([flags & ~144]) + data[32:at])
        job = self.jobs.get(ident)
        if job:
            job.update(queue=text(data[at:at + length]), past=past,
                       flags=job["flags"] & ~144 | flags & 144)

    def take(self, kind, data):
        if kind in (RELEASE, BURY, KICK, TAKE, START, MOVE, END):
            self.memos.pop((LEASE, data[:8]), None)
        if kind == JOB:
            job = read_job(data)
            self.jobs[job["id"]] = job
        elif kind in (RELEASE, BURY, KICK, TAKE, START, SET):
            self.change(kind, data)
        elif kind == MOVE:
            self.move(data)
        elif kind == END:
            self.jobs.pop(struct.unpack("<Q", data)[0], None)
        elif kind == PAUSE:
            pause_for, until, length, _ = PAUSED.unpack_from(data)
            name = text(data[24:24 + length])
            self.pauses[name] = (pause_for, until)
        elif kind == MEMO:
            self.remember(data)

    def remember(self, data):
        number, until, value_len, key_len, kind, flags = REMEMBERED.unpack_from(data)
        if len(data) != REMEMBERED.size + key_len + value_len:
            raise Damage(f"memo {number}: lengths do not add up")
        key = (kind, data[REMEMBERED.size:][:key_len])
        if flags:
            self.memos.pop(key, None)
        else:
            self.memos[key] = (number, until, data[REMEMBERED.size + key_len:])


def read_about(directory):
    """The number of the youngest segment that is known of, and where it ends, or zeros."""
    try:
        with open(os.path.join(directory, "about"), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return 0, 0
    if len(data) != ABOUT.size or crc32c(data[:96]) != ABOUT.unpack(data)[6]:
        raise Damage("about: does not check")
    magic, version, size, youngest, end, _, _, zero = ABOUT.unpack(data)
    if magic != b"TANDEMA\n" or version != 1 or size != ABOUT.size or zero:
        raise Damage("about: does not check")
    return youngest, end


def ends_of(segments, about):
    """Where each ends, and whether that is open."""
    ends = [(after.previous_end, after.unsure) for after in segments[1:]]
    for segment in segments[-1:]:
        closed = about[1] and segment.number == about[0]
        ends.append((about[1], False) if closed else (len(segment.bytes), True))
    return ends


def dropped(segments, about):
    numbers = [0]
    for segment, end in zip(segments, ends_of(segments, about)):
        try:
            numbers += [struct.unpack("<Q", data)[0] for kind, data in segment.records(*end)
                        if kind == DROPPED]
        except Damage:
            pass  # if it matters, it is met again
    return max(numbers)


def read(directory, now):
    numbers = sorted(int(found[1]) for found in
                     (re.fullmatch(r"journal\.(\d{10,})", name) for name in os.listdir(directory))
                     if found)
    segments = [Segment(os.path.join(directory, f"journal.{number:010}"), number)
                for number in numbers]
    about = read_about(directory)
    if about[0] > max(numbers, default=0):
        raise Damage(f"segment {about[0]} is missing")
    gone = dropped(segments, about)
    segments = [segment for segment in segments if segment.number > gone]
    reader = Reader()
    for place, (segment, end) in enumerate(zip(segments, ends_of(segments, about))):
        if segment.number != gone + 1 + place:
            raise Damage(f"segment {gone + 1 + place} is missing")
        for kind, data in segment.records(*end):
            reader.take(kind, data)
    for job in reader.jobs.values():
        if job["state"] == "delayed" and job["moment"] <= now:
            job.update(state="ready", moment=0)
    reader.pauses = {name: pause for name, pause in reader.pauses.items()
                     if pause[0] and pause[1] > now}
    reader.memos = {key: memo for key, memo in reader.memos.items() if memo[1] > now}
    return reader


def main():
    try:
        reader = read(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
    except Damage as damage:
        sys.exit(str(damage))
    for ident in sorted(reader.jobs):
        print(json.dumps(reader.jobs[ident]))
    for name, (pause_for, until) in sorted(reader.pauses.items()):
        print(json.dumps({"paused": name, "for": pause_for, "until": until}))
    for (kind, key), (number, until, value) in sorted(reader.memos.items()):
        print(json.dumps({"memo": text(key), "kind": kind, "number": number, "until": until,
                          "value": text(value)}))


if __name__ == "__main__":
    main()
