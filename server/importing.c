/* SPDX-License-Identifier: MIT */
#include "server/importing.h"

#include "core/base/log.h"
#include "core/submit.h"
#include "server/config/journal_settings.h"
#include "server/importing_memo.h"
#include "server/importing_sync.h"
#include "server/process/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Limits of a slice.
enum { SLICE_JOBS = 500, SLICE_BYTES = 1 << 20 };
// In a key: the journal's directory, or the file that this directory is beside.
#define HERE "(here)"
#define BESIDE ".tandem"
// Room for the names of all kinds of sources.
#define KIND_MAX 40
// Maximum number of log lines for torn places, and for damaged ones.
#define LINES_MOST 1000

// Counts a torn or damaged place, and logs it unless too many were logged.
static void importing_note(struct importing_tally *tally, bool torn, const struct source_news *news)
{
    uint64_t *count = torn ? &tally->torn : &tally->damaged;

    if (!torn && tally->damaged == 0) {
        tally->damage = *news;
    }
    if (++*count > LINES_MOST) {
        return;
    }
    if (torn) {
        log_warn("import_torn", log_string("where", news->where),
                 log_number("offset", (int64_t)news->offset), log_string("what", news->what),
                 log_string("note", "it was never acknowledged, and it is skipped"));
    } else {
        log_error("import_damage", log_string("where", news->where),
                  log_number("offset", (int64_t)news->offset), log_string("what", news->what));
    }
}

void importing_log_progress(const struct importing *importing)
{
    const struct importing_tally *tally = &importing->tally;
    struct restore_progress progress;

    importing_progress(importing, &progress);
    log_info("importing", log_string("from", importing->shown),
             log_number("read", (int64_t)progress.read), log_number("of", (int64_t)progress.size),
             log_number("jobs", (int64_t)tally->jobs),
             log_number("ms", (clock_awake() - tally->began_at) / NSEC_PER_MSEC));
}

// For messages: how to start without the import.
static const char *importing_way_without(const struct importing *importing)
{
    return importing->own ? "with --ignore-binlog, and without journal.import"
                          : "without journal.import";
}

// Turns a memo's key into the text of a source.
static void importing_show_key(const struct importing *importing, struct slice key, char *shown,
                               size_t size)
{
    const char *journal = importing->options.journal;
    char text[MEMO_KEY_MAX + 1];
    char *here;

    (void)snprintf(text, sizeof text, "%.*s", (int)key.len, key.ptr);
    here = strstr(text, ":" HERE);
    if (here) {
        size_t len = strlen(journal);
        bool beside = strncmp(text, "beanstalkd:", (size_t)(here - text) + 1) != 0;

        here[1] = '\0';
        len -= beside && len > sizeof BESIDE - 1 ? sizeof BESIDE - 1 : 0;
        (void)snprintf(shown, size, "%.40s%.*s%.80s", text, len < 300 ? (int)len : 300, journal,
                       here + sizeof HERE);
    } else {
        importing_show(text, shown, size);
    }
}

// Once clients are served, an unfinished import cannot be resumed, so the operator must decide.
static bool importing_abandon_others(struct importing *importing, struct error_text *why)
{
    struct slice other;
    char name[MEMO_KEY_MAX + 1];
    char shown[IMPORTING_SHOWN];

    while (import_memo_unfinished(importing->broker, importing->key, &other)) {
        (void)snprintf(name, sizeof name, "%.*s", (int)other.len, other.ptr);
        importing_show_key(importing, other, shown, sizeof shown);
        if (!importing->options.give_up) {
            return error_set(
                why,
                "the import of %s is incomplete; start with "
                "journal.import = %s to continue it, or with --ignore-binlog to abandon the "
                "remaining jobs",
                shown, shown);
        }
        log_warn("import_left", log_string("from", shown));
        if (!import_memo_set(importing->broker, name, IMPORT_LEFT, slice_of(NULL, 0), why)) {
            return false;
        }
    }
    return true;
}

