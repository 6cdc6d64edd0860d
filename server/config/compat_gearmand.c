/* SPDX-License-Identifier: MIT */
#include "core/base/error_text.h"
#include "core/submit.h"
#include "server/config/compat.h"
#include "server/config/gearmand_options.h"
#include "server/config/settings.h"
#include "server/process/safe_path.h"
#include "server/process/syslog_path.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

// The directory of the journal if the queue was not in a file.
#define DEFAULT_DIR "/var/lib/tandem"

#define NOT_OF_TYPE "the queue has another type"
#define FAILED "Error while initializing the queue : %s"

// A type of persistent queue whose jobs are imported.
struct gearmand_queue_type {
    const char *names[2];
    const char *kind; // of source
    enum gearmand_name place;
    enum gearmand_name table;
    const char *default_table;
    bool is_file; // the place is a file; the journal is beside it
};

static const struct gearmand_queue_type gearmand_queue_types[] = {
    {.names = {"libsqlite3", "sqlite3"},
     .kind = "gearmand-sqlite",
     .place = GEARMAND_LIBSQLITE3_DB,
     .table = GEARMAND_LIBSQLITE3_TABLE,
     .default_table = "gearman_queue",
     .is_file = true},
    {.names = {"libpq", "postgres"},
     .kind = "gearmand-postgres",
     .place = GEARMAND_LIBPQ_CONNINFO,
     .table = GEARMAND_LIBPQ_TABLE,
     .default_table = "queue"},
};

static const struct gearmand_queue_type *gearmand_queue_type_find(const char *name)
{
    for (size_t i = 0; i < sizeof gearmand_queue_types / sizeof *gearmand_queue_types; i++) {
        if (strcasecmp(gearmand_queue_types[i].names[0], name) == 0 ||
            strcasecmp(gearmand_queue_types[i].names[1], name) == 0) {
            return &gearmand_queue_types[i];
        }
    }
    return NULL;
}

// gearmand would create the file, and scripts may use it; an empty file would suggest that there
// are no jobs.
static void gearmand_queue_note(struct command_line *command, const char *place)
{
    if (access(place, F_OK) != 0) {
        string_list_add(
            &command->notes,
            "%s is not created: jobs of -q libsqlite3 are stored in %s.tandem, and the file "
            "is only read, once",
            place, place);
    }
}

static void gearmand_queue_import(struct command_line *command,
                                  const struct gearmand_options *options,
                                  const struct gearmand_queue_type *type, const char *place)
{
    const char *table = options->values[type->table];
    bool other = table && strcmp(table, type->default_table) != 0;

    string_list_add(&command->presets, "journal.dir=%s%s", type->is_file ? place : DEFAULT_DIR,
                    type->is_file ? ".tandem" : "");
    if (type->is_file) {
        gearmand_queue_note(command, place);
    }
    if (command->ignore_binlog) {
        return;
    }
    string_list_add(&command->presets, "journal.import=%s:%s%s%s", type->kind, place,
                    other ? "?table=" : "", other ? table : "");
}

// Imports the jobs of the queue of -q at the first start; a journal stores jobs from then on. An
// unknown queue is an error, because its jobs would be left behind.
static enum exit_reason gearmand_plan_queue(struct command_line *command,
                                            const struct gearmand_options *options,
                                            struct error_text *why)
{
    const char *name = options->values[GEARMAND_QUEUE_TYPE];
    const struct gearmand_queue_type *type = name ? gearmand_queue_type_find(name) : NULL;
    const char *place = type ? options->values[type->place] : NULL;

    for (size_t i = 0; i < sizeof gearmand_queue_types / sizeof *gearmand_queue_types; i++) {
        if (type != &gearmand_queue_types[i]) {
            gearmand_options_note(options, gearmand_queue_types[i].place, NOT_OF_TYPE,
                                  &command->notes);
            gearmand_options_note(options, gearmand_queue_types[i].table, NOT_OF_TYPE,
                                  &command->notes);
        }
    }
    if (!name || strcasecmp(name, "builtin") == 0) {
        return EXIT_REASON_NONE;
    }
    if (!type) {
        error_set(why,
                  FAILED " (this queue cannot be imported: start with -q builtin and --set "
                         "journal.dir=DIR, then import a dump with tandemctl import)",
                  name);
    } else if (!place) {
        error_set(why, FAILED " (the option for its location is missing)", name);
    } else if (!compat_can_import(type->kind)) {
        error_set(why, FAILED " (this tandemd was built without %s)", name, type->kind);
    } else {
        gearmand_queue_import(command, options, type, place);
        return EXIT_REASON_NONE;
    }
    return EXIT_REASON_OTHER;
}

