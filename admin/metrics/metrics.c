/* SPDX-License-Identifier: MIT */
#include "admin/metrics/metrics.h"

#include "core/base/memory.h"
#include "core/broker.h"

#include "admin/metrics/metrics_queues.h"
#include "admin/metrics/metrics_sample.h"
#include "admin/request/admin_context.h"
#include "admin/request/admin_reply.h"

#include <string.h>

// The size of a slice of the text: about 50 us of work.
#define SLICE_BYTES 16384
// Maximum number of queues whose rights are checked in a step.
#define RIGHTS_AT_ONCE BROKER_SLICE

// A reply on its way to a client. A caller who may observe every queue gets all metrics; another
// caller gets those of the queues that it may observe.
struct scrape {
    struct metrics *metrics;
    struct metrics_reader reader;
    bool may_all;
    bool begun;     // the metrics of the process were written
    bool *visible;  // owned; for each row of the sample, whether the caller may observe it
    size_t checked; // rows whose rights were checked
    size_t family;  // the next family to write, and its next row
    size_t row;
    struct metrics_text text;
};

static void scrape_forget(void *making)
{
    struct scrape *scrape = making;

    memory_free(scrape->visible, scrape->reader.sample->room + 1);
    metrics_read_end(scrape->metrics, &scrape->reader);
    metrics_text_free(&scrape->text);
    memory_free(scrape, sizeof *scrape);
}

static size_t scrape_holds(const void *making)
{
    const struct scrape *scrape = making;

    return sizeof *scrape + scrape->text.room + metrics_sample_size(scrape->reader.sample);
}

// Checks the rights on a number of rows; returns whether all rows are checked.
static bool scrape_check_rights(struct http1_conn *conn, struct scrape *scrape)
{
    const struct metrics_sample *sample = scrape->reader.sample;

    for (int i = 0; i < RIGHTS_AT_ONCE && scrape->checked < sample->count; i++) {
        struct slice name = metric_name_text(sample->rows[scrape->checked].name);

        scrape->visible[scrape->checked++] =
            scrape->may_all || session_may_by_name(conn->session, MAY_OBSERVE, name);
    }
    return scrape->checked == sample->count;
}

// Writes the next row of the family; the rest comes after all rows.
static void scrape_write_row(struct scrape *scrape, const struct metric_queue_family *family)
{
    const struct metrics_sample *sample = scrape->reader.sample;

    if (scrape->row == 0) {
        metrics_text_head(&scrape->text, &family->family);
    }
    if (scrape->row < sample->count) {
        if (scrape->visible[scrape->row]) {
            metric_queue_write(&scrape->text, family, &sample->rows[scrape->row]);
        }
        scrape->row++;
        return;
    }
    if (scrape->may_all && !family->exporter) {
        metric_queue_write(&scrape->text, family, &sample->rest);
    }
    scrape->family++;
    scrape->row = 0;
}

// Writes a slice of the queues' metrics; returns whether it was the last one.
static bool scrape_write_queues(struct scrape *scrape)
{
    const struct metric_queue_family *family = metric_queue_family(scrape->family);

    scrape->text.len = 0;
    while (family && scrape->text.len < SLICE_BYTES && !scrape->text.failed) {
        if (family->exporter & ~scrape->reader.sample->exporters) {
            scrape->family++;
        } else {
            scrape_write_row(scrape, family);
        }
        family = metric_queue_family(scrape->family);
    }
    if (!family) {
        metrics_text_end(&scrape->text);
    }
    return !family;
}

static enum http1_progress scrape_make(struct http1_conn *conn, void *making)
{
    struct scrape *scrape = making;
    const struct metrics_text *process = &scrape->reader.sample->process[scrape->text.open_metrics];
    bool ended;

    if (!metrics_sample_step(scrape->metrics, scrape->reader.sample) ||
        !scrape_check_rights(conn, scrape)) {
        return HTTP1_WROTE;
    }
    if (!scrape->begun) {
        scrape->begun = true;
        if (process->failed) {
            output_fail(&conn->wire->out);
        } else if (scrape->may_all) {
            admin_put(conn, slice_of(process->bytes, process->len));
        }
        return HTTP1_WROTE;
    }
    ended = scrape_write_queues(scrape);
    if (scrape->text.failed) {
        output_fail(&conn->wire->out);
        return HTTP1_ENDED;
    }
    admin_put(conn, slice_of(scrape->text.bytes, scrape->text.len));
    return ended ? HTTP1_ENDED : HTTP1_WROTE;
}

static struct scrape *scrape_new(struct http1_conn *conn)
{
    struct admin_shared *shared = admin_shared(conn);
    struct metrics *metrics = shared->metrics;
    struct scrape *scrape = memory_alloc(sizeof *scrape);

    if (!scrape) {
        return NULL;
    }
    (void)metrics_exporters_read(shared->options->metrics_names, &metrics->exporters);
    *scrape = (struct scrape){
        .metrics = metrics,
        .reader.wire = conn->wire,
        .may_all = session_may_everywhere(conn->session, MAY_OBSERVE),
        .text.open_metrics = metrics_accept_open(admin_request(conn)->accept),
    };
    if (metrics_read(metrics, &scrape->reader, (size_t)shared->options->max_series_queues)) {
        scrape->visible = memory_zeroed(scrape->reader.sample->room + 1);
    }
    if (!scrape->visible) {
        metrics_read_end(metrics, &scrape->reader);
        memory_free(scrape, sizeof *scrape);
        return NULL;
    }
    return scrape;
}

static enum http1_next answer_metrics(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    static const struct admin_maker maker = {
        .make = scrape_make, .forget = scrape_forget, .holds = scrape_holds};
    struct scrape *scrape = scrape_new(conn);

    (void)body;
    (void)blob;
    if (!scrape) {
        return admin_refuse(conn, 503, "not enough memory for metrics");
    }
    return admin_make(conn,
                      &(struct http1_reply){.status = 200,
                                            .type = scrape->text.open_metrics ? METRICS_OPEN_TYPE
                                                                              : METRICS_PLAIN_TYPE,
                                            .extra = "Cache-Control: no-store\r\n"
                                                     "Vary: Accept\r\n"},
                      &maker, scrape);
}

const struct admin_route metrics_routes[] = {
    {.path = "/metrics",
     .method = HTTP1_GET,
     .right = MAY_OBSERVE,
     .early = true,
     .answer = answer_metrics},
    {.path = NULL},
};
