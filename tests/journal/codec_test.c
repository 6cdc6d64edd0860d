/* SPDX-License-Identifier: MIT */
// Records as bytes and back: each says what it said.
#include "tests/journal/sealed.h"

#include "journal/codec.h"

#include <string.h>

static void assert_same(struct slice a, struct slice b)
{
    assert_true(slice_equal(a, b));
}

static void assert_same_change(const struct job_change *a, const struct job_change *b)
{
    assert_true(a->id == b->id && a->burial == b->burial && a->due_at == b->due_at &&
                a->ready_at == b->ready_at);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->on_wall, b->on_wall);
    assert_int_equal(a->keyed, b->keyed);
    assert_int_equal(a->imposed, b->imposed);
    assert_int_equal(a->attempts, b->attempts);
    assert_int_equal(a->pri, b->pri);
    assert_int_equal(a->delay, b->delay);
    assert_int_equal(a->counted, b->counted);
    assert_int_equal(a->counters.reserves, b->counters.reserves);
    assert_int_equal(a->counters.timeouts, b->counters.timeouts);
    assert_int_equal(a->counters.releases, b->counters.releases);
    assert_int_equal(a->counters.buries, b->counters.buries);
    assert_int_equal(a->counters.kicks, b->counters.kicks);
}

static void assert_same_past(const struct dead_letter *a, const struct dead_letter *b)
{
    assert_int_equal(a->why, b->why);
    assert_int_equal(a->attempts, b->attempts);
    assert_true(a->at_ms == b->at_ms);
    assert_same(a->queue, b->queue);
}

static void assert_same_job(const struct job_image *a, const struct job_image *b)
{
    assert_same_change(&a->now, &b->now);
    assert_same(a->queue, b->queue);
    assert_same(a->key, b->key);
    assert_same(a->reducer, b->reducer);
    assert_same(a->body, b->body);
    assert_same_past(&a->dead_letter, &b->dead_letter);
    assert_int_equal(a->queue_kept, b->queue_kept);
    assert_int_equal(a->key_kind, b->key_kind);
    assert_int_equal(a->on_fail, b->on_fail);
    assert_int_equal(a->on_loss, b->on_loss);
    assert_int_equal(a->max_attempts, b->max_attempts);
    assert_int_equal(a->ttr, b->ttr);
    assert_true(a->created_ms == b->created_ms);
    assert_int_equal(a->now.counters.reserves, b->now.counters.reserves);
    assert_int_equal(a->now.counters.timeouts, b->now.counters.timeouts);
    assert_int_equal(a->now.counters.releases, b->now.counters.releases);
    assert_int_equal(a->now.counters.buries, b->now.counters.buries);
    assert_int_equal(a->now.counters.kicks, b->now.counters.kicks);
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
    struct job_change imposed = change_to(JOB_DELAYED);
    struct job_change buried = change_to(JOB_BURIED);
    struct job_change ready = change_to(JOB_READY);
    const struct {
        enum codec_type type;
        const struct job_change *change;
    } all[] = {{CODEC_RELEASE, &ready}, {CODEC_RELEASE, &delayed}, {CODEC_BURY, &buried},
               {CODEC_KICK, &ready},    {CODEC_TAKE, &ready},      {CODEC_START, &ready},
               {CODEC_START, &delayed}, {CODEC_SET, &ready},       {CODEC_SET, &delayed},
               {CODEC_SET, &buried},    {CODEC_SET, &imposed},     {CODEC_RELEASE, &imposed}};

    (void)state;
    delayed.due_at = 55;
    delayed.on_wall = true;
    delayed.imposed = false;
    imposed.due_at = 56;
    buried.burial = 66;
    ready.keyed = true;
    ready.ready_at = 77;
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

static void moves_come_back(void **state)
{
    static const enum job_state states[] = {JOB_READY, JOB_DELAYED, JOB_BURIED};

    (void)state;
    for (size_t i = 0; i < 12; i++) {
        const struct dead_letter *past = i < 6 ? &some_past : &no_past;
        struct job_change change = change_to(states[i % 3]);
        struct codec_record record = {.number = 0};
        struct sealed sealed;

        codec_put_move(sealed.bytes, &change, SLICE("letters"), i % 6 < 3, past);
        sealed_finish(&sealed);
        assert_int_equal(sealed.size, codec_move_size(7, dead_letter_len(past)));
        assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
        assert_int_equal(record.type, CODEC_MOVE);
        assert_same_change(&record.change, &change);
        assert_same(record.name, SLICE("letters"));
        assert_int_equal(record.queue_kept, i % 6 < 3);
        assert_same_past(&record.dead_letter, past);
    }
}

static void changes_and_moves_of_older_versions_come_back_without_counters(void **state)
{
    struct job_change change = change_to(JOB_DELAYED);
    struct codec_record record = {.number = 0};
    struct sealed sealed;

    (void)state;
    sealed_change(&sealed, CODEC_RELEASE, change);
    sealed_without_counters(&sealed);
    assert_int_equal(sealed.size, 48);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    change.counted = false;
    change.counters = (struct job_counters){0};
    assert_same_change(&record.change, &change);
    codec_put_move(sealed.bytes, &change, SLICE("letters"), true, &some_past);
    sealed_without_counters(&sealed);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_same_change(&record.change, &change);
    assert_same(record.name, SLICE("letters"));
    assert_same_past(&record.dead_letter, &some_past);
}

static void an_impossible_move_is_refused(void **state)
{
    // The flags (a past that is not there), the length of the name, the zeros behind it, the name.
    static const struct {
        size_t at;
        char byte;
    } wrong[] = {{27, 0}, {27, 8}, {27, 4 + 32}, {27, (char)132}, {28, 6}, {28, 8},
                 {28, 0}, {29, 1}, {30, 1},      {31, 1},         {54, 0}, {26, 5}};
    struct job_change change = change_to(JOB_READY);
    struct sealed sealed;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        codec_put_move(sealed.bytes, &change, SLICE("letters"), false, &no_past);
        sealed.bytes[CODEC_HEAD + wrong[i].at] = wrong[i].byte;
        sealed_finish(&sealed);
        assert_false(sealed_read(&sealed));
    }
    // It is too short for a name.
    codec_put_change(sealed.bytes, CODEC_MOVE, &change);
    sealed_finish(&sealed);
    assert_false(sealed_read(&sealed));
}

