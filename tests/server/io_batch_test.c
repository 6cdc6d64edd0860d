/* SPDX-License-Identifier: MIT */
// How threads hand things over and wake each other: batches, outboxes, sleepers, meters, and
// sockets on their way from one thread to another. All in one thread.
#include "server/io/io_thread.h"
#include "server/io/io_batch.h"

#include "tests/support/with_cmocka.h"
#include "tests/support/nth_alloc.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// More than any outbox here may have.
enum { MANY = 10 };

// A writer and a reader.
struct pair {
    struct sleeper writer;
    struct sleeper reader;
    struct mailbox queue;
    struct outbox outbox;
};

static int pair_setup(void **state)
{
    struct pair *pair = calloc(1, sizeof *pair);

    nth_alloc_fail(0);
    assert_true(sleeper_open(&pair->writer));
    assert_true(sleeper_open(&pair->reader));
    pair->outbox = (struct outbox){
        .to = &pair->queue, .reader = &pair->reader, .most = 3, .home.writer = &pair->writer};
    *state = pair;
    return 0;
}

// Reads everything that was handed over; returns the number of batches.
static unsigned read_all(struct pair *pair)
{
    struct io_batch *batch = io_batch_of(mailbox_take(&pair->queue));
    unsigned count = 0;

    while (batch) {
        struct io_batch *next = io_batch_next(batch);

        io_batch_return(batch);
        batch = next;
        count++;
    }
    return count;
}

// An outbox whose batches have not all returned stops the test.
static int pair_teardown(void **state)
{
    struct pair *pair = *state;

    nth_alloc_fail(0);
    (void)read_all(pair);
    outbox_clear(&pair->outbox);
    sleeper_close(&pair->writer);
    sleeper_close(&pair->reader);
    free(pair);
    return 0;
}

// How often the sleeper was woken since the last time.
static uint64_t wakes(const struct sleeper *sleeper)
{
    uint64_t count = 0;

    return read(sleeper->fd, &count, sizeof count) == sizeof count ? count : 0;
}

// Writes and hands over batches of one note until there is none to write; returns their number.
static unsigned fill(struct pair *pair)
{
    unsigned count = 0;

    while (count < MANY && outbox_room(&pair->outbox, 0)) {
        (void)outbox_note(&pair->outbox, NULL, 0, 0);
        outbox_flush(&pair->outbox);
        count++;
    }
    return count;
}

static void batches_are_taken_in_the_order_in_which_they_were_pushed(void **state)
{
    struct io_batch *batches = calloc(3, sizeof *batches);
    struct mailbox queue = {NULL};

    (void)state;
    assert_true(mailbox_empty(&queue));
    assert_null(io_batch_of(mailbox_take(&queue)));
    for (unsigned i = 0; i < 3; i++) {
        mailbox_put(&queue, &batches[i].mail);
    }
    assert_false(mailbox_empty(&queue));
    assert_ptr_equal(io_batch_of(mailbox_take(&queue)), &batches[0]);
    assert_ptr_equal(io_batch_next(&batches[0]), &batches[1]);
    assert_ptr_equal(io_batch_next(&batches[1]), &batches[2]);
    assert_null(io_batch_next(&batches[2]));
    assert_true(mailbox_empty(&queue));
    free(batches);
}

static void notes_keep_their_order_and_their_bytes(void **state)
{
    struct pair *pair = *state;
    const struct io_batch *batch;

    for (unsigned i = 0; i < 3; i++) {
        struct io_batch *to = outbox_room(&pair->outbox, 4);

        assert_non_null(to);
        memset(to->bytes + to->used, 'a' + (int)i, i + 2);
        (void)outbox_note(&pair->outbox, NULL, i, i + 2);
    }
    assert_true(mailbox_empty(&pair->queue));
    outbox_flush(&pair->outbox);
    batch = io_batch_of(mailbox_take(&pair->queue));
    assert_int_equal(batch->count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(batch->notes[i].what, i);
        assert_int_equal(note_bytes(batch, &batch->notes[i]).len, i + 2);
        assert_memory_equal(note_bytes(batch, &batch->notes[i]).ptr, (&"aaaa\0bbbb\0cccc"[5 * i]),
                            i + 2);
    }
    mailbox_put(&pair->queue, &((struct io_batch *)(uintptr_t)batch)->mail);
}

