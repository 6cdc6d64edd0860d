/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/report.h"

#include "ctl/migrate/tubes.h"
#include "ctl/print/need.h"
#include "ctl/print/screen.h"
#include "ctl/print/units.h"

#include <errno.h>
#include <stdarg.h>

static int unmoved_compare(const void *a, const void *b)
{
    uint64_t one = ((const struct unmoved_job *)a)->id;
    uint64_t other = ((const struct unmoved_job *)b)->id;

    return one < other ? -1 : one > other;
}

bool unmoved_has(const struct migration *migration, uint64_t id)
{
    const struct unmoved_job key = {.id = id};

    return migration->unmoved_count > 0 &&
           bsearch(&key, migration->unmoved, migration->unmoved_count, sizeof *migration->unmoved,
                   unmoved_compare) != NULL;
}

void unmoved_note(struct migration *migration, uint64_t id, enum unmoved_reason why, enum kind kind)
{
    size_t at = migration->unmoved_count;

    if (unmoved_has(migration, id)) {
        return;
    }
    if (at == migration->unmoved_capacity) {
        migration->unmoved_capacity = at ? at * 2 : 64;
        migration->unmoved = need(reallocarray(migration->unmoved, migration->unmoved_capacity,
                                               sizeof *migration->unmoved));
    }
    // Jobs come approximately in the order of their ids.
    for (; at > 0 && migration->unmoved[at - 1].id > id; at--) {
        migration->unmoved[at] = migration->unmoved[at - 1];
    }
    migration->unmoved[at] = (struct unmoved_job){.id = id, .why = why, .kind = kind};
    migration->unmoved_count++;
}

static uint64_t unmoved_count(const struct migration *migration, enum unmoved_reason why)
{
    uint64_t count = 0;

    for (size_t i = 0; i < migration->unmoved_count; i++) {
        count += migration->unmoved[i].why == why;
    }
    return count;
}

static uint64_t unmoved_count_kind(const struct migration *migration, enum kind kind)
{
    uint64_t count = 0;

    for (size_t i = 0; i < migration->unmoved_count; i++) {
        count += migration->unmoved[i].kind == kind;
    }
    return count;
}

void unmoved_free(struct migration *migration)
{
    free(migration->unmoved);
}

#define BAR_EACH (NSEC_PER_SEC / 10)
#define LINE_EACH (5 * NSEC_PER_SEC)
// The maximum number of jobs that are listed because they stay.
#define UNMOVED_NAMED_MAX 1000

void report_line(struct migration *migration, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_vformat(&migration->out, format, args);
    va_end(args);
    text_put_char(&migration->out, '\n');
}

void report_duplicate(struct migration *migration, const struct item *item)
{
    report_line(migration,
                "duplicate: job %llu of %s, which a worker has taken there, is also job %llu of %s",
                (unsigned long long)item->from, migration->from_name, (unsigned long long)item->to,
                migration->to_name);
}

void report_spoilt(struct migration *migration, const struct item *item)
{
    report_line(migration,
                "in doubt: job %llu of %s may also be job %llu of %s, which had no memory for it",
                (unsigned long long)item->from, migration->from_name,
                (unsigned long long)item->spoilt, migration->to_name);
}

static bool report_flush(struct migration *migration)
{
    if (migration->out.len > 0 && migration->screen.shows_progress) {
        progress_clear();
    }
    if (migration->out.len > 0 && !screen_write(&migration->out)) {
        (void)problem_set(migration->problem, OUTCOME_FAILED, "the output cannot be written: %s",
                          strerror(errno));
        return false;
    }
    return true;
}

bool report_progress(struct migration *migration)
{
    uint64_t moved = migration->counts.moved;
    uint64_t total = migration->total;
    nsec_t now = remote_now();
    struct text words = {0};

    if (now - migration->said_at >= (migration->screen.shows_progress ? BAR_EACH : LINE_EACH)) {
        migration->said_at = now;
        text_format(&words, "%s of about %s jobs moved", units_count(moved).text,
                    units_count(total > moved ? total : moved).text);
        if (!migration->screen.shows_progress) {
            report_line(migration, "%s", text_string(&words));
        }
        if (!report_flush(migration)) {
            text_free(&words);
            return false;
        }
        if (migration->screen.shows_progress) {
            progress_draw(moved, total, text_string(&words));
        }
        text_free(&words);
    }
    return report_flush(migration);
}

