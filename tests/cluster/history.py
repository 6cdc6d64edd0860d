# SPDX-License-Identifier: MIT
"""Which broker answered when: no two of them may, at the same time.

Each connection belongs to one epoch: that of the process that answers on it, when it answers for the
first time, since a broker that loses the lease drops its connections. So one that it does not drop
counts as what it is, an answer of an epoch that is over.

When an answer was sent is not when somebody gets round to read it. But the kernel stamps what arrives,
and on one machine that is done while it is sent. So `last`, of the bytes that came last on
a direct connection, is when they were sent, however late they are read. Where another broker passes
bytes on, they may have been on their way for long: there, `asked` is a moment before which the last
answer was not sent, that of its request. And `first` is in both cases a moment at which the first
answer had been sent. So there is a violation for sure where, of an earlier epoch, `last` (or `asked`)
is after `first` of a later one; and where connections are direct, no violation is missed.
"""

import bisect
import threading
import time

LOG_SECONDS = 0.1  # between taking over and the line of the log that says so, at most


class Line:
    """The replies on one connection."""

    def __init__(self, protocol, target):
        self.protocol = protocol
        self.target = target  # the process that was connected to
        self.pid = None  # of the process that answers; None: it does not say
        self.first = self.last = self.served = None
        self.asked = self.asking = None
        self.ids = []  # of jobs that were submitted here, and none joined

    def sent(self):
        self.asking = time.time()

    def came(self, at):
        """Bytes that arrived at that moment."""
        self.first = self.first or at
        self.last, self.asked = at, self.asking

    def got_job(self):
        """The last reply was a job to work on."""
        self.served = self.served or self.last

    def __str__(self):
        return f"{self.protocol} connection to {self.target}, answered by {self.pid}"


class Reign:
    """A process, and the epoch in which it owned the journal from that moment on."""

    def __init__(self, pid, epoch, since):
        self.pid, self.epoch, self.since = pid, epoch, since


class History:
    """All connections of a round."""

    def __init__(self):
        self.lock = threading.Lock()
        self.lines = []

    def begin_round(self):
        self.lines = []

    def enter(self, line):
        with self.lock:
            self.lines.append(line)

    def judge(self, reigns):
        """The errors, as texts. The reigns are all terms of all owners."""
        with self.lock:
            lines = [line for line in self.lines if line.first]
        self.by_epoch = group(lines, reigns)
        return list(disorder(self.by_epoch, reigns)) + list(shared_ids(self.by_epoch))

    def first_of(self, epoch):
        """When the first answer of that epoch came, and the first job; None: none did."""
        lines = self.by_epoch.get(epoch, [])
        return (min((line.first for line in lines), default=None),
                min((line.served for line in lines if line.served), default=None))


def group(lines, reigns):
    """The lines of each epoch. Those of HTTP are known by the ids that came on them."""
    groups = {}
    for line in lines:
        own = [reign for reign in reigns
               if reign.pid == line.pid and reign.since <= line.first + LOG_SECONDS]
        if own:
            groups.setdefault(max(reign.epoch for reign in own), []).append(line)
    spans = sorted((min(ids), max(ids), epoch) for epoch, of_epoch in groups.items()
                   if (ids := [job_id for line in of_epoch for job_id in line.ids]))
    for line in lines:
        epoch = line.pid is None and line.ids and epoch_of(spans, line.ids[0])
        if epoch:
            groups.setdefault(epoch, []).append(line)
    return groups


def epoch_of(spans, job_id):
    place = bisect.bisect_right(spans, (job_id, float("inf"))) - 1
    return spans[place][2] if place >= 0 and job_id <= spans[place][1] else None


def disorder(groups, reigns):
    """Answers that came when another broker had answered in a later epoch."""
    owners = {reign.epoch: reign.pid for reign in reigns}
    begun = None  # the first answer of all later epochs
    for epoch in sorted(groups, reverse=True):
        for line in groups[epoch]:
            at = not_before(line, owners[epoch])
            if begun and at and at > begun[0]:
                yield (f"epoch {epoch} answered {at - begun[0]:.6f} s after epoch {begun[1]} did: "
                       f"{line}")
        first = min(line.first for line in groups[epoch])
        if begun is None or first < begun[0]:
            begun = first, epoch


def not_before(line, owner):
    """The latest moment of which it is sure that something was sent then, or later."""
    if line.target == owner:
        return line.last
    # Packets that Gearman clients get without a request.
    return None if line.protocol == "gearman" else line.asked


def shared_ids(groups):
    highest, before = 0, None
    for epoch in sorted(groups):
        ids = [job_id for line in groups[epoch] for job_id in line.ids]
        if ids and min(ids) <= highest:
            yield f"id {min(ids)} of epoch {epoch} is not above {highest} of epoch {before}"
        if ids:
            highest, before = max(ids), epoch
