/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CTL_MIGRATE_LEFT_H
#define TANDEM_CTL_MIGRATE_LEFT_H

// Jobs of the source that cannot be moved, by id and reason. This run does not try them again, and
// lists them at its end.

#include "ctl/migrate/inside.h"

enum left_why {
    LEFT_LARGE,   // too large for the target
    LEFT_REFUSED, // the target refuses it
    LEFT_NAME     // its queue's name is not valid for a tube
};
#define LEFT_WHYS 3

struct left_job {
    uint64_t id;
    enum left_why why;
    enum kind kind;
};

// Does nothing if the job was noted before.
void left_note(struct migration *migration, uint64_t id, enum left_why why, enum kind kind);
bool left_has(const struct migration *migration, uint64_t id);
uint64_t left_count(const struct migration *migration, enum left_why why);
uint64_t left_count_kind(const struct migration *migration, enum kind kind);

void left_free(struct migration *migration);

#endif
