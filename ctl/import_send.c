/* SPDX-License-Identifier: MIT */
#include "ctl/import_send.h"

#include "ctl/api/call.h"
#include "ctl/print/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// The size of a request, less than the default of admin.max_body.
#define BYTES_MOST ((size_t)512 * 1024)
#define LINES_MOST 2000
// The most refused lines to report.
#define REFUSALS_TOLD 100

bool import_send_is_full(const struct import_send *send)
{
    return send->lines.len >= BYTES_MOST || send->count >= LINES_MOST;
}

static void tell(struct import_send *send, uint64_t line, struct slice why)
{
    struct text said = {0};

    if (send->refused++ < REFUSALS_TOLD) {
        text_add_escaped(&said, why, false);
        (void)fprintf(stderr, "tandemctl: %s, line %" PRIu64 ": %s\n", send->from, line,
                      text_string(&said));
    }
    text_free(&said);
}

void import_send_add(struct import_send *send, struct slice line)
{
    // A NUL would end the body of the request, and the lines after it would be lost.
    if (line.len > 0 && memchr(line.ptr, '\0', line.len)) {
        tell(send, send->first + send->count, SLICE("there is a NUL byte in it"));
        line = SLICE("");
    }
    text_add(&send->lines, line);
    text_put_char(&send->lines, '\n');
    send->count++;
}

// Consecutive lines.
struct part {
    const char *text;
    uint64_t first, count;
};

static enum outcome take_reply(struct import_send *send, const struct part *part,
                               const struct answer *answer)
{
    struct problem *problem = send->context->problem;
    json_t *said = json_loadb(text_string(&answer->body), answer->body.len, 0, NULL);
    enum outcome outcome = OUTCOME_DONE;
    json_t *line;
    size_t i;

    send->next = part->first + part->count;
    if (!field_is_set(said, "counts")) {
        outcome =
            problem_set(problem, OUTCOME_FAILED,
                        "the answer to lines from %" PRIu64 " on is not complete", part->first);
        send->next = part->first;
    }
    json_array_foreach(json_object_get(said, "lines"), i, line)
    {
        if (field_is_set(line, "error")) {
            tell(send, part->first + field_count(line, "line") - 1, field_text(line, "error"));
        }
    }
    send->imported += field_count(said, "counts.imported");
    send->joined += field_count(said, "counts.joined");
    if (field_is_set(said, "stopped")) {
        struct slice why = field_text(said, "stopped.error");

        send->next = part->first + field_count(said, "stopped.line") - 1;
        outcome = problem_set(problem, OUTCOME_NOT_NOW, "line %" PRIu64 " is not in: %.*s",
                              send->next, (int)why.len, why.ptr);
    }
    json_decref(said);
    return outcome;
}

static enum outcome send_part(struct import_send *send, const struct part *part);

// Splits a part that is too large for the broker. A single line that is too large is refused.
static enum outcome send_halves(struct import_send *send, const struct part *part)
{
    struct part half = {.first = part->first, .count = part->count / 2};
    const char *end = part->text;
    struct text text = {0};
    enum outcome outcome;

    if (part->count == 1) {
        tell(send, part->first, SLICE("it is larger than the broker's admin.max_body"));
        send->next = part->first + 1;
        return OUTCOME_DONE;
    }
    for (uint64_t i = 0; i < half.count; i++) {
        end = strchr(end, '\n') + 1;
    }
    text_add(&text, slice_of(part->text, (size_t)(end - part->text)));
    half.text = text_string(&text);
    outcome = send_part(send, &half);
    text_free(&text);
    if (outcome == OUTCOME_DONE) {
        half = (struct part){
            .text = end, .first = part->first + half.count, .count = part->count - half.count};
        outcome = send_part(send, &half);
    }
    return outcome;
}

// The depth is at most the number of bits of `count`.
// NOLINTNEXTLINE(misc-no-recursion)
static enum outcome send_part(struct import_send *send, const struct part *part)
{
    struct context *context = send->context;
    const struct request request = {
        .method = "POST", .path = "/api/v1/import", .body = part->text, .endless = true};
    struct answer answer = {0};
    enum outcome outcome = client_send(context->client, &request, &answer, context->problem);

    if (outcome == OUTCOME_DONE && answer.status == 413) {
        outcome = send_halves(send, part);
    } else if (outcome == OUTCOME_DONE && answer.status != 200) {
        outcome = call_refused(context->client, &answer, context->problem);
    } else if (outcome == OUTCOME_DONE) {
        outcome = take_reply(send, part, &answer);
    }
    answer_free(&answer);
    return outcome;
}

enum outcome import_send_all(struct import_send *send)
{
    const struct part part = {
        .text = text_string(&send->lines), .first = send->first, .count = send->count};
    enum outcome outcome = send->count > 0 ? send_part(send, &part) : OUTCOME_DONE;

    text_cut(&send->lines, 0);
    send->first += send->count;
    send->count = 0;
    return outcome;
}
