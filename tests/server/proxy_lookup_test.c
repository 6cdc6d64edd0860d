/* SPDX-License-Identifier: MIT */
// Names of owners: they are looked up in the background, may be unknown, and may have several
// addresses.
#include "server/proxy/proxy.h"

#include "core/base/log.h"
#include "server/process/clock.h"
#include "tests/server/proxy_bed.h"
#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The resolver of this test: a question waits until it may be answered.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool may_answer;
static int answer_error;
static const char *answers[2]; // IPv4 addresses
static atomic_uint asked;      // for names
static atomic_uint answered;

static void set_may_answer(bool may)
{
    (void)pthread_mutex_lock(&lock);
    may_answer = may;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

static void set_answers(int error, const char *first, const char *second)
{
    (void)pthread_mutex_lock(&lock);
    answer_error = error;
    answers[0] = first;
    answers[1] = second;
    (void)pthread_mutex_unlock(&lock);
}

int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **found);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **found);

static int answer(struct addrinfo **found)
{
    const struct addrinfo numeric = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    int error = answer_error;

    *found = NULL;
    for (unsigned i = 2; i-- > 0 && error == 0;) {
        struct addrinfo *one = NULL;

        if (answers[i]) {
            error = __real_getaddrinfo(answers[i], NULL, &numeric, &one);
            one->ai_next = *found;
            *found = one;
        }
    }
    return error;
}

int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **found)
{
    int error;

    if (hints->ai_flags & AI_NUMERICHOST) {
        return __real_getaddrinfo(node, service, hints, found);
    }
    assert_string_equal(node, "owner.example");
    atomic_fetch_add(&asked, 1);
    (void)pthread_mutex_lock(&lock);
    while (!may_answer) {
        (void)pthread_cond_wait(&changed, &lock);
    }
    error = answer(found);
    (void)pthread_mutex_unlock(&lock);
    atomic_fetch_add(&answered, 1);
    return error;
}

struct fixture {
    struct proxy_bed bed;
    struct proxy *proxy;
    int owner; // listens
    char text[128];
    unsigned lookups_failed; // that were logged
};

static void fixture_log(void *context, enum log_level level, const char *event,
                        const struct log_field *fields, size_t count)
{
    struct fixture *fixture = context;

    (void)level;
    (void)fields;
    (void)count;
    fixture->lookups_failed += strcmp(event, "proxy_lookup_failed") == 0 ? 1 : 0;
}

static int fixture_setup(void **state)
{
    const struct proxy_limits limits = {.most = 100, .connect_for = PROXY_CONNECT_FOR};
    struct fixture *fixture = calloc(1, sizeof *fixture);
    uint16_t port;

    nth_alloc_fail(0);
    set_may_answer(true);
    set_answers(0, "127.0.0.1", NULL);
    atomic_store(&asked, 0);
    atomic_store(&answered, 0);
    proxy_bed_open(&fixture->bed);
    fixture->proxy = proxy_new(fixture->bed.base, &limits);
    fixture->owner = bed_listen(&port);
    (void)snprintf(fixture->text, sizeof fixture->text,
                   "http=owner.example:%u gearman=owner.example:1", port);
    log_set_sink(fixture_log, fixture, LOG_LEVEL_DEBUG);
    *state = fixture;
    return 0;
}

static int fixture_teardown(void **state)
{
    struct fixture *fixture = *state;

    proxy_free(fixture->proxy);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    (void)close(fixture->owner);
    proxy_bed_close(&fixture->bed);
    free(fixture);
    return 0;
}

static bool can_take(const struct fixture *fixture)
{
    return proxy_can_take(fixture->proxy, "http", false);
}

static void expect_passed(struct fixture *fixture)
{
    char text[64] = "";
    int fds[2];
    int fd = -1;

    bed_connect(fds);
    assert_true(bed_pass(fixture->proxy, fds[1], "127.0.0.1:1", "http", false));
    BED_UNTIL(&fixture->bed, (fd = bed_accept(fixture->owner)) >= 0);
    bed_send(fds[0], "hello");
    BED_UNTIL(&fixture->bed, bed_has_got(fd, text, "hello"));
    (void)close(fds[0]);
    (void)close(fd);
}

static void name_is_looked_up_while_the_base_goes_on(void **state)
{
    struct fixture *fixture = *state;

    set_may_answer(false);
    proxy_aim(fixture->proxy, fixture->text);
    BED_UNTIL(&fixture->bed, atomic_load(&asked) > 0);
    for (unsigned i = 0; i < 10; i++) {
        proxy_bed_turn(&fixture->bed);
        assert_false(can_take(fixture));
    }
    set_may_answer(true);
    BED_UNTIL(&fixture->bed, can_take(fixture));
    assert_true(proxy_can_take(fixture->proxy, "gearman", false));
    // Two places have the same host.
    assert_int_equal(atomic_load(&asked), 1);
    expect_passed(fixture);
}

