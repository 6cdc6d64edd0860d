/* SPDX-License-Identifier: MIT */
// Which segments there must be, what counts as damage in segments before the youngest and in heads,
// and how it is repaired.
#include "tests/journal/file/replay_bed.h"

#include <string.h>

//
// Those before it
//

static void damage_in_an_older_segment_stops_the_start(void **state)
{
    struct replay_bed *b = *state;

    bed_make_three(b);
    bed_put_three(b);
    bed_flip(b, SECOND, b->two.marks[1] + 17);
    bed_stops_at(b, SECOND, b->two.marks[1]);
    bed_loses(b, SECOND, b->two.marks[1], b->two.len - b->two.marks[1]);
    assert_false(bed_has(b, 4));
    assert_true(bed_has(b, 1) && bed_has(b, 2) && bed_has(b, 3) && bed_has(b, 5));
    assert_true(bed_segment(b, 1)->damaged);
    assert_false(bed_segment(b, 0)->damaged || bed_segment(b, 2)->damaged);
}

static void zeros_in_an_older_segment_are_damage(void **state)
{
    struct replay_bed *b = *state;

    bed_make_three(b);
    memset(b->one.bytes + b->one.marks[1], 0, b->one.len - b->one.marks[1]);
    bed_put_three(b);
    bed_stops_at(b, FIRST, b->one.marks[1]);
}

static void a_segment_that_was_given_up_ends_as_the_next_head_says(void **state)
{
    struct replay_bed *b = *state;

    forge_plain(&b->one, 1, "x");
    forge_begin(&b->two, 2, b->one.len);
    forge_plain(&b->two, 2, "y");
    forge_begin(&b->three, 3, b->two.len);
    forge_plain(&b->two, 3, "not known to have arrived, so it was resent");
    forge_plain(&b->three, 4, "z");
    forge_bytes(&b->two, SLICE("rubbish"));
    bed_put_three(b);
    assert_true(bed_revive(b, false));
    assert_string_equal(b->revived.log, "");
    assert_false(bed_has(b, 3));
    assert_true(bed_has(b, 1) && bed_has(b, 2) && bed_has(b, 4));
    assert_int_equal(bed_segment(b, 1)->end, b->two.marks[1]);
}

// The journal's policy was not to sync, and when it had to, the sync failed: any record may be
// missing after the power cut.
static void a_segment_that_could_not_be_synced_may_end_earlier(void **state)
{
    struct replay_bed *b = *state;

    forge_plain(&b->one, 1, "x");
    forge_number(&b->one, CODEC_SYNCED, b->one.len);
    forge_plain(&b->one, 2, "y");
    forge_plain(&b->one, 3, "z");
    forge_begin(&b->two, 2, b->one.len);
    forge_unsure(&b->two);
    forge_number(&b->two, CODEC_END, 2);
    forge_plain(&b->two, 4, "w");
    forge_put(&b->one, b->disk);
    forge_put(&b->two, b->disk);
    assert_true(bed_revive(b, false));
    assert_true(bed_has(b, 1) && bed_has(b, 3) && bed_has(b, 4));
    // The start is not refused.
    for (size_t at = b->one.marks[2]; at < b->one.len; at++) {
        forge_put(&b->one, b->disk);
        bed_flip(b, FIRST, at);
        assert_true(bed_revive(b, false));
        assert_true(bed_has(b, 1) && bed_has(b, 4));
        assert_int_equal(bed_segment(b, 0)->end, b->one.marks[at >= b->one.marks[3] ? 3 : 2]);
        // The unused space of such a file is freed; it may be short the next time.
        fake_disk_put(b->disk, FIRST, b->one.bytes, at);
        assert_true(bed_revive(b, false));
        assert_true(bed_has(b, 1) && bed_has(b, 4));
    }
    // Damage in the part that was synced before.
    forge_put(&b->one, b->disk);
    bed_flip(b, FIRST, b->one.marks[0] + 20);
    bed_stops_at(b, FIRST, b->one.marks[0]);
}

// The records that were rewritten before that record may be torn: the segment that it names is
// still needed.
static void a_torn_end_drops_nothing(void **state)
{
    struct replay_bed *b = *state;

    bed_make_three(b);
    forge_number(&b->two, CODEC_DROPPED, 1);
    forge_begin(&b->three, 3, b->two.len);
    forge_unsure(&b->three);
    bed_put_three(b);
    bed_flip(b, SECOND, b->two.marks[0] + 20);
    assert_true(bed_revive(b, false));
    assert_true(bed_has(b, 1) && bed_has(b, 2));
}

