/* SPDX-License-Identifier: MIT */
#include "tests/proto_gearman/admin_gear.h"

#include <stdio.h>
#include <string.h>

#define HEARD_MAX ((size_t)8 << 20)
#define TURNS_MAX 10000

char admin_heard[HEARD_MAX];
static size_t heard_len;

int admin_setup_with(void **state, struct rig_options options)
{
    static char prefix[] = "T";
    struct gear_options settings = GEAR_DEFAULTS;

    settings.handle_prefix = prefix;
    heard_len = 0;
    admin_heard[0] = '\0';
    return gear_setup_with(state, options, settings);
}

int admin_setup(void **state)
{
    return admin_setup_with(state, (struct rig_options){0});
}

int admin_setup_crowd(void **state)
{
    return admin_setup_with(state, (struct rig_options){.unchecked = true});
}

const char *admin_text(const char *format, ...)
{
    static char line[640];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return line;
}

void admin_type(struct peer *peer, const char *line)
{
    peer_send(peer, slice_str(line));
}

void admin_ask(struct peer *peer, const char *line)
{
    heard_len = 0;
    admin_heard[0] = '\0';
    admin_type(peer, line);
}

size_t admin_collect(struct peer *peer)
{
    struct slice part = peer_hear(peer);

    assert_true(heard_len + part.len < sizeof admin_heard);
    memcpy(admin_heard + heard_len, part.ptr, part.len);
    heard_len += part.len;
    admin_heard[heard_len] = '\0';
    return part.len;
}

static bool list_is_over(void)
{
    return strcmp(admin_heard, ".\n") == 0 ||
           (heard_len >= 3 && strcmp(admin_heard + heard_len - 3, "\n.\n") == 0);
}

bool admin_step(struct gear *t, struct peer *peer)
{
    size_t before = peer_holds(peer) + heard_len;

    rig_feed(t->rig);
    (void)admin_collect(peer);
    assert_true(peer_holds(peer) + heard_len <= before + ADMIN_STEP_MAX);
    return !list_is_over();
}

void admin_finish(struct gear *t, struct peer *peer)
{
    for (int turns = 0; admin_step(t, peer); turns++) {
        assert_true(turns < TURNS_MAX);
    }
}

int admin_lines_like(const char *start)
{
    int count = strncmp(admin_heard, start, strlen(start)) == 0;

    for (const char *at = strchr(admin_heard, '\n'); at; at = strchr(at + 1, '\n')) {
        count += strncmp(at + 1, start, strlen(start)) == 0;
    }
    return count;
}

int admin_lines(void)
{
    int count = 0;

    for (const char *at = admin_heard; (at = strchr(at, '\n')) != NULL; at++) {
        count++;
    }
    return count;
}
