/* SPDX-License-Identifier: MIT */

// What is missing, or cannot be read: it is passed over, with a word in the log, or the reason not
// to start.

#include "journal/file/replay.h"

#include "core/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

bool replay_loses(struct replay *replay, uint64_t number, uint64_t offset, uint64_t bytes,
                  const char *what)
{
    struct segment *segment = segments_marked(&replay->journal->row.segments, (uint32_t)number);
    char name[SEGMENT_NAME_MAX];

    segment_name(number, name);
    if (!replay->journal->settings.repair) {
        return error_set(replay->why,
                         "%s is damaged at offset %" PRIu64 ": %s (--repair keeps what is good)",
                         name, offset, what);
    }
    log_warn("journal_lost", log_string("file", name), log_number("offset", (int64_t)offset),
             log_number("bytes", (int64_t)bytes), log_string("why", what));
    replay->damaged = true;
    if (segment) {
        segment->damaged = true;
    }
    return true;
}

bool replay_fails(struct replay *replay, uint64_t number, uint64_t offset, int error)
{
    char name[SEGMENT_NAME_MAX];

    segment_name(number, name);
    if (error == ENOMEM) {
        error_set(replay->why, "out of memory");
    } else {
        error_set(replay->why, "%s: offset %" PRIu64 ": %s", name, offset, strerror(error));
    }
    return false;
}
