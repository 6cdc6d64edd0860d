/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PG_OUTLOOK_H
#define TANDEM_JOURNAL_PG_OUTLOOK_H

// How a journal in rows stands, as the worker thread last knew: set by it, looked at by others.

#include "core/base/nsec.h"
#include "journal/pg/rows.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum outlook_role {
    OUTLOOK_READS,   // it reads what there is
    OUTLOOK_FOLLOWS, // it has all there is, and another owns it, or nobody
    OUTLOOK_OWNS,    // the lease is ours, as far as is known
    OUTLOOK_LOST     // it was ours
};

// All of it, as it was at a moment.
struct outlook_shown {
    enum outlook_role role;
    struct rows_lease lease; // as it was read last
    nsec_t lease_at;         // when that was, by the boot-time clock; 0: never
    uint64_t seq;            // of the last row that this process has
    struct rows_member members[ROWS_MEMBERS_MAX];
    size_t count;
    struct rows_care care;
    bool connected; // the last call reached the database
    char why[ROWS_WHY_MAX];
};

struct outlook {
    pthread_mutex_t mutex;      /* private */
    struct outlook_shown shown; /* private */
};

void outlook_init(struct outlook *outlook);
void outlook_clear(struct outlook *outlook);

void outlook_set_role(struct outlook *outlook, enum outlook_role role);
void outlook_set_lease(struct outlook *outlook, const struct rows_lease *lease, nsec_t at);
void outlook_set_seq(struct outlook *outlook, uint64_t seq);
void outlook_set_members(struct outlook *outlook, const struct rows_member *members, size_t count);
void outlook_set_care(struct outlook *outlook, const struct rows_care *care);
// NULL: it can be reached.
void outlook_set_away(struct outlook *outlook, const char *why);

void outlook_look(struct outlook *outlook, struct outlook_shown *shown);
enum outlook_role outlook_role(struct outlook *outlook);

#endif
