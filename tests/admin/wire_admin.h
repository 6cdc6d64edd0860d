/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_ADMIN_WIRE_ADMIN_H
#define TANDEM_TESTS_ADMIN_WIRE_ADMIN_H

// The admin front-end in memory. Requests and replies are those
// of wire_http.h; documents are read with jansson. Beanstalk peers add the jobs.

#include "admin/admin.h"
#include "admin/request/admin_options.h"
#include "proto_beanstalk/beanstalk.h"

#include "tests/proto_common/wire_host.h"
#include "tests/proto_common/wire_introspect.h"
#include "tests/proto_http/wire_http.h"

#include <jansson.h>

// The fixture of a test; *state points to it.
struct admin {
    struct rig *rig;
    struct admin_options settings; // live ones may be changed at any time
    struct bean_options bean_settings;
    struct wire_introspect introspect; // the introspection of the process
    size_t store_room;  // number of further records that fit into the store; large at first
    struct peer *a, *b; // operators on this machine, connected from the start
    struct peer *w, *v; // beanstalk peers
};

// A test in a fresh world.
#define ADMIN(test) cmocka_unit_test_setup_teardown(test, admin_setup, admin_teardown)
int admin_setup(void **state);
int admin_teardown(void **state);

// For setups with other options or settings.
int admin_setup_with(void **state, struct rig_options options, struct admin_options settings);
#define ADMIN_DEFAULTS                                                                             \
    ((struct admin_options){.max_body = 1 << 20,                                                   \
                            .max_header_bytes = 16 << 10,                                          \
                            .header_timeout = 10,                                                  \
                            .body_timeout = 60,                                                    \
                            .idle_timeout = 75,                                                    \
                            .hosts = gear_no_prefix,                                               \
                            .max_series_queues = 1000,                                             \
                            .metrics_names = gear_no_prefix})

// The header that changes must have.
#define CHANGE "X-Tandem-Request: 1\r\n"

// Requests, valid until the 64th from now: GET of a target; POST, PUT or DELETE with that header
// and a document, or without one if it is empty.
#define SEES(target) http_get((target), "")
struct slice admin_change(const char *method, const char *target, const char *document);

// The peer sends `said` and receives one reply of that status with a document, to be freed
// with json_decref().
#define tells(peer, said, status) admin_tells((peer), (said), (status), __FILE__, __LINE__)
json_t *admin_tells(struct peer *peer, struct slice said, unsigned status, const char *file,
                    int line);

// The number at a path of members and indices of a document, such as `queues/0/jobs/ready`; fails
// if there is none. The same for a text, which is borrowed.
#define number_at(document, path) admin_number_at((document), (path), __FILE__, __LINE__)
double admin_number_at(const json_t *document, const char *path, const char *file, int line);
#define text_at(document, path) admin_text_at((document), (path), __FILE__, __LINE__)
const char *admin_text_at(const json_t *document, const char *path, const char *file, int line);

// The value at the path, or NULL.
json_t *admin_at(const json_t *document, const char *path);

#endif
