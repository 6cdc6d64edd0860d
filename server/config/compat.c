/* SPDX-License-Identifier: MIT */
#include "server/config/compat.h"

#include "server/config/journal_settings.h"
#include "server/config/settings.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

const char compat_own_help[] =
    "  --as beanstalkd|gearmand   replace that program, whatever the name of this one is\n"
    "  --config FILE              tandemd's settings; the options above override them\n"
    "  --set SECTION.KEY=VALUE    set one of them; may be repeated\n"
    "  --check-config             print the resulting settings, and exit\n"
    "  --queue NAME               with --check-config: print the section of that queue\n"
    "  --repair                   start with a damaged journal, and log the lost records\n"
    "  --ignore-binlog            ignore the jobs that beanstalkd or gearmand has left\n";

enum compat_own_option compat_own_apply(struct command_line *command, struct string_list *sets,
                                        const char *arg, const char *next)
{
    enum own_id { OWN_AS, OWN_CONFIG, OWN_SET, OWN_CHECK, OWN_QUEUE, OWN_REPAIR, OWN_IGNORE };
    static const struct {
        const char *name;
        bool valued;
    } options[] = {
        [OWN_AS] = {"--as", true},
        [OWN_CONFIG] = {"--config", true},
        [OWN_SET] = {"--set", true},
        [OWN_CHECK] = {"--check-config", false},
        [OWN_QUEUE] = {"--queue", true},
        [OWN_REPAIR] = {"--repair", false},
        [OWN_IGNORE] = {"--ignore-binlog", false},
    };
    const size_t count = sizeof options / sizeof *options;
    const char *value = next;
    size_t id = 0;

    for (; id < count; id++) {
        size_t len = strlen(options[id].name);

        if (strncmp(arg, options[id].name, len) == 0 &&
            (arg[len] == '\0' || (options[id].valued && arg[len] == '='))) {
            value = arg[len] == '=' ? arg + len + 1 : next;
            break;
        }
    }
    if (id == count) {
        return COMPAT_OWN_NONE;
    }
    if (options[id].valued && !value) {
        return COMPAT_OWN_MISSING;
    }
    switch ((enum own_id)id) {
    case OWN_AS: // compat_find() has evaluated it
        break;
    case OWN_CONFIG:
        command->config_path = value;
        break;
    case OWN_SET:
        string_list_add(sets, "%s", value);
        break;
    case OWN_CHECK:
        command->action = ACTION_CHECK;
        break;
    case OWN_QUEUE:
        command->queue = value;
        break;
    case OWN_REPAIR:
        command->repair = true;
        break;
    case OWN_IGNORE:
        command->ignore_binlog = true;
        break;
    }
    return options[id].valued && value == next ? COMPAT_OWN_VALUED : COMPAT_OWN_TAKEN;
}

void compat_listen_only(struct string_list *presets, const char *frontend)
{
    for (size_t i = 0; i < FRONTENDS; i++) {
        if (strcmp(frontends[i]->name, frontend) != 0) {
            string_list_add(presets, "%s.listen=", frontends[i]->name);
        }
    }
}

bool compat_can_import(const char *kind)
{
    for (size_t i = 0; import_kinds[i]; i++) {
        if (strcmp(import_kinds[i]->name, kind) == 0) {
            return true;
        }
    }
    return false;
}

bool compat_find_port(const char *text, unsigned *port)
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

void compat_add_listen(struct string_list *settings, const char *key, const char *tls,
                       const char *host, unsigned port)
{
    // A host named tls must not be taken for the prefix.
    bool brackets = strchr(host, ':') != NULL || strcmp(host, "tls") == 0;

    string_list_add(settings, brackets ? "%s=%s[%s]:%u" : "%s=%s%s:%u", key, tls, host, port);
}
