/* SPDX-License-Identifier: MIT */

// The lists of an administrator: the fields of a line, and names that must not break a line.

#include "tests/proto_gearman/admin_gear.h"

//
// The fields of a line
//

static void status_counts_jobs_and_workers(void **state)
{
    struct gear *t = *state;

    gear_says(t->a,
              MANY(REQ(SUBMIT_JOB_BG, "f", "", ""), REQ(SUBMIT_JOB_HIGH, "f", "", ""),
                   REQ(SUBMIT_JOB_LOW_BG, "f", "", ""), REQ(SUBMIT_JOB_LOW_BG, "f", "", ""),
                   REQ(SUBMIT_JOB_BG, "g", "", "")),
              MANY(RES(JOB_CREATED, "T:1"), RES(JOB_CREATED, "T:2"), RES(JOB_CREATED, "T:3"),
                   RES(JOB_CREATED, "T:4"), RES(JOB_CREATED, "T:5")));
    types(t->c, "prioritystatus", "f\t1\t1\t2\t0\ng\t0\t1\t0\t0\n.\n");
    gear_says(t->b, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, "T:2", "f", ""));
    gear_says(t->c, MANY(REQ(CAN_DO, "f"), REQ(CAN_DO, "h")), NOTHING);
    types(t->c, "status", "f\t4\t1\t2\ng\t1\t0\t0\nh\t0\t0\t1\n.\n");
    types(t->c, "prioritystatus", "f\t0\t1\t2\t2\ng\t0\t1\t0\t0\nh\t0\t0\t0\t1\n.\n");
}

static void lists_show_objects_of_other_protocols(void **state)
{
    struct gear *t = *state;
    struct peer *producer = peer_new_other(t->rig);

    gear_says(producer, SLICE("use f\r\nput 5 0 9 0\r\n\r\n"), SLICE("USING f\r\nINSERTED 1\r\n"));
    types(t->a, "status", "default\t0\t0\t1\nf\t1\t0\t0\n.\n");
    types(t->a, "prioritystatus", "default\t0\t0\t0\t1\nf\t1\t0\t0\t0\n.\n");
    types(t->a, "show jobs", "T:1\t0\t0\t1\n.\n");
    types(t->a, "show unique jobs", "\n.\n");
    types(t->a, "workers", "3 127.0.0.1 - :\n2 127.0.0.1 - :\n1 127.0.0.1 - :\n.\n");
}

static void workers_lists_all_connections_newest_first(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(REQ(SET_CLIENT_ID, "al"), REQ(CAN_DO, "z"), REQ(CAN_DO, "y")), NOTHING);
    gear_says(t->c, MANY(REQ(CAN_DO, "x"), REQ(SET_CLIENT_ID, "")), NOTHING);
    types(t->b, "workers", "3 127.0.0.1 - : x\n2 127.0.0.1 - :\n1 127.0.0.1 al : y z\n.\n");
    peer_free(t->c);
    gear_says(t->a, MANY(REQ(CANT_DO, "z"), REQ(CAN_DO, "z"), REQ(CAN_DO, "y")), NOTHING);
    types(t->b, "workers", "2 127.0.0.1 - :\n1 127.0.0.1 al : z y\n.\n");
}

static void show_jobs_shows_attempts_and_durability(void **state)
{
    struct gear *t = *state;
    struct peer *worker = peer_new(t->rig);

    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", ""), RES(JOB_CREATED, "T:1"));
    types(t->b, "show jobs", "T:1\t0\t0\t1\n.\n");
    gear_says(worker, MANY(REQ(CAN_DO, "f"), REQ(GRAB_JOB)), RES(JOB_ASSIGN, "T:1", "f", ""));
    types(t->b, "show jobs", "T:1\t0\t0\t1\n.\n");
    peer_free(worker);
    types(t->b, "show jobs", "T:1\t1\t0\t1\n.\n");
    types(t->b, "cancel job T:1", DONE);
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "", ""), RES(JOB_CREATED, "T:2"));
    types(t->b, "show jobs", "T:2\t0\t0\t0\n.\n");
    types(t->b, "cancel job T:2", DONE);
    types(t->b, "show jobs", ".\n");
}

static void show_unique_jobs_shows_the_uniques_of_clients(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "", "x"), RES(JOB_CREATED, "T:1"));
    types(t->b, "show unique jobs", "\n.\n");
    types(t->b, "cancel job T:1", DONE);
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "f", "-", "x"), RES(JOB_CREATED, "T:2"));
    types(t->b, "show unique jobs", "-\n.\n");
    types(t->b, "cancel job T:2", DONE);
    gear_says(t->a, REQ(SUBMIT_JOB, "f", "u", "x"), RES(JOB_CREATED, "T:3"));
    types(t->b, "show unique jobs", "u\n.\n");
}

//
// Names
//

static void names_cannot_break_a_list(void **state)
{
    struct gear *t = *state;

    gear_says(t->a,
              MANY(REQ(CAN_DO, "a b"), REQ(CAN_DO, "c\nd\t\033"), REQ(SET_CLIENT_ID, "i d\n\177")),
              NOTHING);
    types(t->b, "status", "a b\t0\t0\t1\nc%0Ad%09%1B\t0\t0\t1\n.\n");
    types(t->b, "prioritystatus", "a b\t0\t0\t0\t1\nc%0Ad%09%1B\t0\t0\t0\t1\n.\n");
    types(t->b, "workers",
          "3 127.0.0.1 - :\n2 127.0.0.1 - :\n"
          "1 127.0.0.1 i%20d%0A%7F : c%0Ad%09%1B a%20b\n.\n");
}

static void a_percent_sign_is_escaped_if_it_would_look_like_an_escape(void **state)
{
    struct gear *t = *state;

    gear_says(t->a,
              MANY(REQ(CAN_DO, "100%"), REQ(CAN_DO, "%0a"), REQ(CAN_DO, "%0g%"),
                   REQ(CAN_DO, "%%41"), REQ(CAN_DO, "%4\n"), REQ(CAN_DO, "\xc3\xa9")),
              NOTHING);
    types(t->b, "status",
          "100%\t0\t0\t1\n%250a\t0\t0\t1\n%0g%\t0\t0\t1\n%%2541\t0\t0\t1\n%4%0A\t0\t0\t1\n"
          "\xc3\xa9\t0\t0\t1\n.\n");
}

static void uniques_cannot_break_a_list(void **state)
{
    struct gear *t = *state;

    gear_says(t->a, MANY(REQ(SUBMIT_JOB_BG, "f", ".", ""), REQ(SUBMIT_JOB_BG, "g", "a b\n", "")),
              MANY(RES(JOB_CREATED, "T:1"), RES(JOB_CREATED, "T:2")));
    types(t->c, "cancel job T:2", DONE);
    types(t->b, "show unique jobs", "%2E\n.\n");
    gear_says(t->a, REQ(SUBMIT_JOB_BG, "g", "a b\n", ""), RES(JOB_CREATED, "T:3"));
    types(t->c, "cancel job T:1", DONE);
    types(t->b, "show unique jobs", "a b%0A\n.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(status_counts_jobs_and_workers),
        ADMIN(lists_show_objects_of_other_protocols),
        ADMIN(workers_lists_all_connections_newest_first),
        ADMIN(show_jobs_shows_attempts_and_durability),
        ADMIN(show_unique_jobs_shows_the_uniques_of_clients),
        ADMIN(names_cannot_break_a_list),
        ADMIN(a_percent_sign_is_escaped_if_it_would_look_like_an_escape),
        ADMIN(uniques_cannot_break_a_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
