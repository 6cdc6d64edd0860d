/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_PROTO_BEANSTALK_WIRE_BEAN_H
#define TANDEM_TESTS_PROTO_BEANSTALK_WIRE_BEAN_H

// Beanstalk sessions in memory: the bytes that a client sends, and exactly the bytes that it must
// receive.

#include "core/broker.h"

#include "proto_beanstalk/beanstalk.h"

#include "tests/proto_common/wire_host.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>

// The state of each test.
struct bean {
    struct rig *rig;
    struct bean_options settings; // a test may change them at any time
    size_t store_room;      // the number of records that the store has room for; enough at first
    struct peer *a, *b, *c; // connected from the start
};

// A test with a new broker.
#define BEAN(test) cmocka_unit_test_setup_teardown(test, bean_setup, bean_teardown)
int bean_setup(void **state);
int bean_teardown(void **state);

// A test with other options: its `setup` calls this with them.
int bean_setup_with(void **state, struct rig_options options);

// The peer sends `said` and must receive exactly `heard`. Literals may contain NUL.
#define says(peer, said, heard)                                                                    \
    bean_says((peer), slice_of((said), sizeof(said) - 1), slice_of((heard), sizeof(heard) - 1),    \
              __FILE__, __LINE__)
// The same for texts that are not literals.
#define says_text(peer, said, heard)                                                               \
    bean_says((peer), slice_of((said), strlen(said)), slice_of((heard), strlen(heard)), __FILE__,  \
              __LINE__)
// The reply must be this YAML, after its size.
#define says_yaml(peer, said, yaml)                                                                \
    bean_says_yaml((peer), slice_of((said), sizeof(said) - 1), slice_of((yaml), sizeof(yaml) - 1), \
                   __FILE__, __LINE__)
// The peer must have received exactly this.
#define hears(peer, heard)                                                                         \
    bean_hears((peer), slice_of((heard), sizeof(heard) - 1), __FILE__, __LINE__)

void bean_says(struct peer *peer, struct slice said, struct slice heard, const char *file,
               int line);
void bean_says_yaml(struct peer *peer, struct slice said, struct slice yaml, const char *file,
                    int line);
void bean_hears(struct peer *peer, struct slice heard, const char *file, int line);

// The value of a key in the YAML reply to the command; fails if there is none.
uint64_t bean_stat(struct peer *peer, const char *command, const char *key);

// Asserts one value.
#define stat_is(peer, command, key, value)                                                         \
    assert_int_equal(bean_stat((peer), (command), (key)), (value))

#endif
