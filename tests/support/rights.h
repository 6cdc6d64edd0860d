/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_SUPPORT_RIGHTS_H
#define TANDEM_TESTS_SUPPORT_RIGHTS_H

#include "core/grants.h"

// All rights that the grants give on the queue of that name.
static inline unsigned rights_on(const struct grants *grants, struct slice name)
{
    unsigned rights = 0;
    size_t looked;

    for (unsigned right = MAY_SUBMIT; right <= MAY_ADMINISTER; right <<= 1) {
        rights |= grants_have(grants, (enum right)right, name, &looked) ? right : 0;
    }
    return rights;
}

#endif
