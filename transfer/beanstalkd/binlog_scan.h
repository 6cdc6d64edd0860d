/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_BEANSTALKD_BINLOG_SCAN_H
#define TANDEM_TRANSFER_BEANSTALKD_BINLOG_SCAN_H

// Goes through all files of a binlog from the oldest record to the youngest, as beanstalkd does at
// its start, and keeps the index. Where beanstalkd gives up a file without a word, because there
// seems to be no further record, this one looks whether there really is none.
//
// Files are made at their full size, all zero, and the next one is begun at each start, so any file
// may end in zeros. The record before them may be one that was being written when beanstalkd was
// killed, or the machine lost its power: fields of zeros, or a body that ends in them. Nobody has
// been told of that job. A change of a job may be torn as well: where it is in zeros from a page
// boundary on, it cannot be told from a deletion, and is left out, so that no job is lost. None of
// this holds where anything but zeros follows in that file.
//
// A file that is all zeros is as beanstalkd has made it, unless a later one has records: then its
// own may have been lost.

#include "transfer/beanstalkd/binlog_dir.h"
#include "transfer/beanstalkd/binlog_index.h"
#include "transfer/beanstalkd/binlog_record.h"
#include "transfer/source.h"

struct binlog_scan {
    const struct binlog_dir *dir;
    struct binlog_index *index;
    struct binlog_window window; /* private */
    uint8_t *versions;           // of the files' formats, by their place; 0: not known
    size_t file;                 /* private: that is read */
    uint64_t at;                 /* private: where the next record begins */
    uint64_t passed;             // bytes of all files so far
    uint64_t size;               // of all files
    struct binlog_layout layout; /* private */
    bool begun;                  /* private: the version of this file is known */
    bool gap_told;               /* private: that files before this one are missing */
    bool ends;                   /* private: nothing but zeros may follow */
    uint64_t end_at;             /* private: of the record behind which it ends */
    bool doubted;                /* private: if so, the record at `at` is torn */
    bool torn_change;            /* private: and is one without a body */
    uint64_t torn_id;            /* private: of its job */
    uint64_t torn_end;           /* private: where it ends */
    bool followed;               /* private: there is more behind the record at `at` */
    bool checked;                /* private: the CRC of the record at `at` is right */
    uint64_t summed;             /* private: bytes of it that are in `crc` */
    uint32_t crc;                /* private */
    uint32_t blanks;      /* private: files of zeros before this one, since one had records */
    uint32_t first_blank; /* private: the number of the first of them */
    uint32_t last_number; // of the youngest file that has a record
    uint64_t last_end;    // where its last one ends
};

// False without memory; to be closed in any case. The directory is borrowed.
bool binlog_scan_open(struct binlog_scan *scan, const struct binlog_dir *dir,
                      struct binlog_index *index) MUST_USE;
void binlog_scan_close(struct binlog_scan *scan);

// A slice. MORE, DAMAGE, TORN, END or FAILED.
enum source_answer binlog_scan_go_on(struct binlog_scan *scan, struct source_news *news) MUST_USE;

#endif
