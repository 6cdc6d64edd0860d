/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_REVIVE_H
#define TANDEM_TESTS_JOURNAL_FILE_REVIVE_H

// Replays the journal that is on the fake disk to a broker, and says how it went. The wall clock
// shows REVIVE_WALL.

#include "core/broker.h"
#include "journal/journal.h"
#include "tests/journal/file/fake_disk.h"

#include <stdbool.h>
#include <stdint.h>

#define REVIVE_WALL (1000 * NSEC_PER_SEC)

struct revived {
    struct journal_io io;
    struct broker *broker;
    struct journal *journal;
    bool good;
    bool damaged;
    uint64_t ids_end;
    struct error_text why; // if not good
    char log[4096];        // warnings: "event key=value ...; "
};

// If it is good, checks all of it: the broker, and the ledger of the journal.
void revive(struct revived *revived, struct fake_disk *disk, bool repair);
// The same in its steps.
void revive_begin(struct revived *revived, struct fake_disk *disk, bool repair);
void revive_read(struct revived *revived);
void revive_end(struct revived *revived);
void revived_free(struct revived *revived);

#endif