static void a_segment_without_records_is_not_damage(void **state)
{
    struct replay_bed *b = *state;

    forge_plain(&b->one, 1, "x");
    forge_begin(&b->two, 2, b->one.len);
    forge_begin(&b->three, 3, b->two.len);
    bed_put_three(b);
    assert_true(bed_revive(b, false));
    assert_string_equal(b->revived.log, "");
    assert_int_equal(bed_segment(b, 1)->end, CODEC_SEGMENT_HEAD);
    assert_int_equal(bed_segment(b, 2)->end, CODEC_SEGMENT_HEAD);
}

static void an_older_file_that_is_too_short_is_damage(void **state)
{
    struct replay_bed *b = *state;
    size_t len;

    bed_make_three(b);
    len = b->two.len;
    b->two.len = b->two.marks[1];
    bed_put_three(b);
    bed_stops_at(b, SECOND, b->two.len);
    bed_loses(b, SECOND, b->two.len, len - b->two.len);
    assert_true(bed_has(b, 3) && bed_has(b, 5));
}

static void a_missing_segment_is_damage(void **state)
{
    struct replay_bed *b = *state;

    bed_make_three(b);
    forge_put(&b->one, b->disk);
    forge_put(&b->three, b->disk);
    bed_stops(b, SECOND " is damaged at offset 0: the file is missing");
    bed_loses(b, SECOND, 0, 0);
    bed_expect_row(b, 1, 3);
    assert_int_equal(bed_segment(b, 1)->end, 0);
    assert_true(bed_has(b, 1) && bed_has(b, 2) && bed_has(b, 5));
}

static void the_first_segment_may_not_be_missing_unless_it_was_dropped(void **state)
{
    struct replay_bed *b = *state;

    bed_make_three(b);
    forge_put(&b->two, b->disk);
    forge_put(&b->three, b->disk);
    bed_stops(b, FIRST " is damaged at offset 0: the file is missing");
    bed_loses(b, FIRST, 0, 0);
    bed_expect_row(b, 2, 2);
    forge_number(&b->three, CODEC_DROPPED, 1);
    forge_put(&b->three, b->disk);
    assert_true(bed_revive(b, false));
    assert_string_equal(b->revived.log, "");
    bed_expect_row(b, 2, 2);
}

static void segments_that_were_dropped_are_not_read(void **state)
{
    struct replay_bed *b = *state;
    size_t len;

    bed_make_three(b);
    forge_number(&b->three, CODEC_DROPPED, 2);
    forge_number(&b->three, CODEC_DROPPED, 1);
    forge_plain(&b->three, 6, "behind it");
    forge_put(&b->one, b->disk);
    // It is missing on the disk, and an older one is there, as after a power cut.
    forge_put(&b->three, b->disk);
    bed_flip(b, FIRST, 20);
    assert_true(bed_revive(b, false));
    assert_string_equal(b->revived.log, "");
    bed_expect_row(b, 3, 1);
    assert_false(bed_has(b, 1));
    assert_true(bed_has(b, 5) && bed_has(b, 6));
    assert_null(fake_disk_bytes(b->disk, FIRST, &len));
}

static void a_repair_uses_dropped_files_that_still_exist(void **state)
{
    struct replay_bed *b = *state;
    size_t len;

    bed_make_three(b);
    forge_plain(&b->three, 4, "moved");
    forge_plain(&b->three, 3, "moved");
    forge_number(&b->three, CODEC_DROPPED, 2);
    forge_number(&b->three, CODEC_SYNCED, b->three.len);
    bed_put_three(b);
    fake_disk_put(b->disk, FIRST, "", 0);
    assert_int_equal(fake_disk_io(b->disk).remove(b->disk, FIRST), 0);
    bed_flip(b, THIRD, b->three.marks[1]);
    bed_loses(b, THIRD, b->three.marks[1], b->three.marks[2] - b->three.marks[1]);
    bed_expect_row(b, 2, 2);
    assert_true(bed_has(b, 3) && bed_has(b, 4) && bed_has(b, 5));
    // Not if a segment between them is missing.
    forge_put(&b->one, b->disk);
    assert_int_equal(fake_disk_io(b->disk).remove(b->disk, SECOND), 0);
    assert_true(bed_revive(b, true));
    bed_expect_row(b, 3, 1);
    assert_null(fake_disk_bytes(b->disk, FIRST, &len));
}

static void a_segment_that_drops_itself_is_damage(void **state)
{
    struct replay_bed *b = *state;

    forge_number(&b->one, CODEC_DROPPED, 1);
    forge_put(&b->one, b->disk);
    bed_stops_at(b, FIRST, CODEC_SEGMENT_HEAD);
    bed_loses(b, FIRST, CODEC_SEGMENT_HEAD, CODEC_NUMBER_SIZE);
}

