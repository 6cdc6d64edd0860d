/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_SERVER_SANDBOX_H
#define TANDEM_TESTS_SERVER_SERVER_SANDBOX_H

// A directory for one test and the tandemd that it starts. The files, and the directory for a
// journal, are not there at first; they go with the directory.

#include "tests/server/server_process.h"

struct sandbox {
    struct process process;
    char dir[32];
    char config[64];
    char log[64];
    char socket[64];
    char pid[64];
    char journal[64];
    char tls[64]; // with certificates, once they are made
};

int sandbox_setup(void **state);
int sandbox_teardown(void **state);

// Removes the journal with its directory.
void sandbox_clear_journal(const struct sandbox *sandbox);

// Makes the directory for certificates, and in it what tests/support/certificates.py says:
// server.pem with server.key, ca.pem and others.
void sandbox_make_certificates(const struct sandbox *sandbox);

// Waits until the log file has the text in it.
void sandbox_expect_log(const struct sandbox *sandbox, const char *words);

#define SANDBOX_TEST(name) cmocka_unit_test_setup_teardown(name, sandbox_setup, sandbox_teardown)

// Any free port, whatever the test.
#define ANY_PORT "--set", "beanstalk.listen=127.0.0.1:0"

// Writes the configuration file.
void sandbox_configure(const struct sandbox *sandbox, const char *text);

#endif
