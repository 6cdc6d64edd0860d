/* SPDX-License-Identifier: MIT */
#include "core/base/log.h"
#include "core/base/slab.h"
#include "server/hash_token.h"
#include "server/log/libevent_log.h"
#include "server/config/command_line.h"
#include "server/config/preflight.h"
#include "server/server.h"
#include "server/process/signals.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

static enum fault fail(enum fault fault, const struct complaint *why)
{
    (void)fprintf(stderr, "tandemd: %s\n", why->text);
    return fault;
}

static void log_notes(const struct flags *flags)
{
    for (size_t i = 0; i < flags->note_count; i++) {
        log_warn("flag", log_string("note", flags->notes[i]));
    }
}

// Large blocks, which no slab has (core/base/slab.h), come from the system and go back to it, as
// they do at first; left to itself the allocator raises the bound, and then clears megabytes by
// hand where fresh pages are clear.
static void keep_large_blocks_apart(void)
{
    (void)mallopt(M_MMAP_THRESHOLD, SLAB_LARGEST);
    // Jobs come back by another thread, and are to lie where they would by this one.
    (void)mallopt(M_ARENA_MAX, 1);
}

// The journal's thread may come back any moment to what it was lent, the log included: nothing of
// that is freed.
static _Noreturn void leave(struct server *server)
{
    server_leave(server);
    log_warn("stopped", log_string("version", TANDEM_VERSION),
             log_string("why", "while the journal was being opened: the disk does not answer"));
    log_drain();
    _exit(0);
}

static enum fault serve(struct settings *settings, const struct settings_source *source,
                        const struct options *options)
{
    const struct server_settings *ours = &settings->server;
    struct log_output log;
    const struct server_start start = {.settings = settings,
                                       .source = source,
                                       .log = &log,
                                       .wishes = {.repair = options->repair,
                                                  .ignore_binlog = options->ignore_binlog,
                                                  .must_exist = options->as_beanstalkd}};
    struct server server;
    struct complaint why;
    enum fault fault;

    signals_hold();
    log_output_init(&log);
    libevent_log_route();
    if (!log_output_open(&log, ours->log_file, (enum log_format)ours->log_format,
                         (enum log_level)ours->log_level, &why)) {
        return fail(FAULT_OTHER, &why);
    }
    log_info("configured", log_string("file", source->path ? source->path : ""),
             log_number("sets", (int64_t)source->set_count));
    log_notes(&options->flags);
    keep_large_blocks_apart();
    fault = server_open(&server, &start, &why);
    if (fault == FAULT_NONE && server_hangs(&server)) {
        leave(&server);
    }
    if (fault == FAULT_NONE && server_is_up(&server)) {
        log_info("started", log_string("version", TANDEM_VERSION),
                 log_number("pid", server.facts.process.pid));
        server_run(&server);
    }
    if (!server_close(&server) && fault == FAULT_NONE) {
        log_error("journal_incomplete", log_string("why", "not everything could be written"));
        fault = FAULT_OTHER;
    } else if (fault == FAULT_NONE) {
        log_info("stopped", log_string("version", TANDEM_VERSION));
    } else {
        log_error("not_started", log_string("why", why.text));
    }
    log_output_close(&log);
    return fault;
}

// Whoever starts us may have closed them. Then the next file or socket would get one of these
// numbers, and log lines would land in it.
static bool open_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) {
            return false;
        }
    }
    return true;
}

// What was printed has arrived, as far as that can be known.
static enum fault printed(void)
{
    struct complaint why;

    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return FAULT_NONE;
    }
    complaint_set(&why, "standard output takes nothing more");
    return fail(FAULT_OTHER, &why);
}

static enum fault check(const struct settings *settings, bool as_beanstalkd)
{
    struct complaint why;

    config_print(&settings->config, stdout);
    if (!preflight(settings, as_beanstalkd, &why)) {
        (void)fflush(stdout);
        return fail(FAULT_USAGE, &why);
    }
    return printed();
}

static enum fault run(const struct options *options)
{
    const struct settings_source source = {.path = options->config_path,
                                           .sets = options->sets,
                                           .set_count = options->set_count,
                                           .beanstalk_only = flags_listen(&options->flags)};
    struct complaint why;
    struct settings *settings = settings_load(&source, &why);
    enum fault fault = FAULT_NONE;

    if (!settings) {
        return fail(FAULT_USAGE, &why);
    }
    if (options->action == ACTION_CHECK) {
        fault = check(settings, options->as_beanstalkd);
    } else {
        fault = serve(settings, &source, options);
    }
    settings_free(settings);
    return fault;
}

int main(int argc, char **argv)
{
    struct options options;
    struct complaint why;
    enum fault fault;
    int code;

    if (!open_standard_files()) {
        return fault_exit_code(FAULT_OTHER, false);
    }
    fault = options_parse(&options, argc, argv, &why);

    if (fault != FAULT_NONE) {
        (void)fail(fault, &why);
    } else {
        switch (options.action) {
        case ACTION_VERSION:
            (void)printf("tandemd %s\n", TANDEM_VERSION);
            fault = printed();
            break;
        case ACTION_HELP:
            (void)fputs(options_help, stdout);
            fault = printed();
            break;
        case ACTION_HASH_TOKEN:
            fault = hash_token(stdin, stdout, &why);
            fault = fault == FAULT_NONE ? printed() : fail(fault, &why);
            break;
        case ACTION_CHECK:
        case ACTION_RUN:
            fault = run(&options);
            break;
        }
    }
    code = fault_exit_code(fault, options.as_beanstalkd);
    options_clear(&options);
    return code;
}
