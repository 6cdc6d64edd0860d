/* SPDX-License-Identifier: MIT */
#include "tests/proto_beanstalk/wire_bean.h"

#include "tests/proto_common/record_quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 4096

int bean_setup_with(void **state, struct rig_options options)
{
    struct bean *bean = calloc(1, sizeof *bean);

    assert_non_null(bean);
    bean->settings.max_job_size = 65535;
    bean->store_room = RECORD_QUOTA_PLENTY;
    options.frontend = &beanstalk_frontend;
    options.settings = &bean->settings;
    options.broker.recorder = &record_quota;
    options.broker.store = &bean->store_room;
    bean->rig = rig_new(&options);
    assert_non_null(bean->rig);
    bean->a = peer_new(bean->rig);
    bean->b = peer_new(bean->rig);
    bean->c = peer_new(bean->rig);
    assert_true(bean->a && bean->b && bean->c);
    *state = bean;
    return 0;
}

int bean_setup(void **state)
{
    return bean_setup_with(state, (struct rig_options){0});
}

int bean_teardown(void **state)
{
    struct bean *bean = *state;

    rig_free(bean->rig);
    free(bean);
    return 0;
}

// Escapes the bytes so that they are one readable line.
static void make_readable(struct slice bytes, char text[TEXT_MAX])
{
    size_t at = 0;

    for (size_t i = 0; i < bytes.len && at + 8 < TEXT_MAX; i++) {
        unsigned char c = (unsigned char)bytes.ptr[i];
        bool plain = c >= ' ' && c < 127;

        at += (size_t)snprintf(text + at, TEXT_MAX - at, plain ? "%c" : "\\x%02x", c);
    }
    text[at] = '\0';
}

void bean_hears(struct peer *peer, struct slice expected, const char *file, int line)
{
    struct slice heard = peer_hear(peer);
    char is[TEXT_MAX];
    char should[TEXT_MAX];

    if (!slice_equal(heard, expected)) {
        make_readable(heard, is);
        make_readable(expected, should);
        print_error("heard    %s\nexpected %s\n", is, should);
        _fail(file, line);
    }
}

void bean_says(struct peer *peer, struct slice said, struct slice heard, const char *file, int line)
{
    struct slice before = peer_hear(peer);

    if (before.len) {
        print_error("unexpected: %s\n", before.ptr);
        _fail(file, line);
    }
    peer_send(peer, said);
    rig_run(peer_rig(peer));
    bean_hears(peer, heard, file, line);
}

void bean_says_yaml(struct peer *peer, struct slice said, struct slice yaml, const char *file,
                    int line)
{
    char text[TEXT_MAX];
    int len = snprintf(text, sizeof text, "OK %zu\r\n%.*s\r\n", yaml.len, (int)yaml.len, yaml.ptr);

    assert_true(len > 0 && (size_t)len < sizeof text);
    bean_says(peer, said, slice_of(text, (size_t)len), file, line);
}

uint64_t bean_stat(struct peer *peer, const char *command, const char *key)
{
    struct slice yaml = peer_ask(peer, slice_str(command));
    char pattern[128];
    const char *at;

    assert_true(yaml.len > 3 && memcmp(yaml.ptr, "OK ", 3) == 0);
    (void)snprintf(pattern, sizeof pattern, "\n%s: ", key);
    at = strstr(yaml.ptr, pattern);
    assert_non_null(at);
    return strtoull(at + strlen(pattern), NULL, 10);
}
