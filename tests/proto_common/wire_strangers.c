/* SPDX-License-Identifier: MIT */
#include "tests/proto_common/wire_strangers.h"

#include "core/base/macros.h"

static unsigned noted;

void strangers_note(const struct wire *wire)
{
    ENSURE(wire->number > 0);
    noted++;
}

unsigned strangers_noted(void)
{
    return noted;
}
