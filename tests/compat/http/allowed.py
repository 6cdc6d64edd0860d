# SPDX-License-Identifier: MIT
"""The allowed differences between the replies of gearmand 1.1.20's HTTP plug-in and ours, with
reasons.

HEADERS are differences of answers that are the same in all else: what theirs is and what ours is,
None if it is missing. REPLIES are differences of a whole exchange, which a script names and
spells out on both sides. Whatever is in these tables must be met.
"""

DATE = r"(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z][a-z] \d{4} \d\d:\d\d:\d\d GMT"

HEADERS = {
    "header server": (r"Gearman/[0-9][0-9A-Za-z.+~-]*", r"Tandem/[0-9.]+", "Two programs."),
    "header date": (None, DATE, "Who has a clock says what it shows."),
    "header content-type":
        (None, r"application/octet-stream", "A browser guesses the type of an answer without one."),
    "header connection":
        (None, r"close|keep-alive", "The reference always hangs up, and does not say so."),
}

REPLIES = {
    "version of the answer":
        "The reference answers as HTTP/1.0 whatever it was asked as.",
    # Statuses
    "failure":
        "The reference answers 200 when a job fails, and cuts the last byte off its handle.",
    "exception":
        "The reference answers 200, and without --exceptions as if the job had failed.",
    "refusal":
        "The reference answers 200 and has the code of the error in place of a handle.",
    "not found":
        "The reference has its own word for it; we say what the path is for.",
    "root":
        "The reference prints a handle that it has not.",
    "cancelled job":
        "The reference answers 200 here too; we say that the job was cancelled.",
    # Data before the end
    "warning":
        "The reference takes a warning for the answer, and the result is lost.",
    "progress":
        "The reference takes the progress of a job for its answer, and the result is lost.",
    "data":
        "The reference copies what comes before the end over the head of its answer.",
    "data that crashes":
        "The reference copies one byte less than there is, and of nothing 2^64 - 1.",
    # Names and keys
    "identical bodies":
        "The reference takes two requests with the same body for the same job, and so loses one.",
    "default unique":
        "To a worker that asks, the unique of a job that has none is a dash in the reference.",
    "escapes in the name":
        "The reference takes them for a part of the name; we decode them.",
    "query":
        "The reference takes it for a part of the name; to us it is the workload.",
    "query and body":
        "Only a GET has a query.",
    "unique of 64 bytes":
        "The reference takes it, but keeps 63 bytes of it, and so never finds it again.",
    # Headers of requests
    "words for yes":
        "The reference knows no word but true, and its client waits where it did not want to.",
    "white space":
        "The reference sees a header only where one space follows the colon.",
    "bad header":
        "The reference passes over a value that it does not understand.",
    "no Host":
        "A request of HTTP/1.1 without a Host is malformed.",
    # Framing
    "keep-alive":
        "The reference hangs up behind each answer, and never answers what was sent behind.",
    "HEAD submits":
        "A HEAD must have no effect; the reference submits a job, and answers with a body.",
    "other method":
        "The reference hangs up without a word.",
    "TRACE":
        "The reference never answers.",
    "OPTIONS":
        "The reference hangs up without a word; a browser asks this before it submits.",
    "malformed":
        "The reference hangs up without a word.",
    "chunks":
        "The reference submits an empty job, takes the chunks for a request, and hangs up.",
    "body of a GET":
        "The reference takes it for the next request.",
    "header over 8 KiB":
        "The reference hangs up without a word.",
    "job without clients":
        "The reference keeps it and counts it until a worker asks.",
} | {name: row[-1] for name, row in HEADERS.items()}

# Of which of the REPLIES scripts made use: one that none meets is not needed.
used = set()
