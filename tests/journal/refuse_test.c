/* SPDX-License-Identifier: MIT */
// Records that are wrong, by accident or on purpose, are not read.
#include "tests/journal/sealed.h"

#include "journal/codec.h"

#include <string.h>

enum { KINDS = 9 };

// One of each kind.
static size_t make_all(struct sealed all[KINDS])
{
    struct job_image image = full_image();
    struct job_change buried = change_to(JOB_BURIED);

    buried.burial = 3;
    sealed_job(&all[0], &image);
    sealed_change(&all[1], CODEC_RELEASE, change_to(JOB_READY));
    sealed_change(&all[2], CODEC_BURY, buried);
    codec_put_number(all[3].bytes, CODEC_END, 5);
    codec_put_number(all[4].bytes, CODEC_IDS, 65536);
    codec_put_number(all[5].bytes, CODEC_SYNCED, 72);
    codec_put_number(all[6].bytes, CODEC_DROPPED, 1);
    codec_put_pause(all[7].bytes, SLICE("q"), 1, 2);
    codec_put_forget(all[8].bytes, MEMO_POLICY, SLICE("key"));
    for (size_t i = 3; i < KINDS; i++) {
        sealed_finish(&all[i]);
    }
    return KINDS;
}

static void every_flipped_bit_is_noticed(void **state)
{
    static struct sealed all[KINDS];
    size_t count = make_all(all);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_true(sealed_read(&all[i]));
        for (size_t bit = 0; bit < 8 * all[i].size; bit++) {
            flip_bit(all[i].bytes, bit);
            assert_false(sealed_read(&all[i]));
            flip_bit(all[i].bytes, bit);
        }
    }
}

static void a_record_checks_only_at_its_place_and_with_its_salt(void **state)
{
    static struct sealed all[KINDS];
    size_t count = make_all(all);
    struct codec_record record = {.number = 0};

    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_false(sealed_read_at(&all[i], SALT, OFFSET + 8, &record));
        assert_false(sealed_read_at(&all[i], SALT, OFFSET - 8, &record));
        assert_false(sealed_read_at(&all[i], SALT ^ 1, OFFSET, &record));
        // A client that knows one half of the salt can forge one of the checksums.
        assert_true(codec_head_good(all[i].bytes, SALT ^ (UINT64_C(1) << 32), OFFSET));
        assert_false(sealed_read_at(&all[i], SALT ^ (UINT64_C(1) << 32), OFFSET, &record));
    }
}

// A forged record that has its checksums: the bytes are changed, and sealed once more.
static bool forgery_is_read(const struct sealed *honest, size_t at, unsigned long long value,
                            size_t len)
{
    struct sealed forgery = *honest;

    for (size_t i = 0; i < len; i++) {
        forgery.bytes[at + i] = (char)(value >> (8 * i));
    }
    codec_seal(forgery.bytes, forgery.size, slice_of(NULL, 0), SALT, OFFSET);
    return sealed_read(&forgery);
}

static void lengths_that_do_not_add_up_are_refused(void **state)
{
    struct job_image image = full_image();
    struct sealed sealed;

    (void)state;
    image.body = SLICE("123456789");
    sealed_job(&sealed, &image);
    assert_true(forgery_is_read(&sealed, 16 + 56, 9, 4));
    assert_false(forgery_is_read(&sealed, 16 + 56, 8, 4));                 // body
    assert_false(forgery_is_read(&sealed, 16 + 56, 10, 4));                //
    assert_false(forgery_is_read(&sealed, 16 + 56, 0xffffffff, 4));        //
    assert_false(forgery_is_read(&sealed, 16 + 64, 5, 2));                 // queue
    assert_false(forgery_is_read(&sealed, 16 + 66, 0xffff, 2));            // key
    assert_false(forgery_is_read(&sealed, 16 + 68, 2, 2));                 // reducer
    assert_false(forgery_is_read(&sealed, 8, 72 + 4 + 5 + 3 + 21 + 8, 4)); // data
    sealed_change(&sealed, CODEC_KICK, change_to(JOB_READY));
    assert_false(forgery_is_read(&sealed, 8, 47, 4));
    assert_false(forgery_is_read(&sealed, 16 + 27, 0, 1)); // counters that no flag tells of
    sealed_without_counters(&sealed);
    assert_false(forgery_is_read(&sealed, 8, 27, 4));
    assert_false(forgery_is_read(&sealed, 8, 29, 4));
    assert_false(forgery_is_read(&sealed, 16 + 27, 4, 1)); // a flag without counters
    codec_put_pause(sealed.bytes, SLICE("four"), 1, 1);
    sealed_finish(&sealed);
    assert_false(forgery_is_read(&sealed, 16 + 16, 3, 2));
    assert_false(forgery_is_read(&sealed, 16 + 16, 5, 2));
    assert_false(forgery_is_read(&sealed, 16 + 16, 0, 2));
}

