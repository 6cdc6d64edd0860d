/* SPDX-License-Identifier: MIT */
#include "tests/admin/wire_admin.h"

#include "core/statistics.h"

#include "tests/proto_common/record_quota.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MAX 64
#define REQUESTS 64
#define HEAD_MAX 200

int admin_setup_with(void **state, struct rig_options options, struct admin_options settings)
{
    struct admin *admin = calloc(1, sizeof *admin);

    assert_non_null(admin);
    admin->settings = settings;
    admin->bean_settings.max_job_size = 65535;
    admin->store_room = RECORD_QUOTA_PLENTY;
    wire_introspect_init(&admin->introspect);
    options.frontend = &admin_frontend;
    options.settings = &admin->settings;
    options.other = &beanstalk_frontend;
    options.other_settings = &admin->bean_settings;
    options.introspect = &admin->introspect.introspect;
    options.broker.recorder = &record_quota;
    options.broker.store = &admin->store_room;
    admin->rig = rig_new(&options);
    assert_non_null(admin->rig);
    admin->introspect.broker = rig_broker(admin->rig);
    broker_observe(admin->introspect.broker, true);
    admin->a = peer_new(admin->rig);
    admin->b = peer_new(admin->rig);
    admin->w = peer_new_other(admin->rig);
    admin->v = peer_new_other(admin->rig);
    assert_true(admin->a && admin->b && admin->w && admin->v);
    *state = admin;
    return 0;
}

int admin_setup(void **state)
{
    return admin_setup_with(state, (struct rig_options){0}, ADMIN_DEFAULTS);
}

int admin_teardown(void **state)
{
    struct admin *admin = *state;

    rig_free(admin->rig);
    free(admin);
    return 0;
}

struct slice admin_change(const char *method, const char *target, const char *document)
{
    static char *kept[REQUESTS];
    static size_t next;
    char **place = &kept[next++ % REQUESTS];
    size_t size = strlen(method) + strlen(target) + strlen(document) + HEAD_MAX;
    int len;

    free(*place);
    *place = malloc(size);
    assert_non_null(*place);
    len = snprintf(*place, size,
                   "%s %s HTTP/1.1\r\nHost: localhost\r\n" CHANGE "Content-Length: %zu\r\n\r\n%s",
                   method, target, strlen(document), document);
    assert_true(len > 0 && (size_t)len < size);
    return slice_of(*place, (size_t)len);
}

json_t *admin_tells(struct peer *peer, struct slice said, unsigned status, const char *file,
                    int line)
{
    const struct http_answer *answer = http_asks(peer, said, status, file, line);
    json_error_t error;
    json_t *document = json_loadb(answer->body.ptr, answer->body.len, 0, &error);

    if (!document) {
        _fail(file, line);
    }
    return document;
}

json_t *admin_at(const json_t *document, const char *path)
{
    char step[STEP_MAX];

    while (document && *path) {
        size_t len = strcspn(path, "/");

        assert_true(len < sizeof step);
        memcpy(step, path, len);
        step[len] = '\0';
        document = json_is_array(document) ? json_array_get(document, strtoul(step, NULL, 10))
                                           : json_object_get(document, step);
        path += len + (path[len] == '/');
    }
    return (json_t *)(uintptr_t)document;
}

static json_t *found_at(const json_t *document, const char *path, const char *file, int line)
{
    json_t *found = admin_at(document, path);

    if (!found) {
        print_error("there is no %s\n", path);
        _fail(file, line);
    }
    return found;
}

double admin_number_at(const json_t *document, const char *path, const char *file, int line)
{
    json_t *found = found_at(document, path, file, line);

    if (!json_is_number(found)) {
        print_error("%s is not a number\n", path);
        _fail(file, line);
    }
    return json_number_value(found);
}

const char *admin_text_at(const json_t *document, const char *path, const char *file, int line)
{
    json_t *found = found_at(document, path, file, line);

    if (!json_is_string(found)) {
        print_error("%s is not a string\n", path);
        _fail(file, line);
    }
    return json_string_value(found);
}