static const struct memo some_memo = {.kind = MEMO_FIRED,
                                      .key = {"a key", 5},
                                      .value = {"some value", 10},
                                      .until_at = 1700000000,
                                      .number = CODEC_MEMO_NUMBER_MAX};

static void assert_same_memo(const struct codec_record *record, const struct memo *memo)
{
    assert_int_equal(record->type, CODEC_MEMO);
    assert_int_equal(record->memo.kind, memo->kind);
    assert_same(record->memo.key, memo->key);
    assert_same(record->memo.value, memo->value);
    assert_true(record->memo.until_at == memo->until_at && record->memo.number == memo->number);
    assert_null(record->memo.blob);
}

static void memos_come_back(void **state)
{
    struct codec_record record = {.number = 0};
    struct memo empty = {.key = SLICE("k"), .until_at = NSEC_NEVER, .number = 1};
    struct sealed sealed;

    (void)state;
    assert_int_equal(codec_put_memo(sealed.bytes, &some_memo, true), codec_memo_size(5, 10));
    sealed_finish(&sealed);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_same_memo(&record, &some_memo);
    assert_false(record.forgotten);
    (void)codec_put_memo(sealed.bytes, &empty, true);
    sealed_finish(&sealed);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_same_memo(&record, &empty);
    codec_put_forget(sealed.bytes, MEMO_ANSWER, SLICE("a key"));
    sealed_finish(&sealed);
    assert_int_equal(sealed.size, codec_memo_size(5, 0));
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_true(record.forgotten && record.memo.kind == MEMO_ANSWER);
    assert_same(record.memo.key, SLICE("a key"));
}

static void a_memos_value_may_stand_elsewhere(void **state)
{
    struct codec_record record = {.number = 0};
    struct sealed parts;
    char padding[8] = {0};
    size_t put, start, len;

    (void)state;
    put = codec_put_memo(parts.bytes, &some_memo, false);
    codec_seal(parts.bytes, put, some_memo.value, SALT, OFFSET);
    assert_true(codec_memo_value(parts.bytes, &start, &len));
    assert_true(start == put && len == some_memo.value.len);
    assert_true(
        codec_read_memo_parts(parts.bytes, some_memo.value, padding, SALT, OFFSET, &record));
    assert_same_memo(&record, &some_memo);
    assert_false(
        codec_read_memo_parts(parts.bytes, SLICE("Some value"), padding, SALT, OFFSET, &record));
    assert_false(codec_read_memo_parts(parts.bytes, SLICE("some"), padding, SALT, OFFSET, &record));
    padding[0] = 1;
    assert_false(
        codec_read_memo_parts(parts.bytes, some_memo.value, padding, SALT, OFFSET, &record));
}

