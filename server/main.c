/* SPDX-License-Identifier: MIT */
#include "core/base/log.h"
#include "core/base/slab.h"
#include "server/config/command_line.h"
#include "server/config/preflight.h"
#include "server/hash_token.h"
#include "server/log/libevent_log.h"
#include "server/process/signals.h"
#include "server/server.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

static enum exit_reason fail(enum exit_reason result, const struct reason *why)
{
    (void)fprintf(stderr, "tandemd: %s\n", why->text);
    return result;
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

static enum exit_reason log_end(enum exit_reason result, bool kept_all, const struct reason *why)
{
    if (result != EXIT_REASON_NONE) {
        log_error("not_started", log_string("why", why->text));
        return result;
    }
    if (!kept_all) {
        log_error("journal_incomplete", log_string("why", "not everything could be written"));
        return EXIT_REASON_OTHER;
    }
    log_info("stopped", log_string("version", TANDEM_VERSION));
    return result;
}

static enum exit_reason serve(struct settings *settings, const struct settings_source *source,
                              const struct command_line *options)
{
    const struct server_settings *ours = &settings->server;
    struct log_output log;
    const struct server_start start = {.settings = settings,
                                       .source = source,
                                       .log = &log,
                                       .options = {.repair = options->repair,
                                                   .ignore_binlog = options->ignore_binlog,
                                                   .must_exist = options->as_beanstalkd}};
    struct server server;
    struct reason why;
    enum exit_reason result;

    signals_hold();
    log_output_init(&log);
    libevent_log_route();
    if (!log_output_open(&log, ours->log_file, (enum log_format)ours->log_format,
                         (enum log_level)ours->log_level, &why)) {
        return fail(EXIT_REASON_OTHER, &why);
    }
    log_info("configured", log_string("file", source->path ? source->path : ""),
             log_number("sets", (int64_t)source->set_count));
    log_notes(&options->flags);
    keep_large_blocks_apart();
    result = server_open(&server, &start, &why);
    if (result == EXIT_REASON_NONE && server_hangs(&server)) {
        leave(&server);
    }
    if (result == EXIT_REASON_NONE && server_is_up(&server)) {
        log_info("started", log_string("version", TANDEM_VERSION),
                 log_number("pid", server.facts.process.pid));
        server_run(&server);
    }
    result = log_end(result, server_close(&server), &why);
    log_output_close(&log);
    return result;
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
static enum exit_reason printed(void)
{
    struct reason why;

    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return EXIT_REASON_NONE;
    }
    reason_set(&why, "standard output takes nothing more");
    return fail(EXIT_REASON_OTHER, &why);
}

static enum exit_reason check(const struct settings *settings, const struct command_line *options)
{
    struct reason why;

    if (options->queue) {
        queue_section_explain(&settings->named[SETTINGS_QUEUES], options->queue, stdout);
    } else {
        config_print(&settings->config, stdout);
    }
    if (!preflight(settings, options->as_beanstalkd, &why)) {
        (void)fflush(stdout);
        return fail(EXIT_REASON_USAGE, &why);
    }
    return printed();
}

static enum exit_reason run(const struct command_line *options)
{
    const struct settings_source source = {.path = options->config_path,
                                           .sets = options->sets,
                                           .set_count = options->set_count,
                                           .beanstalk_only = flags_listen(&options->flags)};
    struct reason why;
    struct settings *settings = settings_load(&source, &why);
    enum exit_reason result = EXIT_REASON_NONE;

    if (!settings) {
        return fail(EXIT_REASON_USAGE, &why);
    }
    if (options->action == ACTION_CHECK) {
        result = check(settings, options);
    } else {
        result = serve(settings, &source, options);
    }
    settings_free(settings);
    return result;
}

int main(int argc, char **argv)
{
    struct command_line options;
    struct reason why;
    enum exit_reason result;
    int code;

    if (!open_standard_files()) {
        return exit_reason_code(EXIT_REASON_OTHER, false);
    }
    result = command_line_parse(&options, argc, argv, &why);

    if (result != EXIT_REASON_NONE) {
        (void)fail(result, &why);
    } else {
        switch (options.action) {
        case ACTION_VERSION:
            (void)printf("tandemd %s\n", TANDEM_VERSION);
            result = printed();
            break;
        case ACTION_HELP:
            (void)fputs(command_line_help, stdout);
            result = printed();
            break;
        case ACTION_HASH_TOKEN:
            result = hash_token(stdin, stdout, &why);
            result = result == EXIT_REASON_NONE ? printed() : fail(result, &why);
            break;
        case ACTION_CHECK:
        case ACTION_RUN:
            result = run(&options);
            break;
        }
    }
    code = exit_reason_code(result, options.as_beanstalkd);
    command_line_clear(&options);
    return code;
}
