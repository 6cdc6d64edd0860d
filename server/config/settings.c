/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE // sched_getaffinity()
#include "server/config/settings.h"

#include "access/access.h"
#include "admin/admin.h"
#include "core/base/digits.h"
#include "core/base/macros.h"
#include "proto_beanstalk/beanstalk.h"
#include "proto_gearman/gearman.h"
#include "proto_http/http.h"
#include "server/config/listen_address.h"
#include "server/config/journal_settings.h"
#include "server/config/proxy_list.h"
#include "server/config/setting.h"

#include <inttypes.h>
#include <sched.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

const struct frontend *const frontends[FRONTENDS] = {
    &beanstalk_frontend,
    &gearman_frontend,
    &http_frontend,
    &admin_frontend,
};

// More threads do not help: the core thread is the bottleneck.
enum { AUTO_LEAST_PROCESSORS = 4, AUTO_MOST = 8 };

unsigned io_threads_auto(unsigned processors)
{
    if (processors < AUTO_LEAST_PROCESSORS) {
        return 0;
    }
    return processors / 2 < AUTO_MOST ? processors / 2 : AUTO_MOST;
}

unsigned processors_available(const struct cgroup_limits *limits)
{
    cpu_set_t set;
    unsigned count = sched_getaffinity(0, sizeof set, &set) == 0 ? (unsigned)CPU_COUNT(&set) : 1;

    return limits->processors > 0 && limits->processors < count ? limits->processors : count;
}

// What the process needs beside the memory of clients, at most: a fixed part, and a tenth of that
// memory.
#define MEMORY_BESIDE ((uint64_t)64 << 20)

uint64_t max_memory_in_force(uint64_t max_memory, const struct cgroup_limits *limits)
{
    uint64_t quarter = limits->memory / 4;
    uint64_t rest = limits->memory > MEMORY_BESIDE ? (limits->memory - MEMORY_BESIDE) / 11 * 10 : 0;

    if (max_memory != OPTION_AUTO) {
        return max_memory;
    }
    rest = rest < 3 * quarter ? rest : 3 * quarter;
    return rest > quarter ? rest : quarter;
}

bool io_threads_parse(const char *text, unsigned *count, struct error_text *why)
{
    struct cgroup_limits limits;
    uint64_t number;

    if (strcmp(text, "auto") == 0) {
        cgroup_limits_read("", &limits);
        *count = io_threads_auto(processors_available(&limits));
        return true;
    }
    if (*text == '\0' || text[strspn(text, "0123456789")] != '\0' ||
        !digits_read(slice_str(text), &number) || number > IO_THREADS_MOST) {
        return error_set(why, "`%s` is neither `auto` nor a number from 0 to %d", text,
                         IO_THREADS_MOST);
    }
    *count = (unsigned)number;
    return true;
}

bool file_mode_parse(const char *text, mode_t *mode, struct error_text *why)
{
    size_t len = strlen(text);
    mode_t sum = 0;

    if (len == 0 || len > 4 || text[strspn(text, "01234567")] != '\0' ||
        (len == 4 && text[0] != '0')) {
        return error_set(why, "`%s` is not a mode from 0 to 0777", text);
    }
    for (; *text; text++) {
        sum = sum * 8 + (mode_t)(*text - '0');
    }
    *mode = sum;
    return true;
}

// The default of what a connection may keep in addition to the largest job.
#define DEFAULT_MEMORY_BESIDE ((uint64_t)64 << 20)

// The largest size of a job or a result in any protocol.
static uint64_t settings_largest_job(const struct settings *settings)
{
    uint64_t largest = 0;

    for (size_t i = 0; i < settings->config.count; i++) {
        const struct config_table *table = &settings->config.tables[i];

        for (const struct option *option = table->options; option->name; option++) {
            const char *values = table->values;
            const uint64_t *size = (const void *)(values + option->offset);

            if (option->is_job_size && *size > largest) {
                largest = *size;
            }
        }
    }
    return largest;
}

static bool connection_memory_check(const struct settings *settings, struct error_text *why)
{
    uint64_t most = settings->server.max_connection_memory;
    uint64_t least = settings_largest_job(settings) + CONNECTION_MEMORY_BESIDE;

    if (most == 0 || most >= least) {
        return true;
    }
    return error_set(why,
                     "[server] max_connection_memory: must be 0 or at least %" PRIu64
                     ", 2M more than the largest job that a protocol allows",
                     least);
}