static void a_memo_that_cannot_be_is_refused(void **state)
{
    // The number, the moment, the lengths of value and key, the kind, the flags.
    static const struct {
        size_t at;
        char byte;
    } wrong[] = {{7, 0x40}, {15, (char)0x80}, {16, 9},          {16, 11}, {19, 1}, {20, 0},
                 {20, 6},   {21, 3},          {22, MEMO_KINDS}, {23, 1},  {23, 2}};
    struct sealed sealed;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        (void)codec_put_memo(sealed.bytes, &some_memo, true);
        sealed.bytes[CODEC_HEAD + wrong[i].at] = wrong[i].byte;
        sealed_finish(&sealed);
        assert_false(sealed_read(&sealed));
    }
    // A memo that is removed has only its key.
    for (size_t at = 0; at < 20; at++) {
        codec_put_forget(sealed.bytes, MEMO_ANSWER, SLICE("a key"));
        sealed.bytes[CODEC_HEAD + at] = 1;
        sealed_finish(&sealed);
        assert_false(sealed_read(&sealed));
    }
}

static void an_impossible_dead_letter_is_refused(void **state)
{
    // The moment, the attempts, the length of the name, the reason, the zeros, the name.
    static const struct {
        size_t at;
        char byte;
    } wrong[] = {{7, 1},  {9, 4},  {10, 4}, {10, 6}, {11, 1}, {12, 0},
                 {12, 5}, {13, 1}, {15, 1}, {16, 0}, {19, 0}};
    const struct job_image image = full_image();
    const size_t in_job = CODEC_JOB_FIXED + image.queue.len + image.key.len + image.reducer.len;
    struct job_change change = change_to(JOB_READY);
    struct sealed sealed;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        codec_put_move(sealed.bytes, &change, SLICE("letters"), false, &some_past);
        sealed.bytes[CODEC_HEAD + 52 + 7 + wrong[i].at] = wrong[i].byte;
        sealed_finish(&sealed);
        assert_false(sealed_read(&sealed));
        sealed_job(&sealed, &image);
        sealed.bytes[in_job + wrong[i].at] = wrong[i].byte;
        sealed_finish(&sealed);
        assert_false(sealed_read(&sealed));
    }
    // It is there, and the flag says that it is not.
    codec_put_move(sealed.bytes, &change, SLICE("letters"), false, &some_past);
    sealed.bytes[CODEC_HEAD + 27] = 0;
    sealed_finish(&sealed);
    assert_false(sealed_read(&sealed));
    sealed_job(&sealed, &image);
    sealed.bytes[CODEC_HEAD + 71] &= 127;
    sealed_finish(&sealed);
    assert_false(sealed_read(&sealed));
}

static void the_longest_names_come_back(void **state)
{
    char name[512];
    struct job_image image = full_image();
    struct codec_record record = {.number = 0};
    struct sealed sealed;

    (void)state;
    memset(name, 'n', sizeof name);
    image.queue = image.key = image.reducer = image.dead_letter.queue = slice_of(name, sizeof name);
    sealed_job(&sealed, &image);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_same_job(&record.job, &image);
    codec_put_pause(sealed.bytes, image.queue, 0, 0);
    sealed_finish(&sealed);
    assert_true(sealed_read_at(&sealed, SALT, OFFSET, &record));
    assert_same(record.name, image.queue);
    codec_put_move(sealed.bytes, &image.now, image.queue, true, &image.dead_letter);
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
        cmocka_unit_test(moves_come_back),
        cmocka_unit_test(changes_and_moves_of_older_versions_come_back_without_counters),
        cmocka_unit_test(an_impossible_move_is_refused),
        cmocka_unit_test(memos_come_back),
        cmocka_unit_test(a_memos_value_may_stand_elsewhere),
        cmocka_unit_test(a_memo_that_cannot_be_is_refused),
        cmocka_unit_test(an_impossible_dead_letter_is_refused),
        cmocka_unit_test(the_longest_names_come_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