static void a_name_far_from_the_others_stops_even_a_repair(void **state)
{
    struct replay_bed *b = *state;

    forge_put(&b->one, b->disk);
    fake_disk_put(b->disk, "journal.9999999999", "x", 1);
    bed_stops(b, "journal.9999999999");
    assert_false(bed_revive(b, true));
    expect_says(b->revived.why.text, "journal.9999999999");
}

//
// Heads
//

static void a_head_that_does_not_check_is_damage(void **state)
{
    struct replay_bed *b = *state;

    bed_make_three(b);
    bed_put_three(b);
    bed_flip(b, SECOND, 25);
    bed_stops_at(b, SECOND, 0);
    // One wrong byte can be corrected.
    bed_loses(b, SECOND, 0, CODEC_SEGMENT_HEAD);
    assert_true(bed_has(b, 3) && bed_has(b, 4));
    assert_true(bed_segment(b, 1)->damaged);
    bed_flip(b, SECOND, 40);
    bed_loses(b, SECOND, 0, b->two.len);
    assert_false(bed_has(b, 3) || bed_has(b, 4));
    assert_true(bed_has(b, 1) && bed_has(b, 2) && bed_has(b, 5));
    bed_expect_row(b, 1, 3);
}

static void a_file_without_a_whole_head_is_damage(void **state)
{
    struct replay_bed *b = *state;

    bed_make_three(b);
    b->three.len = CODEC_SEGMENT_HEAD - 1;
    bed_put_three(b);
    bed_stops_at(b, THIRD, 0);
    bed_loses(b, THIRD, 0, CODEC_SEGMENT_HEAD - 1);
    // The head does not say where the segment before it ends.
    assert_true(bed_has(b, 3) && bed_has(b, 4));
    assert_int_equal(bed_segment(b, 1)->end, b->two.len);
    bed_expect_row(b, 1, 3);
}

static void a_segment_under_the_name_of_another_is_damage(void **state)
{
    struct replay_bed *b = *state;

    bed_make_three(b);
    bed_put_three(b);
    fake_disk_put(b->disk, SECOND, b->three.bytes, b->three.len);
    bed_stops_at(b, SECOND, 0);
    codec_put_segment_head(b->two.bytes, &(struct segment_head){.number = 3, .previous = 1});
    forge_put(&b->two, b->disk);
    bed_stops_at(b, SECOND, 0);
    codec_put_segment_head(b->two.bytes, &(struct segment_head){.number = 2, .previous = 2});
    forge_put(&b->two, b->disk);
    bed_stops_at(b, SECOND, 0);
}

static void another_version_is_left_alone(void **state)
{
    // The first 72 bytes of a segment of version 99.
    static const unsigned char head[] = {
        'T', 'A', 'N', 'D', 'E', 'M', 'J', 10, 99, 0, 0,   0,   'H', 0,  0, 0, 1, 0,
        0,   0,   0,   0,   0,   0,   0,   0,  0,  0, 0,   0,   0,   0,  0, 0, 0, 0,
        0,   0,   0,   0,   0,   0,   0,   0,  0,  0, 0,   0,   0,   0,  0, 0, 0, 0,
        0,   0,   0,   0,   0,   0,   0,   0,  0,  0, 116, 218, 233, 53, 0, 0, 0, 0};
    struct replay_bed *b = *state;

    fake_disk_put(b->disk, FIRST, head, sizeof head);
    bed_stops(b, FIRST ": written by another version");
    assert_false(bed_revive(b, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STORY(damage_in_an_older_segment_stops_the_start),
        STORY(zeros_in_an_older_segment_are_damage),
        STORY(a_segment_that_was_given_up_ends_as_the_next_head_says),
        STORY(a_segment_that_could_not_be_synced_may_end_earlier),
        STORY(a_torn_end_drops_nothing),
        STORY(a_segment_without_records_is_not_damage),
        STORY(an_older_file_that_is_too_short_is_damage),
        STORY(a_missing_segment_is_damage),
        STORY(the_first_segment_may_not_be_missing_unless_it_was_dropped),
        STORY(segments_that_were_dropped_are_not_read),
        STORY(a_repair_uses_dropped_files_that_still_exist),
        STORY(a_segment_that_drops_itself_is_damage),
        STORY(a_name_far_from_the_others_stops_even_a_repair),
        STORY(a_head_that_does_not_check_is_damage),
        STORY(a_file_without_a_whole_head_is_damage),
        STORY(a_segment_under_the_name_of_another_is_damage),
        STORY(another_version_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
