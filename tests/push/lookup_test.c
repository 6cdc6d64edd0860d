/* SPDX-License-Identifier: MIT */
// Names are looked up by other threads: the loop continues, and does not wait for lookups that it
// gave up.
#include "tests/push/push_bed.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE_SECONDS 60 // only a test that waits for the lookup takes this long

// The name slow.test resolves when the test allows it.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool may_be_found;
static atomic_bool was_asked;
static atomic_bool was_waited_for; // the test could not allow it, because it was blocked

static void set_may_be_found(bool may)
{
    (void)pthread_mutex_lock(&lock);
    may_be_found = may;
    (void)pthread_cond_broadcast(&changed);
    (void)pthread_mutex_unlock(&lock);
}

static void wait_to_be_found(void)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_SECONDS;
    atomic_store(&was_asked, true);
    (void)pthread_mutex_lock(&lock);
    while (!may_be_found && !atomic_load(&was_waited_for)) {
        if (pthread_cond_timedwait(&changed, &lock, &until) != 0) {
            atomic_store(&was_waited_for, true);
        }
    }
    (void)pthread_mutex_unlock(&lock);
}

// Replaces push's function: 127.0.0.1, the address of the endpoint, counts as public.
static bool loopback_is_public;

bool __wrap_address_is_special(const struct sockaddr *address);
bool __real_address_is_special(const struct sockaddr *address);
bool __wrap_address_is_special(const struct sockaddr *address)
{
    const struct sockaddr_in *v4 = (const void *)address;

    return !(loopback_is_public && v4->sin_addr.s_addr == htonl(INADDR_LOOPBACK)) &&
           __real_address_is_special(address);
}

static void set_address(struct addrinfo *info, struct sockaddr_in *address, uint32_t ip,
                        const char *service)
{
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(ip);
    address->sin_port = htons((uint16_t)strtoul(service ? service : "0", NULL, 10));
    *info = (struct addrinfo){.ai_family = AF_INET,
                              .ai_socktype = SOCK_STREAM,
                              .ai_addrlen = sizeof *address,
                              .ai_addr = (struct sockaddr *)(void *)address};
}

// Replaces the system's function, also for libcurl. The first address of both.test is private.
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **found)
{
    struct {
        struct addrinfo info[2];
        struct sockaddr_in address[2];
    } *all = calloc(1, sizeof *all);
    bool both = strcmp(node, "both.test") == 0;

    (void)hints;
    if (strcmp(node, "slow.test") == 0) {
        wait_to_be_found();
    }
    set_address(&all->info[0], &all->address[0], INADDR_LOOPBACK + both, service);
    if (both) {
        set_address(&all->info[1], &all->address[1], INADDR_LOOPBACK, service);
        all->info[0].ai_next = &all->info[1];
    }
    *found = all->info;
    return 0;
}

void freeaddrinfo(struct addrinfo *info)
{
    free(info);
}

static void push_to(struct push_bed *bed, const char *host)
{
    (void)snprintf(bed->url, sizeof bed->url, "http://%s:%d/", host, bed->fake.port);
    fake_script(&bed->fake, FAKE_ANSWER("200 OK", "0", ""), false);
    bed_push(bed);
}

static void push_to_slow(struct push_bed *bed)
{
    set_may_be_found(false);
    atomic_store(&was_asked, false);
    atomic_store(&was_waited_for, false);
    push_to(bed, "slow.test");
    (void)PUT(bed, .body = "x");
}

static void slow_lookup_does_not_hold_up_the_loop(void **state)
{
    struct push_bed *bed = *state;

    push_to_slow(bed);
    UNTIL(bed, atomic_load(&was_asked));
    bed_rest(bed);
    assert_false(atomic_load(&was_waited_for));
    assert_int_equal(bed->fake.count, 0);
    set_may_be_found(true);
    UNTIL(bed, bed->fake.count == 1);
}

static void lookup_that_takes_too_long_is_given_up_without_waiting(void **state)
{
    struct push_bed *bed = *state;

    bed->settings.timeout_for = 200 * NSEC_PER_MSEC;
    push_to_slow(bed);
    UNTIL(bed, bed_shown(bed, 0).outcomes[OUTCOME_UNREACHABLE] > 0);
    assert_int_equal(bed_attempts(bed, 1), 0);
    // Closing does not wait for it either.
    push_free(bed->push);
    bed->push = NULL;
    assert_false(atomic_load(&was_waited_for));
    set_may_be_found(true);
}

static void name_of_a_private_address_is_not_connected_to(void **state)
{
    struct push_bed *bed = *state;

    bed->settings.may_be_private = false;
    push_to(bed, "public.test");
    (void)PUT(bed, .body = "x");
    UNTIL(bed, bed_shown(bed, 0).outcomes[OUTCOME_UNREACHABLE] > 0);
    assert_int_equal(bed->fake.accepted, 0);
}

static void sent_request_costs_an_attempt_if_another_address_is_private(void **state)
{
    struct push_bed *bed = *state;

    loopback_is_public = true;
    bed->settings.may_be_private = false;
    bed->settings.timeout_for = 3 * NSEC_PER_SEC;
    (void)snprintf(bed->url, sizeof bed->url, "http://both.test:%d/", bed->fake.port);
    fake_script(&bed->fake, NULL, false);
    bed_push(bed);
    (void)PUT(bed, .watched = true);
    UNTIL(bed, *bed->told);
    assert_int_equal(bed->fake.accepted, 1);
    assert_int_equal(bed_shown(bed, 0).outcomes[OUTCOME_UNREACHABLE], 0);
    assert_int_equal(bed_shown(bed, 0).outcomes[OUTCOME_TIMED_OUT], 1);
    assert_int_equal(bed_state(bed, 1), JOB_BURIED);
    loopback_is_public = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(slow_lookup_does_not_hold_up_the_loop),
        STORY(lookup_that_takes_too_long_is_given_up_without_waiting),
        STORY(name_of_a_private_address_is_not_connected_to),
        STORY(sent_request_costs_an_attempt_if_another_address_is_private),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
