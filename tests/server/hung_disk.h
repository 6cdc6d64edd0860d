/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SERVER_HUNG_DISK_H
#define TANDEM_TESTS_SERVER_HUNG_DISK_H

// A tandemd whose journal, which has a job, cannot be opened as long as the disk does not answer:
// the first call that reads from it waits.

#include "tests/server/server_sandbox.h"

#define JOURNAL_SETTING_MAX 160

struct hung_disk {
    struct sandbox *sandbox;
    int sockets[2];
    pid_t answers; // the process that lets calls be carried out; 0: none does
};

// The setting by which the journal is in the sandbox.
const char *journal_setting(const struct sandbox *sandbox, char text[JOURNAL_SETTING_MAX]);

// Leaves a journal with a job, of number 1 and body "a".
void leave_journal(struct sandbox *sandbox);

// Does that, and starts tandemd with these arguments, a list that ends in NULL, beside its first
// port and the journal. It listens, and opens the journal.
void hung_disk_start(struct hung_disk *disk, struct sandbox *sandbox, const char *const *args);
#define HUNG_DISK_START(disk, sandbox, ...)                                                        \
    hung_disk_start(disk, sandbox, (const char *const[]){__VA_ARGS__, NULL})

// From now on the disk answers.
void hung_disk_answer(struct hung_disk *disk);

// Stops tandemd while the disk does not answer, without the patience that it has with a disk: it is
// told twice.
void hung_disk_stop(const struct hung_disk *disk);

// Tandemd has ended.
void hung_disk_close(struct hung_disk *disk);

#endif
