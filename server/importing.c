/* SPDX-License-Identifier: MIT */
#include "server/importing.h"

#include "core/base/log.h"
#include "core/import.h"
#include "server/config/import_kinds.h"
#include "server/importing_memo.h"
#include "server/importing_sync.h"
#include "server/process/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// What a slice brings in, at most.
enum { SLICE_JOBS = 500, SLICE_BYTES = 1 << 20 };

static void finish(struct importing *importing)
{
    source_close(importing->source);
    importing->source = NULL;
    importing->stage = IMPORTING_NOT;
}

static bool is_empty(const struct broker *broker)
{
    struct broker_info info;

    broker_info(broker, &info);
    return info.jobs[JOB_READY] + info.jobs[JOB_DELAYED] + info.jobs[JOB_BURIED] == 0;
}

// Nobody was served since it began; whoever is now would make it impossible to go on.
static bool leave_others(struct importing *importing, struct reason *why)
{
    const char *text = importing->options.text;
    struct slice other;
    char name[MEMO_KEY_MAX + 1];
    char shown[IMPORTING_SHOWN];

    while (import_memo_unfinished(importing->broker, text, &other)) {
        (void)snprintf(name, sizeof name, "%.*s", (int)other.len, other.ptr);
        importing_show(name, shown, sizeof shown);
        if (!importing->options.give_up) {
            reason_set(why,
                       "only a part of the jobs of %s was brought in so far; start with "
                       "journal.import = %s so that it goes on, or with --ignore-binlog to do "
                       "without the others",
                       shown, shown);
            return false;
        }
        log_warn("import_left", log_string("from", shown));
        if (!import_memo_set(importing->broker, name, IMPORT_LEFT, slice_of(NULL, 0), why)) {
            return false;
        }
    }
    return true;
}

static bool open_source(struct importing *importing, struct reason *why)
{
    struct source_news news;

    importing->source = source_open(import_kinds, importing->options.text, &news);
    if (!importing->source) {
        reason_set(why, "journal.import = %s: %s", importing->shown, news.what);
    }
    return importing->source != NULL;
}

static bool begin_again(struct importing *importing, struct slice print, struct reason *why)
{
    if (!open_source(importing, why)) {
        return false;
    }
    importing->was_done = true;
    importing->stage = IMPORTING_SURVEY;
    if (source_glance(importing->source, print) != SOURCE_UNSURE) {
        log_info("import_known", log_string("from", importing->shown),
                 log_string("note", "its jobs were brought in before"));
        finish(importing);
    }
    return true;
}

static void begin(struct importing *importing)
{
    importing->stage = IMPORTING_SURVEY;
    log_info("import_begun", log_string("from", importing->shown),
             log_string("again", importing->resumed ? "yes" : "no"));
}

// Of a directory that is another broker's as well as the journal's, or a file with the journal
// beside it, nobody need know which it was.
static bool is_nothing(const struct importing *importing)
{
    const char *place = strchr(importing->options.text, ':') + 1;
    const char *journal = importing->options.journal;
    size_t len = strcspn(place, "?");

    return strncmp(place, journal, len) == 0 &&
           (journal[len] == '\0' || strcmp(journal + len, ".tandem") == 0) &&
           source_glance(importing->source, slice_of(NULL, 0)) == SOURCE_GONE;
}

static bool begin_first(struct importing *importing, struct reason *why)
{
    if (!open_source(importing, why)) {
        return false;
    }
    if (is_nothing(importing)) {
        finish(importing);
        return true;
    }
    if (!is_empty(importing->broker)) {
        reason_set(why,
                   "journal.import = %s: the journal has jobs already, whose ids may be the same; "
                   "name a new journal.dir, or start without journal.import and let `tandemctl "
                   "import` bring these jobs in",
                   importing->shown);
        return false;
    }
    begin(importing);
    return true;
}

bool importing_open(struct importing *importing, const struct importing_options *options,
                    struct broker *broker, struct store *store, struct reason *why)
{
    struct slice print;