static void report_counts(struct migration *migration)
{
    const struct migration_counts *tally = &migration->counts;
    double seconds = (double)(remote_now() - migration->began_at) / (double)NSEC_PER_SEC;

    report_line(migration, "%s %s moved from %s to %s in %s.", units_count(tally->moved).text,
                tally->moved == 1 ? "job" : "jobs", migration->from_name, migration->to_name,
                units_seconds(seconds).text);
    if (tally->duplicates + tally->doubtful > 0) {
        report_line(migration, "%s are on both servers, and %s may be; they are listed above.",
                    units_count(tally->duplicates).text, units_count(tally->doubtful).text);
    }
    if (tally->taken_back > 0) {
        report_line(migration, "%s were taken by workers of %s first.",
                    units_count(tally->taken_back).text, migration->from_name);
    }
    if (tally->no_ttr > 0) {
        report_line(migration,
                    "%s had no TTR, like jobs of Gearman; their TTR is now %llu seconds (--ttr).",
                    units_count(tally->no_ttr).text, (unsigned long long)migration->settings->ttr);
    }
    if (tally->keys > 0) {
        report_line(migration, "%s had keys, which the target cannot store.",
                    units_count(tally->keys).text);
    }
    if (tally->joined > 0) {
        report_line(migration, "%s joined jobs of the same key at %s.",
                    units_count(tally->joined).text, migration->to_name);
    }
}

// Adds a reason for which jobs stay to the problem.
static void report_add_reason(struct text *to, uint64_t count, const char *why)
{
    if (count > 0) {
        text_format(to, "%s%s %s", to->len ? "; " : "", units_count(count).text, why);
    }
}

static uint64_t report_subtract(uint64_t count, uint64_t less)
{
    return count > less ? count - less : 0;
}

// Reports all jobs that the source has after the last pass, in every state.
static void report_add_reasons(const struct migration *migration, struct text *left)
{
    const struct tubes *tubes = migration->tubes;
    uint64_t ready = migration->source_api ? unmoved_count_kind(migration, KIND_READY) : 0;
    uint64_t unburied = migration->buries ? 0 : tubes->buried;

    report_add_reason(left, unmoved_count(migration, UNMOVED_LARGE),
                      "are larger than the target takes");
    report_add_reason(left, unmoved_count(migration, UNMOVED_REFUSED), "are refused by the target");
    report_add_reason(left, unmoved_count(migration, UNMOVED_NAME),
                      "are in queues whose names are not valid for a tube");
    report_add_reason(
        left, unburied,
        "are buried, and the target cannot bury them (it has no reserve-job, which came with "
        "beanstalkd 1.12)");
    report_add_reason(left, migration->held, "are held by workers");
    report_add_reason(left, migration->foreground,
                      "are awaited by their clients (foreground jobs)");
    report_add_reason(left, tubes->in_paused, "are in paused tubes");
    report_add_reason(left, report_subtract(tubes->ready, tubes->in_paused + ready), "are ready");
    report_add_reason(left,
                      report_subtract(tubes->delayed, unmoved_count_kind(migration, KIND_DELAYED)),
                      "are delayed");
    report_add_reason(
        left,
        migration->buries
            ? report_subtract(tubes->buried, unmoved_count_kind(migration, KIND_BURIED))
            : 0,
        "are buried");
}

// Lists the jobs that cannot be moved, with the reason.
static void report_unmoved(struct migration *migration)
{
    static const char *const words[UNMOVED_REASONS] = {[UNMOVED_LARGE] = "too large",
                                                       [UNMOVED_REFUSED] = "refused",
                                                       [UNMOVED_NAME] = "invalid tube name"};

    for (size_t i = 0; i < migration->unmoved_count && i < UNMOVED_NAMED_MAX; i++) {
        report_line(migration, "%s: job %llu of %s", words[migration->unmoved[i].why],
                    (unsigned long long)migration->unmoved[i].id, migration->from_name);
    }
}

enum outcome report_end(struct migration *migration)
{
    const struct tubes *tubes = migration->tubes;
    bool hard = migration->unmoved_count > 0 || (tubes->buried > 0 && !migration->buries);
    struct text left = {0};
    enum outcome outcome = OUTCOME_DONE;

    report_add_reasons(migration, &left);
    report_unmoved(migration);
    report_counts(migration);
    if (!report_flush(migration)) {
        outcome = OUTCOME_FAILED;
    } else if (left.len > 0) {
        outcome = problem_set(migration->problem, hard ? OUTCOME_FAILED : OUTCOME_NOT_NOW,
                              "jobs are left at %s: %s", migration->from_name, text_string(&left));
    }
    text_free(&left);
    return outcome;
}