static void short_data_are_refused(void **state)
{
    struct sealed sealed = {.size = 0};

    (void)state;
    for (int type = CODEC_JOB; type <= CODEC_LAST; type++) {
        for (char len = 0; len < 28; len++) {
            memset(sealed.bytes, 0, sizeof sealed.bytes);
            codec_put_number(sealed.bytes, (enum codec_type)type, 1);
            sealed.bytes[8] = len;
            sealed_finish(&sealed);
            if (len != 8) {
                assert_false(sealed_read(&sealed));
            }
        }
    }
}

static void values_that_no_job_can_have_are_refused(void **state)
{
    struct job_image image = full_image();
    struct sealed sealed;

    (void)state;
    sealed_job(&sealed, &image);
    assert_true(forgery_is_read(&sealed, 16, 1, 8));
    assert_false(forgery_is_read(&sealed, 16, 0, 8));                      // id
    assert_false(forgery_is_read(&sealed, 16, CODEC_ID_MAX + 1, 8));       //
    assert_false(forgery_is_read(&sealed, 16 + 8, UINT64_C(1) << 63, 8));  // moment
    assert_false(forgery_is_read(&sealed, 16 + 16, UINT64_C(1) << 42, 8)); // created
    assert_false(forgery_is_read(&sealed, 16 + 60, 1001, 2));              // attempts
    assert_false(forgery_is_read(&sealed, 16 + 62, 1001, 2));              // max attempts
    assert_false(forgery_is_read(&sealed, 16 + 70, 0, 1));                 // state
    assert_false(forgery_is_read(&sealed, 16 + 70, 4, 1));                 // imposed until a moment
    assert_false(forgery_is_read(&sealed, 16 + 70, 5, 1));                 //
    assert_false(forgery_is_read(&sealed, 16 + 70, 1, 1));                 // ready, with a moment
    assert_false(forgery_is_read(&sealed, 16 + 71, 63, 1));                // no past, with one
    assert_false(forgery_is_read(&sealed, 16 + 71, 224, 1));               // kind of key
    assert_false(forgery_is_read(&sealed, 16 + 71, 128, 1));               // a key of no kind
    assert_false(forgery_is_read(&sealed, 16 + 71, 192, 1));               // a name for a content
    assert_false(forgery_is_read(&sealed, 16 + 72, 0, 1));                 // name with a NUL
    assert_false(forgery_is_read(&sealed, sealed.size - 1, 1, 1));         // padding
    sealed_change(&sealed, CODEC_KICK, change_to(JOB_READY));
    assert_false(forgery_is_read(&sealed, 16, 0, 8));
    assert_true(forgery_is_read(&sealed, 16 + 8, 1, 8)); // ready since then
    assert_false(forgery_is_read(&sealed, 16 + 8, UINT64_C(1) << 63, 8));
    assert_false(forgery_is_read(&sealed, 16 + 24, 1001, 2));
    assert_false(forgery_is_read(&sealed, 16 + 27, 1, 1));
    assert_false(forgery_is_read(&sealed, 16 + 27, 12, 1));
    assert_true(forgery_is_read(&sealed, 16 + 28, 1, 1));
    assert_false(forgery_is_read(&sealed, 16 + 27, 0, 1));
    assert_false(forgery_is_read(&sealed, 12, CODEC_LAST + 1, 1)); // type
    assert_false(forgery_is_read(&sealed, 12, 0, 1));
    assert_false(forgery_is_read(&sealed, 13, 1, 1));
    assert_false(forgery_is_read(&sealed, 14, 1, 2));
}

static void a_queue_needs_a_name(void **state)
{
    char name[513];
    struct job_image image = full_image();
    struct sealed sealed;

    (void)state;
    memset(name, 'n', sizeof name);
    image.queue.len = 0;
    sealed_job(&sealed, &image);
    assert_false(sealed_read(&sealed));
    image.queue = slice_of(name, sizeof name);
    sealed_job(&sealed, &image);
    assert_false(sealed_read(&sealed));
    image = full_image();
    image.key = slice_of(name, sizeof name);
    sealed_job(&sealed, &image);
    assert_false(sealed_read(&sealed));
    image = full_image();
    image.reducer = slice_of(name, sizeof name);
    sealed_job(&sealed, &image);
    assert_false(sealed_read(&sealed));
    codec_put_pause(sealed.bytes, slice_of(name, sizeof name), 1, 1);
    sealed_finish(&sealed);
    assert_false(sealed_read(&sealed));
}

static void a_buried_job_holds_no_key(void **state)
{
    struct job_image image = full_image();
    struct sealed sealed;

    (void)state;
    image.now.state = JOB_BURIED;
    image.now.on_wall = false;
    image.now.burial = 1;
    sealed_job(&sealed, &image);
    assert_false(sealed_read(&sealed));
    image.now.keyed = false;
    sealed_job(&sealed, &image);
    assert_true(sealed_read(&sealed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_bit_is_noticed),
        cmocka_unit_test(a_record_checks_only_at_its_place_and_with_its_salt),
        cmocka_unit_test(lengths_that_do_not_add_up_are_refused),
        cmocka_unit_test(short_data_are_refused),
        cmocka_unit_test(values_that_no_job_can_have_are_refused),
        cmocka_unit_test(a_queue_needs_a_name),
        cmocka_unit_test(a_buried_job_holds_no_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
