/* SPDX-License-Identifier: MIT */
#include "core/submit.h"
#include "server/config/gearmand_options.h"
#include "server/config/io_threads.h"
#include "server/config/persona.h"
#include "server/config/persona_own.h"
#include "server/config/persona_queue.h"
#include "server/process/safe_path.h"
#include "server/process/syslog_path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// gearmand's own.
#define DEFAULT_LOG "/var/log/gearmand.log"
#define DEFAULT_PID_FILE "/var/gearmand.pid"
#define DEFAULT_PORT "4730"
#define DEFAULT_HTTP_PORT "8080"

// The most that max_connections takes.
static const int64_t CONNECTIONS_MOST = 1000000000;

// What is made of the options.
struct plan {
    struct command_line *command;
    struct gearmand_options options;
    struct words said; // by --set
};

static FILE *help_stream(void)
{
    return stdout;
}

static void print_help(const struct command_line *command, FILE *stream)
{
    (void)fprintf(stream, "Usage: %s [options]\n\nOptions:\n", command->program);
    gearmand_options_print(stream);
    (void)fprintf(stream,
                  "\nThis is tandemd in gearmand's place. Of its own options it knows, too:\n\n%s",
                  persona_own_help);
}

static void print_version(FILE *stream)
{
    (void)fprintf(stream, "\ngearmand 1.1.20 (tandemd %s)\n", TANDEM_VERSION);
}

static const char *given(const struct plan *plan, enum gearmand_name name)
{
    return plan->options.values[name];
}

static const char *given_or(const struct plan *plan, enum gearmand_name name, const char *preset)
{
    const char *value = plan->options.values[name];

    return value ? value : preset;
}

static bool plan_level(struct plan *plan, struct error_text *why)
{
    static const struct {
        const char *theirs;
        const char *ours;
    } levels[] = {{"FATAL", "error"}, {"ALERT", "error"},  {"CRITICAL", "error"},
                  {"ERROR", "error"}, {"WARNING", "warn"}, {"NOTICE", "info"},
                  {"INFO", "info"},   {"DEBUG", "debug"}};
    const char *level = given(plan, GEARMAND_VERBOSE);

    for (size_t i = 0; level && i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(level, levels[i].theirs) == 0) {
            words_add(&plan->command->sets, "server.log_level=%s", levels[i].ours);
            return true;
        }
    }
    error_set(why, "Invalid value for --verbose supplied");
    return !level;
}

// Whether a file at this path can be had: one is there that can be written, or can be made.
static bool may_write(const char *path, bool follow, struct error_text *why)
{
    struct safe_path place;
    struct stat st;
    bool good;

    if (!safe_path_find(&place, path, follow, why)) {
        return false;
    }
    good = safe_path_stat(&place, &st, why);
    if (good && st.st_mode == 0) {
        good = faccessat(place.dir, ".", W_OK | X_OK, AT_EACCESS) == 0;
        error_set(why, "%s", strerror(errno));
    } else if (good) {
        good = faccessat(place.dir, place.name, W_OK, AT_EACCESS) == 0;
        error_set(why, "%s", strerror(errno));
    }
    safe_path_close(&place);
    return good;
}

// As there, a log file that cannot be had is no reason not to start.
static void plan_log(struct plan *plan)
{
    const char *path = given(plan, GEARMAND_LOG_FILE);
    struct words *settings = path ? &plan->command->sets : &plan->command->presets;
    struct error_text why;

    if (given(plan, GEARMAND_SYSLOG) && access(SYSLOG_PATH, W_OK) == 0) {
        words_add(&plan->command->sets, "server.log_file=syslog");
        if (path) {
            words_add(&plan->command->notes, "--log-file is ignored: --syslog says where to log");
        }
        return;
    }
    if (given(plan, GEARMAND_SYSLOG)) {
        words_add(&plan->command->notes, "--syslog is ignored: " SYSLOG_PATH ": %s",
                  strerror(errno));
    }
    path = path ? path : DEFAULT_LOG;
    if (strcmp(path, "stderr") == 0) {
        words_add(settings, "server.log_file=");
    } else if (strcmp(path, "none") == 0) {
        words_add(settings, "server.log_file=/dev/null");
    } else if (may_write(path, true, &why)) {
        words_add(settings, "server.log_file=%s", path);
    } else {
        words_add(&plan->command->notes,
                  "Could not open log file \"%s\", switching to stderr. (%s)", path, why.text);
    }
}