    *importing = (struct importing){.options = *options, .broker = broker, .store = store};
    importing_show(options->text, importing->shown, sizeof importing->shown);
    importing->tally.began_at = clock_mono();
    if (!import_memo_renew(broker, why) || !leave_others(importing, why)) {
        return false;
    }
    if (*options->text == '\0') {
        return true;
    }
    switch (import_memo_find(broker, options->text, &print)) {
    case IMPORT_DONE:
        return begin_again(importing, print, why);
    case IMPORT_BEGUN:
        importing->resumed = true;
        if (!open_source(importing, why)) {
            return false;
        }
        begin(importing);
        return true;
    case IMPORT_LEFT:
        reason_set(why,
                   "journal.import = %s: a part of its jobs was brought in, and the others were "
                   "given up by --ignore-binlog; start without journal.import",
                   importing->shown);
        return false;
    case IMPORT_NONE:
        return begin_first(importing, why);
    }
    UNREACHABLE();
}

static bool refuse_damage(const struct importing *importing, struct reason *why)
{
    const struct importing_tally *tally = &importing->tally;

    if (tally->damaged > 0 && !importing->options.repair) {
        reason_set(why,
                   "journal.import = %s: damaged in %" PRIu64 " places, first in %s at %" PRIu64
                   ": %s; the log names them all; with --repair what can be read is brought in",
                   importing->shown, tally->damaged, tally->damage.where, tally->damage.offset,
                   tally->damage.what);
        return false;
    }
    return true;
}

static bool compare_done(struct importing *importing, bool same, struct reason *why)
{
    const char *text = importing->options.text;

    if (!same) {
        reason_set(
            why,
            "journal.import = %s: its jobs were brought in before, and it has changed since: "
            "another broker has used it; let that one work until its queues are empty and "
            "start without journal.import, or bring its jobs in by `tandemctl import`",
            importing->shown);
        return false;
    }
    log_info("import_known", log_string("from", importing->shown),
             log_string("note", "its jobs were brought in before"));
    importing->stage = IMPORTING_SETTLE;
    return import_memo_set(importing->broker, text, IMPORT_DONE,
                           source_fingerprint(importing->source), why);
}

static bool end_survey(struct importing *importing, struct reason *why)
{
    const char *text = importing->options.text;
    struct slice old;
    bool same;

    (void)import_memo_find(importing->broker, text, &old);
    same = source_same(importing->source, old);
    if (importing->was_done) {
        return compare_done(importing, same, why);
    }
    if (old.len > 0 && !same) {
        reason_set(why,
                   "journal.import = %s: a part of its jobs was brought in before, and it has "
                   "changed since; nobody was served from the journal yet: remove what is in %s, "
                   "but no binlog.N, to begin anew",
                   importing->shown, importing->options.journal);
        return false;
    }
    importing->stage = IMPORTING_JOBS;
    return refuse_damage(importing, why) &&
           (old.len > 0 || import_memo_set(importing->broker, text, IMPORT_BEGUN,
                                           source_fingerprint(importing->source), why));
}

// Also what the source says of a job: false ends the start.
static bool take_news(struct importing *importing, enum source_answer answer,
                      const struct source_news *news, struct reason *why)
{
    if (answer == SOURCE_FAILED) {
        reason_set(why, "journal.import = %s: %s", importing->shown, news->what);
        return false;
    }
    // A source that was brought in once may be as damaged as it was then.
    if (!importing->was_done) {
        importing_note(&importing->tally, answer == SOURCE_TORN, news);
    }
    return true;
}

static bool survey(struct importing *importing, struct reason *why)
{
    struct source_news news;
    enum source_answer answer = source_survey(importing->source, &news);

    if (answer == SOURCE_END) {
        return end_survey(importing, why);
    }
    return answer == SOURCE_MORE || take_news(importing, answer, &news, why);
}

static bool take_refusal(struct importing *importing, enum status status, struct source_news *news,
                         struct reason *why)
{
    uint64_t id = news->image.now.id;

    if (status == STATUS_IN_USE && importing->resumed) {
        importing->tally.there++;
        return true;
    }
    if (status == STATUS_IN_USE || status == STATUS_BAD_NAME || status == STATUS_TOO_LARGE) {
        (void)source_damage(news, "its jobs", id, "job %" PRIu64 " cannot be taken: %s", id,
                            status_text(status));
        importing_note(&importing->tally, false, news);
        return refuse_damage(importing, why);
    }
    reason_set(why, "journal.import = %s: job %" PRIu64 ": %s; the next start goes on",
               importing->shown, id, status_text(status));
    return false;
}

