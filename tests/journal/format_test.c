/* SPDX-License-Identifier: MIT */
// Heads of segments, and what the page about the format says, beside what we write.
#include "tests/journal/file/forge.h"
#include "tests/journal/sealed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct segment_head some_head = {.number = 3,
                                              .salt = SALT,
                                              .previous = 2,
                                              .previous_end = 4711,
                                              .ids_end = 65537,
                                              .created_ms = 1700000000000};

static void a_segment_head_comes_back(void **state)
{
    struct segment_head head;
    char bytes[CODEC_SEGMENT_HEAD], again[CODEC_SEGMENT_HEAD];

    (void)state;
    for (int unsure = 0; unsure < 2; unsure++) {
        head = some_head;
        head.previous_unsure = unsure;
        codec_put_segment_head(bytes, &head);
        memset(&head, 0xff, sizeof head);
        assert_int_equal(codec_read_segment_head(bytes, &head), CODEC_HEAD_GOOD);
        assert_int_equal(head.number, 3);
        assert_true(head.salt == SALT && head.previous == 2 && head.previous_end == 4711);
        assert_int_equal(head.previous_unsure, unsure);
        codec_put_segment_head(again, &head);
        assert_memory_equal(again, bytes, sizeof bytes);
    }
}

static void every_flipped_bit_of_a_segment_head_is_noticed_and_mended(void **state)
{
    struct segment_head head;
    char good[CODEC_SEGMENT_HEAD], bytes[CODEC_SEGMENT_HEAD];

    (void)state;
    codec_put_segment_head(good, &some_head);
    for (size_t bit = 0; bit < 8 * sizeof good; bit++) {
        memcpy(bytes, good, sizeof good);
        flip_bit(bytes, bit);
        assert_int_equal(codec_read_segment_head(bytes, &head), CODEC_HEAD_BAD);
        assert_true(codec_mend_segment_head(bytes));
        assert_memory_equal(bytes, good, sizeof good);
    }
    bytes[20] ^= 1;
    bytes[40] ^= 1;
    assert_false(codec_mend_segment_head(bytes));
}

// CRC32C, bit by bit, as the format says it.
static uint32_t slow_sum(uint32_t start, const char *bytes, size_t len)
{
    uint32_t sum = start;

    for (size_t i = 0; i < len; i++) {
        sum ^= (unsigned char)bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            sum = (sum >> 1) ^ (sum & 1 ? UINT32_C(0x82f63b78) : 0);
        }
    }
    return ~sum;
}

static uint32_t number_at(const char *bytes)
{
    return (uint32_t)(unsigned char)bytes[0] | (uint32_t)(unsigned char)bytes[1] << 8 |
           (uint32_t)(unsigned char)bytes[2] << 16 | (uint32_t)(unsigned char)bytes[3] << 24;
}

static void put_number_at(char *bytes, uint32_t number)
{
    for (int i = 0; i < 4; i++) {
        bytes[i] = (char)(number >> (8 * i));
    }
}

static void checksums_are_as_the_format_says(void **state)
{
    struct job_image image = full_image();
    struct sealed sealed;
    char head[CODEC_SEGMENT_HEAD];

    (void)state;
    assert_true(slow_sum(UINT32_MAX, "123456789", 9) == UINT32_C(0xe3069283));
    sealed_job(&sealed, &image);
    assert_true(number_at(sealed.bytes) ==
                slow_sum(UINT32_C(0x89abcdef) ^ OFFSET / 8, sealed.bytes + 4, 12));
    assert_true(number_at(sealed.bytes + 4) ==
                slow_sum(UINT32_C(0x01234567) ^ OFFSET / 8, sealed.bytes + 16, sealed.size - 16));
    codec_put_segment_head(head, &some_head);
    assert_true(number_at(head + 64) == slow_sum(UINT32_MAX, head, 64));
}

