# SPDX-License-Identifier: MIT
"""The allowed differences between the replies of gearmand 1.1.20 and 1.1.21 and ours, with reasons.

REPLIES are differences of a whole exchange: a script that meets one names it and spells out both
answers, so nothing else passes under its name. MASKS stand in what scripts expect for what cannot
be equal to the byte. Two more rules are not in a table. Handles: a job is called #1, #2, ... in the
order in which JOB_CREATED told of it. Lists: their order means nothing, since the reference's own
is that of its hash table and of its connections; they are compared as sets of lines.
"""

REPLIES = {
    # Invalid packets
    "other magic":
        "The reference hangs up without a word; we say why, and hang up.",
    "unknown type":
        "The reference hangs up without a word; we refuse the packet and go on behind it.",
    "type that crashes":
        "The reference takes the type for a signed number and reads in front of its table.",
    "too few arguments":
        "The reference waits for more, takes the next packet for the rest, and hangs up.",
    "reduce job in four parts":
        "The reference wants an argument that the page of the protocol does not have.",
    "report without its NUL":
        "The reference waits for it; Perl's workers leave it out where the result is empty.",
    "arguments beyond 8 KiB":
        "The reference hangs up without a word; we refuse the packet and go on behind it.",
    "HTTP request":
        "A connection whose first line ends in HTTP/1.x is a browser that was tricked into "
        "speaking to this port: we close it.",
    "TLS hello":
        "A connection whose first byte is 0x16 wants TLS, which this port does not speak: we "
        "close it.",
    "NUL in a line":
        "To the reference the line ends there; to us it is a part of its word.",
    "words in an error":
        "In what we repeat, what is not printed is percent-encoded, and 512 bytes are enough.",
    # Names and sizes
    "long function name":
        "The name of a queue has at most 512 bytes, in any protocol.",
    "empty function name":
        "A queue has a name; a line of `status` that begins with a tab cannot be read.",
    "limit of workloads":
        "The reference has none, and reserves whatever a header announces.",
    "unique of 64 bytes":
        "The reference takes it, but keeps 63 bytes of it, and so never finds it again.",
    "NUL in a function":
        "To the reference it is a part of the name, but not of any that a list shows.",
    "names that break a line":
        "In lists, we show what would end a word or a line percent-encoded, and no name as a dash.",
    "unique beside a reducer":
        "The reference looks at the length of the reducer instead, which here is free.",
    "status of 64 bytes":
        "The reference hangs up; here no job has so long a handle.",
    "moment that is not a number":
        "The reference reads what it can and starts the job now; the client meant something else.",
    "SUBMIT_JOB_SCHED":
        "The reference parses it and refuses it.",
    "long number":
        "The reference hangs up where a number is too long for its buffer.",
    "unique of several functions":
        "Of the jobs of all functions that have it we tell of the one submitted first, the "
        "reference of the one that it finds first.",
    "no retry":
        "In 1.1.20 the number of retries cannot be 0; in 2.0 and here 0 means no retry, and -1 "
        "means unlimited.",
    "long handle":
        "One that is too long is one that no job has; the reference complains of it in WORK_FAIL "
        "only.",
    # Reports to clients
    "joined background job":
        "The reference throws it away when the last foreground client that joined it leaves.",
    "status of a late client":
        "The reference tells a client that joins a running job nothing of what was told before.",
    "NUL behind an argument":
        "The reference passes on or repeats what follows the NUL that ends an argument; we do not.",
    "event behind an answer":
        "What arrives in one piece is answered first; what has become of jobs is told then.",
    "order of lost jobs":
        "Of several jobs that a lost worker held, the reference puts the last to the back first.",
    "job without clients":
        "The reference keeps it and counts it until a worker asks, and lets new clients wait for "
        "it in vain.",
    "failure behind an exception":
        "Perl's worker sends both whenever its code dies, and ends when the second is refused.",
    "job of a function given up":
        "The reference gives it to another worker while the first is still at it; to us the "
        "worker gets no more jobs of the function, and finishes the one that it holds.",
    "time of each job":
        "The reference has one clock for each connection, which the next grab stops or winds.",
    "job of the future":
        "1.1.20 wakes workers when the job is submitted, and not when it is due; in 2.0 and here "
        "it is the other way round.",
    "job of the future hides others":
        "1.1.20 finds no job of lower priority behind one that is not due.",
    "cancelled job":
        "The reference leaves it in its lists until a worker asks, and lets one that runs run on; "
        "here it is gone.",
    "function learnt asleep":
        "The reference lets a worker sleep on beside work that waits for it.",
    # Functions
    "ALL_YOURS":
        "The reference knows no such packet; we do nothing, which is as much as it promises.",
    "function without workers":
        "The reference keeps every name for ever; what no job, worker or operator refers to goes "
        "here, since names could fill the memory.",
    "function offered twice":
        "The reference keeps it twice; to us the later registration replaces the earlier.",
    "create function with LF":
        "The reference takes a CR for granted and cuts the name's last byte.",
    "drop function in any case":
        "The reference ignores case when it looks for the name, though F and f are two functions.",
    "drop function with jobs":
        "The reference leaves jobs that wait without their function; here they go with it.",
    "more than five words":
        "The reference hangs up without a word.",
    "order of functions":
        "Without --round-robin, 1.1.20 serves the function that was registered last until it is "
        "empty; with it, and in 2.0 and here, functions take turns.",
    "priority of all functions":
        "In 1.1.20 priority counts within a function, in 2.0 and here over all of a worker's.",
}

MASKS = {
    "<version>": (r"[0-9][0-9A-Za-z.+~-]*", "Two programs."),
    "<level>": (r"ERROR|WARNING|INFO|DEBUG", "Two configurations."),
    "<pid>": (r"[0-9]+", "Two processes."),
    "<fd>": (r"[0-9]+", "Two processes."),
}

# Of which of the REPLIES scripts made use: one that none meets is not needed.
used = set()
