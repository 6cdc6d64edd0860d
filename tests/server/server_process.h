/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_SERVER_PROCESS_H
#define TANDEM_TESTS_SERVER_SERVER_PROCESS_H

// A tandemd for a test: started with arguments, observed by its output, used over sockets. TANDEMD,
// if it is set, names the command that starts it. The test fails if an expected event does not
// happen within a generous time.

#include <sys/types.h>

struct process {
    pid_t pid;
    int output;       // its standard output and standard error
    char text[65536]; // its output so far, NUL-terminated
    size_t len;
};

// Starts tandemd with the arguments, a list that ends in NULL. Gearman, HTTP and the port of
// operators are off unless they say so.
void process_start(struct process *process, const char *const *args);
#define PROCESS_START(process, ...) process_start(process, (const char *const[]){__VA_ARGS__, NULL})

// The same, with `prepare` called in the new process before it becomes tandemd: changes to its
// environment, descriptors and rights apply to tandemd. It must not return on failure.
void process_start_prepared(struct process *process, void (*prepare)(void *context), void *context,
                            const char *const *args);
#define PROCESS_PREPARED(process, prepare, context, ...)                                           \
    process_start_prepared(process, prepare, context, (const char *const[]){__VA_ARGS__, NULL})

// Waits until it has printed the text at or after `*from` and moves `*from` behind it; NULL stands
// for the beginning.
void process_expect(struct process *process, const char *text, size_t *from);

// Waits for its n-th line that it listens (from 0); returns the address.
void process_address(struct process *process, unsigned n, char address[128]);

void process_signal(const struct process *process, int number);

// Waits for its end and for all that it prints; returns its exit code, or minus the signal.
int process_wait(struct process *process);

// It ends by itself with this code, and has printed the words.
void process_expect_exit(struct process *process, int code, const char *words);

// Stops it with SIGTERM; it ends with 0.
void process_stop(struct process *process);

// Connects to an address as it stands in the log; -1 with errno.
int client_try(const char *address);

// The same for its first listener; fails the test.
int client_connect(struct process *process);

void client_send(int client, const char *text);

// Receives exactly this text.
void client_expect(int client, const char *text);

// The connection ends, without a further byte; closes it.
void client_expect_end(int client);

#endif
