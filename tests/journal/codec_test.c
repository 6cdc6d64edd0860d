/* SPDX-License-Identifier: MIT */
// Records as bytes and back: each says what it said.
#include "tests/journal/sealed.h"

#include <string.h>

static void assert_same(struct slice a, struct slice b)
{
    assert_true(slice_equal(a, b));
}

static void assert_same_change(const struct job_change *a, const struct job_change *b)
{
    assert_true(a->id == b->id && a->burial == b->burial && a->due_at == b->due_at);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->on_wall, b->on_wall);
    assert_int_equal(a->keyed, b->keyed);
    assert_int_equal(a->attempts, b->attempts);
    assert_int_equal(a->pri, b->pri);
    assert_int_equal(a->delay, b->delay);
}

static void assert_same_job(const struct job_image *a, const struct job_image *b)
{
    assert_same_change(&a->now, &b->now);
    assert_same(a->queue, b->queue);
    assert_same(a->key, b->key);
    assert_same(a->reducer, b->reducer);
    assert_same(a->body, b->body);
    assert_int_equal(a->queue_kept, b->queue_kept);
    assert_int_equal(a->key_kind, b->key_kind);
    assert_int_equal(a->on_fail, b->on_fail);
    assert_int_equal(a->on_loss, b->on_loss);
    assert_int_equal(a->max_attempts, b->max_attempts);
    assert_int_equal(a->ttr, b->ttr);
    assert_true(a->created_ms == b->created_ms);
    assert_int_equal(a->reserves, b->reserves);
    assert_int_equal(a->timeouts, b->timeouts);
    assert_int_equal(a->releases, b->releases);
    assert_int_equal(a->buries, b->buries);
    assert_int_equal(a->kicks, b->kicks);
}

static void a_job_comes_back_with_all_of_its_contract(void **state)
{
    struct job_image image = full_image();
    struct codec_record record = {.number = 0};
    struct sealed sealed;

    (void)state;
    sealed_job(&sealed, &image);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_int_equal(record.type, CODEC_JOB);
    assert_same_job(&record.job, &image);
}

static void a_plain_job_comes_back_in_each_state(void **state)
{
    struct job_image image = {
        .now = {.id = 1, .state = JOB_READY}, .queue = SLICE("q"), .body = SLICE("")};
    struct codec_record record = {.number = 0};
    struct sealed sealed;

    (void)state;
    sealed_job(&sealed, &image);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_same_job(&record.job, &image);
    image.now.state = JOB_BURIED;
    image.now.burial = 99;
    sealed_job(&sealed, &image);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_same_job(&record.job, &image);
    image.now = (struct job_change){.id = CODEC_ID_MAX, .state = JOB_DELAYED, .due_at = NSEC_NEVER};
    image.key_kind = KEY_CONTENT;
    image.now.keyed = true;
    image.body = SLICE("b");
    sealed_job(&sealed, &image);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_same_job(&record.job, &image);
}

static void a_body_may_stand_elsewhere(void **state)
{
    struct job_image image = full_image();
    struct codec_record record = {.number = 0};
    struct sealed whole, parts;
    char padding[8] = {0};
    size_t put, start, len;

    (void)state;
    sealed_job(&whole, &image);
    put = codec_put_job(parts.bytes, &image, false);
    codec_seal(parts.bytes, put, image.body, SALT, OFFSET);
    assert_memory_equal(parts.bytes, whole.bytes, put);
    assert_true(codec_job_body(parts.bytes, &start, &len));
    assert_int_equal(start, put);
    assert_int_equal(len, image.body.len);
    assert_true(codec_read_job(parts.bytes, image.body, padding, SALT, OFFSET, &record));
    assert_same_job(&record.job, &image);
    padding[0] = 1;
    assert_false(codec_read_job(parts.bytes, image.body, padding, SALT, OFFSET, &record));
    // Even where the checksum says so.
    whole.bytes[put + len] = 1;
    sealed_finish(&whole);
    assert_false(codec_read_job(whole.bytes, image.body, padding, SALT, OFFSET, &record));
    padding[0] = 0;
    assert_false(codec_read_job(parts.bytes, SLICE("The body"), padding, SALT, OFFSET, &record));
    image.body.len--;
    assert_false(codec_read_job(parts.bytes, image.body, padding, SALT, OFFSET, &record));
}

