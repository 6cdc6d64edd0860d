/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_BEANSTALKD_BINLOG_RECORD_H
#define TANDEM_TRANSFER_BEANSTALKD_BINLOG_RECORD_H

// A record of beanstalkd's binlog. A file begins with its format version, 32 bits: 5 (program
// versions 1.4.6 to 1.4.x), 7 (up to 1.13) or 8 (a fork). Records follow, each with the length of
// the tube's name, the name, the fields of the job, and its body with a final CR LF. A length of 0
// means a short record, without name and body: the new fields of a job with an earlier record.
// Numbers have the byte order of the machine. In version 5, the length has 64 bits, the fields have
// 77 bytes, and times are in microseconds; in version 7, 32 bits, 80 bytes and nanoseconds. In
// version 8, a CRC-32C (Castagnoli) of the record follows it, 32 bits, the lowest byte first.
// All times are by the wall clock.

#include "core/base/nsec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BINLOG_VERSION_SIZE 4
#define BINLOG_NAME_MAX 200
// Maximum number of bytes before a body.
#define BINLOG_HEAD_MAX (8 + BINLOG_NAME_MAX + 80)
// Length of the CR LF after each body.
#define BINLOG_BODY_END 2
#define BINLOG_CRC_SIZE 4
// Offset of the state in the fields. Only padding follows it.
#define BINLOG_STATE_AT 76

struct binlog_layout {
    size_t length_size; // of the length of the name
    size_t fields_size;
    int64_t unit;    // of times, in nanoseconds
    size_t crc_size; // after each record: 0 or BINLOG_CRC_SIZE
};

enum binlog_state { BINLOG_DELETED, BINLOG_READY, BINLOG_RESERVED, BINLOG_BURIED, BINLOG_DELAYED };

struct binlog_fields {
    uint64_t id; // 0: nothing was written here
    uint32_t pri;
    int32_t body_size; // including BINLOG_BODY_END
    nsec_t delay_for;  // no time is negative
    nsec_t ttr_for;
    nsec_t created_at;
    nsec_t deadline_at; // DELAYED: when it becomes ready
    uint32_t reserves, timeouts, releases, buries, kicks;
    uint8_t state; // enum binlog_state, or something else
};

// False: the version is unknown.
bool binlog_layout_find(uint32_t version, struct binlog_layout *layout);
// Whether the number may be a format version, in either byte order, rather than damage.
bool binlog_version_is_credible(uint32_t version);

// Continues a CRC with more bytes. It begins with 0.
uint32_t binlog_crc(uint32_t crc, const char *bytes, size_t len);
// Decodes the CRC after a record.
uint32_t binlog_crc_read(const char from[BINLOG_CRC_SIZE]);

// Decodes the length of the name, from `length_size` bytes.
uint64_t binlog_name_length(const struct binlog_layout *layout, const char *from);

// Decodes `fields_size` bytes.
void binlog_fields_read(const struct binlog_layout *layout, const char *from,
                        struct binlog_fields *fields);

// Whether beanstalkd accepts this name for a tube.
bool binlog_name_is_valid(const char *name, size_t len);

#endif
