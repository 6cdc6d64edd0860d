/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOG_OUTPUT_H
#define TANDEM_SERVER_LOG_OUTPUT_H

// Where log lines go: standard error or a file, as text or as JSON. A line is one write, so that
// lines of several processes in one file do not mix. A line that cannot be written is lost.

#include "core/macros.h"
#include "server/complaint.h"

#include "core/log.h"

#include <stdbool.h>
#include <sys/types.h>

enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

struct log_output {
    int fd;                 /* private */
    bool made;              /* private: the file was not there before */
    enum log_format format; /* private */
};

// Standard error, as text; installs the sink. Lines less urgent than `level` are dropped.
void log_output_init(struct log_output *output, enum log_level level);

// Changes over to the file (appending; an empty path is standard error), format and level, opening
// the file anew even if it is the same: it may have been moved away. False with the reason in `why`
// where it cannot be opened, or is not what place.h allows: lines go on to where they went.
bool log_output_open(struct log_output *output, const char *path, enum log_format format,
                     enum log_level level, struct complaint *why) MUST_USE;

// Gives a log file that we have just made to that user, who is to open it anew later. One that was
// there before is not given: who put it there, and how it came to be ours, is not known.
void log_output_give(const struct log_output *output, uid_t uid, gid_t gid);

// Takes the sink away and closes the file.
void log_output_close(struct log_output *output);

#endif