uint64_t connection_memory_before(const struct settings *settings)
{
    uint64_t most = settings->server.max_connection_memory;

    return most == 0 ? DEFAULT_MEMORY_BESIDE : most - settings_largest_job(settings);
}

#define CONNECTIONS_MAX 1000000000
#define QUEUES_MAX 1000000000
#define HANDSHAKE_TIMEOUT_MAX 3600
#define WRITE_TIMEOUT_MAX 86400
#define SLOW_TURN_MAX 3600000

static const struct option server_options[] = {
    {.name = "user",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct server_settings, user),
     .default_value = "",
     .effect =
         "User that the process changes to after opening everything; empty: it stays the same."},
    {.name = "pid_file",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct server_settings, pid_file),
     .default_value = "",
     .effect = "File with the process id while the process runs; empty: none."},
    {.name = "socket_mode",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct server_settings, socket_mode),
     .default_value = "",
     .effect = "Mode of unix sockets, in octal digits; empty: as the umask says."},
    {.name = "access_file",
     .kind = OPTION_TEXT,
     .is_file = true,
     .offset = offsetof(struct server_settings, access_file),
     .default_value = "",
     .live = true,
     .effect =
         "File of access rules; empty: every client may do everything. Read again on SIGHUP."},
    {.name = "max_connections",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct server_settings, max_connections),
     .default_value = "0",
     .max = CONNECTIONS_MAX,
     .live = true,
     .effect = "Maximum number of connections; 0: the number of file descriptors."},
    {.name = "max_queues",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct server_settings, max_queues),
     .default_value = "0",
     .max = QUEUES_MAX,
     .live = true,
     .effect = "Maximum number of queues (tubes, functions) that clients may create; 0: no limit."},
    {.name = "max_connection_memory",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct server_settings, max_connection_memory),
     .default_value = "0",
     .max = INT64_C(1) << 40,
     .live = true,
     .effect = "Maximum memory for one connection; 0: 64M more than the largest job."},
    {.name = "max_memory",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct server_settings, max_memory),
     .default_value = "0",
     .max = INT64_C(1) << 50,
     .has_auto = true,
     .live = true,
     .effect = "Maximum memory that clients can use; near it, new jobs are refused. 0: no limit; "
               "auto: by the memory limit of the container."},
    {.name = "max_kept_results",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct server_settings, max_kept_results),
     .default_value = "64M",
     .max = INT64_C(1) << 40,
     .live = true,
     .effect =
         "Maximum memory for stored results; the oldest are deleted first. 0: none is stored."},
    {.name = "max_kept_keys",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct server_settings, max_kept_keys),
     .default_value = "64M",
     .max = INT64_C(1) << 40,
     .live = true,
     .effect =
         "Maximum memory for keys that outlive their jobs (unique_for); the oldest go first."},
    {.name = "max_connections_per_address",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct server_settings, max_connections_per_address),
     .default_value = "0",
     .max = CONNECTIONS_MAX,
     .live = true,
     .effect = "Maximum number of connections from one address, or IPv6 /64; 0: no limit."},
    {.name = "proxies",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct server_settings, proxies),
     .default_value = "",
     .live = true,
     .effect = "Proxies that may connect to addresses with proxy: in front, and name the client."},
    {.name = "io_threads",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct server_settings, io_threads),
     .default_value = "auto",
     .effect = "Threads that read and write for connections; auto: half the processors; 0: none."},
    {.name = "io_spread",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct server_settings, io_spread),
     .default_value = "auto",
     .choices = "auto|always",
     .effect = "Connections that these threads serve: as the load needs it, or always all."},
    {.name = "handshake_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct server_settings, handshake_timeout),
     .default_value = "10",
     .min = 1,
     .max = HANDSHAKE_TIMEOUT_MAX,
     .live = true,
     .effect = "Maximum duration of a TLS handshake, and of a PROXY protocol head, in seconds."},
    {.name = "write_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct server_settings, write_timeout),
     .default_value = "60",
     .max = WRITE_TIMEOUT_MAX,
     .live = true,
     .effect = "Seconds after which a client that reads none of its output is closed; 0: never."},
    {.name = "slow_turn",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct server_settings, slow_turn),
     .default_value = "0",
     .max = SLOW_TURN_MAX,
     .live = true,
     .effect =
         "Processor time in milliseconds above which a turn of the loop is logged; 0: never."},
    {.name = "log_level",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct server_settings, log_level),
     .default_value = "info",
     .choices = "error|warn|info|debug",
     .live = true,
     .effect = "The least severe level that is logged."},
    {.name = "log_format",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct server_settings, log_format),
     .default_value = "text",
     .choices = "text|json",
     .live = true,
     .effect = "Format of log lines."},
    {.name = "log_file",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct server_settings, log_file),
     .default_value = "",
     .live = true,
     .effect =
         "File of the log; empty: standard error; syslog: the system's log. Reopened on SIGHUP."},
    {.name = "log_commands",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct server_settings, log_commands),
     .default_value = "",
     .live = true,
     .effect = "Address, or connection number, of the client whose commands are logged."},
    {.name = NULL},
};