static void batch_with_no_room_for_a_note_or_its_bytes_is_handed_over(void **state)
{
    struct pair *pair = *state;

    for (unsigned i = 0; i < IO_BATCH_NOTES; i++) {
        assert_non_null(outbox_room(&pair->outbox, 0));
        (void)outbox_note(&pair->outbox, NULL, 0, 0);
    }
    assert_true(mailbox_empty(&pair->queue));
    assert_non_null(outbox_room(&pair->outbox, IO_BATCH_BYTES));
    assert_false(mailbox_empty(&pair->queue));
    (void)outbox_note(&pair->outbox, NULL, 0, IO_BATCH_BYTES - 1);
    // It has room for one more byte, and not for two.
    assert_int_equal(outbox_room(&pair->outbox, 1)->count, 1);
    assert_int_equal(outbox_room(&pair->outbox, 2)->count, 0);
    assert_int_equal(read_all(pair), 2);
}

static void empty_batch_is_not_handed_over(void **state)
{
    struct pair *pair = *state;

    sleeper_begin(&pair->reader);
    outbox_flush(&pair->outbox);
    assert_non_null(outbox_room(&pair->outbox, 0));
    outbox_flush(&pair->outbox);
    assert_true(mailbox_empty(&pair->queue));
    assert_int_equal(wakes(&pair->reader), 0);
}

static void number_of_batches_is_limited(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(fill(pair), 3);
    assert_false(outbox_may_write(&pair->outbox));
    assert_int_equal(read_all(pair), 3);
    assert_true(outbox_may_write(&pair->outbox));
    assert_int_equal(fill(pair), 3);
}

// After a burst, the memory that it needed is freed.
static void of_returned_batches_two_are_kept(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(fill(pair), 3);
    assert_int_equal(read_all(pair), 3);
    nth_alloc_fail_from(1);
    assert_int_equal(fill(pair), 2);
    nth_alloc_fail(0);
}

static void writer_without_a_batch_is_woken_by_the_first_returned_one(void **state)
{
    struct pair *pair = *state;

    (void)fill(pair);
    assert_false(outbox_may_write(&pair->outbox));
    sleeper_begin(&pair->writer);
    (void)read_all(pair);
    assert_int_equal(wakes(&pair->writer), 1);
    assert_true(outbox_may_write(&pair->outbox));
}

static void writer_with_a_batch_is_not_woken_by_returned_ones(void **state)
{
    struct pair *pair = *state;

    assert_non_null(outbox_room(&pair->outbox, 0));
    (void)outbox_note(&pair->outbox, NULL, 0, 0);
    outbox_flush(&pair->outbox);
    assert_true(outbox_may_write(&pair->outbox));
    sleeper_begin(&pair->writer);
    (void)read_all(pair);
    assert_int_equal(wakes(&pair->writer), 0);
}

// The batch that returned between the check and the question.
static void returned_batch_may_be_written(void **state)
{
    struct pair *pair = *state;

    (void)fill(pair);
    (void)read_all(pair);
    assert_true(outbox_may_write(&pair->outbox));
}

static void outbox_without_memory_writes_again_when_a_batch_returns(void **state)
{
    struct pair *pair = *state;

    assert_non_null(outbox_room(&pair->outbox, 0));
    (void)outbox_note(&pair->outbox, NULL, 0, 0);
    outbox_flush(&pair->outbox);
    nth_alloc_fail_from(1);
    assert_null(outbox_room(&pair->outbox, 0));
    // More batches may exist, but memory is not asked for again and again meanwhile.
    assert_false(outbox_may_write(&pair->outbox));
    sleeper_begin(&pair->writer);
    (void)read_all(pair);
    assert_int_equal(wakes(&pair->writer), 1);
    assert_true(outbox_may_write(&pair->outbox));
    assert_non_null(outbox_room(&pair->outbox, 0));
    nth_alloc_fail(0);
}

static void outbox_that_had_no_memory_once_has_its_share_later(void **state)
{
    struct pair *pair = *state;

    nth_alloc_fail(1);
    assert_null(outbox_room(&pair->outbox, 0));
    assert_int_equal(fill(pair), 3);
}

static void thread_that_is_awake_is_not_woken(void **state)
{
    struct pair *pair = *state;

    sleeper_wake(&pair->reader);
    assert_int_equal(wakes(&pair->reader), 0);
    sleeper_begin(&pair->reader);
    sleeper_end(&pair->reader);
    sleeper_wake(&pair->reader);
    assert_int_equal(wakes(&pair->reader), 0);
}