static bool importing_open_source(struct importing *importing, struct error_text *why)
{
    struct source_news news;

    importing->source = source_open(import_kinds, importing->options.text, &news);
    if (!importing->source) {
        error_set(why, "journal.import = %s: %s", importing->shown, news.what);
    }
    return importing->source != NULL;
}

// Sets `key` and `own`.
static void importing_set_key(struct importing *importing)
{
    const char *text = importing->options.text;
    int kind = (int)strcspn(text, ":") + 1;
    char place[MEMO_KEY_MAX - KIND_MAX];
    char journal[sizeof place];
    size_t len;

    (void)snprintf(importing->key, sizeof importing->key, "%s", importing->shown);
    if (!source_place(importing->source, place, sizeof place)) {
        return;
    }
    len = strcspn(place, "?");
    importing->own = source_real_path(importing->options.journal, journal, sizeof journal) &&
                     strncmp(place, journal, len) == 0 &&
                     (journal[len] == '\0' || strcmp(journal + len, BESIDE) == 0);
    (void)snprintf(importing->key, sizeof importing->key, "%.*s%s%s",
                   kind < KIND_MAX ? kind : KIND_MAX, text, importing->own ? HERE : "",
                   importing->own ? place + len : place);
}

static void importing_begin(struct importing *importing)
{
    importing->stage = IMPORTING_SURVEY;
    log_info("import_begun", log_string("from", importing->shown),
             log_string("again", importing->resumed ? "yes" : "no"));
}

static void importing_begin_again(struct importing *importing, struct slice print)
{
    importing->was_done = true;
    importing->stage = IMPORTING_SURVEY;
    if (source_glance(importing->source, print) != SOURCE_UNSURE) {
        log_info("import_known", log_string("from", importing->shown),
                 log_string("note", "its jobs were imported before"));
        importing_close(importing);
    }
}

static bool importing_refuse_left(const struct importing *importing, struct error_text *why)
{
    return error_set(why,
                     "journal.import = %s: the import was abandoned by --ignore-binlog when it was "
                     "incomplete; start %s",
                     importing->shown, importing_way_without(importing));
}

static bool importing_refuse_ids(const struct importing *importing, struct error_text *why)
{
    return error_set(
        why,
        "journal.import = %s: the journal has or had jobs, whose ids may be the same; set "
        "journal.dir to a new directory, or start %s and use `tandemctl import %s`, which "
        "imports with new ids",
        importing->shown, importing_way_without(importing), importing->shown);
}

// Looks for an import of the same content under another key, and sets `*found`. A source in or
// beside the journal's directory may have moved with it, so its memo is renamed. Others are
// refused.
static bool importing_find_elsewhere(struct importing *importing, bool surveyed, bool *found,
                                     struct error_text *why)
{
    uint64_t cursor = 0;
    struct slice key;
    struct slice print;
    char shown[IMPORTING_SHOWN];

    *found = false;
    while (!*found && import_memo_next(importing->broker, importing->key, &cursor, &key, &print)) {
        *found = surveyed ? source_same(importing->source, print)
                          : source_glance(importing->source, print) == SOURCE_SAME;
    }
    if (!*found) {
        return true;
    }
    if (importing->own) {
        return import_memo_rename(importing->broker, key, importing->key, why);
    }
    importing_show_key(importing, key, shown, sizeof shown);
    return error_set(why, "journal.import = %s: its jobs were imported before from %s; start %s",
                     importing->shown, shown, importing_way_without(importing));
}

static bool importing_has_others(const struct importing *importing)
{
    uint64_t cursor = 0;
    struct slice key;
    struct slice print;

    return import_memo_next(importing->broker, importing->key, &cursor, &key, &print);
}

static bool importing_begin_first(struct importing *importing, struct error_text *why)
{
    // The store is missing, so there is nothing to import from in or beside the journal's
    // directory.
    if (importing->own && source_glance(importing->source, slice_of(NULL, 0)) == SOURCE_GONE) {
        importing_close(importing);
        return true;
    }
    // If there are other imports, only the survey tells whether this is one of them.
    if (importing->used && !importing_has_others(importing)) {
        return importing_refuse_ids(importing, why);
    }
    importing_begin(importing);
    return true;
}