// As there, only one that is asked for must be had: the default is another gearmand's, perhaps.
static void plan_pid_file(struct plan *plan)
{
    const char *path = given(plan, GEARMAND_PID_FILE);
    struct error_text unsaid;

    if (path) {
        words_add(&plan->command->sets, "server.pid_file=%s", path);
    } else if (may_write(DEFAULT_PID_FILE, false, &unsaid)) {
        words_add(&plan->command->presets, "server.pid_file=" DEFAULT_PID_FILE);
        plan->command->spare_pid_file = DEFAULT_PID_FILE;
    }
}

static bool plan_address(struct plan *plan, const char *key, const char *port_text,
                         struct words *settings, struct error_text *why)
{
    const char *tls = given(plan, GEARMAND_SSL) ? "tls:" : "";
    unsigned port;

    if (!persona_find_port(port_text, &port)) {
        return error_set(why, "`%s` is neither a port nor the name of a service", port_text);
    }
    persona_add_listen(settings, key, strcmp(key, "gearman.listen") == 0 ? tls : "",
                       given_or(plan, GEARMAND_LISTEN, "*"), port);
    return true;
}

// Both protocols listen at the same host.
static bool plan_listen(struct plan *plan, struct error_text *why)
{
    const char *protocol = given(plan, GEARMAND_PROTOCOL);
    const char *from_caller = getenv("GEARMAND_PORT");
    const char *port = given_or(plan, GEARMAND_PORT, from_caller ? from_caller : DEFAULT_PORT);
    bool is_given = given(plan, GEARMAND_LISTEN) || given(plan, GEARMAND_PORT) ||
                    given(plan, GEARMAND_SSL) || from_caller;

    persona_listen_only(&plan->command->presets, "gearman");
    if (!protocol) {
        gearmand_options_note(&plan->options, GEARMAND_HTTP_PORT, "-r http is not given",
                              &plan->command->notes);
    }
    if (protocol && strcmp(protocol, "http") != 0) {
        return error_set(why, "Unknown protocol module : %s", protocol);
    }
    return plan_address(plan, "gearman.listen", port,
                        is_given ? &plan->command->sets : &plan->command->presets, why) &&
           (!protocol ||
            plan_address(plan, "http.listen", given_or(plan, GEARMAND_HTTP_PORT, DEFAULT_HTTP_PORT),
                         &plan->command->sets, why));
}

static void plan_tls(struct plan *plan)
{
    static const struct {
        enum gearmand_name name;
        const char *key;
    } files[] = {{GEARMAND_SSL_CERTIFICATE, "tls.certificate"},
                 {GEARMAND_SSL_KEY, "tls.key"},
                 {GEARMAND_SSL_CA_FILE, "tls.client_ca"}};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!given(plan, GEARMAND_SSL)) {
            gearmand_options_note(&plan->options, files[i].name, "--ssl is not given",
                                  &plan->command->notes);
        } else if (given(plan, files[i].name)) {
            words_add(&plan->command->sets, "%s=%s", files[i].key, given(plan, files[i].name));
        }
    }
    if (given(plan, GEARMAND_SSL) && given(plan, GEARMAND_SSL_CA_FILE)) {
        words_add(&plan->command->sets, "tls.client_certs=optional");
    }
}

static int64_t number_up_to(const struct plan *plan, enum gearmand_name name, int64_t most)
{
    int64_t number = given(plan, name) ? gearmand_options_number(&plan->options, name) : 0;

    return number < most ? number : most;
}

