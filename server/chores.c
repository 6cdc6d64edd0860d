/* SPDX-License-Identifier: MIT */
#include "server/chores.h"

#include "server/turn.h"

void chores_add(struct turn *turn, struct chore *chore)
{
    chore->next = turn->chores;
    turn->chores = chore;
}

void chores_remove(struct turn *turn, const struct chore *chore)
{
    for (struct chore **link = &turn->chores; *link; link = &(*link)->next) {
        if (*link == chore) {
            *link = chore->next;
            return;
        }
    }
}

// The turn in which the store has caught up has those again that it keeps waiting.
static nsec_t due_of(const struct turn *turn, const struct chore *chore)
{
    bool waits = turn->pressure > chore->most || (turn->fenced && !chore->for_operators);

    return waits ? NSEC_NEVER : chore->due(chore->context);
}

nsec_t chores_due(const struct turn *turn)
{
    nsec_t due_at = NSEC_NEVER;

    for (const struct chore *chore = turn->chores; chore; chore = chore->next) {
        nsec_t at = due_of(turn, chore);

        due_at = at < due_at ? at : due_at;
    }
    return due_at;
}

void chores_work(const struct turn *turn)
{
    nsec_t now_at = broker_now(turn->broker).mono;

    for (const struct chore *chore = turn->chores; chore; chore = chore->next) {
        if (due_of(turn, chore) <= now_at) {
            chore->work(chore->context);
        }
    }
}