static bool importing_begin_stage(struct importing *importing, struct error_text *why)
{
    struct slice print;

    switch (import_memo_find(importing->broker, importing->key, &print)) {
    case IMPORT_DONE:
        importing_begin_again(importing, print);
        return true;
    case IMPORT_BEGUN:
        importing->resumed = true;
        importing_begin(importing);
        return true;
    case IMPORT_LEFT:
        return importing_refuse_left(importing, why);
    case IMPORT_NONE:
        return importing_begin_first(importing, why);
    }
    UNREACHABLE();
}

// Memos of older versions have the text as their key.
static bool importing_find_memo(struct importing *importing, struct error_text *why)
{
    const struct broker *broker = importing->broker;
    struct slice print;
    bool found;

    if (import_memo_find(broker, importing->key, &print) != IMPORT_NONE) {
        return true;
    }
    if (import_memo_find(broker, importing->shown, &print) != IMPORT_NONE) {
        return import_memo_rename(importing->broker, slice_str(importing->shown), importing->key,
                                  why);
    }
    return importing_find_elsewhere(importing, false, &found, why);
}

// False with the reason.
static bool importing_check_ids(struct importing *importing, struct error_text *why)
{
    struct broker *broker = importing->broker;

    importing->first_id = broker_next_id(broker);
    importing->used = importing->first_id > 1 && !import_memo_is_unused(broker);
    // Remember this now, so that a start that fails before clients are served can be repeated.
    return importing->used || *importing->options.text == '\0' ||
           import_memo_set_unused(broker, true, why);
}

bool importing_open(struct importing *importing, const struct importing_options *options,
                    struct broker *broker, struct store *store, struct error_text *why)
{
    bool asked = *options->text != '\0';

    *importing = (struct importing){.options = *options, .broker = broker, .store = store};
    importing_show(options->text, importing->shown, sizeof importing->shown);
    importing->tally.began_at = clock_awake();
    if (*options->journal == '\0') {
        importing->used = true;
        return true;
    }
    if (!import_memo_renew(broker, why) || !importing_check_ids(importing, why) ||
        (asked && !importing_open_source(importing, why))) {
        return false;
    }
    if (asked) {
        importing_set_key(importing);
    }
    return (!asked || importing_find_memo(importing, why)) &&
           importing_abandon_others(importing, why) &&
           (!asked || importing_begin_stage(importing, why));
}

static bool importing_refuse_damage(const struct importing *importing, struct error_text *why)
{
    const struct importing_tally *tally = &importing->tally;

    if (tally->damaged > 0 && !importing->options.repair) {
        return error_set(why,
                         "journal.import = %s: damaged in %" PRIu64
                         " places, first in %s at %" PRIu64
                         ": %s; the log lists all; start with --repair to import the readable jobs",
                         importing->shown, tally->damaged, tally->damage.where,
                         tally->damage.offset, tally->damage.what);
    }
    return true;
}

static bool importing_compare_done(struct importing *importing, bool same, struct error_text *why)
{
    if (!same) {
        return error_set(
            why,
            "journal.import = %s: its jobs were imported before, and another broker has changed "
            "it since; let that broker run until its queues are empty, or move the new jobs "
            "with `tandemctl migrate`, and start %s",
            importing->shown, importing_way_without(importing));
    }
    log_info("import_known", log_string("from", importing->shown),
             log_string("note", "its jobs were imported before"));
    importing->stage = IMPORTING_SETTLE;
    return import_memo_set(importing->broker, importing->key, IMPORT_DONE,
                           source_fingerprint(importing->source), why);
}

// All empty sources are equal, so they are not compared.
static bool importing_has_jobs(const struct importing *importing)
{
    struct source_progress progress;

    source_progress(importing->source, &progress);
    return progress.jobs > 0;
}