// As in gearmand 2. In 1.1, 0 was no limit, and other numbers counted modulo 256.
static bool plan_retries(struct plan *plan, struct error_text *why)
{
    const char *text = given(plan, GEARMAND_JOB_RETRIES);
    int64_t retries = text ? gearmand_options_signed(&plan->options, GEARMAND_JOB_RETRIES) : -1;

    if (retries < -1) {
        return error_set(why, "the argument ('%s') for option '--job-retries' is invalid", text);
    }
    if (retries == 0) {
        words_add(&plan->command->notes,
                  "--job-retries=0 is one attempt, as in gearmand 2; gearmand 1.1 meant no limit, "
                  "which is -1");
    }
    if (text) {
        words_add(&plan->command->sets, "gearman.job_retries=%" PRId64,
                  retries < JOB_ATTEMPTS_MAX ? retries : JOB_ATTEMPTS_MAX);
    }
    return true;
}

// There, 0 is none but the system's limit, and as many as the machine is good for.
static void plan_numbers(struct plan *plan)
{
    struct words *sets = &plan->command->sets;
    int64_t threads = number_up_to(plan, GEARMAND_THREADS, IO_THREADS_MOST);
    int64_t wakeup = number_up_to(plan, GEARMAND_WORKER_WAKEUP, UINT32_MAX);
    int64_t connections = number_up_to(plan, GEARMAND_FILE_DESCRIPTORS, CONNECTIONS_MOST);

    if (threads > 0) {
        words_add(sets, "server.io_threads=%" PRId64, threads);
    }
    if (wakeup > 0) {
        words_add(sets, "gearman.worker_wakeup=%" PRId64, wakeup);
    }
    if (connections > 0) {
        words_add(sets, "server.max_connections=%" PRId64, connections);
    }
}

static enum exit_reason plan_all(struct plan *plan, struct error_text *why)
{
    struct command_line *command = plan->command;
    enum exit_reason result;

    command->daemon = given(plan, GEARMAND_DAEMON) != NULL;
    if (!plan_retries(plan, why)) {
        return EXIT_REASON_USAGE;
    }
    if (!plan_listen(plan, why)) {
        return EXIT_REASON_ADDRESS;
    }
    plan_log(plan);
    plan_pid_file(plan);
    plan_tls(plan);
    plan_numbers(plan);
    gearmand_options_map(&plan->options, &command->sets, &command->notes);
    result = persona_queue_plan(command, &plan->options, why);
    words_move(&command->sets, &plan->said);
    return result;
}

static enum exit_reason plan_act(struct plan *plan, struct error_text *why)
{
    if (!plan_level(plan, why)) {
        return EXIT_REASON_USAGE;
    }
    if (given(plan, GEARMAND_CHECK_ARGS)) {
        plan->command->action = ACTION_NONE;
    } else if (given(plan, GEARMAND_HELP)) {
        plan->command->action = ACTION_HELP;
    } else if (given(plan, GEARMAND_VERSION)) {
        plan->command->action = ACTION_VERSION;
    } else {
        return plan_all(plan, why);
    }
    return EXIT_REASON_NONE;
}

static enum exit_reason parse(struct command_line *command, int argc, char **argv,
                              struct error_text *why)
{
    struct plan plan = {.command = command};
    enum exit_reason result =
        gearmand_options_read(&plan.options, command, &plan.said, argc, argv, why);

    if (result == EXIT_REASON_NONE) {
        result = plan_act(&plan, why);
    }
    gearmand_options_clear(&plan.options);
    words_clear(&plan.said);
    return result;
}

const struct persona persona_gearmand = {.name = "gearmand",
                                         .codes = EXIT_CODES_GEARMAND,
                                         .parse = parse,
                                         .help_stream = help_stream,
                                         .print_help = print_help,
                                         .print_version = print_version};