static void thread_that_sleeps_is_woken_once(void **state)
{
    struct pair *pair = *state;

    sleeper_begin(&pair->reader);
    (void)fill(pair);
    sleeper_wake(&pair->reader);
    assert_int_equal(wakes(&pair->reader), 1);
    sleeper_begin(&pair->reader);
    sleeper_wake(&pair->reader);
    assert_int_equal(wakes(&pair->reader), 1);
}

static void meter_measures_the_sleep_of_its_thread(void **state)
{
    struct meter meter = {0};

    (void)state;
    assert_int_equal(meter_slept(&meter, 1000), 0);
    meter_sleep(&meter, 1000);
    assert_int_equal(meter_slept(&meter, 1300), 300);
    meter_wake(&meter, 1500);
    assert_int_equal(meter_slept(&meter, 2000), 500);
    meter_sleep(&meter, 3000);
    assert_int_equal(meter_slept(&meter, 3001), 501);
    // A thread that fell asleep after the moment in question.
    assert_int_equal(meter_slept(&meter, 2999), 500);
}

static void next_socket_is_for_the_thread_that_has_the_fewest(void **state)
{
    struct io_thread *threads = calloc(3, sizeof *threads);
    const struct io_common common = {.threads = threads, .count = 3};

    (void)state;
    assert_ptr_equal(io_common_fewest(&common), &threads[0]);
    io_thread_expect_link(&threads[0]);
    assert_ptr_equal(io_common_fewest(&common), &threads[1]);
    io_thread_expect_link(&threads[1]);
    assert_ptr_equal(io_common_fewest(&common), &threads[2]);
    io_thread_expect_link(&threads[2]);
    io_thread_expect_link(&threads[0]);
    io_thread_lose_link(&threads[1]);
    assert_ptr_equal(io_common_fewest(&common), &threads[1]);
    assert_int_equal(io_thread_links(&threads[0]), 2);
    free(threads);
}

static void sockets_arrive_in_order_and_wake_the_thread(void **state)
{
    const struct io_service service = {.transport = &transport_plain};
    struct io_thread *thread = calloc(1, sizeof *thread);
    struct io_link *links[3];

    (void)state;
    assert_true(sleeper_open(&thread->sleeper));
    assert_true(mailbox_empty(&thread->arrivals));
    sleeper_begin(&thread->sleeper);
    for (unsigned i = 0; i < 3; i++) {
        links[i] = link_new(&service, -1, NULL);
        io_thread_send_link(thread, links[i]);
    }
    assert_int_equal(wakes(&thread->sleeper), 1);
    assert_false(mailbox_empty(&thread->arrivals));
    assert_ptr_equal(mailbox_take(&thread->arrivals), &links[0]->mail);
    assert_ptr_equal(links[0]->mail.next, &links[1]->mail);
    assert_ptr_equal(links[1]->mail.next, &links[2]->mail);
    assert_null(links[2]->mail.next);
    assert_true(mailbox_empty(&thread->arrivals));
    for (unsigned i = 0; i < 3; i++) {
        link_free(links[i]);
    }
    sleeper_close(&thread->sleeper);
    free(thread);
}

#define PAIR_TEST(f) cmocka_unit_test_setup_teardown(f, pair_setup, pair_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_are_taken_in_the_order_in_which_they_were_pushed),
        PAIR_TEST(notes_keep_their_order_and_their_bytes),
        PAIR_TEST(batch_with_no_room_for_a_note_or_its_bytes_is_handed_over),
        PAIR_TEST(empty_batch_is_not_handed_over),
        PAIR_TEST(number_of_batches_is_limited),
        PAIR_TEST(of_returned_batches_two_are_kept),
        PAIR_TEST(writer_without_a_batch_is_woken_by_the_first_returned_one),
        PAIR_TEST(writer_with_a_batch_is_not_woken_by_returned_ones),
        PAIR_TEST(returned_batch_may_be_written),
        PAIR_TEST(outbox_without_memory_writes_again_when_a_batch_returns),
        PAIR_TEST(outbox_that_had_no_memory_once_has_its_share_later),
        PAIR_TEST(thread_that_is_awake_is_not_woken),
        PAIR_TEST(thread_that_sleeps_is_woken_once),
        cmocka_unit_test(meter_measures_the_sleep_of_its_thread),
        cmocka_unit_test(next_socket_is_for_the_thread_that_has_the_fewest),
        cmocka_unit_test(sockets_arrive_in_order_and_wake_the_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
