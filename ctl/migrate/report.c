/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/report.h"

#include "ctl/print/screen.h"
#include "ctl/print/units.h"
#include "ctl/migrate/left.h"
#include "ctl/migrate/tubes.h"

#include <errno.h>
#include <stdarg.h>

#define BAR_EACH (NSEC_PER_SEC / 10)
#define LINE_EACH (5 * NSEC_PER_SEC)
// So many jobs that stay behind are named at most.
#define LEFT_NAMED 1000

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
                "duplicate: job %llu of %s, which a worker took there, is job %llu of %s, too",
                (unsigned long long)item->from, migration->from_name, (unsigned long long)item->to,
                migration->to_name);
}

void report_spoilt(struct migration *migration, const struct item *item)
{
    report_line(migration,
                "in doubt: job %llu of %s may be job %llu of %s, too, which had no memory for it",
                (unsigned long long)item->from, migration->from_name,
                (unsigned long long)item->spoilt, migration->to_name);
}

static bool write_out(struct migration *migration)
{
    if (migration->out.len > 0 && migration->screen.shows) {
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
    uint64_t moved = migration->tally.moved;
    uint64_t total = migration->total;
    nsec_t now = remote_now();
    struct text words = {0};

    if (now - migration->said_at >= (migration->screen.shows ? BAR_EACH : LINE_EACH)) {
        migration->said_at = now;
        text_format(&words, "%s of about %s jobs moved", units_count(moved).text,
                    units_count(total > moved ? total : moved).text);
        if (!migration->screen.shows) {
            report_line(migration, "%s", text_string(&words));
        }
        if (!write_out(migration)) {
            text_free(&words);
            return false;
        }
        if (migration->screen.shows) {
            progress_draw(moved, total, text_string(&words));
        }
        text_free(&words);
    }
    return write_out(migration);
}

static void say_sum(struct migration *migration)
{
    const struct tally *tally = &migration->tally;
    double seconds = (double)(remote_now() - migration->began_at) / (double)NSEC_PER_SEC;

    report_line(migration, "%s %s moved from %s to %s in %s.", units_count(tally->moved).text,
                tally->moved == 1 ? "job" : "jobs", migration->from_name, migration->to_name,
                units_seconds(seconds).text);
    if (tally->duplicates + tally->doubtful > 0) {
        report_line(migration, "%s stand on both sides, and %s may; they are named above.",
                    units_count(tally->duplicates).text, units_count(tally->doubtful).text);
    }
    if (tally->taken_back > 0) {
        report_line(migration, "%s were left to workers of %s that were faster.",
                    units_count(tally->taken_back).text, migration->from_name);
    }
    if (tally->no_ttr > 0) {
        report_line(migration,
                    "%s had no time to run, as jobs of Gearman: they have %llu seconds now "
                    "(--ttr).",
                    units_count(tally->no_ttr).text, (unsigned long long)migration->settings->ttr);
    }
    if (tally->keys > 0) {
        report_line(migration, "%s had keys, for which the target has no place.",
                    units_count(tally->keys).text);
    }
    if (tally->joined > 0) {
        report_line(migration, "%s joined jobs of the same key at %s.",
                    units_count(tally->joined).text, migration->to_name);
    }
}

// A reason for which jobs are left, added to the problem.
static void add_left(struct text *to, uint64_t count, const char *why)
{
    if (count > 0) {
        text_format(to, "%s%s %s", to->len ? "; " : "", units_count(count).text, why);
    }
}

static uint64_t without(uint64_t count, uint64_t less)
{
    return count > less ? count - less : 0;
}

// What the source has after the last pass, in every state: none of it is passed over in silence.
static void add_all_left(const struct migration *migration, struct text *left)
{
    const struct tubes *tubes = migration->tubes;
    uint64_t ready = migration->source_api ? left_count_kind(migration, KIND_READY) : 0;
    uint64_t unburied = migration->buries ? 0 : tubes->buried;

    add_left(left, left_count(migration, LEFT_LARGE), "are larger than the target takes");
    add_left(left, left_count(migration, LEFT_REFUSED), "are refused by the target");
    add_left(left, left_count(migration, LEFT_NAME), "are in queues whose names no tube can have");
    add_left(left, unburied,
             "are buried, and the target cannot bury them (it has no reserve-job, which came with "
             "beanstalkd 1.12)");
    add_left(left, migration->held, "are held by workers");
    add_left(left, migration->foreground, "are awaited by their clients (foreground jobs)");
    add_left(left, tubes->in_paused, "are in paused tubes");
    add_left(left, without(tubes->ready, tubes->in_paused + ready), "are ready");
    add_left(left, without(tubes->delayed, left_count_kind(migration, KIND_DELAYED)),
             "are delayed");
    add_left(left,
             migration->buries ? without(tubes->buried, left_count_kind(migration, KIND_BURIED))
                               : 0,
             "are buried");
}

// Says of each job that stays which it is and why.
static void say_left(struct migration *migration)
{
    static const char *const words[LEFT_WHYS] = {
        [LEFT_LARGE] = "too large", [LEFT_REFUSED] = "refused", [LEFT_NAME] = "not a tube's name"};

    for (size_t i = 0; i < migration->left_count && i < LEFT_NAMED; i++) {
        report_line(migration, "%s: job %llu of %s", words[migration->left[i].why],
                    (unsigned long long)migration->left[i].id, migration->from_name);
    }
}

enum outcome report_end(struct migration *migration)
{
    const struct tubes *tubes = migration->tubes;
    bool hard = migration->left_count > 0 || (tubes->buried > 0 && !migration->buries);
    struct text left = {0};
    enum outcome outcome = OUTCOME_DONE;

    add_all_left(migration, &left);
    say_left(migration);
    say_sum(migration);
    if (!write_out(migration)) {
        outcome = OUTCOME_FAILED;
    } else if (left.len > 0) {
        outcome = problem_set(migration->problem, hard ? OUTCOME_FAILED : OUTCOME_NOT_NOW,
                              "jobs are left at %s: %s", migration->from_name, text_string(&left));
    }
    text_free(&left);
    return outcome;
}
