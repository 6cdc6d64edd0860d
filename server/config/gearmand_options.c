/* SPDX-License-Identifier: MIT */
#include "server/config/gearmand_options.h"

#include "os/small_file.h"
#include "server/config/compat.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum gearmand_kind { GEARMAND_FLAG, GEARMAND_TEXT, GEARMAND_INT, GEARMAND_UINT };

struct gearmand_option {
    const char *name;
    char letter; // 0: none
    enum gearmand_kind kind;
    const char *key;  // our setting, which gets the value, or `true`; NULL: none
    const char *note; // why the option is ignored, for the log; NULL: it is not
    const char *help;
};

#define NO_QUEUE "jobs are not stored there: see -q"

// By enum gearmand_name.
static const struct gearmand_option gearmand_table[GEARMAND_OPTIONS] = {
    [GEARMAND_BACKLOG] = {"backlog", 'b', GEARMAND_INT, NULL,
                          "the backlog is the maximum of the system, up to 1024",
                          "ignored: the system's, up to 1024"},
    [GEARMAND_CHECK_ARGS] = {"check-args", 0, GEARMAND_FLAG, NULL, NULL,
                             "check these arguments, and exit"},
    [GEARMAND_DAEMON] = {"daemon", 'd', GEARMAND_FLAG, NULL, NULL,
                         "go to the background once started"},
    [GEARMAND_EXCEPTIONS] = {"exceptions", 0, GEARMAND_FLAG, "gearman.exceptions", NULL,
                             "send exceptions to all clients"},
    [GEARMAND_FILE_DESCRIPTORS] = {"file-descriptors", 'f', GEARMAND_UINT, NULL, NULL,
                                   "maximum number of connections"},
    [GEARMAND_HELP] = {"help", 'h', GEARMAND_FLAG, NULL, NULL, "print this help, and exit"},
    [GEARMAND_JOB_RETRIES] =
        {"job-retries", 'j', GEARMAND_UINT, NULL, NULL,
         "maximum number of attempts of a job whose workers are lost; 0 counts "
         "as 1, -1: no limit"},
    [GEARMAND_JOB_HANDLE_PREFIX] = {"job-handle-prefix", 0, GEARMAND_TEXT, "gearman.handle_prefix",
                                    NULL, "prefix of handles"},
    [GEARMAND_HASHTABLE_BUCKETS] = {"hashtable-buckets", 0, GEARMAND_UINT, NULL,
                                    "hash tables grow as needed", "ignored: tables grow"},
    [GEARMAND_KEEPALIVE] = {"keepalive", 0, GEARMAND_FLAG, NULL, "it is always on",
                            "ignored: always on"},
    [GEARMAND_KEEPALIVE_IDLE] = {"keepalive-idle", 0, GEARMAND_INT, NULL,
                                 "a silent peer is probed after 60 seconds", "ignored: 60 seconds"},
    [GEARMAND_KEEPALIVE_INTERVAL] = {"keepalive-interval", 0, GEARMAND_INT, NULL,
                                     "probes are 10 seconds apart", "ignored: 10 seconds"},
    [GEARMAND_KEEPALIVE_COUNT] = {"keepalive-count", 0, GEARMAND_INT, NULL,
                                  "a peer is lost after 6 unanswered probes", "ignored: 6 probes"},
    [GEARMAND_LOG_FILE] = {"log-file", 'l', GEARMAND_TEXT, NULL, NULL,
                           "the log (/var/log/gearmand.log); stderr, or none"},
    [GEARMAND_LOG_SIZE] = {"log-size", 0, GEARMAND_TEXT, NULL,
                           "the log is reopened on SIGHUP, so that logrotate can limit its size",
                           "ignored: use logrotate"},
    [GEARMAND_LISTEN] = {"listen", 'L', GEARMAND_TEXT, NULL, NULL, "address to listen on (all)"},
    [GEARMAND_PID_FILE] = {"pid-file", 'P', GEARMAND_TEXT, NULL, NULL,
                           "file of the process id (/var/gearmand.pid)"},
    [GEARMAND_PROTOCOL] = {"protocol", 'r', GEARMAND_TEXT, NULL, NULL, "http: also serve HTTP"},
    [GEARMAND_ROUND_ROBIN] = {"round-robin", 'R', GEARMAND_FLAG, NULL,
                              "functions always take turns, within the highest priority",
                              "ignored: always on"},
    [GEARMAND_QUEUE_TYPE] = {"queue-type", 'q', GEARMAND_TEXT, NULL, NULL,
                             "builtin, or a queue to import: libsqlite3, libpq (postgres)"},
    [GEARMAND_CONFIG_FILE] = {"config-file", 0, GEARMAND_TEXT, NULL, NULL,
                              "file of such arguments (/etc/gearmand.conf)"},
    [GEARMAND_SYSLOG] = {"syslog", 's', GEARMAND_FLAG, NULL, NULL, "log to the system's log"},
    [GEARMAND_COREDUMP] = {"coredump", 0, GEARMAND_FLAG, NULL,
                           "the system controls core dumps: ulimit -c, LimitCORE=",
                           "ignored: use ulimit -c"},
    [GEARMAND_THREADS] = {"threads", 't', GEARMAND_UINT, NULL, NULL,
                          "number of I/O threads; 0: as the machine allows"},
    [GEARMAND_USER] = {"user", 'u', GEARMAND_TEXT, "server.user", NULL, "run as this user"},
    [GEARMAND_VERBOSE] = {"verbose", 0, GEARMAND_TEXT, NULL, NULL,
                          "FATAL, ALERT, CRITICAL, ERROR, WARNING, NOTICE, INFO or DEBUG"},
    [GEARMAND_VERSION] = {"version", 'V', GEARMAND_FLAG, NULL, NULL, "print the version, and exit"},
    [GEARMAND_WORKER_WAKEUP] = {"worker-wakeup", 'w', GEARMAND_UINT, NULL, NULL,
                                "number of sleeping workers that a job wakes; 0: all"},
    [GEARMAND_HTTP_PORT] = {"http-port", 0, GEARMAND_TEXT, NULL, NULL,
                            "with -r http: its port (8080)"},
    [GEARMAND_PORT] = {"port", 'p', GEARMAND_TEXT, NULL, NULL, "port to listen on (4730)"},
    [GEARMAND_SSL] = {"ssl", 0, GEARMAND_FLAG, NULL, NULL, "use TLS"},
    [GEARMAND_SSL_CA_FILE] = {"ssl-ca-file", 0, GEARMAND_TEXT, NULL, NULL,
                              "with --ssl: authorities of client certificates"},
    [GEARMAND_SSL_CERTIFICATE] = {"ssl-certificate", 0, GEARMAND_TEXT, NULL, NULL,
                                  "with --ssl: the certificate"},
    [GEARMAND_SSL_KEY] = {"ssl-key", 0, GEARMAND_TEXT, NULL, NULL, "with --ssl: its private key"},
    [GEARMAND_LIBSQLITE3_DB] = {"libsqlite3-db", 0, GEARMAND_TEXT, NULL, NULL,
                                "with -q libsqlite3: the database; the journal is DB.tandem"},
    [GEARMAND_LIBSQLITE3_TABLE] = {"libsqlite3-table", 0, GEARMAND_TEXT, NULL, NULL,
                                   "with -q libsqlite3: the table (gearman_queue)"},
    [GEARMAND_STORE_QUEUE] = {"store-queue-on-shutdown", 0, GEARMAND_FLAG, NULL,
                              "with a journal, jobs are stored when they arrive",
                              "ignored: jobs are stored when they arrive"},
    [GEARMAND_LIBPQ_CONNINFO] = {"libpq-conninfo", 0, GEARMAND_TEXT, NULL, NULL,
                                 "with -q libpq: the database"},
    [GEARMAND_LIBPQ_TABLE] = {"libpq-table", 0, GEARMAND_TEXT, NULL, NULL,
                              "with -q libpq: the table (queue)"},
    [GEARMAND_MEMCACHED_SERVERS] = {"libmemcached-servers", 0, GEARMAND_TEXT, NULL, NO_QUEUE,
                                    "ignored"},
    [GEARMAND_MEMCACHED_PREFIX] = {"libmemcached-prefix", 0, GEARMAND_TEXT, NULL, NO_QUEUE,
                                   "ignored"},
    [GEARMAND_REDIS_SERVER] = {"redis-server", 0, GEARMAND_TEXT, NULL, NO_QUEUE, "ignored"},
    [GEARMAND_REDIS_PORT] = {"redis-port", 0, GEARMAND_TEXT, NULL, NO_QUEUE, "ignored"},
    [GEARMAND_REDIS_PASSWORD] = {"redis-password", 0, GEARMAND_TEXT, NULL, NO_QUEUE, "ignored"},
    [GEARMAND_REDIS_PREFIX] = {"redis-prefix", 0, GEARMAND_TEXT, NULL, NO_QUEUE, "ignored"},
    [GEARMAND_MYSQL_HOST] = {"mysql-host", 0, GEARMAND_TEXT, NULL, NO_QUEUE, "ignored"},
    [GEARMAND_MYSQL_PORT] = {"mysql-port", 0, GEARMAND_INT, NULL, NO_QUEUE, "ignored"},
    [GEARMAND_MYSQL_USER] = {"mysql-user", 0, GEARMAND_TEXT, NULL, NO_QUEUE, "ignored"},
    [GEARMAND_MYSQL_PASSWORD] = {"mysql-password", 0, GEARMAND_TEXT, NULL, NO_QUEUE, "ignored"},
    [GEARMAND_MYSQL_DB] = {"mysql-db", 0, GEARMAND_TEXT, NULL, NO_QUEUE, "ignored"},
    [GEARMAND_MYSQL_TABLE] = {"mysql-table", 0, GEARMAND_TEXT, NULL, NO_QUEUE, "ignored"},
};

