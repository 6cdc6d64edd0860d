/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/migration.h"

#include "ctl/beanstalk/answer.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/print/progress.h"
#include "ctl/print/signals.h"
#include "ctl/migrate/inside.h"
#include "ctl/migrate/pass.h"
#include "ctl/migrate/report.h"
#include "ctl/migrate/resume.h"
#include "ctl/migrate/state.h"
#include "ctl/migrate/target.h"
#include "ctl/migrate/tubes.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

// How often it looks for more, where it waits.
#define WAIT_MSEC 500

//
// Both servers
//

static bool enter(struct link *link, const char *token)
{
    struct answer_line answer;

    if (!token) {
        return true;
    }
    // Where it is refused there may be no rules at all; if there are, what follows is refused.
    link_say(link, "auth %s", token);
    return answer_read(link, &answer);
}

// An id that is a word; what says none, or an odd one, has the empty one.
static void read_id(struct slice stats, char id[SERVER_ID_MAX + 1])
{
    struct slice value;

    id[0] = '\0';
    if (yaml_text(stats, SLICE("id"), &value) && value.len <= SERVER_ID_MAX && is_tube(value)) {
        memcpy(id, value.ptr, value.len);
        id[value.len] = '\0';
    }
}

static bool ask_source(struct migration *migration)
{
    struct slice document;
    bool found;

    link_say(migration->source, "stats");
    if (!answer_document(migration->source, "stats", &document, &found)) {
        return false;
    }
    if (!yaml_count(document, SLICE("max-job-size"), &migration->has_most)) {
        return link_fail(migration->source, OUTCOME_FAILED, "does not say its max-job-size");
    }
    if (migration->has_most > JOB_SIZE_MOST) {
        migration->has_most = JOB_SIZE_MOST;
    }
    read_id(document, migration->source_id);
    return true;
}

// A server that is moved to itself would never be empty. Servers have had ids since 1.4.
static bool differ(struct migration *migration)
{
    struct slice document;
    bool found;

    if (!ask_source(migration)) {
        return false;
    }
    link_say(migration->target, "stats");
    if (!answer_document(migration->target, "stats", &document, &found)) {
        return false;
    }
    read_id(document, migration->target_id);
    if (migration->source_id[0] && strcmp(migration->source_id, migration->target_id) == 0) {
        (void)problem_set(migration->problem, OUTCOME_USAGE, "%s and %s are the same server",
                          link_name(migration->source), link_name(migration->target));
        return false;
    }
    return true;
}

static bool open_links(struct migration *migration)
{
    const struct migration_settings *settings = migration->settings;

    return link_open(&migration->source, settings->from, settings->timeout, migration->problem) &&
           link_open(&migration->target, settings->to, settings->timeout, migration->problem) &&
           enter(migration->source, settings->from_token) &&
           enter(migration->target, settings->to_token) && differ(migration) &&
           target_ask(migration);
}

//
// The whole
//

// Whether there may be more to come.
static bool waits(const struct migration *migration)
{
    struct pollfd woken = {.fd = signals_fd(), .events = POLLIN};

    if (!migration->settings->follow &&
        (!migration->settings->wait || migration->held + migration->tubes->in_paused == 0)) {
        return false;
    }
    (void)poll(&woken, 1, WAIT_MSEC);
    return true;
}

// Jobs with which something has happened.
static uint64_t progress_of(const struct tally *tally)
{
    return tally->moved + tally->taken_back + tally->lost;
}

static bool run(struct migration *migration)
{
    struct load left = {0};
    uint64_t before;
    bool good = state_open(&migration->state, migration, &left) && open_links(migration) &&
                resume(migration, &left);

    load_free(&left);
    while (good) {
        before = progress_of(&migration->tally);
        good = pass_run(migration) && report_progress(migration);
        migration->stopped = migration->stopped || signals_stopped(NULL);
        if (migration->stopped ||
            (good && before == progress_of(&migration->tally) && !waits(migration))) {
            break;
        }
    }
    return good;
}

// What is under way is told with whatever ended the run.
static enum outcome end(struct migration *migration, bool good)
{
    struct problem *problem = migration->problem;
    struct text text = {0};
    enum outcome outcome = good ? report_end(migration) : problem->outcome;

    if (good && migration->stopped && !migration->settings->follow) {
        outcome = problem_set(problem, OUTCOME_INTERRUPTED,
                              "interrupted between two batches: the same command goes on");
    }
    if (!good) {
        (void)report_progress(migration);
        text_put(&text, problem->text);
        if (state_open_end(migration->state)) {
            text_format(&text, "; the same command goes on, by %s", state_path(migration->state));
        }
        outcome = problem_set(problem, outcome, "%s", text_string(&text));
        text_free(&text);
    }
    return outcome;
}

enum outcome migration_run(const struct migration_settings *settings, struct problem *problem)
{
    struct tubes tubes = {0};
    struct migration migration = {.settings = settings,
                                  .problem = problem,
                                  .tubes = &tubes,
                                  .watched = "default",
                                  .want = 1,
                                  .window = 1,
                                  .began_at = link_now()};
    enum outcome outcome;

    migration.said_at = migration.began_at;
    screen_find(&migration.screen);
    signals_catch_stops();
    outcome = end(&migration, run(&migration));
    signals_release_stops();
    if (migration.screen.shows) {
        progress_clear();
    }
    link_close(migration.source);
    link_close(migration.target);
    state_close(migration.state);
    load_free(&migration.batch);
    tubes_free(&tubes);
    text_free(&migration.out);
    free(migration.large);
    return outcome;
}
