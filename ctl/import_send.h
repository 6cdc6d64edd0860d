/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_IMPORT_SEND_H
#define TANDEM_CTL_IMPORT_SEND_H

// Collects lines into requests to a broker, and reports the refused lines.

#include "ctl/command.h"

#include <stdint.h>

struct import_send {
    struct context *context;
    const char *from;  // source of the lines, for messages
    struct text lines; // collected, each with its line feed
    uint64_t first;    // number of the first of them
    uint64_t count;    // number of collected lines
    uint64_t next;     // all lines before this one are imported or refused
    uint64_t imported, joined, refused;
};

// Adds a line. The caller adds the lines in order.
void import_send_add(struct import_send *send, struct slice line);
bool import_send_is_full(const struct import_send *send);

// Sends the collected lines. OUTCOME_DONE: all were handled; otherwise those before `next` were.
enum outcome import_send_all(struct import_send *send);

#endif
