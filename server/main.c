/* SPDX-License-Identifier: MIT */
#include "access/token.h"
#include "core/base/log.h"
#include "core/base/macros.h"
#include "core/base/slab.h"
#include "server/config/command_line.h"
#include "server/config/start_paths.h"
#include "server/log/log_output.h"
#include "server/process/daemon.h"
#include "server/process/signals.h"
#include "server/server.h"
#include "server/store/store.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static enum exit_reason main_fail(const struct command_line *command, enum exit_reason result,
                                  const struct error_text *why)
{
    command_line_print_error(command, result, why);
    return result;
}

// Notes about options are logged at any level, as they are given only once.
static bool main_open_log(struct log_output *log, const struct server_settings *ours,
                          const struct command_line *command, struct error_text *why)
{
    enum log_level level = (enum log_level)ours->log_level;

    if (!log_output_open(log, ours->log_file, (enum log_format)ours->log_format,
                         level < LOG_LEVEL_WARN ? LOG_LEVEL_WARN : level, why)) {
        return false;
    }
    for (size_t i = 0; i < command->notes.count; i++) {
        log_warn("flag", log_string("note", command->notes.all[i]));
    }
    log_output_limit(log, level);
    return true;
}

// The store's thread may continue at any time and use the broker, the store and the log: these are
// not freed.
static _Noreturn void main_leave(struct server *server)
{
    server_leave(server);
    log_warn("stopped", log_string("version", TANDEM_VERSION),
             log_string("why", "while the journal was being opened: the disk does not answer"));
    log_drain();
    _exit(0);
}

// The parent process need not wait any more.
static void main_tell_ready(void *context)
{
    log_info("started", log_string("version", TANDEM_VERSION), log_number("pid", getpid()));
    background_ready(context);
}

static enum exit_reason main_log_end(const struct command_line *command, enum exit_reason result,
                                     bool kept_all, bool was_up, const struct error_text *why)
{
    if (result != EXIT_REASON_NONE) {
        log_error(was_up ? "not_started_again" : "not_started", log_string("why", why->text));
        // The log may be a file, and the user of the other program looks at standard error.
        if (command->compat) {
            (void)fprintf(stderr, "%s: %s\n", command->program, why->text);
        }
        return result;
    }
    if (!kept_all) {
        log_error("journal_incomplete", log_string("why", "not everything could be written"));
        return EXIT_REASON_OTHER;
    }
    log_info("stopped", log_string("version", TANDEM_VERSION));
    return result;
}

// beanstalkd does not create the directory of its binlog.
static bool needs_directory(const struct command_line *command)
{
    return command->codes == EXIT_CODES_BEANSTALKD;
}

static enum exit_reason main_serve(struct settings *settings, const struct settings_source *source,
                                   const struct command_line *command)
{
    const struct server_settings *ours = &settings->server;
    struct log_output log;
    struct background background;
    const struct server_start start = {.settings = settings,
                                       .source = source,
                                       .log = &log,
                                       .options = {.repair = command->repair,
                                                   .ignore_binlog = command->ignore_binlog,
                                                   .must_exist = needs_directory(command)},
                                       .spare_pid_file = command->optional_pid_file,
                                       .ready = main_tell_ready,
                                       .context = &background};
    struct server server;
    bool was_up = false;
    struct error_text why;
    enum exit_reason result;

    background_none(&background);
    if (command->daemon && !background_enter(&background, &why)) {
        return main_fail(command, EXIT_REASON_OTHER, &why);
    }
    signals_hold();
    log_output_init(&log);
    libevent_log_route();
    if (!main_open_log(&log, ours, command, &why)) {
        return main_fail(command, EXIT_REASON_OTHER, &why);
    }
    log_info("configured", log_string("file", source->path ? source->path : ""),
             log_number("environment", (int64_t)settings->environment_count),
             log_number("sets", (int64_t)source->set_count));
    // Large blocks, for which there is no slab (core/base/slab.h), come from the system and return
    // to it. By default the allocator raises this bound over time, and then has to clear megabytes
    // that fresh pages would have clear. Another thread restores the jobs; with one arena they are
    // placed as by this one.
#ifdef HAVE_MALLOPT
    (void)mallopt(M_MMAP_THRESHOLD, SLAB_LARGEST);
    (void)mallopt(M_ARENA_MAX, 1);
#endif
    result = server_open(&server, &start, &why);
    if (result == EXIT_REASON_NONE && server_is_up(&server)) {
        was_up = true;
        result = server_run(&server, &why);
    }
    if (result == EXIT_REASON_NONE && server_hangs(&server)) {
        main_leave(&server);
    }
    result = main_log_end(command, result, server_close(&server), was_up, &why);
    log_output_close(&log);
    return result;
}

