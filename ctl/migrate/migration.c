/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/migration.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/print/screen.h"
#include "ctl/print/signals.h"
#include "ctl/migrate/inside.h"
#include "ctl/migrate/left.h"
#include "ctl/migrate/pass.h"
#include "ctl/migrate/report.h"
#include "ctl/migrate/resume.h"
#include "ctl/migrate/state.h"
#include "ctl/migrate/tandem.h"
#include "ctl/migrate/target.h"
#include "ctl/migrate/tubes.h"

#include <poll.h>
#include <string.h>

// How often it looks for more, where it waits.
#define WAIT_MSEC 500

//
// Both servers
//

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

// A Tandem speaks beanstalk, too, but by that protocol jobs could only be moved at the cost of
// attempts, and its policies would change them.
static bool is_no_tandem(struct migration *migration, const struct remote *remote,
                         struct slice stats)
{
    struct slice version;

    if (!yaml_text(stats, SLICE("tandem-version"), &version)) {
        return true;
    }
    (void)problem_set(migration->problem, OUTCOME_USAGE,
                      "%s is a Tandem: name its admin.listen instead, as http://HOST:PORT, "
                      "https://HOST:PORT or unix:/PATH",
                      remote_name(remote));
    return false;
}

static bool ask_link(struct migration *migration, struct remote *remote, char id[SERVER_ID_MAX + 1],
                     uint64_t *most)
{
    struct slice document;
    bool found;

    remote_put(remote, "stats");
    if (!remote_reply_document(remote, "stats", &document, &found) ||
        !is_no_tandem(migration, remote, document)) {
        return false;
    }
    if (!yaml_count(document, SLICE("max-job-size"), most)) {
        return remote_fail(remote, OUTCOME_FAILED, "does not say its max-job-size");
    }
    *most = *most > JOB_SIZE_MOST ? JOB_SIZE_MOST : *most;
    read_id(document, id);
    return true;
}

static bool open_source(struct migration *migration)
{
    const struct migration_settings *settings = migration->settings;

    migration->has_most = JOB_SIZE_MOST;
    if (migration->source_api) {
        return tandem_identify(migration->source_api, migration->source_id, migration->problem);
    }
    return remote_open(&migration->source, settings->from, settings->timeout, migration->problem) &&
           ask_link(migration, migration->source, migration->source_id, &migration->has_most);
}

static bool open_target(struct migration *migration)
{
    const struct migration_settings *settings = migration->settings;

    migration->takes_most = JOB_SIZE_MOST;
    migration->buries = true;
    if (migration->target_api) {
        return tandem_identify(migration->target_api, migration->target_id, migration->problem);
    }
    return remote_open(&migration->target, settings->to, settings->timeout, migration->problem) &&
           ask_link(migration, migration->target, migration->target_id, &migration->takes_most) &&
           target_ask(migration);
}

// A server that is moved to itself would never be empty. Servers have had ids since 1.4.
static bool open_sides(struct migration *migration)
{
    if (!open_source(migration) || !open_target(migration)) {
        return false;
    }
    if (migration->source_id[0] && strcmp(migration->source_id, migration->target_id) == 0) {
        (void)problem_set(migration->problem, OUTCOME_USAGE, "%s and %s are the same server",
                          migration->from_name, migration->to_name);
        return false;
    }
    return true;
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
    bool good = state_open(&migration->state, migration, &left) && open_sides(migration) &&
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
    // What has come meanwhile, or cannot be had, is told in the end.
    return good && pass_count(migration);
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
        text_put(&text, problem->why.text);
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
                                  .began_at = remote_now(),
                                  .source_api = settings->from_api,
                                  .target_api = settings->to_api};
    enum outcome outcome;

    migration.from_name = settings->from_api ? client_address(settings->from_api)
                                             : text_string(&settings->from->name);
    migration.to_name =
        settings->to_api ? client_address(settings->to_api) : text_string(&settings->to->name);
    migration.said_at = migration.began_at;
    screen_find(&migration.screen);
    signals_catch_stops();
    outcome = end(&migration, run(&migration));
    signals_release_stops();
    if (migration.screen.shows) {
        progress_clear();
    }
    remote_close(migration.source);
    remote_close(migration.target);
    state_close(migration.state);
    load_free(&migration.batch);
    tubes_free(&tubes);
    text_free(&migration.out);
    left_free(&migration);
    return outcome;
}
