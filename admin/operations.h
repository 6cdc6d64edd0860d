/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_ADMIN_OPERATIONS_H
#define TANDEM_ADMIN_OPERATIONS_H

// The operations that there are: those that run, which have a slice each in turn, and the latest
// that have ended. Who may see one: whoever may administer, and callers who may do the same as the
// one who began it.

#include "core/base/list.h"
#include "core/base/nsec.h"
#include "core/base/macros.h"

#include "admin/operation.h"
#include "admin/route.h"

#include <stdint.h>

// So many may run at a time; more are refused, 503. So many that have ended are kept, for so long.
#define OPERATIONS_RUNNING 16
#define OPERATIONS_ENDED 32
#define OPERATIONS_KEPT_FOR (3600 * NSEC_PER_SEC)

struct operations {
    struct list_node all;   // struct operation, the oldest first
    struct list_node *turn; // whose slice is next
    unsigned running, ended;
    uint64_t last_id;
    uint64_t last_change;
};

void operations_begin(struct operations *operations);
// All end as they are, and are forgotten.
void operations_end(struct operations *operations);

// When a slice of them is due, monotonic, and some slices.
nsec_t operations_due(const struct operations *operations);
void operations_work(struct operations *operations);

// The first one of that id or a higher one that the session's caller may see, and that has got on
// since `last_change` was `changed`; NULL: none.
const struct operation *operations_next(const struct operations *operations,
                                        const struct session *session, uint64_t id,
                                        uint64_t changed);

extern const struct admin_route operation_routes[];

#endif
