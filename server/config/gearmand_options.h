/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_GEARMAND_OPTIONS_H
#define TANDEM_SERVER_CONFIG_GEARMAND_OPTIONS_H

// gearmand's command line, parsed as gearmand 1.1.20 parses it: long options cannot be abbreviated,
// an option may be given once, and errors in the form of any argument are reported before errors in
// a value. In addition to its options, it accepts our own long options, and two of other versions
// of gearmand: -s and --log-size.

#include "core/base/error_text.h"
#include "core/base/macros.h"
#include "server/config/command_line.h"

#include <stdint.h>
#include <stdio.h>

enum gearmand_name {
    GEARMAND_BACKLOG,
    GEARMAND_CHECK_ARGS,
    GEARMAND_DAEMON,
    GEARMAND_EXCEPTIONS,
    GEARMAND_FILE_DESCRIPTORS,
    GEARMAND_HELP,
    GEARMAND_JOB_RETRIES,
    GEARMAND_JOB_HANDLE_PREFIX,
    GEARMAND_HASHTABLE_BUCKETS,
    GEARMAND_KEEPALIVE,
    GEARMAND_KEEPALIVE_IDLE,
    GEARMAND_KEEPALIVE_INTERVAL,
    GEARMAND_KEEPALIVE_COUNT,
    GEARMAND_LOG_FILE,
    GEARMAND_LOG_SIZE,
    GEARMAND_LISTEN,
    GEARMAND_PID_FILE,
    GEARMAND_PROTOCOL,
    GEARMAND_ROUND_ROBIN,
    GEARMAND_QUEUE_TYPE,
    GEARMAND_CONFIG_FILE,
    GEARMAND_SYSLOG,
    GEARMAND_COREDUMP,
    GEARMAND_THREADS,
    GEARMAND_USER,
    GEARMAND_VERBOSE,
    GEARMAND_VERSION,
    GEARMAND_WORKER_WAKEUP,
    GEARMAND_HTTP_PORT,
    GEARMAND_PORT,
    GEARMAND_SSL,
    GEARMAND_SSL_CA_FILE,
    GEARMAND_SSL_CERTIFICATE,
    GEARMAND_SSL_KEY,
    GEARMAND_LIBSQLITE3_DB,
    GEARMAND_LIBSQLITE3_TABLE,
    GEARMAND_STORE_QUEUE,
    GEARMAND_LIBPQ_CONNINFO,
    GEARMAND_LIBPQ_TABLE,
    GEARMAND_MEMCACHED_SERVERS,
    GEARMAND_MEMCACHED_PREFIX,
    GEARMAND_REDIS_SERVER,
    GEARMAND_REDIS_PORT,
    GEARMAND_REDIS_PASSWORD,
    GEARMAND_REDIS_PREFIX,
    GEARMAND_MYSQL_HOST,
    GEARMAND_MYSQL_PORT,
    GEARMAND_MYSQL_USER,
    GEARMAND_MYSQL_PASSWORD,
    GEARMAND_MYSQL_DB,
    GEARMAND_MYSQL_TABLE,
    GEARMAND_OPTIONS
};

struct gearmand_options {
    // By enum gearmand_name: the value, "" for an option without one; NULL: the option was not
    // given.
    const char *values[GEARMAND_OPTIONS];
    // The words of the configuration file that are not options: the first one, or NULL, and how
    // many.
    const char *bare;
    unsigned bare_count;
    char *file; /* private: the content of the configuration file */
};

// Parses the arguments, and then gearmand's configuration file, which the command line overrides.
// Our own options are applied to `command` and `sets`. Returns EXIT_REASON_NONE, or another reason
// with gearmand's message in `why`; the caller clears the options in any case.
enum exit_reason gearmand_options_read(struct gearmand_options *options,
                                       struct command_line *command, struct string_list *sets,
                                       int argc, char **argv, struct error_text *why) MUST_USE;

void gearmand_options_clear(struct gearmand_options *options);

// The value of an option with a number, which must have been given.
int64_t gearmand_options_signed(const struct gearmand_options *options, enum gearmand_name name);

// The same; as in gearmand, a negative value of an unsigned option is taken modulo 2^32.
int64_t gearmand_options_number(const struct gearmand_options *options, enum gearmand_name name);

// Adds the settings of options with a key of ours, and notes about options without a meaning here.
void gearmand_options_map(const struct gearmand_options *options, struct string_list *settings,
                          struct string_list *notes);

// Adds a note, if the option was given, that it is ignored for that reason.
void gearmand_options_note(const struct gearmand_options *options, enum gearmand_name name,
                           const char *reason, struct string_list *notes);

// Prints the help of all options.
void gearmand_options_print(FILE *stream);

#endif