static bool importing_end_survey(struct importing *importing, struct error_text *why)
{
    const char *key = importing->key;
    enum import_mark mark;
    struct slice old;
    bool same;

    if (import_memo_find(importing->broker, key, &old) == IMPORT_NONE &&
        importing_has_jobs(importing) && !importing_find_elsewhere(importing, true, &same, why)) {
        return false;
    }
    mark = import_memo_find(importing->broker, key, &old);
    same = mark != IMPORT_NONE && source_same(importing->source, old);
    importing->was_done = mark == IMPORT_DONE;
    importing->resumed = importing->resumed || mark == IMPORT_BEGUN;
    if (mark == IMPORT_LEFT) {
        return importing_refuse_left(importing, why);
    }
    if (importing->was_done) {
        return importing_compare_done(importing, same, why);
    }
    if (old.len > 0 && !same) {
        return error_set(
            why,
            "journal.import = %s: it has changed since a part of its jobs was imported; no "
            "client has been served yet: remove all files in %s, except binlog.N, to start "
            "the import again",
            importing->shown, importing->options.journal);
    }
    if (old.len == 0 && importing->used) {
        return importing_refuse_ids(importing, why);
    }
    importing->stage = IMPORTING_JOBS;
    return importing_refuse_damage(importing, why) &&
           (old.len > 0 || import_memo_set(importing->broker, key, IMPORT_BEGUN,
                                           source_fingerprint(importing->source), why));
}

// Handles an answer without a job. False with the reason ends the start.
static bool importing_take_news(struct importing *importing, enum source_answer answer,
                                const struct source_news *news, struct error_text *why)
{
    if (answer == SOURCE_FAILED) {
        return error_set(why, "journal.import = %s: %s", importing->shown, news->what);
    }
    // The damage of a source that was imported before was reported then.
    if (!importing->was_done) {
        importing_note(&importing->tally, answer == SOURCE_TORN, news);
    }
    return true;
}

static bool importing_survey(struct importing *importing, struct error_text *why)
{
    struct source_news news;
    enum source_answer answer = source_survey(importing->source, &news);

    if (answer == SOURCE_END) {
        return importing_end_survey(importing, why);
    }
    return answer == SOURCE_MORE || importing_take_news(importing, answer, &news, why);
}

static bool importing_take_refusal(struct importing *importing, enum status status,
                                   struct source_news *news, struct error_text *why)
{
    uint64_t id = news->image.now.id;

    if (status == STATUS_IN_USE && importing->resumed) {
        importing->tally.there++;
        return true;
    }
    if (status == STATUS_IN_USE || status == STATUS_BAD_NAME || status == STATUS_TOO_LARGE) {
        (void)source_damage(news, "its jobs", id, "job %" PRIu64 " cannot be imported: %s", id,
                            status_text(status));
        importing_note(&importing->tally, false, news);
        return importing_refuse_damage(importing, why);
    }
    return error_set(why, "journal.import = %s: job %" PRIu64 ": %s; the next start continues",
                     importing->shown, id, status_text(status));
}

static bool importing_job(struct importing *importing, struct source_news *news,
                          struct error_text *why)
{
    struct imported imported;
    enum status status = broker_import(importing->broker, &news->image, NULL, &imported);
    uint64_t position = broker_position(importing->broker);

    if (status != STATUS_OK) {
        return importing_take_refusal(importing, status, news, why);
    }
    importing->position = position > importing->position ? position : importing->position;
    if (imported.joined) {
        importing->tally.joined++;
    } else {
        importing->tally.jobs++;
    }
    return true;
}

