/* SPDX-License-Identifier: MIT */
#include "ctl/commands.h"

#include "core/base/log.h"
#include "ctl/fact_lines.h"
#include "ctl/print/need.h"
#include "ctl/print/units.h"
#include "journal/file/examine.h"
#include "journal/journal.h"

#include <stdio.h>

// The most findings to report in detail.
#define FINDINGS_MAX 1000

// The findings and totals of the check.
struct findings {
    struct context *context;
    json_t *list; // for --json
    uint64_t count;
    uint64_t segments;
    uint64_t records;
    uint64_t bytes;
};

static const struct log_field *find_log_field(const struct log_field *fields, size_t count,
                                              const char *key)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(fields[i].key, key) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

static uint64_t finding_number(const struct log_field *fields, size_t count, const char *key)
{
    const struct log_field *field = find_log_field(fields, count, key);

    return field && field->number > 0 ? (uint64_t)field->number : 0;
}

static struct slice finding_text(const struct log_field *fields, size_t count, const char *key)
{
    const struct log_field *field = find_log_field(fields, count, key);

    return field && field->is_text ? field->text : SLICE("");
}

static void add_finding_json(struct findings *findings, const char *kind,
                             const struct log_field *fields, size_t count)
{
    struct slice file = finding_text(fields, count, "file");
    struct slice why = finding_text(fields, count, "why");
    json_t *finding = json_pack(
        "{s:s, s:s%, s:I, s:I, s:s%}", "kind", kind, "file", file.len ? file.ptr : "", file.len,
        "offset", (json_int_t)finding_number(fields, count, "offset"), "bytes",
        (json_int_t)finding_number(fields, count, "bytes"), "why", why.len ? why.ptr : "", why.len);

    (void)need(finding);
    if (json_array_append_new(findings->list, finding) != 0) {
        (void)need(NULL);
    }
}

static void add_finding(struct findings *findings, bool torn, const struct log_field *fields,
                        size_t count)
{
    struct text *out = &findings->context->out;

    text_add_escaped(out, finding_text(fields, count, "file"), false);
    text_format(out, ", offset %s: ", units_count(finding_number(fields, count, "offset")).text);
    if (torn) {
        text_format(
            out,
            "the end is torn by a power cut: %s that were never acknowledged; nothing is lost\n",
            units_bytes(finding_number(fields, count, "bytes")).text);
        return;
    }
    text_add_escaped(out, finding_text(fields, count, "why"), false);
    text_format(out, ", %s are lost\n", units_bytes(finding_number(fields, count, "bytes")).text);
}

static void take_log_line(void *context, enum log_level level, const char *event,
                          const struct log_field *fields, size_t count)
{
    struct findings *findings = context;
    bool torn = strcmp(event, "journal_torn") == 0;

    (void)level;
    if (strcmp(event, "journal_replayed") == 0) {
        findings->segments = finding_number(fields, count, "segments");
        findings->records = finding_number(fields, count, "records");
        findings->bytes = finding_number(fields, count, "bytes");
    } else if (torn || strcmp(event, "journal_lost") == 0) {
        findings->count++;
        if (findings->count > FINDINGS_MAX) {
            return;
        }
        if (findings->context->options->json) {
            add_finding_json(findings, torn ? "torn" : "lost", fields, count);
        } else {
            add_finding(findings, torn, fields, count);
        }
    }
}

static enum outcome print_findings(struct context *context, const struct findings *findings,
                                   const struct journal_examined *examined)
{
    struct text *out = &context->out;

    if (findings->count > FINDINGS_MAX) {
        text_format(out, "and %s more findings\n",
                    units_count(findings->count - FINDINGS_MAX).text);
    }
    units_add_noun(out, findings->records, "record");
    text_format(out, ", %s in ", units_bytes(findings->bytes).text);
    units_add_noun(out, findings->segments, "segment");
    text_format(out, ": %s ready, %s delayed, %s buried jobs in ",
                units_count(examined->ready).text, units_count(examined->delayed).text,
                units_count(examined->buried).text);
    units_add_noun(out, examined->queues, "queue");
    text_put(out, ".\n");
    if (!examined->damaged) {
        text_put(out, "The journal is intact.\n");
    }
    return command_print(context);
}

static enum outcome print_document(struct context *context, struct findings *findings,
                                   const struct journal_examined *examined)
{
    json_t *document =
        json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:O, s:I}", "damaged",
                  (int)examined->damaged, "ready", (json_int_t)examined->ready, "delayed",
                  (json_int_t)examined->delayed, "buried", (json_int_t)examined->buried, "queues",
                  (json_int_t)examined->queues, "segments", (json_int_t)findings->segments,
                  "records", (json_int_t)findings->records, "bytes", (json_int_t)findings->bytes,
                  "findings", findings->list, "found", (json_int_t)findings->count);
    char *text = need(json_dumps(need(document), JSON_INDENT(1)));

    text_format(&context->out, "%s\n", text);
    free(text);
    json_decref(document);
    return command_print(context);
}

enum outcome run_journal_check(struct context *context)
{
    const char *path = context->words[0];
    struct findings findings = {.context = context, .list = need(json_array())};
    struct journal_examined examined;
    struct error_text why = {""};
    enum outcome outcome;

    log_set_sink(take_log_line, &findings, LOG_LEVEL_INFO);
    if (!journal_examine(path, &examined, &why)) {
        outcome = problem_set(context->problem, OUTCOME_FAILED, "%s: %s", path, why.text);
    } else {
        outcome = context->options->json ? print_document(context, &findings, &examined)
                                         : print_findings(context, &findings, &examined);
        if (outcome == OUTCOME_DONE && examined.damaged) {
            outcome = problem_set(context->problem, OUTCOME_FAILED,
                                  "%s is damaged: tandemd --repair keeps its intact jobs", path);
        }
    }
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    json_decref(findings.list);
    return outcome;
}