// gearmand's defaults.
#define DEFAULT_LOG "/var/log/gearmand.log"
#define DEFAULT_PID_FILE "/var/gearmand.pid"
#define DEFAULT_PORT "4730"
#define DEFAULT_HTTP_PORT "8080"

// The maximum of server.max_connections.
static const int64_t CONNECTIONS_MOST = 1000000000;

// The translation of gearmand's options into settings.
struct gearmand_plan {
    struct command_line *command;
    struct gearmand_options options;
    struct string_list sets; // of --set
};

static FILE *gearmand_help_stream(void)
{
    return stdout;
}

static void gearmand_print_help(const struct command_line *command, FILE *stream)
{
    (void)fprintf(stream, "Usage: %s [options]\n\nOptions:\n", command->program);
    gearmand_options_print(stream);
    (void)fprintf(
        stream,
        "\nThis is tandemd as a replacement of gearmand. It also accepts these options:\n\n%s",
        compat_own_help);
}

static void gearmand_print_version(FILE *stream)
{
    (void)fprintf(stream, "\ngearmand 1.1.20 (tandemd %s)\n", TANDEM_VERSION);
}

static const char *gearmand_given(const struct gearmand_plan *plan, enum gearmand_name name)
{
    return plan->options.values[name];
}

static const char *gearmand_given_or(const struct gearmand_plan *plan, enum gearmand_name name,
                                     const char *preset)
{
    const char *value = plan->options.values[name];

    return value ? value : preset;
}

static bool gearmand_plan_log_level(struct gearmand_plan *plan, struct error_text *why)
{
    static const struct {
        const char *theirs;
        const char *ours;
    } levels[] = {{"FATAL", "error"}, {"ALERT", "error"},  {"CRITICAL", "error"},
                  {"ERROR", "error"}, {"WARNING", "warn"}, {"NOTICE", "info"},
                  {"INFO", "info"},   {"DEBUG", "debug"}};
    const char *level = gearmand_given(plan, GEARMAND_VERBOSE);

    for (size_t i = 0; level && i < sizeof levels / sizeof *levels; i++) {
        if (strcmp(level, levels[i].theirs) == 0) {
            string_list_add(&plan->command->sets, "server.log_level=%s", levels[i].ours);
            return true;
        }
    }
    error_set(why, "Invalid value for --verbose supplied");
    return !level;
}

// Whether the file can be written, or created.
static bool path_is_writable(const char *path, bool follow, struct error_text *why)
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

// As in gearmand, the start does not fail if the log file cannot be opened.
static void gearmand_plan_log(struct gearmand_plan *plan)
{
    const char *path = gearmand_given(plan, GEARMAND_LOG_FILE);
    struct string_list *settings = path ? &plan->command->sets : &plan->command->presets;
    struct error_text why;

    if (gearmand_given(plan, GEARMAND_SYSLOG) && access(SYSLOG_PATH, W_OK) == 0) {
        string_list_add(&plan->command->sets, "server.log_file=syslog");
        if (path) {
            string_list_add(&plan->command->notes, "--log-file is ignored: --syslog is given");
        }
        return;
    }
    if (gearmand_given(plan, GEARMAND_SYSLOG)) {
        string_list_add(&plan->command->notes, "--syslog is ignored: " SYSLOG_PATH ": %s",
                        strerror(errno));
    }
    path = path ? path : DEFAULT_LOG;
    if (strcmp(path, "stderr") == 0) {
        string_list_add(settings, "server.log_file=");
    } else if (strcmp(path, "none") == 0) {
        string_list_add(settings, "server.log_file=/dev/null");
    } else if (path_is_writable(path, true, &why)) {
        string_list_add(settings, "server.log_file=%s", path);
    } else {
        string_list_add(&plan->command->notes,
                        "Could not open log file \"%s\", switching to stderr. (%s)", path,
                        why.text);
    }
}

