/* SPDX-License-Identifier: MIT */
#include "transfer/beanstalkd/binlog_record.h"

#include <string.h>

// Offsets of the fields, in all versions.
enum {
    AT_ID = 0,
    AT_PRI = 8,
    AT_DELAY = 16,
    AT_TTR = 24,
    AT_BODY_SIZE = 32,
    AT_CREATED = 40,
    AT_DEADLINE = 48,
    AT_RESERVES = 56,
    AT_TIMEOUTS = 60,
    AT_RELEASES = 64,
    AT_BURIES = 68,
    AT_KICKS = 72,
    AT_STATE = BINLOG_STATE_AT
};

bool binlog_layout_find(uint32_t version, struct binlog_layout *layout)
{
    switch (version) {
    case 5:
        *layout = (struct binlog_layout){.length_size = 8, .fields_size = 77, .unit = 1000};
        return true;
    case 7:
        *layout = (struct binlog_layout){.length_size = 4, .fields_size = 80, .unit = 1};
        return true;
    case 8:
        *layout = (struct binlog_layout){
            .length_size = 4, .fields_size = 80, .unit = 1, .crc_size = BINLOG_CRC_SIZE};
        return true;
    default:
        return false;
    }
}

bool binlog_version_is_credible(uint32_t version)
{
    return version <= UINT16_MAX || __builtin_bswap32(version) <= UINT16_MAX;
}

uint32_t binlog_crc(uint32_t crc, const char *bytes, size_t len)
{
    // For the sixteen values of half a byte.
    static const uint32_t halves[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };

    crc = ~crc;
    for (size_t i = 0; i < len; i++) {
        crc ^= (uint8_t)bytes[i];
        crc = crc >> 4 ^ halves[crc & 15];
        crc = crc >> 4 ^ halves[crc & 15];
    }
    return ~crc;
}

uint32_t binlog_crc_read(const char from[BINLOG_CRC_SIZE])
{
    uint32_t crc = 0;

    for (unsigned i = 0; i < BINLOG_CRC_SIZE; i++) {
        crc |= (uint32_t)(uint8_t)from[i] << 8 * i;
    }
    return crc;
}

static uint32_t record_read_32(const char *from)
{
    uint32_t number;

    memcpy(&number, from, sizeof number);
    return number;
}

static uint64_t record_read_64(const char *from)
{
    uint64_t number;

    memcpy(&number, from, sizeof number);
    return number;
}

uint64_t binlog_name_length(const struct binlog_layout *layout, const char *from)
{
    return layout->length_size == 8 ? record_read_64(from) : record_read_32(from);
}

// Negative times become 0, and times out of range NSEC_NEVER.
static nsec_t record_read_time(const struct binlog_layout *layout, const char *from)
{
    int64_t time = (int64_t)record_read_64(from);

    if (time < 0) {
        return 0;
    }
    return time > NSEC_NEVER / layout->unit ? NSEC_NEVER : time * layout->unit;
}

void binlog_fields_read(const struct binlog_layout *layout, const char *from,
                        struct binlog_fields *fields)
{
    *fields = (struct binlog_fields){
        .id = record_read_64(from + AT_ID),
        .pri = record_read_32(from + AT_PRI),
        .body_size = (int32_t)record_read_32(from + AT_BODY_SIZE),
        .delay_for = record_read_time(layout, from + AT_DELAY),
        .ttr_for = record_read_time(layout, from + AT_TTR),
        .created_at = record_read_time(layout, from + AT_CREATED),
        .deadline_at = record_read_time(layout, from + AT_DEADLINE),
        .reserves = record_read_32(from + AT_RESERVES),
        .timeouts = record_read_32(from + AT_TIMEOUTS),
        .releases = record_read_32(from + AT_RELEASES),
        .buries = record_read_32(from + AT_BURIES),
        .kicks = record_read_32(from + AT_KICKS),
        .state = (uint8_t)from[AT_STATE],
    };
}

bool binlog_name_is_valid(const char *name, size_t len)
{
    static const char known[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789-+/;.$_()";

    if (len == 0 || len > BINLOG_NAME_MAX || name[0] == '-') {
        return false;
    }
    for (size_t i = 0; i < len; i++) {
        if (!memchr(known, name[i], sizeof known - 1)) {
            return false;
        }
    }
    return true;
}