static void name_that_is_not_found_is_looked_up_again(void **state)
{
    struct fixture *fixture = *state;

    set_answers(EAI_NONAME, NULL, NULL);
    proxy_aim(fixture->proxy, fixture->text);
    BED_UNTIL(&fixture->bed, atomic_load(&asked) > 1);
    assert_false(can_take(fixture));
    assert_int_equal(fixture->lookups_failed, 1);
    set_answers(0, "127.0.0.1", NULL);
    BED_UNTIL(&fixture->bed, can_take(fixture));
    expect_passed(fixture);
}

static void name_without_an_address_is_not_found(void **state)
{
    struct fixture *fixture = *state;

    set_answers(0, NULL, NULL);
    proxy_aim(fixture->proxy, fixture->text);
    BED_UNTIL(&fixture->bed, fixture->lookups_failed > 0);
    assert_false(can_take(fixture));
}

// No process listens at that port of the first one.
static void all_addresses_of_a_name_are_tried(void **state)
{
    struct fixture *fixture = *state;

    set_answers(0, "127.0.0.2", "127.0.0.1");
    proxy_aim(fixture->proxy, fixture->text);
    BED_UNTIL(&fixture->bed, can_take(fixture));
    expect_passed(fixture);
}

static void name_of_an_owner_that_was_not_reached_is_looked_up_again(void **state)
{
    struct fixture *fixture = *state;
    int fds[2];

    set_answers(0, "127.0.0.2", NULL);
    proxy_aim(fixture->proxy, fixture->text);
    BED_UNTIL(&fixture->bed, can_take(fixture));
    set_answers(0, "127.0.0.1", NULL);
    bed_connect(fds);
    (void)bed_pass(fixture->proxy, fds[1], "127.0.0.1:1", "http", false);
    BED_UNTIL(&fixture->bed, bed_has_ended(fds[0]));
    (void)close(fds[0]);
    BED_UNTIL(&fixture->bed, atomic_load(&answered) > 1 && can_take(fixture));
    // The answer may not have been handed over yet.
    for (unsigned i = 0; i < 100; i++) {
        proxy_bed_turn(&fixture->bed);
    }
    expect_passed(fixture);
}

// At the other port of that host no process listens, so its name is looked up.
static void known_address_is_used_while_the_name_is_not_found(void **state)
{
    struct fixture *fixture = *state;
    int fds[2];

    proxy_aim(fixture->proxy, fixture->text);
    BED_UNTIL(&fixture->bed, can_take(fixture));
    set_answers(EAI_AGAIN, NULL, NULL);
    bed_connect(fds);
    (void)bed_pass(fixture->proxy, fds[1], "127.0.0.1:1", "gearman", false);
    BED_UNTIL(&fixture->bed, fixture->lookups_failed > 0);
    (void)close(fds[0]);
    expect_passed(fixture);
}

static void unwanted_answer_is_dropped(void **state)
{
    struct fixture *fixture = *state;

    set_may_answer(false);
    proxy_aim(fixture->proxy, fixture->text);
    BED_UNTIL(&fixture->bed, atomic_load(&asked) > 0);
    proxy_aim(fixture->proxy, "");
    set_may_answer(true);
    BED_UNTIL(&fixture->bed, atomic_load(&answered) > 0);
    assert_false(can_take(fixture));
}

static void proxy_that_is_freed_does_not_wait_for_an_answer(void **state)
{
    struct fixture *fixture = *state;

    set_may_answer(false);
    proxy_aim(fixture->proxy, fixture->text);
    proxy_free(fixture->proxy);
    fixture->proxy = NULL;
    assert_int_equal(atomic_load(&answered), 0);
    set_may_answer(true);
    BED_UNTIL(&fixture->bed, atomic_load(&answered) > 0);
}

static void lookup_that_cannot_begin_is_made_later(void **state)
{
    struct fixture *fixture = *state;

    nth_alloc_fail(1);
    proxy_aim(fixture->proxy, fixture->text);
    nth_alloc_fail(0);
    assert_int_equal(fixture->lookups_failed, 1);
    BED_UNTIL(&fixture->bed, can_take(fixture));
    expect_passed(fixture);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(name_is_looked_up_while_the_base_goes_on),
        TEST(name_that_is_not_found_is_looked_up_again),
        TEST(name_without_an_address_is_not_found),
        TEST(all_addresses_of_a_name_are_tried),
        TEST(name_of_an_owner_that_was_not_reached_is_looked_up_again),
        TEST(known_address_is_used_while_the_name_is_not_found),
        TEST(unwanted_answer_is_dropped),
        TEST(proxy_that_is_freed_does_not_wait_for_an_answer),
        TEST(lookup_that_cannot_begin_is_made_later),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