static void a_head_of_another_version_is_not_damage(void **state)
{
    struct segment_head head;
    char bytes[CODEC_SEGMENT_HEAD];

    (void)state;
    codec_put_segment_head(bytes, &some_head);
    put_number_at(bytes + 8, CODEC_VERSION + 1);
    put_number_at(bytes + 64, slow_sum(UINT32_MAX, bytes, 64));
    assert_int_equal(codec_read_segment_head(bytes, &head), CODEC_HEAD_OTHER_VERSION);
    put_number_at(bytes + 8, 0);
    put_number_at(bytes + 64, slow_sum(UINT32_MAX, bytes, 64));
    assert_int_equal(codec_read_segment_head(bytes, &head), CODEC_HEAD_OTHER_VERSION);
}

static void a_head_of_the_first_version_is_read(void **state)
{
    struct segment_head head;
    char bytes[CODEC_SEGMENT_HEAD];

    (void)state;
    codec_put_segment_head(bytes, &some_head);
    put_number_at(bytes + 8, 1);
    put_number_at(bytes + 64, slow_sum(UINT32_MAX, bytes, 64));
    assert_int_equal(codec_read_segment_head(bytes, &head), CODEC_HEAD_GOOD);
    assert_true(head.number == 3 && head.previous_end == 4711);
    // It cannot say that the end of the segment before is unsure.
    bytes[47] = (char)0x80;
    put_number_at(bytes + 64, slow_sum(UINT32_MAX, bytes, 64));
    assert_int_equal(codec_read_segment_head(bytes, &head), CODEC_HEAD_BAD);
}

// The bytes in the lines of an example, such as "    0010  01 ff".
static size_t read_example(const char *path, char *to, size_t room)
{
    FILE *page = fopen(path, "r");
    char line[400];
    size_t len = 0;

    assert_non_null(page);
    while (fgets(line, sizeof line, page)) {
        char *at = line + 9;

        if (strncmp(line, "    ", 4) != 0 || strspn(line + 4, "0123456789abcdef") != 4) {
            continue;
        }
        assert_int_equal(strtoul(line + 4, NULL, 16), len);
        while (*at == ' ' && len < room) {
            to[len++] = (char)strtoul(at, &at, 16);
        }
    }
    (void)fclose(page);
    return len;
}

static void the_example_of_the_format_is_as_written(void **state)
{
    const struct job_image image = {
        .now = {.id = 1,
                .state = JOB_DELAYED,
                .keyed = true,
                .pri = 1024,
                .delay = 5,
                .due_at = 1700000005 * NSEC_PER_SEC},
        .queue = SLICE("mail"),
        .key_kind = KEY_NAME,
        .key = SLICE("k1"),
        .ttr = 60,
        .created_ms = UINT64_C(1700000000000),
        .body = SLICE("hello"),
    };
    const struct job_change kick = {.id = 1,
                                    .state = JOB_READY,
                                    .keyed = true,
                                    .pri = 1024,
                                    .delay = 5,
                                    .counters = {.kicks = 1}};
    const struct memo memo = {.kind = MEMO_POLICY,
                              .key = SLICE("m*"),
                              .value = SLICE("weight = 3"),
                              .until_at = NSEC_NEVER,
                              .number = 7};
    struct forge forge = {.number = 0};
    char example[1024];

    (void)state;
    forge_begin(&forge, 1, 0);
    forge_number(&forge, CODEC_IDS, 65536);
    forge_job(&forge, &image);
    forge_change(&forge, CODEC_KICK, &kick);
    forge_move(&forge, &kick, SLICE("letters"));
    forge_memo(&forge, &memo);
    forge_forget(&forge, MEMO_FIRED, SLICE("dawn"));
    assert_int_equal(read_example(FORMAT_PAGE, example, sizeof example), forge.len);
    assert_memory_equal(example, forge.bytes, forge.len);
    forge_free(&forge);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_segment_head_comes_back),
        cmocka_unit_test(every_flipped_bit_of_a_segment_head_is_noticed_and_mended),
        cmocka_unit_test(checksums_are_as_the_format_says),
        cmocka_unit_test(a_head_of_another_version_is_not_damage),
        cmocka_unit_test(a_head_of_the_first_version_is_read),
        cmocka_unit_test(the_example_of_the_format_is_as_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
