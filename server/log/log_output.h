/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_LOG_LOG_OUTPUT_H
#define TANDEM_SERVER_LOG_LOG_OUTPUT_H

#include "core/base/error_text.h"
#include "core/base/log.h"
#include "core/base/macros.h"
#include "server/log/log_writer.h"

#include <stdbool.h>
#include <sys/types.h>

// The output of log lines: standard error, a file or the system log, as text or as JSON. A line is
// one write, so that lines of several processes in one file do not mix. A thread writes the lines
// (log_writer.h).

struct log_output {
    struct log_writer *writer; /* private: NULL before the first opening */
    int fd;                    /* private: the writer's */
    bool made;                 /* private: we created the file */
};

// Not open yet: lines are lost.
void log_output_init(struct log_output *output);

// Opens the output: the file `path`, to append to it; standard error if the path is empty; or the
// system log (syslog_path.h). Reopens the file even if the path is the same, because the file may
// have been moved. False with the reason in `why` if it cannot be opened or safe_path.h refuses it;
// lines then go to the same output as before. Lines less urgent than `level` are dropped.
bool log_output_open(struct log_output *output, const char *path, enum log_format format,
                     enum log_level level, struct error_text *why) MUST_USE;

// The same in two steps, for an open log. This one opens the file, and changes nothing yet. False
// with the reason in `why`.
struct log_opening {
    int fd;
    bool made;
    struct log_style style;
    enum log_level level;
};
bool log_output_prepare(struct log_opening *opening, const char *path, enum log_format format,
                        enum log_level level, struct error_text *why) MUST_USE;

// Changes to the prepared output, or closes it.
void log_output_adopt(struct log_output *output, const struct log_opening *opening);
void log_output_discard(const struct log_opening *opening);

// Changes the level of an open log.
void log_output_limit(const struct log_output *output, enum log_level level);

// Makes that user the owner of a log file that we created, so that the user can reopen it. A file
// that existed before keeps its owner, because it may belong to another program.
void log_output_give(const struct log_output *output, uid_t uid, gid_t gid);

// Removes the log sink and closes the file. Waits as log_writer_free() does.
void log_output_close(struct log_output *output);

// Sends libevent's messages to our log. A fatal error of libevent ends the process.
void libevent_log_route(void);

#endif
