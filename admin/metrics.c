/* SPDX-License-Identifier: MIT */
#include "admin/metrics.h"

#include "core/base/memory.h"
#include "core/broker.h"

#include "admin/context.h"
#include "admin/metrics_accept.h"
#include "admin/metrics_names.h"
#include "admin/metrics_queues.h"
#include "admin/reply.h"

#include <string.h>

// A slice of the text: some 50 us of work.
#define SLICE_BYTES 16384
// Queues whose rights are asked for in a step.
#define RIGHTS_AT_ONCE BROKER_SLICE

// A text on its way to whom has asked for it. Who may observe every queue gets all of it, who may
// observe some gets what is of those.
struct scrape {
    struct metrics *metrics;
    struct metrics_reader reader;
    bool may_all;
    bool begun;    // what is of the process has been written
    bool *shown;   // owned, one for each row; NULL: all are, or it is not known yet
    size_t asked;  // rows whose rights were asked for
    size_t family; // the next to be written, and the next row of it
    size_t row;
    struct metrics_text text;
};

static void forget(void *making)
{
    struct scrape *scrape = making;

    memory_free(scrape->shown, scrape->reader.moment->room + 1);
    metrics_read_end(scrape->metrics, &scrape->reader);
    metrics_text_free(&scrape->text);
    memory_free(scrape, sizeof *scrape);
}

static size_t holds(const void *making)
{
    const struct scrape *scrape = making;

    return sizeof *scrape + scrape->text.room + metrics_moment_size(scrape->reader.moment);
}

// Which rows the caller may see, some in each step. True: all are known.
static bool ask_rights(struct http1_conn *conn, struct scrape *scrape)
{
    const struct metrics_moment *moment = scrape->reader.moment;

    for (int i = 0; i < RIGHTS_AT_ONCE && scrape->asked < moment->count; i++) {
        struct slice name = metric_name_text(moment->rows[scrape->asked].name);

        scrape->shown[scrape->asked++] =
            scrape->may_all || session_may_by_name(conn->session, MAY_OBSERVE, name);
    }
    return scrape->asked == moment->count;
}

static void write_process(struct http1_conn *conn, struct scrape *scrape)
{
    const struct metrics_text *text = &scrape->reader.moment->process[scrape->text.open_metrics];

    scrape->begun = true;
    if (text->failed) {
        output_fail(&conn->wire->out);
    } else if (scrape->may_all) {
        admin_put(conn, slice_of(text->bytes, text->len));
    }
}

// Writes the row that is next of the family, the rest behind all others.
static void write_row(struct scrape *scrape, const struct metric_queue_family *family)
{
    const struct metrics_moment *moment = scrape->reader.moment;

    if (scrape->row == 0) {
        metrics_text_head(&scrape->text, &family->family);
    }
    if (scrape->row < moment->count) {
        if (scrape->shown[scrape->row]) {
            metric_queue_write(&scrape->text, family, &moment->rows[scrape->row]);
        }
        scrape->row++;
        return;
    }
    if (scrape->may_all && !family->exporter) {
        metric_queue_write(&scrape->text, family, &moment->rest);
    }
    scrape->family++;
    scrape->row = 0;
}

// True: that was all.
static bool write_queues(struct scrape *scrape)
{
    const struct metric_queue_family *family = metric_queue_family(scrape->family);

    scrape->text.len = 0;
    while (family && scrape->text.len < SLICE_BYTES && !scrape->text.failed) {
        if (family->exporter & ~scrape->reader.moment->names) {
            scrape->family++;
        } else {
            write_row(scrape, family);
        }
        family = metric_queue_family(scrape->family);
    }
    if (!family) {
        metrics_text_end(&scrape->text);
    }
    return !family;
}

static enum http1_progress make(struct http1_conn *conn, void *making)
{
    struct scrape *scrape = making;
    bool ended;

    if (!metrics_moment_step(scrape->metrics, scrape->reader.moment) || !ask_rights(conn, scrape)) {
        return HTTP1_WROTE;
    }
    if (!scrape->begun) {
        write_process(conn, scrape);
        return HTTP1_WROTE;
    }
    ended = write_queues(scrape);
    if (scrape->text.failed) {
        output_fail(&conn->wire->out);
        return HTTP1_ENDED;
    }
    admin_put(conn, slice_of(scrape->text.bytes, scrape->text.len));
    return ended ? HTTP1_ENDED : HTTP1_WROTE;
}

static const struct admin_maker maker = {.make = make, .forget = forget, .holds = holds};

static struct scrape *scrape_new(struct http1_conn *conn)
{
    struct admin_shared *shared = admin_shared(conn);
    struct metrics *metrics = &shared->metrics;
    struct scrape *scrape = memory_alloc(sizeof *scrape);

    if (!scrape) {
        return NULL;
    }
    (void)metrics_names_read(shared->options->metrics_names, &metrics->names);
    *scrape = (struct scrape){
        .metrics = metrics,
        .reader.wire = conn->wire,
        .may_all = session_may_everywhere(conn->session, MAY_OBSERVE),
        .text.open_metrics = metrics_accept_open(admin_request(conn)->accept),
    };
    if (metrics_read(metrics, &scrape->reader, (size_t)shared->options->max_series_queues)) {
        scrape->shown = memory_zeroed(scrape->reader.moment->room + 1);
    }
    if (!scrape->shown) {
        metrics_read_end(metrics, &scrape->reader);
        memory_free(scrape, sizeof *scrape);
        return NULL;
    }
    return scrape;
}

static enum http1_next answer(struct http1_conn *conn, struct slice body, struct blob *blob)
{
    struct scrape *scrape = scrape_new(conn);

    (void)body;
    (void)blob;
    if (!scrape) {
        return admin_refuse(conn, 503, "there is no memory for metrics");
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
     .answer = answer},
    {.path = NULL},
};