// As in gearmand, only a pid file that -P names is required: another gearmand may hold the default
// one.
static void gearmand_plan_pid_file(struct gearmand_plan *plan)
{
    const char *path = gearmand_given(plan, GEARMAND_PID_FILE);
    struct error_text unsaid;

    if (path) {
        string_list_add(&plan->command->sets, "server.pid_file=%s", path);
    } else if (path_is_writable(DEFAULT_PID_FILE, false, &unsaid)) {
        string_list_add(&plan->command->presets, "server.pid_file=" DEFAULT_PID_FILE);
        plan->command->optional_pid_file = DEFAULT_PID_FILE;
    }
}

static bool gearmand_plan_address(struct gearmand_plan *plan, const char *key,
                                  const char *port_text, struct string_list *settings,
                                  struct error_text *why)
{
    const char *tls = gearmand_given(plan, GEARMAND_SSL) ? "tls:" : "";
    unsigned port;

    if (!compat_find_port(port_text, &port)) {
        return error_set(why, "`%s` is neither a port nor the name of a service", port_text);
    }
    compat_add_listen(settings, key, strcmp(key, "gearman.listen") == 0 ? tls : "",
                      gearmand_given_or(plan, GEARMAND_LISTEN, "*"), port);
    return true;
}

// Both protocols listen on the same host.
static bool gearmand_plan_listen(struct gearmand_plan *plan, struct error_text *why)
{
    const char *protocol = gearmand_given(plan, GEARMAND_PROTOCOL);
    const char *from_caller = getenv("GEARMAND_PORT");
    const char *port =
        gearmand_given_or(plan, GEARMAND_PORT, from_caller ? from_caller : DEFAULT_PORT);
    bool is_given = gearmand_given(plan, GEARMAND_LISTEN) || gearmand_given(plan, GEARMAND_PORT) ||
                    gearmand_given(plan, GEARMAND_SSL) || from_caller;

    compat_listen_only(&plan->command->presets, "gearman");
    if (!protocol) {
        gearmand_options_note(&plan->options, GEARMAND_HTTP_PORT, "-r http is not given",
                              &plan->command->notes);
    }
    if (protocol && strcmp(protocol, "http") != 0) {
        return error_set(why, "Unknown protocol module : %s", protocol);
    }
    return gearmand_plan_address(plan, "gearman.listen", port,
                                 is_given ? &plan->command->sets : &plan->command->presets, why) &&
           (!protocol ||
            gearmand_plan_address(plan, "http.listen",
                                  gearmand_given_or(plan, GEARMAND_HTTP_PORT, DEFAULT_HTTP_PORT),
                                  &plan->command->sets, why));
}

static void gearmand_plan_tls(struct gearmand_plan *plan)
{
    static const struct {
        enum gearmand_name name;
        const char *key;
    } files[] = {{GEARMAND_SSL_CERTIFICATE, "tls.certificate"},
                 {GEARMAND_SSL_KEY, "tls.key"},
                 {GEARMAND_SSL_CA_FILE, "tls.client_ca"}};

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (!gearmand_given(plan, GEARMAND_SSL)) {
            gearmand_options_note(&plan->options, files[i].name, "--ssl is not given",
                                  &plan->command->notes);
        } else if (gearmand_given(plan, files[i].name)) {
            string_list_add(&plan->command->sets, "%s=%s", files[i].key,
                            gearmand_given(plan, files[i].name));
        }
    }
    if (gearmand_given(plan, GEARMAND_SSL) && gearmand_given(plan, GEARMAND_SSL_CA_FILE)) {
        string_list_add(&plan->command->sets, "tls.client_certs=optional");
    }
}

static int64_t gearmand_number(const struct gearmand_plan *plan, enum gearmand_name name,
                               int64_t most)
{
    int64_t number = gearmand_given(plan, name) ? gearmand_options_number(&plan->options, name) : 0;

    return number < most ? number : most;
}

