/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_BEANSTALK_WIRE_BEAN_H
#define TANDEM_TESTS_PROTO_BEANSTALK_WIRE_BEAN_H

// Beanstalk conversations in memory: what a client says, and what it must hear, to the byte.

#include "core/broker.h"

#include "proto_beanstalk/beanstalk.h"

#include "tests/proto_common/wire_host.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

// What a test works with; *state of each test.
struct bean {
    struct rig *rig;
    struct bean_options settings; // may be changed at any time
    size_t store_room;            // how many more records the store has room for; plenty at first
    struct peer *a, *b, *c;       // connected from the start
};

// A test in a fresh world.
#define BEAN(test) cmocka_unit_test_setup_teardown(test, bean_setup, bean_teardown)
int bean_setup(void **state);
int bean_teardown(void **state);

// A world that differs: `setup` calls this with the options that it wants.
int bean_setup_with(void **state, struct rig_options options);

// The peer sends `said` and must hear exactly `heard`. Literals may contain NUL.
#define says(peer, said, heard)                                                                    \
    bean_says((peer), slice_of((said), sizeof(said) - 1), slice_of((heard), sizeof(heard) - 1),    \
              __FILE__, __LINE__)
// The same for text that is no literal.
#define says_text(peer, said, heard)                                                               \
    bean_says((peer), slice_of((said), strlen(said)), slice_of((heard), strlen(heard)), __FILE__,  \
              __LINE__)
// The answer must be this YAML, behind its size.
#define says_yaml(peer, said, yaml)                                                                \
    bean_says_yaml((peer), slice_of((said), sizeof(said) - 1), slice_of((yaml), sizeof(yaml) - 1), \
                   __FILE__, __LINE__)
// The peer must have heard exactly this by now.
#define hears(peer, heard)                                                                         \
    bean_hears((peer), slice_of((heard), sizeof(heard) - 1), __FILE__, __LINE__)

void bean_says(struct peer *peer, struct slice said, struct slice heard, const char *file,
               int line);
void bean_says_yaml(struct peer *peer, struct slice said, struct slice yaml, const char *file,
                    int line);
void bean_hears(struct peer *peer, struct slice heard, const char *file, int line);

// The value of a key in the YAML that answers the command; fails where there is none.
uint64_t bean_stat(struct peer *peer, const char *command, const char *key);

// Asserts one value.
#define stat_is(peer, command, key, value)                                                         \
    assert_int_equal(bean_stat((peer), (command), (key)), (value))

#endif
