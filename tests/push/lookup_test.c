/* SPDX-License-Identifier: MIT */
// Names are looked up aside: the loop turns meanwhile, and does not wait for those that it gave up.
#include "tests/push/push_bed.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// In the place of the system's, for libcurl as well: slow.test takes two seconds to be found.
int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                struct addrinfo **found)
{
    struct timespec delay = {.tv_sec = strcmp(node, "slow.test") == 0 ? 2 : 0};
    struct addrinfo *info = calloc(1, sizeof *info + sizeof(struct sockaddr_in));
    struct sockaddr_in *address = (struct sockaddr_in *)(void *)(info + 1);

    (void)hints;
    (void)nanosleep(&delay, NULL);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address->sin_port = htons((uint16_t)strtoul(service ? service : "0", NULL, 10));
    *info = (struct addrinfo){.ai_family = AF_INET,
                              .ai_socktype = SOCK_STREAM,
                              .ai_addrlen = sizeof *address,
                              .ai_addr = (struct sockaddr *)(void *)address};
    *found = info;
    return 0;
}

void freeaddrinfo(struct addrinfo *info)
{
    free(info);
}

// The longest that a turn takes until that holds.
#define LONGEST_TURN_UNTIL(bed, condition, longest)                                                \
    do {                                                                                           \
        while (!(condition)) {                                                                     \
            nsec_t turn_at = bed_now(bed).mono;                                                    \
                                                                                                   \
            bed_turn(bed);                                                                         \
            turn_at = bed_now(bed).mono - turn_at;                                                 \
            (longest) = turn_at > (longest) ? turn_at : (longest);                                 \
        }                                                                                          \
    } while (0)

static void push_to(struct push_bed *bed, const char *host)
{
    (void)snprintf(bed->url, sizeof bed->url, "http://%s:%d/", host, bed->fake.port);
    fake_script(&bed->fake, FAKE_ANSWER("200 OK", "0", ""), false);
    bed_push(bed);
}

static void slow_lookup_holds_up_nobody(void **state)
{
    struct push_bed *bed = *state;
    nsec_t longest = 0;

    push_to(bed, "slow.test");
    (void)PUT(bed, .body = "x");
    LONGEST_TURN_UNTIL(bed, bed->fake.count == 1, longest);
    assert_true(longest < SECONDS(1));
}

static void lookup_that_takes_too_long_is_given_up_without_waiting_for_it(void **state)
{
    struct push_bed *bed = *state;
    nsec_t longest = 0;

    bed->settings.timeout_for = 200 * NSEC_PER_MSEC;
    push_to(bed, "slow.test");
    (void)PUT(bed, .body = "x");
    LONGEST_TURN_UNTIL(bed, bed_shown(bed, 0).outcomes[OUTCOME_UNREACHABLE] > 0, longest);
    assert_true(longest < SECONDS(1));
    assert_int_equal(bed_attempts(bed, 1), 0);
    // Nor does the end wait for it.
    longest = bed_now(bed).mono;
    push_free(bed->push);
    bed->push = NULL;
    assert_true(bed_now(bed).mono - longest < SECONDS(1));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(slow_lookup_holds_up_nobody),
        STORY(lookup_that_takes_too_long_is_given_up_without_waiting_for_it),
        STORY(name_of_a_private_address_is_not_connected_to),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