static void changes_come_back(void **state)
{
    struct job_change delayed = change_to(JOB_DELAYED);
    struct job_change buried = change_to(JOB_BURIED);
    struct job_change ready = change_to(JOB_READY);
    const struct {
        enum codec_type type;
        const struct job_change *change;
    } all[] = {{CODEC_RELEASE, &ready}, {CODEC_RELEASE, &delayed}, {CODEC_BURY, &buried},
               {CODEC_KICK, &ready},    {CODEC_TAKE, &ready},      {CODEC_START, &ready},
               {CODEC_START, &delayed}};

    (void)state;
    delayed.due_at = 55;
    delayed.on_wall = true;
    buried.burial = 66;
    ready.keyed = true;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct codec_record record = {.number = 0};
        struct sealed sealed;

        sealed_change(&sealed, all[i].type, *all[i].change);
        assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
        assert_int_equal(record.type, all[i].type);
        assert_same_change(&record.change, all[i].change);
    }
}

static void a_change_leaves_a_job_only_in_states_of_its_kind(void **state)
{
    const struct {
        enum codec_type type;
        enum job_state state;
    } all[] = {{CODEC_RELEASE, JOB_BURIED}, {CODEC_BURY, JOB_READY},  {CODEC_BURY, JOB_DELAYED},
               {CODEC_KICK, JOB_DELAYED},   {CODEC_KICK, JOB_BURIED}, {CODEC_TAKE, JOB_DELAYED},
               {CODEC_TAKE, JOB_BURIED},    {CODEC_START, JOB_BURIED}};
    struct sealed sealed;

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sealed_change(&sealed, all[i].type, change_to(all[i].state));
        assert_false(sealed_read(&sealed));
    }
}

static void numbers_and_pauses_come_back(void **state)
{
    const enum codec_type types[] = {CODEC_END, CODEC_IDS, CODEC_SYNCED, CODEC_DROPPED};
    struct codec_record record = {.number = 0};
    struct sealed sealed;

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        codec_put_number(sealed.bytes, types[i], CODEC_ID_MAX);
        sealed_finish(&sealed);
        assert_int_equal(sealed.size, CODEC_NUMBER_SIZE);
        assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
        assert_int_equal(record.type, types[i]);
        assert_true(record.number == CODEC_ID_MAX);
    }
    codec_put_pause(sealed.bytes, SLICE("mail"), 5, NSEC_NEVER);
    sealed_finish(&sealed);
    assert_int_equal(sealed.size, codec_pause_size(4));
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_same(record.name, SLICE("mail"));
    assert_true(record.pause_for == 5 && record.until_at == NSEC_NEVER);
}

static void the_longest_names_come_back(void **state)
{
    char name[512];
    struct job_image image = full_image();
    struct codec_record record = {.number = 0};
    struct sealed sealed;

    (void)state;
    memset(name, 'n', sizeof name);
    image.queue = image.key = image.reducer = slice_of(name, sizeof name);
    sealed_job(&sealed, &image);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_same_job(&record.job, &image);
    codec_put_pause(sealed.bytes, image.queue, 0, 0);
    sealed_finish(&sealed);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_same(record.name, image.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_comes_back_with_all_of_its_contract),
        cmocka_unit_test(a_plain_job_comes_back_in_each_state),
        cmocka_unit_test(a_body_may_stand_elsewhere),
        cmocka_unit_test(changes_come_back),
        cmocka_unit_test(a_change_leaves_a_job_only_in_states_of_its_kind),
        cmocka_unit_test(numbers_and_pauses_come_back),
        cmocka_unit_test(the_longest_names_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
