/* SPDX-License-Identifier: MIT */
#include "core/base/log.h"

#include <stdatomic.h>

// The destination of log lines.
static struct {
    log_sink sink;
    void (*drain)(void *context);
    void *context;
    atomic_int most; // an enum log_level
} log_target;

void log_set_sink(log_sink sink, void *context, enum log_level most)
{
    log_target.sink = sink;
    log_target.drain = NULL;
    log_target.context = context;
    log_set_most(most);
}

void log_set_most(enum log_level most)
{
    atomic_store_explicit(&log_target.most, (int)most, memory_order_relaxed);
}

void log_set_drain(void (*drain)(void *context))
{
    log_target.drain = drain;
}

void log_drain(void)
{
    if (log_target.drain) {
        log_target.drain(log_target.context);
    }
}

enum log_level log_most(void)
{
    return (enum log_level)atomic_load_explicit(&log_target.most, memory_order_relaxed);
}

void log_write(enum log_level level, const char *event, const struct log_field *fields,
               size_t count)
{
    if (log_target.sink && level <= log_most()) {
        log_target.sink(log_target.context, level, event, fields, count);
    }
}
