/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_BEANSTALKD_BINLOG_SCAN_H
#define TANDEM_TRANSFER_BEANSTALKD_BINLOG_SCAN_H

// The scan of a binlog: reads all files from the oldest record to the youngest, as beanstalkd does
// when it starts, and keeps an index of the jobs that exist. Where beanstalkd silently stops
// reading a file, because there seems to be no further record, the scan checks that there is none.
//
// beanstalkd makes files at their full size, filled with zeros, and begins a new one at each start,
// so any file may end in zeros. If beanstalkd was killed or the machine lost power, the last record
// before them may be incomplete (torn): its fields are zeros, or its body ends in zeros. Such a job
// was never acknowledged, and is left out. A change of a job may be torn as well: if it is zeros
// from a page boundary on, it looks like a deletion, and it is left out so that no job is lost. A
// record that other bytes follow in the same file is never torn.
//
// A file of zeros only is new, unless a later file has records: then records may have been lost.

#include "core/base/id_map.h"
#include "core/base/macros.h"
#include "core/base/slab.h"
#include "transfer/beanstalkd/binlog_dir.h"
#include "transfer/beanstalkd/binlog_record.h"
#include "transfer/source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

//
// The index
//

// Where the records of a job are.
struct binlog_job {
    uint64_t id;
    uint64_t order;   // rank of its first record among the first records of all jobs
    uint64_t mark;    // hash of its current fields
    uint64_t full_at; // start of its record with name and body
    uint64_t last_at; // start of the fields in its youngest record
    uint32_t full_file;
    uint32_t last_file;
    int32_t body_size;
    bool buried;
};

struct binlog_index {
    struct slab slab;           /* private */
    struct id_map jobs;         /* private */
    struct binlog_job **sorted; // after binlog_index_sort()
    size_t count;               // of `sorted`
    uint64_t orders;            /* private */
};

void binlog_index_init(struct binlog_index *index);
void binlog_index_clear(struct binlog_index *index);

// Sorts by id; buried jobs come last, in the order of their first records, because beanstalkd
// buries them in this order when it starts. The index must not change afterwards. False without
// memory.
bool binlog_index_sort(struct binlog_index *index) MUST_USE;

// A hash of all jobs and their fields, after the sort.
uint64_t binlog_index_hash(const struct binlog_index *index);

//
// The scan
//

struct binlog_scan {
    const struct binlog_dir *dir; // borrowed
    struct binlog_index *index;   // borrowed
    struct binlog_window window;  /* private */
    uint8_t *versions;            // format of each file, by its index; 0: unknown
    size_t file;                  /* private: index of the current file */
    uint64_t at;                  /* private: start of the next record */
    uint64_t passed;              // bytes read, of all files
    uint64_t size;                // of all files
    struct binlog_layout layout;  /* private */
    bool begun;                   /* private: the version of this file is known */
    bool gap_told;                /* private: the gap before this file is reported */
    bool ends;                    /* private: only zeros may follow; `end_at` is checked up to */
    uint64_t end_at;              /* private */
    bool doubted;                 /* private: the record at `at` is torn if only zeros follow */
    bool torn_change;             /* private: that record has no body */
    uint64_t torn_id;             /* private: its job */
    uint64_t torn_end;            /* private: its end */
    bool followed;                /* private: more than zeros follows the record at `at` */
    bool checked;                 /* private: the CRC of the record at `at` is correct */
    uint64_t summed;              /* private: number of its bytes in `crc` */
    uint32_t crc;                 /* private */
    uint32_t blanks;              /* private: files of zeros since the last file with records */
    uint32_t first_blank;         /* private: number of the first one */
    uint32_t last_number;         // of the youngest file with a record
    uint64_t last_end;            // end of its last record
};

// False without memory. Call binlog_scan_close() in any case.
bool binlog_scan_open(struct binlog_scan *scan, const struct binlog_dir *dir,
                      struct binlog_index *index) MUST_USE;
void binlog_scan_close(struct binlog_scan *scan);

// Scans a slice. MORE, DAMAGE, TORN, END or FAILED.
enum source_answer binlog_scan_continue(struct binlog_scan *scan,
                                        struct source_news *news) MUST_USE;

#endif
