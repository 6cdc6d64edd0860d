# SPDX-License-Identifier: MIT
"""Says whether a reply of beanstalkd and one of ours are the same to a client."""

import re

from beanstalk.allowed import (ADDED_KEY, ANYTHING, ELSE_SECONDS_APART, SECONDS, SECONDS_APART,
                               VALUES)

WITH_ID = re.compile(rb"^(INSERTED|RESERVED|FOUND) (\d+)")
DOCUMENT = re.compile(rb"^OK (\d+)\r\n---\n(.*)\r\n$", re.DOTALL)


def learn(server, reply):
    """Takes note of the id of a job that the reply says was accepted."""
    if reply.startswith(b"INSERTED "):
        server.learn(int(reply.split()[1]))


def readable(server, reply):
    """The reply with the numbers of the jobs in place of their ids."""
    return WITH_ID.sub(lambda found: found[1] + b" " + number(server, found[2]), reply)


def number(server, digits):
    known = server.number_of.get(int(digits))
    return digits if known is None else b"#%d" % known


def difference(theirs, ours, their_reply, our_reply):
    """None, or what is different, in words."""
    their_text, our_text = readable(theirs, their_reply), readable(ours, our_reply)
    if not their_text.startswith(b"OK ") or not our_text.startswith(b"OK "):
        return None if their_text == our_text else "the replies differ"
    their_lines, our_lines = lines_of(their_text), lines_of(our_text)
    if their_lines is None or our_lines is None:
        return "a document is not what its first line says"
    if is_list(their_lines):
        return None if sorted(their_lines) == sorted(our_lines) else "the lists differ"
    return mapping_difference(theirs, ours, their_lines, our_lines)


def lines_of(reply):
    found = DOCUMENT.match(reply)
    if not found or int(found[1]) != len(found[2]) + len("---\n") or found[2][-1:] != b"\n":
        return None
    return found[2][:-1].decode("latin-1").split("\n")


def is_list(lines):
    return lines[0].startswith("- ")


def mapping_difference(theirs, ours, their_lines, our_lines):
    is_job = their_lines[0].startswith("id: ")
    their_pairs = [line.partition(": ") for line in their_lines]
    our_pairs = without_added([line.partition(": ") for line in our_lines])
    if [pair[0] for pair in their_pairs] != [pair[0] for pair in our_pairs]:
        return "the keys or their order differ"
    for (key, _, their_value), (_, _, our_value) in zip(their_pairs, our_pairs):
        if key == "id" and is_job:
            same = number(theirs, their_value.encode()) == number(ours, our_value.encode())
        else:
            same = is_same_value(key, their_value, our_value)
        if not same:
            return f"{key}: {their_value} and {our_value}"
    return None


def without_added(pairs):
    while pairs and ADDED_KEY.match(pairs[-1][0]):
        pairs = pairs[:-1]
    return pairs


def is_same_value(key, their_value, our_value):
    rule, _ = VALUES.get(key, (None, None))
    if rule == ANYTHING:
        return bool(our_value)
    if rule == SECONDS:
        return abs(int(their_value) - int(our_value)) <= SECONDS_APART.get(key, ELSE_SECONDS_APART)
    return their_value == our_value
