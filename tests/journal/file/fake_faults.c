/* SPDX-License-Identifier: MIT */
#include "tests/journal/file/fake_faults.h"

#include "core/base/macros.h"
#include "tests/journal/file/fake_file.h"

#include <errno.h>

void fake_faults_add(struct fake_faults *faults, const struct fake_fault *fault)
{
    ENSURE(faults->count < FAKE_FAULTS_MAX);
    faults->list[faults->count++] = *fault;
}

static struct fake_fate fate_of(struct fake_faults *faults, enum fake_op op,
                                const struct fake_fault *fault)
{
    static const struct fake_fate normal = {.done = true};
    bool writes = op == FAKE_WRITE;
    bool syncs = op == FAKE_SYNC || op == FAKE_SYNC_DIRECTORY;
    bool tells = op == FAKE_LIST || op == FAKE_OPEN || op == FAKE_SIZE || op == FAKE_READ;

    switch (fault->effect) {
    case FAKE_FAIL:
        return (struct fake_fate){.error = fault->error};
    case FAKE_SHORT:
        return (struct fake_fate){.done = true, .half = writes || op == FAKE_READ};
    case FAKE_LIE:
        return tells ? normal : (struct fake_fate){.done = false};
    case FAKE_TEAR:
        return (struct fake_fate){.done = true, .half = writes, .error = fault->error};
    case FAKE_HALT:
        faults->halted = true;
        return (struct fake_fate){.done = !syncs, .error = EIO};
    }
    UNREACHABLE();
}

// Whether one of that many calls fails, and in which of several ways.
static unsigned roll(struct fake_faults *faults, unsigned sides)
{
    return (unsigned)((fake_dice(&faults->dice) >> 32) % sides);
}

static struct fake_fate fate_in_storm(struct fake_faults *faults, enum fake_op op)
{
    static const enum fake_effect ways[] = {FAKE_FAIL, FAKE_TEAR, FAKE_SHORT};
    const struct fake_fault fault = {
        .effect = ways[roll(faults, op == FAKE_WRITE ? 3 : 2)],
        .error = roll(faults, 4) ? EIO : ENOSPC,
    };

    return fate_of(faults, op, &fault);
}

static bool storm_strikes(struct fake_faults *faults, enum fake_op op)
{
    return faults->one_in > 0 && op != FAKE_LOCK && op != FAKE_LIST && op != FAKE_SIZE &&
           op != FAKE_READ && roll(faults, faults->one_in) == 0;
}

struct fake_fate fake_faults_call(struct fake_faults *faults, enum fake_op op)
{
    struct fake_fate fate = {.done = true};
    bool met = false;

    if (faults->halted) {
        return (struct fake_fate){.error = EIO};
    }
    faults->calls[op]++;
    faults->calls[FAKE_ANY]++;
    for (int i = 0; i < faults->count; i++) {
        struct fake_fault *fault = &faults->list[i];

        if ((fault->op != op && fault->op != FAKE_ANY) || fault->nth == 0) {
            continue;
        }
        if (--fault->nth == 0) {
            fault->nth = fault->lasting;
            fate = met ? fate : fate_of(faults, op, fault);
            met = true;
        }
    }
    return !met && storm_strikes(faults, op) ? fate_in_storm(faults, op) : fate;
}
