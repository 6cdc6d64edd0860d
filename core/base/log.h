/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_LOG_H
#define TANDEM_CORE_BASE_LOG_H

// One event, one line: a level, a short name of what happened, and fields that name the objects
// concerned. Where lines go and how they look (text or JSON) is the business of the sink that the
// process installs; without one nothing is logged. Sinks escape: fields may hold a peer's bytes.

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

// Installs the sink; NULL for none. Lines above `most` (the most talkative level that is wanted)
// are dropped before they cost anything. No other thread may log meanwhile.
void log_set_sink(log_sink sink, void *context, enum log_level most);

// Changes the most talkative level alone, which may be done while other threads log.
void log_set_most(enum log_level most);

// For a sink that hands lines on to be written later: what waits, for a bounded time, until they
// are. To be set after the sink, which forgets it.
void log_set_drain(void (*drain)(void *context));

// Before the process ends in the middle of things.
void log_drain(void);

// The most talkative level that is written.
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