static bool importing_take_jobs(struct importing *importing, struct error_text *why)
{
    struct source_news news;
    size_t bytes = 0;

    importing->waits = importing->store->ops->pressure(importing->store) != STORE_EASY;
    for (unsigned i = 0; i < SLICE_JOBS && bytes < SLICE_BYTES && !importing->waits; i++) {
        enum source_answer answer = source_next(importing->source, &news);

        if (answer == SOURCE_END) {
            importing->stage = IMPORTING_SETTLE;
            return import_memo_set(importing->broker, importing->key, IMPORT_DONE,
                                   source_fingerprint(importing->source), why);
        }
        if (answer == SOURCE_MORE) {
            return true;
        }
        if (answer == SOURCE_JOB) {
            bytes += news.image.body.len;
            if (!importing_job(importing, &news, why)) {
                return false;
            }
        } else if (!importing_take_news(importing, answer, &news, why) ||
                   !importing_refuse_damage(importing, why)) {
            return false;
        }
    }
    return true;
}

// The memo is the last record, so when it is written, all jobs are.
static bool importing_settle(struct importing *importing)
{
    importing->waits = importing->store->ops->reached(importing->store) < importing->position;
    if (!importing->waits) {
        importing->stage = IMPORTING_SYNC;
    }
    return true;
}

static bool importing_sync_all(struct importing *importing, struct error_text *why)
{
    if (!importing_sync(importing->options.journal, why)) {
        return false;
    }
    if (!importing->was_done) {
        const struct importing_tally *tally = &importing->tally;

        log_info("import_done", log_string("from", importing->shown),
                 log_number("jobs", (int64_t)tally->jobs),
                 log_number("there_before", (int64_t)tally->there),
                 log_number("joined", (int64_t)tally->joined),
                 log_number("torn", (int64_t)tally->torn),
                 log_number("damaged", (int64_t)tally->damaged),
                 log_number("ms", (clock_awake() - tally->began_at) / NSEC_PER_MSEC));
    }
    importing_close(importing);
    return true;
}

static bool importing_step(struct importing *importing, struct error_text *why)
{
    switch (importing->stage) {
    case IMPORTING_SURVEY:
        return importing_survey(importing, why);
    case IMPORTING_JOBS:
        return importing_take_jobs(importing, why);
    case IMPORTING_SETTLE:
        return importing_settle(importing);
    case IMPORTING_SYNC:
        return importing_sync_all(importing, why);
    case IMPORTING_NOT:
        break;
    }
    UNREACHABLE();
}

bool importing_work(struct importing *importing, struct instant now, struct error_text *why)
{
    struct store *store = importing->store;
    uint64_t position;
    bool good;

    importing->waits = false;
    broker_tick(importing->broker, now);
    good = importing_step(importing, why);
    position = broker_position(importing->broker);
    importing->position = position > importing->position ? position : importing->position;
    store->ops->turn(store);
    if (good && store->ops->gave_up(store)) {
        error_set(why, "journal %s: the disk fails; the next start continues the import",
                  importing->options.journal);
        good = false;
    }
    return good;
}

void importing_progress(const struct importing *importing, struct restore_progress *progress)
{
    struct source_progress source = {.jobs = 0};
    uint64_t done = importing->tally.jobs + importing->tally.there + importing->tally.joined;

    if (importing->source) {
        source_progress(importing->source, &source);
    }
    *progress = (struct restore_progress){.read = source.read,
                                          .size = 2 * source.size,
                                          .jobs = importing->tally.jobs,
                                          .imports = true};
    if (importing->stage > IMPORTING_SURVEY && source.jobs > 0) {
        progress->read += (uint64_t)((double)source.size * (double)done / (double)source.jobs);
    }
}

bool importing_serve(struct importing *importing, struct error_text *why)
{
    importing->used = importing->used || broker_next_id(importing->broker) != importing->first_id;
    return *importing->options.journal == '\0' ||
           import_memo_set_unused(importing->broker, false, why);
}

void importing_rest(struct importing *importing)
{
    struct error_text why;
    bool known;

    // If this fails, the next start assumes that ids were given out.
    if (importing->broker && importing->first_id > 0 && !importing->used &&
        broker_next_id(importing->broker) == importing->first_id) {
        known = import_memo_set_unused(importing->broker, true, &why);
        (void)known;
    }
    importing->used = true;
}

void importing_close(struct importing *importing)
{
    source_close(importing->source);
    importing->source = NULL;
    importing->stage = IMPORTING_NOT;
}
