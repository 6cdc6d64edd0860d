# SPDX-License-Identifier: MIT
"""The allowed differences between the replies of beanstalkd 1.12 and 1.13 and ours, with reasons.

REPLIES are differences of a whole exchange: a script that meets one names it and spells out both
answers, so nothing else passes under its name. VALUES are keys of the statistics whose value cannot
be equal to the byte; all other keys, their order and their values must be. Two more rules are not
in a table. Ids: a job is called #1, #2, ... in the order in which INSERTED told of it, because the
reference also uses up an id for a put that fails. Lists: their order means nothing, since the
reference's own depends on what was ignored before; they are compared as sets.

One more shows only now and then and is kept from showing: see wait_for_timeouts in pair.py.
"""

import re

# Of REPLIES, those that beanstalkd 1.13 does not have any more.
MENDED_IN_113 = {"strict timeout"}

REPLIES = {
    "second CR in a line":
        "The reference looks at a line's first CR only and hangs when no LF follows it.",
    "CR at the end of the window":
        "Where the CR of a too long line is the last byte of its 224-byte window, the reference "
        "misses the LF and swallows the next command with it.",
    "strict timeout":
        "1.12 takes any text for the number of reserve-with-timeout: garbage is 0, a negative one "
        "waits for ever, a large one is cut. 1.13 answers BAD_FORMAT, and so do we.",
    "half-received job":
        "The reference shows a job, and memory that it never wrote, before its body is there; to "
        "us it does not exist yet.",
    "id at the end of put":
        "The reference gives the id at the put line, we give it to the complete job: of two puts "
        "that overlap, the one that is complete first is the older job.",
    "waiters in their order":
        "The reference hands jobs to waiting connections in an order that comes from how it "
        "removes entries of an array; ours is first come, first served.",
    "given back best first":
        "Of several jobs that a lost connection gives back, waiting connections get the best first "
        "from us, and the one that was reserved first from the reference.",
    "HTTP request":
        "A connection whose first line ends in HTTP/1.x is a browser that was tricked into "
        "speaking to this port: we close it.",
    "TLS hello":
        "A connection whose first byte is 0x16 wants TLS, which this port does not speak: we "
        "close it.",
}

ANYTHING = "ANYTHING"  # is there, whatever it is
SECONDS = "SECONDS"    # whole seconds, and those of two servers end at different moments

VALUES = {
    "version": (ANYTHING, 'Ours is the level of the protocol that we speak, 1.13.'),
    "id": (ANYTHING, "In `stats`, a random number of the process; of a job it is mapped."),
    "pid": (ANYTHING, "Two processes."),
    "rusage-utime": (ANYTHING, "Two processes."),
    "rusage-stime": (ANYTHING, "Two processes."),
    "uptime": (SECONDS, "Two processes, one started after the other."),
    "age": (SECONDS, "Counted from the moment of the put."),
    "time-left": (SECONDS, "Counted down."),
    "pause-time-left": (SECONDS, "Counted down."),
}
# One server may be started, or may do what it is told, so much later than the other.
SECONDS_APART = {"uptime": 60}
ELSE_SECONDS_APART = 10

# Keys that we add; they come after all others. Clients ignore what they do not know.
ADDED_KEY = re.compile(r"^(tandem-|binlog-(errors|failing)$|"
                       r"cmd-(reserve-batch|put-unique|complete|progress|clear-tube)$)")

# Of which of the REPLIES scripts made use: one that none meets is not needed.
used = set()
