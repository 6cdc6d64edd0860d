/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_CONFIG_GEARMAND_OPTIONS_H
#define TANDEM_SERVER_CONFIG_GEARMAND_OPTIONS_H

// gearmand's command line, read as gearmand 1.1.20 reads it: words are not abbreviated, an option
// is given once, what is wrong with the form of any argument is said before what is wrong with a
// value. Beside its options there are our own long ones, and two that other versions of gearmand
// have: -s, and --log-size.

#include "core/base/macros.h"
#include "server/config/command.h"
#include "core/base/error_text.h"

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

// By enum gearmand_name: what was given, "" for an option without a value; NULL: it was not.
struct gearmand_options {
    const char *values[GEARMAND_OPTIONS];
    const char
        *bare; // the first word of the configuration file that is no option; NULL: there is none
    unsigned bare_count;
    char *file; /* private: what values of the configuration file are in */
};

// Reads the arguments, and then gearmand's configuration file, whose words count where the command
// line says nothing. Our own options go to `command` and `said`. EXIT_REASON_NONE, or the reason in
// `why`, in gearmand's words; the options are to be cleared in any case.
enum exit_reason gearmand_options_read(struct gearmand_options *options,
                                       struct command_line *command, struct words *said, int argc,
                                       char **argv, struct error_text *why) MUST_USE;

void gearmand_options_clear(struct gearmand_options *options);

// The value of an option that takes a number, as it was written.
int64_t gearmand_options_signed(const struct gearmand_options *options, enum gearmand_name name);

// The same, but, as there, one below zero that should not be is what it is modulo 2^32.
int64_t gearmand_options_number(const struct gearmand_options *options, enum gearmand_name name);

// Adds what options that have a key of ours say, and for those that mean nothing here why that is.
void gearmand_options_map(const struct gearmand_options *options, struct words *settings,
                          struct words *notes);

// Adds a note where the option was given: it means nothing here for that reason.
void gearmand_options_note(const struct gearmand_options *options, enum gearmand_name name,
                           const char *reason, struct words *notes);

void gearmand_options_print(FILE *stream);

#endif
