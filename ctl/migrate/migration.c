/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/migration.h"

#include "ctl/beanstalk/remote.h"
#include "ctl/beanstalk/yaml.h"
#include "ctl/print/screen.h"
#include "ctl/print/ctl_signals.h"
#include "ctl/migrate/migration_private.h"
#include "ctl/migrate/report.h"
#include "ctl/migrate/pass.h"
#include "ctl/migrate/resume.h"
#include "ctl/migrate/state.h"
#include "ctl/migrate/tandem.h"
#include "ctl/migrate/target.h"
#include "ctl/migrate/tubes.h"

#include <poll.h>
#include <string.h>

// The interval between passes while it waits for more jobs.
#define WAIT_MSEC 500

//
// Both servers
//

// Reads the id of the process; empty if it is missing or invalid.
static void migration_read_id(struct slice stats, char id[SERVER_ID_MAX + 1])
{
    struct slice value;

    id[0] = '\0';
    if (yaml_text(stats, SLICE("id"), &value) && value.len <= SERVER_ID_MAX && is_tube(value)) {
        memcpy(id, value.ptr, value.len);
        id[value.len] = '\0';
    }
}

// A Tandem also speaks beanstalk, but moving jobs by that protocol would use attempts, and its
// policies would change the jobs. False with a problem if the server is a Tandem.
static bool migration_refuse_tandem(struct migration *migration, const struct remote *remote,
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

static bool migration_ask_server(struct migration *migration, struct remote *remote,
                                 char id[SERVER_ID_MAX + 1], uint64_t *most)
{
    struct slice document;
    bool found;

    remote_put(remote, "stats");
    if (!remote_reply_document(remote, "stats", &document, &found) ||
        !migration_refuse_tandem(migration, remote, document)) {
        return false;
    }
    if (!yaml_count(document, SLICE("max-job-size"), most)) {
        return remote_fail(remote, OUTCOME_FAILED, "does not report its max-job-size");
    }
    *most = *most > JOB_SIZE_MOST ? JOB_SIZE_MOST : *most;
    migration_read_id(document, id);
    return true;
}

static bool migration_open_source(struct migration *migration)
{
    const struct migration_settings *settings = migration->settings;

    migration->source_body_max = JOB_SIZE_MOST;
    if (migration->source_api) {
        return tandem_identify(migration->source_api, migration->source_id, migration->problem);
    }
    return remote_open(&migration->source, settings->from, settings->timeout, migration->problem) &&
           migration_ask_server(migration, migration->source, migration->source_id,
                                &migration->source_body_max);
}

static bool migration_open_target(struct migration *migration)
{
    const struct migration_settings *settings = migration->settings;

    migration->target_body_max = JOB_SIZE_MOST;
    migration->buries = true;
    if (migration->target_api) {
        return tandem_identify(migration->target_api, migration->target_id, migration->problem);
    }
    return remote_open(&migration->target, settings->to, settings->timeout, migration->problem) &&
           migration_ask_server(migration, migration->target, migration->target_id,
                                &migration->target_body_max) &&
           target_ask(migration);
}

// If source and target were the same server, it would never be empty. Servers of beanstalkd have
// reported an id since 1.4.
static bool migration_open_servers(struct migration *migration)
{
    if (!migration_open_source(migration) || !migration_open_target(migration)) {
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
// The run
//

// Whether more jobs may come; waits for a moment then.
static bool migration_waits(const struct migration *migration)
{
    struct pollfd woken = {.fd = signals_fd(), .events = POLLIN};

    if (!migration->settings->follow &&
        (!migration->settings->wait || migration->held + migration->tubes->in_paused == 0)) {
        return false;
    }
    (void)poll(&woken, 1, WAIT_MSEC);
    return true;
}

// Changes if a pass has made progress.
static uint64_t migration_progress(const struct migration_counts *tally)
{
    return tally->moved + tally->taken_back + tally->lost;
}

static bool migration_move_all(struct migration *migration)
{
    struct job_batch unfinished = {0};
    uint64_t before;
    bool good = state_open(&migration->state, migration, &unfinished) &&
                migration_open_servers(migration) && migration_resume(migration, &unfinished);

    job_batch_free(&unfinished);
    while (good) {
        before = migration_progress(&migration->counts);
        good = pass_run(migration) && report_progress(migration);
        migration->stopped = migration->stopped || signals_stopped(NULL);
        if (migration->stopped || (good && before == migration_progress(&migration->counts) &&
                                   !migration_waits(migration))) {
            break;
        }
    }
    // The report contains jobs that have come meanwhile, or cannot be moved.
    return good && pass_count(migration);
}

// The problem that ended the run also names the unfinished batch.
static enum outcome migration_end(struct migration *migration, bool good)
{
    struct problem *problem = migration->problem;
    struct text text = {0};
    enum outcome outcome = good ? report_end(migration) : problem->outcome;

    if (good && migration->stopped && !migration->settings->follow) {
        outcome = problem_set(problem, OUTCOME_INTERRUPTED,
                              "interrupted between two batches: repeat the command to continue");
    }
    if (!good) {
        (void)report_progress(migration);
        text_put(&text, problem->why.text);
        if (state_has_unfinished(migration->state)) {
            text_format(&text, "; repeat the command to continue from %s",
                        state_path(migration->state));
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
    outcome = migration_end(&migration, migration_move_all(&migration));
    signals_release_stops();
    if (migration.screen.shows_progress) {
        progress_clear();
    }
    remote_close(migration.source);
    remote_close(migration.target);
    state_close(migration.state);
    job_batch_free(&migration.batch);
    tubes_free(&tubes);
    text_free(&migration.out);
    unmoved_free(&migration);
    return outcome;
}
