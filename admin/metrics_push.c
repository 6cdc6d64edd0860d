/* SPDX-License-Identifier: MIT */
#include "admin/metrics_push.h"

#include "proto_common/sight_push.h"

#include "admin/metrics_label.h"

#include <stdio.h>
#include <string.h>

#define OUTCOMES_MOST 16
// `section="..."`, whose name may be as long as that of a queue, and `,outcome="..."`.
#define LABELS_ROOM (METRICS_LABEL_MAX + 64)

struct figures {
    uint64_t in_flight, paused;
    uint64_t outcomes[OUTCOMES_MOST];
};

static const struct metric_family requests = {"tandem_push_requests", METRIC_COUNTER,
                                              "Requests to endpoints so far, by outcome."};
static const struct metric_family in_flight = {"tandem_push_in_flight", METRIC_GAUGE,
                                               "Jobs in flight to endpoints."};
static const struct metric_family paused = {
    "tandem_push_paused", METRIC_GAUGE,
    "1 if the endpoint is paused; for the rest, the number of paused endpoints."};
static const struct metric_family seconds = {
    "tandem_push_seconds", METRIC_HISTOGRAM,
    "Time from a request to its reply, over all endpoints."};

// One that leaves has a successor of the same section, or is not wanted any more.
static bool is_told(const struct sight_push *push)
{
    return strcmp(push->state, "leaving") != 0;
}

static void add(struct figures *figures, const struct sight_push *push)
{
    figures->in_flight += push->in_flight;
    figures->paused += push->paused_for > 0 ? 1 : 0;
    for (size_t i = 0; i < push->outcome_count && i < OUTCOMES_MOST; i++) {
        figures->outcomes[i] += push->outcomes[i];
    }
}

// What is told of a family: of one endpoint, or of the rest, whose section is empty.
typedef void (*write_fn)(struct metrics_text *text, const char *section,
                         const struct figures *figures, const struct sight_push *words);

static size_t label(char *labels, const char *section)
{
    char name[METRICS_LABEL_MAX + 1];

    name[metrics_label(name, slice_str(section))] = '\0';
    return (size_t)snprintf(labels, LABELS_ROOM, "section=\"%s\"", name);
}

static void write_requests(struct metrics_text *text, const char *section,
                           const struct figures *figures, const struct sight_push *words)
{
    char labels[LABELS_ROOM];
    size_t len = label(labels, section);

    for (size_t i = 0; i < words->outcome_count && i < OUTCOMES_MOST; i++) {
        size_t more = (size_t)snprintf(labels + len, sizeof labels - len, ",outcome=\"%s\"",
                                       words->outcome_words[i]);

        metrics_text_count(text, &requests, slice_of(labels, len + more), figures->outcomes[i]);
    }
}

static void write_in_flight(struct metrics_text *text, const char *section,
                            const struct figures *figures, const struct sight_push *words)
{
    char labels[LABELS_ROOM];
    size_t len = label(labels, section);

    (void)words;
    metrics_text_count(text, &in_flight, slice_of(labels, len), figures->in_flight);
}

static void write_paused(struct metrics_text *text, const char *section,
                         const struct figures *figures, const struct sight_push *words)
{
    char labels[LABELS_ROOM];
    size_t len = label(labels, section);

    (void)words;
    metrics_text_count(text, &paused, slice_of(labels, len), figures->paused);
}

static void write_family(const struct sight *sight, struct metrics_text *text,
                         const struct metric_family *family, write_fn write)
{
    struct figures rest = {.in_flight = 0};
    struct sight_push push;
    struct sight_push last;
    size_t told = 0;

    metrics_text_head(text, family);
    for (size_t i = 0; sight && sight->pushes->at(sight->host, i, &push); i++) {
        struct figures figures = {.in_flight = 0};

        if (!is_told(&push)) {
            continue;
        }
        last = push;
        if (told++ < METRICS_PUSH_NAMED) {
            add(&figures, &push);
            write(text, push.section, &figures, &push);
        } else {
            add(&rest, &push);
        }
    }
    if (told > METRICS_PUSH_NAMED) {
        write(text, "", &rest, &last);
    }
}

// Of all together: as many histograms as endpoints would be most of a page.
static void write_seconds(const struct sight *sight, struct metrics_text *text)
{
    struct sight_distribution all = {.buckets = 0};

    metrics_text_head(text, &seconds);
    if (sight) {
        sight->pushes->seconds(sight->host, &all);
    }
    if (all.buckets > 0) {
        metrics_text_histogram(text, &seconds, SLICE(""),
                               &(struct metric_histogram){.ends = all.ends,
                                                          .counts = all.counts,
                                                          .buckets = all.buckets,
                                                          .sum = all.sum,
                                                          .nanoseconds = true});
    }
}

void metrics_push_write(const struct sight *sight, struct metrics_text *text)
{
    write_family(sight, text, &requests, write_requests);
    write_family(sight, text, &in_flight, write_in_flight);
    write_family(sight, text, &paused, write_paused);
    write_seconds(sight, text);
}