// The parent process may have closed them. Then the next file or socket would get one of these
// numbers, and log lines would be written to it.
static bool open_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) {
            return false;
        }
    }
    return true;
}

// Whether the output was written, as far as that can be known.
static enum exit_reason main_flush(const struct command_line *command)
{
    struct error_text why;

    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return EXIT_REASON_NONE;
    }
    error_set(&why, "standard output cannot be written");
    return main_fail(command, EXIT_REASON_OTHER, &why);
}

static enum exit_reason main_check(const struct settings *settings,
                                   const struct command_line *command)
{
    struct error_text why;

    for (size_t i = 0; i < command->notes.count; i++) {
        (void)fprintf(stderr, "%s: %s\n", command->program, command->notes.all[i]);
    }
    if (command->queue) {
        queue_section_explain(&settings->named[SETTINGS_QUEUES], command->queue, stdout);
    } else {
        config_print(&settings->config, stdout);
    }
    if (!check_start_paths(settings, needs_directory(command), &why)) {
        (void)fflush(stdout);
        return main_fail(command, EXIT_REASON_USAGE, &why);
    }
    return main_flush(command);
}

static enum exit_reason main_run(const struct command_line *command)
{
    const struct settings_source source = {.path = command->config_path,
                                           .presets = (const char *const *)command->presets.all,
                                           .preset_count = command->presets.count,
                                           .environment = (const char *const *)environ,
                                           .sets = (const char *const *)command->sets.all,
                                           .set_count = command->sets.count};
    struct error_text why;
    struct settings *settings = settings_load(&source, &why);
    enum exit_reason result = EXIT_REASON_NONE;

    if (!settings) {
        return main_fail(command, EXIT_REASON_USAGE, &why);
    }
    if (command->action == ACTION_CHECK) {
        result = main_check(settings, command);
    } else if (command->action == ACTION_INIT_STORE) {
        result = store_init(&settings->journal, stdout, &why);
        result =
            result == EXIT_REASON_NONE ? main_flush(command) : main_fail(command, result, &why);
    } else {
        result = main_serve(settings, &source, command);
    }
    settings_free(settings);
    return result;
}

// `tandemd hash-token` prints the hash of a token, for server.access_file and http.tokens. A
// shorter token could be guessed; a longer one does not fit into a header field.
enum { TOKEN_LEAST = 16, TOKEN_MOST = 4096 };

static enum exit_reason main_hash_token(FILE *input, FILE *output, struct error_text *why)
{
    char token[TOKEN_MOST + 2];
    char hash[TOKEN_HASH_SIZE];
    struct token_digest digest;
    size_t len;

    if (!fgets(token, sizeof token, input)) {
        error_set(why, "no token on standard input");
        return EXIT_REASON_USAGE;
    }
    len = strcspn(token, "\r\n");
    if (len < TOKEN_LEAST || len > TOKEN_MOST || strcspn(token, " \t") < len) {
        error_set(why,
                  "a token has %d to %d bytes and no blanks: make one with `openssl rand -hex 32`",
                  TOKEN_LEAST, TOKEN_MOST);
        return EXIT_REASON_USAGE;
    }
    if (!token_digest(slice_of(token, len), &digest)) {
        error_set(why, "the token cannot be hashed");
        return EXIT_REASON_OTHER;
    }
    token_digest_write(&digest, hash);
    (void)fprintf(output, "%s\n", hash);
    return EXIT_REASON_NONE;
}

static enum exit_reason main_act(const struct command_line *command)
{
    struct error_text why;
    enum exit_reason result;

    switch (command->action) {
    case ACTION_NONE:
        return EXIT_REASON_NONE;
    case ACTION_VERSION:
        command_line_print_version(command);
        return main_flush(command);
    case ACTION_HELP:
        command_line_print_help(command);
        return main_flush(command);
    case ACTION_HASH_TOKEN:
        result = main_hash_token(stdin, stdout, &why);
        return result == EXIT_REASON_NONE ? main_flush(command) : main_fail(command, result, &why);
    case ACTION_CHECK:
    case ACTION_INIT_STORE:
    case ACTION_RUN:
        return main_run(command);
    }
    UNREACHABLE();
}

int main(int argc, char **argv)
{
    struct command_line command;
    struct error_text why;
    enum exit_reason result;
    int code;

    if (!open_standard_files()) {
        return exit_reason_code(EXIT_REASON_OTHER, EXIT_CODES_OURS);
    }
    result = command_line_parse(&command, argc, argv, &why);
    result = result == EXIT_REASON_NONE ? main_act(&command) : main_fail(&command, result, &why);
    code = exit_reason_code(result, command.codes);
    command_line_clear(&command);
    return code;
}
