/* SPDX-License-Identifier: MIT */
#include "server/config/queue_push.h"

#include "server/config/queue_section.h"
#include "server/config/setting.h"

#include <stdlib.h>
#include <string.h>

void queue_push_show_url(const char *url, FILE *file)
{
    const char *scheme_end = strstr(url, "://");
    const char *host = scheme_end ? scheme_end + 3 : url;
    size_t len = strcspn(host, "/?#");
    const char *rest = host + len;

    if (*url == '\0') {
        return;
    }
    if (!scheme_end || memchr(host, '@', len)) {
        (void)fputs(SETTING_HIDDEN, file);
        return;
    }
    (void)fprintf(file, "%.*s", (int)(rest - url), url);
    if (rest[0] == '/' && rest[1] == '\0') {
        (void)fputc('/', file);
    } else if (*rest) {
        (void)fputs("/" SETTING_HIDDEN, file);
    }
}

const char *queue_push_contradiction(const struct queue_push *push)
{
    if (*push->url) {
        return NULL;
    }
    if (*push->secret || *push->secret_file) {
        return "push_secret needs push";
    }
    return *push->ca_file ? "push_ca needs push" : NULL;
}

static struct push_settings settings_of(const struct config_section *section)
{
    const struct queue_push *push = &((const struct queue_section *)section->values)->push;

    return (struct push_settings){
        .name = section->name,
        .url = push->url,
        .secret = push->secret,
        .secret_file = push->secret_file,
        .ca_file = push->ca_file,
        .timeout_for = push->timeout_for,
        .max_answer = push->max_answer,
        .connections = push->connections,
        .may_be_private = push->may_be_private,
    };
}

struct push_settings *queue_push_list(const struct config_sections *sections, size_t *count,
                                      struct error_text *why)
{
    struct push_settings *list = calloc(sections->count + 1, sizeof *list);

    if (!list) {
        error_set(why, "out of memory");
        return NULL;
    }
    *count = 0;
    for (size_t i = 0; i < sections->count; i++) {
        list[*count] = settings_of(&sections->all[i]);
        *count += *list[*count].url ? 1 : 0;
    }
    return list;
}

uint64_t queue_push_descriptors(const struct config_sections *sections)
{
    uint64_t count = 0;

    for (size_t i = 0; i < sections->count; i++) {
        const struct push_settings settings = settings_of(&sections->all[i]);

        count += *settings.url ? 2 + 2 * (uint64_t)settings.connections : 0;
    }
    return count;
}

bool queue_push_check(const struct config_sections *sections, struct error_text *why)
{
    for (size_t i = 0; i < sections->count; i++) {
        struct push_settings settings = settings_of(&sections->all[i]);

        if (*settings.url && !push_settings_check(&settings, why)) {
            return error_prefix(why, "[queue %s] ", settings.name);
        }
    }
    return true;
}
