/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_BEANSTALKD_BINLOG_RECORD_H
#define TANDEM_TRANSFER_BEANSTALKD_BINLOG_RECORD_H

// A record of beanstalkd's binlog. A file begins with the version of its format, 32 bits: 5
// (program versions 1.4.6 to 1.4.x), 7 (up to 1.13) or 8 (a fork of it). Records follow: the length
// of the tube's name, the name, the fields of the job, its body with the CR LF at its end. A length
// of 0 means a short record: neither name nor body, but what has changed in a job that stands
// before it. Numbers are as the machine has them. In version 5 the length has 64 bits, fields 77
// bytes, times are in microseconds; in version 7 it is 32 bits, 80 bytes, nanoseconds. Version 8 is
// version 7 with a CRC-32C (Castagnoli) of the whole record behind it, 32 bits, the lowest byte
// first. All times are by the wall clock.

#include "core/base/nsec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BINLOG_VERSION_SIZE 4
#define BINLOG_NAME_MAX 200
// The most that stands before a body.
#define BINLOG_HEAD_MAX (8 + BINLOG_NAME_MAX + 80)
// Behind each body.
#define BINLOG_BODY_END 2
#define BINLOG_CRC_SIZE 4
// Where the state stands among the fields: the last one but for padding.
#define BINLOG_STATE_AT 76

struct binlog_layout {
    size_t length_size; // of the length of the name
    size_t fields_size;
    int64_t unit;    // of times, in nanoseconds
    size_t crc_size; // behind each record: 0 or BINLOG_CRC_SIZE
};

enum binlog_state { BINLOG_DELETED, BINLOG_READY, BINLOG_RESERVED, BINLOG_BURIED, BINLOG_DELAYED };

struct binlog_fields {
    uint64_t id; // 0: nothing was written here
    uint32_t pri;
    int32_t body_size;  // with BINLOG_BODY_END
    nsec_t delay_for;   // never negative, as are those below
    nsec_t ttr_for;     //
    nsec_t created_at;  //
    nsec_t deadline_at; // DELAYED: when it becomes ready
    uint32_t reserves, timeouts, releases, buries, kicks;
    uint8_t state; // enum binlog_state, or something else
};

// False: no such version is known.
bool binlog_layout_find(uint32_t version, struct binlog_layout *layout);
// Whether it may be the version of a format, of a machine of either byte order, and not a number
// that damage has made.
bool binlog_version_is_credible(uint32_t version);

// The CRC of bytes that stand behind others with the CRC `crc`; 0 for the first ones.
uint32_t binlog_crc(uint32_t crc, const char *bytes, size_t len);
// The one behind a record.
uint32_t binlog_crc_read(const char from[BINLOG_CRC_SIZE]);

// The length of the name, from `length_size` bytes.
uint64_t binlog_name_length(const struct binlog_layout *layout, const char *from);

// From `fields_size` bytes.
void binlog_fields_read(const struct binlog_layout *layout, const char *from,
                        struct binlog_fields *fields);

// Whether beanstalkd would take it for the name of a tube.
bool binlog_name_is_good(const char *name, size_t len);

#endif
