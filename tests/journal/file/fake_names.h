/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_FAKE_NAMES_H
#define TANDEM_TESTS_JOURNAL_FILE_FAKE_NAMES_H

// The directory of the fake disk (fake_disk.h): names of files, and what they were after each
// change since the directory was synced. The oldest of these states is safe, the youngest is that
// of now; a power cut leaves one of them. Files are numbers.

#include <stdbool.h>

enum { FAKE_NAMES_MAX = 256, FAKE_NAME_LEN = 31, FAKE_STATES_MAX = 64 };

struct fake_name {
    char text[FAKE_NAME_LEN + 1];
    int file;
};

struct fake_state {
    struct fake_name list[FAKE_NAMES_MAX];
    int count;
};

// All zero: no names.
struct fake_names {
    struct fake_state states[FAKE_STATES_MAX];
    int youngest;
};

void fake_names_copy(struct fake_names *to, const struct fake_names *from);

// The file of that name, -1 for none.
int fake_names_find(const struct fake_names *names, const char *text);
// The name of the file, NULL for none.
const char *fake_names_of(const struct fake_names *names, int file);
// Names of now; NULL beyond the last.
const char *fake_names_at(const struct fake_names *names, int place);

// The name leads to that file now, wherever it led before.
void fake_names_put(struct fake_names *names, const char *text, int file);
// Removes the name, which must exist.
void fake_names_remove(struct fake_names *names, const char *text);
// `from`, which is there, is called `to` now.
void fake_names_move(struct fake_names *names, const char *from, const char *to);

// That state, 0 to `youngest`, is the only one now, and safe.
void fake_names_settle(struct fake_names *names, int state);

#endif
