/* SPDX-License-Identifier: MIT */
#include "server/config/persona_own.h"

#include "server/config/frontends.h"
#include "server/config/import_kinds.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

const char persona_own_help[] =
    "  --as beanstalkd|gearmand   replace that program, whatever the name of this one is\n"
    "  --config FILE              tandemd's settings; the options above override them\n"
    "  --set SECTION.KEY=VALUE    set one of them; may be repeated\n"
    "  --check-config             print the resulting settings, and exit\n"
    "  --queue NAME               with --check-config: print the section of that queue\n"
    "  --repair                   start with a damaged journal, and log the lost records\n"
    "  --ignore-binlog            ignore the jobs that beanstalkd or gearmand has left\n";

static void take_as(struct command_line *command, struct words *said, const char *value)
{
    (void)command;
    (void)said;
    (void)value; // persona_find() has seen it
}

static void take_config(struct command_line *command, struct words *said, const char *value)
{
    (void)said;
    command->config_path = value;
}

static void take_set(struct command_line *command, struct words *said, const char *value)
{
    (void)command;
    words_add(said, "%s", value);
}

static void take_check(struct command_line *command, struct words *said, const char *value)
{
    (void)said;
    (void)value;
    command->action = ACTION_CHECK;
}

static void take_queue(struct command_line *command, struct words *said, const char *value)
{
    (void)said;
    command->queue = value;
}

static void take_repair(struct command_line *command, struct words *said, const char *value)
{
    (void)said;
    (void)value;
    command->repair = true;
}

static void take_ignore(struct command_line *command, struct words *said, const char *value)
{
    (void)said;
    (void)value;
    command->ignore_binlog = true;
}

static const struct own {
    const char *name;
    bool valued;
    void (*take)(struct command_line *command, struct words *said, const char *value);
} own_options[] = {
    {"--as", true, take_as},
    {"--config", true, take_config},
    {"--set", true, take_set},
    {"--check-config", false, take_check},
    {"--queue", true, take_queue},
    {"--repair", false, take_repair},
    {"--ignore-binlog", false, take_ignore},
};

enum own_option persona_own_take(struct command_line *command, struct words *said, const char *arg,
                                 const char *next)
{
    for (size_t i = 0; i < sizeof own_options / sizeof *own_options; i++) {
        const struct own *own = &own_options[i];
        size_t len = strlen(own->name);

        if (strncmp(arg, own->name, len) != 0) {
            continue;
        }
        if (own->valued && arg[len] == '=') {
            own->take(command, said, arg + len + 1);
            return OWN_TAKEN;
        }
        if (arg[len] != '\0') {
            continue;
        }
        if (own->valued && !next) {
            return OWN_MISSING;
        }
        own->take(command, said, next);
        return own->valued ? OWN_VALUED : OWN_TAKEN;
    }
    return OWN_NONE;
}

void persona_listen_only(struct words *presets, const char *frontend)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        if (strcmp(frontends[i]->name, frontend) != 0) {
            words_add(presets, "%s.listen=", frontends[i]->name);
        }
    }
}

bool persona_can_import(const char *kind)
{
    for (size_t i = 0; import_kinds[i]; i++) {
        if (strcmp(import_kinds[i]->name, kind) == 0) {
            return true;
        }
    }
    return false;
}

bool persona_find_port(const char *text, unsigned *port)
{
    const struct servent *service;
    unsigned sum = 0;

    if (*text != '\0' && text[strspn(text, "0123456789")] == '\0') {
        for (; *text && sum <= UINT16_MAX; text++) {
            sum = 10 * sum + (unsigned)(*text - '0');
        }
        *port = sum;
        return sum <= UINT16_MAX;
    }
    service = getservbyname(text, "tcp");
    if (service) {
        *port = ntohs((uint16_t)service->s_port);
    }
    return service != NULL;
}

void persona_add_listen(struct words *settings, const char *key, const char *tls, const char *host,
                        unsigned port)
{
    // A host called tls is meant then, and not TLS.
    bool brackets = strchr(host, ':') != NULL || strcmp(host, "tls") == 0;

    words_add(settings, brackets ? "%s=%s[%s]:%u" : "%s=%s%s:%u", key, tls, host, port);
}