#define GEARMAND_CONFIG_DEFAULT "/etc/gearmand.conf"
#define GEARMAND_BLANKS " \n\r"

// Maximum size of a configuration file, in bytes.
enum { FILE_MOST = (1 << 16) - 1 };

// A parser of arguments, which makes two passes: the form of all, then their values.
struct gearmand_parser {
    struct gearmand_options *options;
    struct command_line *command; // NULL: our own options are unknown, as in gearmand's file
    struct string_list *sets;
    const char *seen[GEARMAND_OPTIONS]; // values in these arguments
    bool second_pass;
    struct error_text *why;
};

static bool gearmand_is_integer(const char *text, int64_t least, int64_t most)
{
    char *end;
    intmax_t number;

    if (text[0] != '-' && text[0] != '+' && (text[0] < '0' || text[0] > '9')) {
        return false;
    }
    errno = 0;
    number = strtoimax(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && number >= least && number <= most;
}

static bool gearmand_parse_value(struct gearmand_parser *parser, enum gearmand_name name,
                                 const char *value)
{
    const struct gearmand_option *option = &gearmand_table[name];
    bool good = true;

    if (!parser->second_pass) {
        return true;
    }
    if (parser->seen[name]) {
        return error_set(parser->why, "option '--%s' cannot be specified more than once",
                         option->name);
    }
    if (option->kind == GEARMAND_INT) {
        good = gearmand_is_integer(value, INT32_MIN, INT32_MAX);
    } else if (option->kind == GEARMAND_UINT) {
        good = gearmand_is_integer(value, -(int64_t)UINT32_MAX, UINT32_MAX);
    }
    if (!good) {
        return error_set(parser->why, "the argument ('%s') for option '--%s' is invalid", value,
                         option->name);
    }
    parser->seen[name] = value;
    if (!parser->options->values[name]) {
        parser->options->values[name] = value;
    }
    return true;
}

static bool gearmand_value_missing(struct gearmand_parser *parser, enum gearmand_name name)
{
    return error_set(parser->why, "the required argument for option '--%s' is missing",
                     gearmand_table[name].name);
}

static bool gearmand_unknown_option(struct gearmand_parser *parser, const char *arg)
{
    return *arg ? error_set(parser->why, "unrecognised option '%s'", arg)
                : error_set(parser->why, "unrecognised option");
}

static enum gearmand_name gearmand_find_name(const char *word, size_t len)
{
    unsigned name = 0;

    while (name < GEARMAND_OPTIONS && (strlen(gearmand_table[name].name) != len ||
                                       memcmp(gearmand_table[name].name, word, len) != 0)) {
        name++;
    }
    return (enum gearmand_name)name;
}

static enum gearmand_name gearmand_find_letter(char letter)
{
    unsigned name = 0;

    while (name < GEARMAND_OPTIONS && gearmand_table[name].letter != letter) {
        name++;
    }
    return (enum gearmand_name)name;
}

// Parses --name, --name=value or --name value. `*used` is set if the next argument is its value.
static bool gearmand_parse_long(struct gearmand_parser *parser, const char *arg, const char *next,
                                bool *used)
{
    size_t len = strcspn(arg + 2, "=");
    const char *value = arg[2 + len] == '=' ? arg + 2 + len + 1 : NULL;
    enum gearmand_name name = gearmand_find_name(arg + 2, len);

    if (name == GEARMAND_OPTIONS) {
        return gearmand_unknown_option(parser, arg);
    }
    if (gearmand_table[name].kind == GEARMAND_FLAG) {
        if (value) {
            return error_set(parser->why, "option '--%s' does not take any arguments",
                             gearmand_table[name].name);
        }
        return gearmand_parse_value(parser, name, "");
    }
    if (value && *value == '\0') {
        return error_set(
            parser->why,
            "the argument for option '--%s' should follow immediately after the equal sign",
            gearmand_table[name].name);
    }
    *used = !value;
    value = value ? value : next;
    return value ? gearmand_parse_value(parser, name, value) : gearmand_value_missing(parser, name);
}

// Parses a group of letters. The value of the last one is the rest of the group or the next
// argument. If one letter is unknown, the whole group is.
static bool gearmand_parse_letters(struct gearmand_parser *parser, const char *arg,
                                   const char *next, bool *used)
{
    const char *at = arg + 1;
    enum gearmand_name name;

    for (; *at; at++) {
        name = gearmand_find_letter(*at);
        if (name == GEARMAND_OPTIONS) {
            return gearmand_unknown_option(parser, arg);
        }
        if (gearmand_table[name].kind != GEARMAND_FLAG) {
            break;
        }
    }
    for (at = arg + 1; *at; at++) {
        name = gearmand_find_letter(*at);
        if (gearmand_table[name].kind != GEARMAND_FLAG) {
            const char *value = at[1] ? at + 1 : next;

            *used = at[1] == '\0';
            return value ? gearmand_parse_value(parser, name, value)
                         : gearmand_value_missing(parser, name);
        }
        if (!gearmand_parse_value(parser, name, "")) {
            return false;
        }
    }
    return true;
}

// Parses one argument. gearmand ignores words of its file that are not options; they are counted
// for a note, because their author meant something.
static bool gearmand_parse_arg(struct gearmand_parser *parser, char **args, bool *used, bool *ended)
{
    const char *arg = args[0];
    enum compat_own_option own = parser->command && !*ended
                                     ? compat_own_apply(parser->command, parser->sets, arg, args[1])
                                     : COMPAT_OWN_NONE;

    *used = own == COMPAT_OWN_VALUED;
    if (own == COMPAT_OWN_TAKEN || own == COMPAT_OWN_VALUED) {
        return true;
    }
    if (own == COMPAT_OWN_MISSING) {
        return error_set(parser->why, "the required argument for option '%s' is missing", arg);
    }
    if (*ended || arg[0] != '-' || arg[1] == '\0') {
        if (parser->command) {
            return gearmand_unknown_option(parser, arg);
        }
        if (parser->second_pass && parser->options->bare_count++ == 0) {
            parser->options->bare = arg;
        }
        return true;
    }
    if (strcmp(arg, "--") == 0) {
        *ended = true;
        return true;
    }
    return arg[1] == '-' ? gearmand_parse_long(parser, arg, args[1], used)
                         : gearmand_parse_letters(parser, arg, args[1], used);
}

static bool gearmand_parse_pass(struct gearmand_parser *parser, char **args)
{
    bool ended = false;

    for (size_t i = 0; args[i]; i++) {
        bool used = false;

        if (!gearmand_parse_arg(parser, args + i, &used, &ended)) {
            return false;
        }
        i += used ? 1 : 0;
    }
    return true;
}

static bool gearmand_parse_args(struct gearmand_parser *parser, char **args)
{
    if (!gearmand_parse_pass(parser, args)) {
        return false;
    }
    parser->second_pass = true;
    // The first pass has added them already.
    if (parser->sets) {
        string_list_clear(parser->sets);
    }
    return gearmand_parse_pass(parser, args);
}

// Splits the text in place into a list of words that ends with NULL. NULL without memory.
static char **gearmand_split_words(char *text)
{
    char **words = calloc(strlen(text) / 2 + 2, sizeof *words);
    size_t count = 0;

    for (char *at = text + strspn(text, GEARMAND_BLANKS); words && *at;
         at += strspn(at, GEARMAND_BLANKS)) {
        words[count++] = at;
        at += strcspn(at, GEARMAND_BLANKS);
        if (*at) {
            *at++ = '\0';
        }
    }
    return words;
}

// Parses the configuration file. The default one need not exist.
static bool gearmand_read_config(struct gearmand_options *options, struct error_text *why)
{
    const char *path = options->values[GEARMAND_CONFIG_FILE];
    struct gearmand_parser parser = {.options = options, .why = why};
    struct small_file file;
    char **words;
    bool good;

    if (small_file_read_any(&file, path ? path : GEARMAND_CONFIG_DEFAULT, FILE_MOST) != 0) {
        error_set(why, "Could not open configuration file.");
        return !path || strcmp(path, GEARMAND_CONFIG_DEFAULT) == 0;
    }
    options->file = file.bytes;
    words = gearmand_split_words(options->file);
    if (!words) {
        return error_set(why, "out of memory");
    }
    good = gearmand_parse_args(&parser, words);
    free(words);
    return good;
}

enum exit_reason gearmand_options_read(struct gearmand_options *options,
                                       struct command_line *command, struct string_list *sets,
                                       int argc, char **argv, struct error_text *why)
{
    struct gearmand_parser parser = {
        .options = options, .command = command, .sets = sets, .why = why};

    *options = (struct gearmand_options){.file = NULL};
    if ((argc > 0 && !gearmand_parse_args(&parser, argv + 1)) ||
        !gearmand_read_config(options, why)) {
        return EXIT_REASON_USAGE;
    }
    return EXIT_REASON_NONE;
}

void gearmand_options_clear(struct gearmand_options *options)
{
    free(options->file);
    *options = (struct gearmand_options){.file = NULL};
}

int64_t gearmand_options_signed(const struct gearmand_options *options, enum gearmand_name name)
{
    return strtoimax(options->values[name], NULL, 10);
}

int64_t gearmand_options_number(const struct gearmand_options *options, enum gearmand_name name)
{
    int64_t number = gearmand_options_signed(options, name);

    return number < 0 && gearmand_table[name].kind == GEARMAND_UINT
               ? number + INT64_C(1) + UINT32_MAX
               : number;
}

void gearmand_options_note(const struct gearmand_options *options, enum gearmand_name name,
                           const char *reason, struct string_list *notes)
{
    if (options->values[name]) {
        string_list_add(notes, "--%s is ignored: %s", gearmand_table[name].name, reason);
    }
}

void gearmand_options_map(const struct gearmand_options *options, struct string_list *settings,
                          struct string_list *notes)
{
    for (unsigned name = 0; name < GEARMAND_OPTIONS; name++) {
        const struct gearmand_option *option = &gearmand_table[name];
        const char *value = options->values[name];

        if (value && option->key) {
            string_list_add(settings, "%s=%s", option->key,
                            option->kind == GEARMAND_FLAG ? "true" : value);
        }
        if (option->note) {
            gearmand_options_note(options, (enum gearmand_name)name, option->note, notes);
        }
    }
    if (options->bare_count == 1) {
        string_list_add(notes,
                        "'%s' in the configuration file is ignored: it is not an option, which "
                        "begins with --",
                        options->bare);
    } else if (options->bare_count > 1) {
        string_list_add(
            notes,
            "'%s' and %u more words in the configuration file are ignored: they are not "
            "options, which begin with --",
            options->bare, options->bare_count - 1);
    }
}

void gearmand_options_print(FILE *stream)
{
    for (unsigned name = 0; name < GEARMAND_OPTIONS; name++) {
        const struct gearmand_option *option = &gearmand_table[name];
        const char *arg = option->kind == GEARMAND_FLAG ? "" : " arg";
        char words[64];

        if (option->letter) {
            (void)snprintf(words, sizeof words, "-%c [ --%s ]%s", option->letter, option->name,
                           arg);
        } else {
            (void)snprintf(words, sizeof words, "--%s%s", option->name, arg);
        }
        (void)fprintf(stream, "  %-36s  %s\n", words, option->help);
    }
}
