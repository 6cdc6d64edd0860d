/* SPDX-License-Identifier: MIT */
#include "core/log.h"

// The one global of the project: where log lines go.
static struct {
    log_sink sink;
    void *context;
    enum log_level most;
} log_target;

void log_set_sink(log_sink sink, void *context, enum log_level most)
{
    log_target.sink = sink;
    log_target.context = context;
    log_target.most = most;
}

enum log_level log_most(void)
{
    return log_target.most;
}

void log_write(enum log_level level, const char *event, const struct log_field *fields,
               size_t count)
{
    if (log_target.sink && level <= log_target.most) {
        log_target.sink(log_target.context, level, event, fields, count);
    }
}
