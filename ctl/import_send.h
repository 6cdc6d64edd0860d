/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_IMPORT_SEND_H
#define TANDEM_CTL_IMPORT_SEND_H

// Lines on their way to a broker: gathered to requests, and what became of each of them.

#include "ctl/command.h"

#include <stdint.h>

struct import_send {
    struct context *context;
    const char *from;  // what the lines are of, for what is said of them
    struct text lines; // that are gathered, each with its end
    uint64_t first;    // the number of the first of them
    uint64_t count;    // how many they are
    uint64_t next;     // all lines before that one are in, or refused
    uint64_t imported, joined, refused;
};

// Adds a line; the caller sees to it that it is the one behind the last.
void import_send_add(struct import_send *send, struct slice line);
bool import_send_is_full(const struct import_send *send);

// Sends what was gathered. On OUTCOME_DONE all of it was looked at; otherwise all before `next`.
enum outcome import_send_all(struct import_send *send);

#endif
