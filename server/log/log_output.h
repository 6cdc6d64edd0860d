/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOG_LOG_OUTPUT_H
#define TANDEM_SERVER_LOG_LOG_OUTPUT_H

// Where log lines go: standard error, a file or the system's log, as text or as JSON. A line is one
// write, so that lines of several processes in one file do not mix. A thread writes them
// (log_writer.h): lines that it cannot write, and those that it has no room for, are counted, and a
// line tells how many.

#include "core/base/macros.h"
#include "core/base/error_text.h"

#include "core/base/log.h"
#include "server/log/log_writer.h"

#include <stdbool.h>
#include <sys/types.h>

struct log_output {
    struct log_writer *writer; /* private: NULL before the first opening */
    int fd;                    /* private: the writer's */
    bool made;                 /* private: the file was not there before */
};

// Nothing is open yet, and lines are lost.
void log_output_init(struct log_output *output);

// Changes over to the file (appending; an empty path is standard error, and `syslog` the system's
// log, see syslog_path.h), format and level, opening
// the file anew even if it is the same: it may have been moved away. False with the reason in `why`
// where it cannot be opened, or is not what safe_path.h allows: lines go on to where they went.
// Lines less urgent than `level` are dropped.
bool log_output_open(struct log_output *output, const char *path, enum log_format format,
                     enum log_level level, struct error_text *why) MUST_USE;

// The same in two steps, for an open log: opens the file, and changes nothing yet. False with the
// reason in `why`.
struct log_opening {
    int fd;
    bool made;
    struct log_look look;
    enum log_level level;
};
bool log_output_prepare(struct log_opening *opening, const char *path, enum log_format format,
                        enum log_level level, struct error_text *why) MUST_USE;

// Changes over to that, or closes it again.
void log_output_adopt(struct log_output *output, const struct log_opening *opening);
void log_output_discard(const struct log_opening *opening);

// Changes the level of an open log.
void log_output_limit(const struct log_output *output, enum log_level level);

// Gives a log file that we have just made to that user, who is to open it anew later. One that was
// there before is not given: who put it there, and how it came to be ours, is not known.
void log_output_give(const struct log_output *output, uid_t uid, gid_t gid);

// Takes the sink away and closes the file. Waits until the lines are written, but not for long.
void log_output_close(struct log_output *output);

#endif