// As in gearmand 2. In gearmand 1.1, 0 meant no limit, and other numbers were taken modulo 256.
static bool gearmand_plan_retries(struct gearmand_plan *plan, struct error_text *why)
{
    const char *text = gearmand_given(plan, GEARMAND_JOB_RETRIES);
    int64_t retries = text ? gearmand_options_signed(&plan->options, GEARMAND_JOB_RETRIES) : -1;

    if (retries < -1) {
        return error_set(why, "the argument ('%s') for option '--job-retries' is invalid", text);
    }
    if (retries == 0) {
        string_list_add(
            &plan->command->notes,
            "--job-retries=0 is one attempt, as in gearmand 2; gearmand 1.1 meant no limit, "
            "which is -1");
    }
    if (text) {
        string_list_add(&plan->command->sets, "gearman.job_retries=%" PRId64,
                        retries < JOB_ATTEMPTS_MAX ? retries : JOB_ATTEMPTS_MAX);
    }
    return true;
}

// In gearmand, 0 means the limit of the system, or a number that suits the machine.
static void gearmand_plan_numbers(struct gearmand_plan *plan)
{
    struct string_list *sets = &plan->command->sets;
    int64_t threads = gearmand_number(plan, GEARMAND_THREADS, IO_THREADS_MOST);
    int64_t wakeup = gearmand_number(plan, GEARMAND_WORKER_WAKEUP, UINT32_MAX);
    int64_t connections = gearmand_number(plan, GEARMAND_FILE_DESCRIPTORS, CONNECTIONS_MOST);

    if (threads > 0) {
        string_list_add(sets, "server.io_threads=%" PRId64, threads);
    }
    if (wakeup > 0) {
        string_list_add(sets, "gearman.worker_wakeup=%" PRId64, wakeup);
    }
    if (connections > 0) {
        string_list_add(sets, "server.max_connections=%" PRId64, connections);
    }
}

static enum exit_reason gearmand_plan_all(struct gearmand_plan *plan, struct error_text *why)
{
    struct command_line *command = plan->command;
    enum exit_reason result;

    command->daemon = gearmand_given(plan, GEARMAND_DAEMON) != NULL;
    if (!gearmand_plan_retries(plan, why)) {
        return EXIT_REASON_USAGE;
    }
    if (!gearmand_plan_listen(plan, why)) {
        return EXIT_REASON_ADDRESS;
    }
    gearmand_plan_log(plan);
    gearmand_plan_pid_file(plan);
    gearmand_plan_tls(plan);
    gearmand_plan_numbers(plan);
    gearmand_options_map(&plan->options, &command->sets, &command->notes);
    result = gearmand_plan_queue(command, &plan->options, why);
    string_list_move(&command->sets, &plan->sets);
    return result;
}

static enum exit_reason gearmand_plan_action(struct gearmand_plan *plan, struct error_text *why)
{
    if (!gearmand_plan_log_level(plan, why)) {
        return EXIT_REASON_USAGE;
    }
    if (gearmand_given(plan, GEARMAND_CHECK_ARGS)) {
        plan->command->action = ACTION_NONE;
    } else if (gearmand_given(plan, GEARMAND_HELP)) {
        plan->command->action = ACTION_HELP;
    } else if (gearmand_given(plan, GEARMAND_VERSION)) {
        plan->command->action = ACTION_VERSION;
    } else {
        return gearmand_plan_all(plan, why);
    }
    return EXIT_REASON_NONE;
}

static enum exit_reason gearmand_parse(struct command_line *command, int argc, char **argv,
                                       struct error_text *why)
{
    struct gearmand_plan plan = {.command = command};
    enum exit_reason result =
        gearmand_options_read(&plan.options, command, &plan.sets, argc, argv, why);

    if (result == EXIT_REASON_NONE) {
        result = gearmand_plan_action(&plan, why);
    }
    gearmand_options_clear(&plan.options);
    string_list_clear(&plan.sets);
    return result;
}

const struct compat_program compat_gearmand = {.name = "gearmand",
                                               .codes = EXIT_CODES_GEARMAND,
                                               .parse = gearmand_parse,
                                               .help_stream = gearmand_help_stream,
                                               .print_help = gearmand_print_help,
                                               .print_version = gearmand_print_version};
