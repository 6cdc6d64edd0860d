/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_LOG_H
#define TANDEM_CORE_BASE_LOG_H

// A log line is one event: a level, a short name, and fields that name the objects concerned. The
// sink that the process installs decides the destination and the format (text or JSON); without a
// sink nothing is logged. Sinks escape, because fields may hold a peer's bytes.

#include "core/base/slice.h"

#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

struct log_field {
    const char *key;
    struct slice text;
    int64_t number;
    bool is_text;
};

typedef void (*log_sink)(void *context, enum log_level level, const char *event,
                         const struct log_field *fields, size_t count);

// Installs the sink; NULL for none. Lines less severe than `most` are dropped early. No other
// thread may log at the same time.
void log_set_sink(log_sink sink, void *context, enum log_level most);

// Changes only the level; other threads may log at the same time.
void log_set_most(enum log_level most);

// Sets, for an asynchronous sink, the function that waits, for a bounded time, until pending lines
// are written. Must be called after log_set_sink(), which clears it.
void log_set_drain(void (*drain)(void *context));

// Waits for pending lines. Called before the process aborts.
void log_drain(void);

// The least severe level that is written.
enum log_level log_most(void);

void log_write(enum log_level level, const char *event, const struct log_field *fields,
               size_t count);

static inline struct log_field log_text(const char *key, struct slice text)
{
    return (struct log_field){.key = key, .text = text, .is_text = true};
}

static inline struct log_field log_string(const char *key, const char *text)
{
    return log_text(key, slice_str(text));
}

static inline struct log_field log_number(const char *key, int64_t number)
{
    return (struct log_field){.key = key, .number = number};
}

// log_info("listening", log_string("address", text), log_number("port", 11300));
#define LOG_FIELDS(...) ((struct log_field[]){__VA_ARGS__})
#define LOG_AT(level, event, ...)                                                                  \
    log_write(level, event, LOG_FIELDS(__VA_ARGS__),                                               \
              sizeof(LOG_FIELDS(__VA_ARGS__)) / sizeof(struct log_field))
#define log_error(event, ...) LOG_AT(LOG_LEVEL_ERROR, event, __VA_ARGS__)
#define log_warn(event, ...) LOG_AT(LOG_LEVEL_WARN, event, __VA_ARGS__)
#define log_info(event, ...) LOG_AT(LOG_LEVEL_INFO, event, __VA_ARGS__)
#define log_debug(event, ...) LOG_AT(LOG_LEVEL_DEBUG, event, __VA_ARGS__)

#endif
