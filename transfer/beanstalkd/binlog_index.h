/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_BEANSTALKD_BINLOG_INDEX_H
#define TANDEM_TRANSFER_BEANSTALKD_BINLOG_INDEX_H

// Which jobs of a binlog live, and where their records are.

#include "core/base/id_map.h"
#include "core/base/macros.h"
#include "core/base/slab.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct binlog_job {
    uint64_t id;
    uint64_t order;   // of its first record among those of other jobs
    uint64_t mark;    // a hash of the fields as they are now
    uint64_t full_at; // where its record with name and body begins
    uint64_t last_at; // where the fields of its youngest record begin
    uint32_t full_file;
    uint32_t last_file;
    int32_t body_size;
    bool buried;
};

struct binlog_index {
    struct slab slab;           /* private */
    struct id_map jobs;         /* private */
    struct binlog_job **sorted; // after binlog_index_sort()
    size_t count;               // of these
    uint64_t orders;            /* private */
};

void binlog_index_init(struct binlog_index *index);
void binlog_index_clear(struct binlog_index *index);

// NULL for none.
struct binlog_job *binlog_index_find(const struct binlog_index *index, uint64_t id);
// A job that is not there yet, all zero but for id and order; NULL without memory.
struct binlog_job *binlog_index_add(struct binlog_index *index, uint64_t id) MUST_USE;
void binlog_index_remove(struct binlog_index *index, struct binlog_job *job);

// All that are there in the order of their ids, the buried ones behind all others, in the order of
// their first records, in which beanstalkd buries them at a start. Nothing is added from then on.
// False without memory.
bool binlog_index_sort(struct binlog_index *index) MUST_USE;

// A hash of all jobs as they are; sorted.
uint64_t binlog_index_hash(const struct binlog_index *index);

#endif
