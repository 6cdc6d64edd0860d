/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_ACCESS_BED_H
#define TANDEM_TESTS_SERVER_ACCESS_BED_H

// A bed (server_bed.h) with rules in force, and what it has logged.

#include "tests/server/server_bed.h"

// Two tokens, and how rules begin that are theirs.
#define HORSE "horse-horse-horse-horse"
#define HASH_HORSE "09b290fcfe9ca2392daa808648238d98fa4424b124573646559868013ce35054"
#define TOKEN_HORSE "token:horse:" HASH_HORSE " "
#define STAPLE "staple-staple-staple"
#define HASH_STAPLE "88a20d6aa5c3b66dd76b0aedcc56b6906433eba6fd3e890b1c6fe4488ed039ac"
#define TOKEN_STAPLE "token:staple:" HASH_STAPLE " "

struct access_bed {
    struct bed bed;
    char
        log[16384]; // lines at debug and above, each ` event key=value ... ` and LF; the first ones
};

// For cmocka: the state is the struct access_bed, without rules.
int access_bed_setup(void **state);
int access_bed_teardown(void **state);

// From now on these rules are in force, which are printed first.
__attribute__((format(printf, 2, 3))) void access_bed_rule(struct access_bed *bed,
                                                           const char *format, ...);

// None are.
void access_bed_unrule(struct access_bed *bed);

// The client sends the line, and receives this one; both without LF.
void access_bed_ask(struct access_bed *bed, int client, const char *line, const char *answer);

// The log has a line with these words, or none has.
void access_bed_expect_log(const struct access_bed *bed, const char *words);
void access_bed_expect_no_log(const struct access_bed *bed, const char *words);

#endif