static const struct option tls_options[] = {
    {.name = "certificate",
     .kind = OPTION_TEXT,
     .is_file = true,
     .offset = offsetof(struct tls_settings, certificate),
     .default_value = "",
     .live = true,
     .effect = "File of the certificate and its chain; empty: none. Read again on SIGHUP."},
    {.name = "key",
     .kind = OPTION_TEXT,
     .is_file = true,
     .offset = offsetof(struct tls_settings, key),
     .default_value = "",
     .live = true,
     .effect = "File of the private key; empty if it is in the file of the certificate."},
    {.name = "client_ca",
     .kind = OPTION_TEXT,
     .is_file = true,
     .offset = offsetof(struct tls_settings, client_ca),
     .default_value = "",
     .live = true,
     .effect = "File of the authorities that issue the clients' certificates; empty: none."},
    {.name = "client_certs",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct tls_settings, client_certs),
     .default_value = "none",
     .choices = "none|optional|required",
     .live = true,
     .effect = "Whether clients are asked for a certificate, and whether they need one."},
    {.name = "min_version",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct tls_settings, min_version),
     .default_value = "1.2",
     .choices = "1.2|1.3",
     .live = true,
     .effect = "Oldest accepted version of TLS."},
    {.name = "ciphers",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct tls_settings, ciphers),
     .default_value = "",
     .live = true,
     .effect = "Cipher list for TLS 1.2, in OpenSSL's format; empty: OpenSSL's default."},
    {.name = NULL},
};

static bool server_option_check(const struct option *option, const char *text,
                                struct error_text *why)
{
    struct proxy_list proxies;
    mode_t unused;
    unsigned count;

    if (strcmp(option->name, "io_threads") == 0) {
        return io_threads_parse(text, &count, why);
    }
    if (strcmp(option->name, "proxies") == 0) {
        return proxy_list_read(&proxies, text, why);
    }
    return strcmp(option->name, "socket_mode") != 0 || *text == '\0' ||
           file_mode_parse(text, &unused, why);
}

static bool listen_option_check(const struct option *option, const char *text,
                                struct error_text *why)
{
    (void)option;
    return address_list_check(text, why);
}

static void settings_add(struct settings *settings, const struct config_table *table)
{
    settings->tables[settings->config.count++] = *table;
}

static void settings_add_frontend(struct settings *settings, size_t index)
{
    const struct frontend *frontend = frontends[index];
    struct protocol_settings *protocol = &settings->protocols[index];
    struct option *listen = settings->listen_options[index];

    listen[0] = (struct option){
        .name = "listen",
        .kind = OPTION_TEXT,
        .offset = offsetof(struct protocol_settings, listen),
        .default_value = frontend->listen,
        .effect = "Addresses to listen on; empty: none.",
    };
    settings_add(settings, &(struct config_table){.section = frontend->name,
                                                  .options = listen,
                                                  .values = protocol,
                                                  .check = listen_option_check});
    if (frontend->options) {
        settings_add(settings, &(struct config_table){.section = frontend->name,
                                                      .options = frontend->options,
                                                      .values = protocol->options});
    }
}

// The size of a front-end's options, rounded up so that the next ones are aligned for any type.
static size_t frontend_options_room(const struct frontend *frontend)
{
    size_t unit = alignof(max_align_t);

    return (frontend->options_size + unit - 1) / unit * unit;
}