static bool bring_in(struct importing *importing, struct source_news *news, struct reason *why)
{
    struct imported imported;
    enum status status = broker_import(importing->broker, &news->image, NULL, &imported);
    uint64_t position = broker_position(importing->broker);

    if (status != STATUS_OK) {
        return take_refusal(importing, status, news, why);
    }
    importing->position = position > importing->position ? position : importing->position;
    if (imported.joined) {
        importing->tally.joined++;
    } else {
        importing->tally.jobs++;
    }
    return true;
}

static bool end_jobs(struct importing *importing, struct reason *why)
{
    importing->stage = IMPORTING_SETTLE;
    return import_memo_set(importing->broker, importing->options.text, IMPORT_DONE,
                           source_fingerprint(importing->source), why);
}

static bool take_jobs(struct importing *importing, struct reason *why)
{
    struct source_news news;
    size_t bytes = 0;

    importing->waits = importing->store->ops->pressure(importing->store) != STORE_EASY;
    for (unsigned i = 0; i < SLICE_JOBS && bytes < SLICE_BYTES && !importing->waits; i++) {
        enum source_answer answer = source_next(importing->source, &news);

        if (answer == SOURCE_END) {
            return end_jobs(importing, why);
        }
        if (answer == SOURCE_MORE) {
            return true;
        }
        if (answer == SOURCE_JOB) {
            bytes += news.image.body.len;
            if (!bring_in(importing, &news, why)) {
                return false;
            }
        } else if (!take_news(importing, answer, &news, why) || !refuse_damage(importing, why)) {
            return false;
        }
    }
    return true;
}

// The memo is the last that was appended.
static bool settle(struct importing *importing)
{
    importing->waits = importing->store->ops->reached(importing->store) < importing->position;
    if (!importing->waits) {
        importing->stage = IMPORTING_SYNC;
    }
    return true;
}

static bool sync_all(struct importing *importing, struct reason *why)
{
    if (!importing_sync(importing->options.journal, why)) {
        return false;
    }
    if (!importing->was_done) {
        importing_log_done(&importing->tally, importing->shown);
    }
    finish(importing);
    return true;
}

static bool work(struct importing *importing, struct reason *why)
{
    switch (importing->stage) {
    case IMPORTING_SURVEY:
        return survey(importing, why);
    case IMPORTING_JOBS:
        return take_jobs(importing, why);
    case IMPORTING_SETTLE:
        return settle(importing);
    case IMPORTING_SYNC:
        return sync_all(importing, why);
    case IMPORTING_NOT:
        break;
    }
    UNREACHABLE();
}

bool importing_work(struct importing *importing, struct instant now, struct reason *why)
{
    struct store *store = importing->store;
    uint64_t position;
    bool good;

    importing->waits = false;
    broker_tick(importing->broker, now);
    good = work(importing, why);
    position = broker_position(importing->broker);
    importing->position = position > importing->position ? position : importing->position;
    store->ops->turn(store);
    if (good && store->ops->gave_up(store)) {
        reason_set(why, "journal %s: the disk fails; the next start goes on",
                   importing->options.journal);
        good = false;
    }
    return good;
}

void importing_progress(const struct importing *importing, struct store_progress *progress)
{
    struct source_progress source = {.jobs = 0};
    uint64_t done = importing->tally.jobs + importing->tally.there + importing->tally.joined;

    if (importing->source) {
        source_progress(importing->source, &source);
    }
    *progress = (struct store_progress){
        .read = source.read, .size = 2 * source.size, .jobs = importing->tally.jobs};
    if (importing->stage > IMPORTING_SURVEY && source.jobs > 0) {
        progress->read += (uint64_t)((double)source.size * (double)done / (double)source.jobs);
    }
}

void importing_close(struct importing *importing)
{
    source_close(importing->source);
    importing->source = NULL;
    importing->stage = IMPORTING_NOT;
}
