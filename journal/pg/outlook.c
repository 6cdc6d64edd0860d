/* SPDX-License-Identifier: MIT */
#include "journal/pg/outlook.h"

#include <stdio.h>
#include <string.h>

static struct outlook_shown *begin(struct outlook *outlook)
{
    (void)pthread_mutex_lock(&outlook->mutex);
    return &outlook->shown;
}

static void end(struct outlook *outlook)
{
    (void)pthread_mutex_unlock(&outlook->mutex);
}

void outlook_init(struct outlook *outlook)
{
    memset(&outlook->shown, 0, sizeof outlook->shown);
    (void)pthread_mutex_init(&outlook->mutex, NULL);
}

void outlook_clear(struct outlook *outlook)
{
    (void)pthread_mutex_destroy(&outlook->mutex);
}

void outlook_set_role(struct outlook *outlook, enum outlook_role role)
{
    begin(outlook)->role = role;
    end(outlook);
}

void outlook_set_lease(struct outlook *outlook, const struct rows_lease *lease, nsec_t at)
{
    struct outlook_shown *shown = begin(outlook);

    shown->lease = *lease;
    shown->lease_at = at;
    end(outlook);
}

void outlook_set_seq(struct outlook *outlook, uint64_t seq)
{
    begin(outlook)->seq = seq;
    end(outlook);
}

void outlook_set_members(struct outlook *outlook, const struct rows_member *members, size_t count)
{
    struct outlook_shown *shown = begin(outlook);

    memcpy(shown->members, members, count * sizeof *members);
    shown->count = count;
    end(outlook);
}

void outlook_set_care(struct outlook *outlook, const struct rows_care *care)
{
    begin(outlook)->care = *care;
    end(outlook);
}

void outlook_set_away(struct outlook *outlook, const char *why)
{
    struct outlook_shown *shown = begin(outlook);

    shown->connected = why == NULL;
    (void)snprintf(shown->why, sizeof shown->why, "%s", why ? why : "");
    end(outlook);
}

void outlook_look(struct outlook *outlook, struct outlook_shown *shown)
{
    *shown = *begin(outlook);
    end(outlook);
}

enum outlook_role outlook_role(struct outlook *outlook)
{
    enum outlook_role role = begin(outlook)->role;

    end(outlook);
    return role;
}