// Allocates the front-ends' options, and lists all tables. False without memory.
static bool settings_describe(struct settings *settings)
{
    size_t room = 1;

    for (size_t i = 0; i < FRONTENDS; i++) {
        room += frontend_options_room(frontends[i]);
    }
    settings->options = calloc(1, room);
    if (!settings->options) {
        return false;
    }
    settings->config.tables = settings->tables;
    settings->named[SETTINGS_QUEUES].kind = &queue_section_kind;
    settings->named[SETTINGS_SCHEDULES].kind = &schedule_section_kind;
    settings->config.named = settings->named;
    settings->config.kinds = SETTINGS_KINDS;
    settings_add(settings, &(struct config_table){.section = "server",
                                                  .options = server_options,
                                                  .values = &settings->server,
                                                  .check = server_option_check});
    settings_add(settings, &(struct config_table){
                               .section = "tls", .options = tls_options, .values = &settings->tls});
    settings_add(settings, &(struct config_table){.section = "journal",
                                                  .options = journal_options,
                                                  .values = &settings->journal,
                                                  .check = journal_options_check});
    room = 0;
    for (size_t i = 0; i < FRONTENDS; i++) {
        settings->protocols[i].options = settings->options + room;
        settings_add_frontend(settings, i);
        room += frontend_options_room(frontends[i]);
    }
    return true;
}

// An address that no proxy may use is a mistake.
static bool settings_check_proxies(const struct settings *settings, struct error_text *why)
{
    const char *proxies = settings->server.proxies;

    for (size_t i = 0; i < FRONTENDS && proxies[strspn(proxies, " \t,")] == '\0'; i++) {
        if (address_list_has_proxied(settings->protocols[i].listen)) {
            return error_set(why,
                             "[%s] listen: an address with proxy: needs the addresses of the "
                             "proxies in [server] proxies",
                             frontends[i]->name);
        }
    }
    return true;
}

bool settings_check(const struct settings *settings, struct error_text *why)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        if (frontends[i]->check && !frontends[i]->check(settings->protocols[i].options, why)) {
            return error_prefix(why, "[%s] ", frontends[i]->name);
        }
    }
    return connection_memory_check(settings, why) && settings_check_proxies(settings, why) &&
           journal_settings_check(&settings->journal, why) &&
           queue_push_check(&settings->named[SETTINGS_QUEUES], why);
}

bool settings_check_access(const struct settings *settings, struct error_text *why)
{
    const char *path = settings->server.access_file;
    struct access *access = *path ? access_read(path, why) : NULL;
    bool good = access || *path == '\0';

    if (!good) {
        (void)error_prefix(why, "[server] access_file: ");
    }
    access_free(access);
    return good;
}

bool settings_check_tls(const struct settings *settings, struct error_text *why)
{
    ENSURE(settings->tls.certificate);
    if (*settings->tls.certificate) {
        return tls_check(&settings->tls, why);
    }
    for (size_t i = 0; i < FRONTENDS; i++) {
        if (address_list_has_tls(settings->protocols[i].listen)) {
            return error_set(why, "[%s] listen: an address with TLS needs a certificate in [tls]",
                             frontends[i]->name);
        }
    }
    return true;
}

bool settings_same_tls(const struct settings *a, const struct settings *b)
{
    for (const struct option *option = tls_options; option->name; option++) {
        if (!setting_equal(option, &a->tls, &b->tls)) {
            return false;
        }
    }
    return true;
}

static bool settings_assign(struct settings *settings, const char *const *texts, size_t count,
                            struct error_text *why)
{
    for (size_t i = 0; i < count; i++) {
        if (!config_assign(&settings->config, texts[i], why)) {
            return false;
        }
    }
    return true;
}

struct settings *settings_load(const struct settings_source *source, struct error_text *why)
{
    struct settings *settings = calloc(1, sizeof *settings);

    if (!settings || !settings_describe(settings)) {
        error_set(why, "out of memory");
        goto failed;
    }
    if (!config_preset(&settings->config, why) ||
        !settings_assign(settings, source->presets, source->preset_count, why) ||
        (source->path && !config_load(&settings->config, source->path, !source->again, why)) ||
        (source->environment &&
         !config_set_from_environment(&settings->config, source->environment, !source->again,
                                      &settings->environment_count, why)) ||
        !settings_assign(settings, source->sets, source->set_count, why)) {
        goto failed;
    }
    if (!config_finish(&settings->config, why) || !settings_check(settings, why) ||
        (!source->again &&
         (!settings_check_tls(settings, why) || !settings_check_access(settings, why)))) {
        goto failed;
    }
    return settings;

failed:
    settings_free(settings);
    return NULL;
}

void settings_free(struct settings *settings)
{
    if (!settings) {
        return;
    }
    config_clear(&settings->config);
    free(settings->options);
    free(settings);
}
