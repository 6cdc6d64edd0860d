/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_SERVER_DEN_H
#define TANDEM_TESTS_SERVER_SERVER_DEN_H

// A directory for one test and the tandemd that it starts. The files, and the directory for a
// journal, are not there at first; they go with the directory.

#include "tests/server/server_process.h"

struct den {
    struct process process;
    char dir[32];
    char config[64];
    char log[64];
    char socket[64];
    char pid[64];
    char journal[64];
};

int den_setup(void **state);
int den_teardown(void **state);

// Removes the journal with its directory.
void den_clear_journal(const struct den *den);

// Waits until the log file has the text in it.
void den_expect_log(const struct den *den, const char *words);

#define DEN_TEST(name) cmocka_unit_test_setup_teardown(name, den_setup, den_teardown)

// Any free port, whatever the test.
#define ANY_PORT "--set", "beanstalk.listen=127.0.0.1:0"

#endif
