/* SPDX-License-Identifier: MIT */

// From a change to bytes in the batch that is being gathered. Nothing here waits or is refused:
// that was decided before (space.c).

#include "journal/append.h"

#include "core/base/log.h"
#include "journal/journal_private.h"
#include "journal/space.h"

// A longer body is referenced, not copied.
#define COPIED_MAX ((size_t)32 * 1024)

_Static_assert(CODEC_JOB_FIXED + CODEC_NAMES_MAX + COPIED_MAX + 8 <= CHUNK_BYTES,
               "a record whose body is copied must fit into a chunk");

// If there is no memory for a record, clients that wait for its position must not be answered.
static char *append_reserve(struct journal *journal, size_t len)
{
    char *to = batch_reserve(&journal->batches.gathering, &journal->batches.pool,
                             journal->segments.current, len);

    if (!to) {
        if (!journal->failure.given_up) {
            log_error("journal_no_memory", log_number("bytes", (int64_t)len));
        }
        journal->counters.errors++;
        journal->failure.given_up = true;
        journal->failure.gave_up = true;
    }
    return to;
}

// Each batch begins with space for a SYNCED record, which is filled in when the batch is given to
// the worker thread.
static bool append_begin(struct journal *journal)
{
    char *to;

    if (!batch_empty(&journal->batches.gathering)) {
        return true;
    }
    to = append_reserve(journal, CODEC_NUMBER_SIZE);
    if (to) {
        codec_put_number(to, CODEC_SYNCED, 0);
        journal->batches.gathering.marked = true;
    }
    return to != NULL;
}

void append_mark(struct journal *journal)
{
    (void)append_begin(journal);
}

// Space for the first `len` bytes of a record of `size` bytes; NULL without memory.
static char *append_space(struct journal *journal, size_t size, uint64_t extra, size_t len)
{
    space_choose(journal, size, extra);
    return append_begin(journal) ? append_reserve(journal, len) : NULL;
}

// Without memory the job is still counted: the ledger then has more than the log.
size_t append_job(struct journal *journal, const struct job *job, uint64_t extra)
{
    struct job_image image;
    size_t names;
    size_t size;
    bool refers;
    char *to;

    job_describe(journal->broker, job, &image);
    names = codec_names_len(&image);
    size = codec_job_size(names + image.body.len);
    refers = image.blob && image.body.len > COPIED_MAX;
    to = append_space(journal, size, extra, refers ? CODEC_JOB_FIXED + names : size);
    if (to) {
        size_t put = codec_put_job(to, &image, !refers);

        if (refers) {
            batch_refer(&journal->batches.gathering, image.blob, size - put - image.body.len);
        }
    }
    return size;
}

static size_t append_change(struct journal *journal, enum codec_type type, const struct job *job,
                            uint64_t extra)
{
    char *to = append_space(journal, CODEC_CHANGE_SIZE, extra, CODEC_CHANGE_SIZE);

    if (to) {
        struct job_change change;

        job_describe_change(journal->broker, job, &change);
        codec_put_change(to, type, &change);
    }
    return CODEC_CHANGE_SIZE;
}

// APART, and with functions of its own, is worth 1 % of a durable put, by tests/budget.
static APART size_t append_move(struct journal *journal, const struct record *record)
{
    const struct queue *queue = job_queue(journal->broker, record->job);
    struct slice name = queue_name(queue);
    size_t size = codec_move_size(name.len, dead_letter_len(record->dead_letter));
    char *to = append_space(journal, size, 0, size);

    if (to) {
        struct queue_info info;
        struct job_change change;

        broker_queue_info(journal->broker, queue, &info);
        job_describe_change(journal->broker, record->job, &change);
        codec_put_move(to, &change, name, info.kept, record->dead_letter);
    }
    ledger_resized(&journal->ledger, codec_job_size(record->was_len),
                   ledger_size_of(journal->broker, record->job));
    return size;
}

size_t append_number(struct journal *journal, enum codec_type type, uint64_t number)
{
    char *to = append_space(journal, CODEC_NUMBER_SIZE, 0, CODEC_NUMBER_SIZE);

    if (to) {
        codec_put_number(to, type, number);
    }
    return CODEC_NUMBER_SIZE;
}

size_t append_pause(struct journal *journal, const struct queue *queue)
{
    size_t size = codec_pause_size(queue_name(queue).len);
    char *to = append_space(journal, size, 0, size);
    nsec_t pause_for = 0;
    nsec_t until_at = 0;

    if (to) {
        (void)queue_describe_pause(journal->broker, queue, &pause_for, &until_at);
        codec_put_pause(to, queue_name(queue), pause_for, until_at);
    }
    queue_set_mark(journal->broker, queue, (uint32_t)journal->segments.current->number);
    return size;
}

// As append_pause(), and a long value is referenced.
size_t append_memo(struct journal *journal, const struct memo *memo)
{
    bool refers = memo->blob && memo->value.len > COPIED_MAX;
    size_t size = codec_memo_size(memo->key.len, memo->value.len);
    char *to = append_space(journal, size, 0, refers ? CODEC_MEMO_FIXED + memo->key.len : size);

    if (to) {
        size_t put = codec_put_memo(to, memo, !refers);

        if (refers) {
            batch_refer(&journal->batches.gathering, memo->blob, size - put - memo->value.len);
        }
    }
    memo_set_mark(journal->broker, memo, (uint32_t)journal->segments.current->number);
    return size;
}

static size_t append_forget(struct journal *journal, const struct memo *memo)
{
    size_t size = codec_memo_size(memo->key.len, 0);
    char *to = append_space(journal, size, 0, size);

    if (to) {
        codec_put_forget(to, memo->kind, memo->key);
    }
    return size;
}

static size_t append_submission(struct journal *journal, const struct job *job)
{
    size_t size = append_job(journal, job, RESERVED_END + RESERVED_BURIAL);

    ledger_add(&journal->ledger, journal->segments.current, job, size);
    if (job_id(job) < journal->batches.gathering.first_id) {
        journal->batches.gathering.first_id = job_id(job);
    }
    return size;
}

static size_t append_unbury(struct journal *journal, enum codec_type type,
                            const struct record *record)
{
    size_t size =
        append_change(journal, type, record->job, record->was_buried ? RESERVED_BURIAL : 0);

    if (record->was_buried) {
        ledger_unburied(&journal->ledger);
    }
    return size;
}

// A record with reserved bytes is taken off these first.
size_t append_record(struct journal *journal, const struct record *record)
{
    switch (record->kind) {
    case RECORD_SUBMIT:
        return append_submission(journal, record->job);
    case RECORD_RELEASE:
        return append_change(journal, CODEC_RELEASE, record->job, 0);
    case RECORD_START:
        return append_change(journal, CODEC_START, record->job, 0);
    case RECORD_SET:
        return append_change(journal, CODEC_SET, record->job, 0);
    case RECORD_MOVE:
        return append_move(journal, record);
    case RECORD_BURY:
        ledger_buried(&journal->ledger);
        return append_change(journal, CODEC_BURY, record->job, 0);
    case RECORD_KICK:
        return append_unbury(journal, CODEC_KICK, record);
    case RECORD_TAKE:
        return append_unbury(journal, CODEC_TAKE, record);
    case RECORD_END:
        ledger_remove(&journal->ledger, &journal->segments.list, record->job,
                      ledger_size_of(journal->broker, record->job));
        return append_number(journal, CODEC_END, job_id(record->job));
    case RECORD_PAUSE:
        return append_pause(journal, record->queue);
    case RECORD_MEMO:
        return append_memo(journal, record->memo);
    case RECORD_FORGET:
        return append_forget(journal, record->memo);
    }
    UNREACHABLE();
}

// APART is worth 0.6 % of a durable reserve and delete, by tests/budget.
static APART void append_block_of_ids(struct journal *journal, bool held, bool asks)
{
    uint64_t end = journal->ids.asked;
    char *to;

    if (held && asks && journal->opened) {
        ids_go_faster(&journal->ids);
    }
    if (asks) {
        end = ids_next_end(&journal->ids, broker_next_id(journal->broker));
    }
    to = append_space(journal, CODEC_NUMBER_SIZE, 0, CODEC_NUMBER_SIZE);
    // Without memory it is tried again at the end of the next turn.
    if (to) {
        codec_put_number(to, CODEC_IDS, end);
        journal->ids.asked = end;
    }
}

void append_ids(struct journal *journal)
{
    bool held = append_ids_short(journal);
    bool asks = ids_wanted(&journal->ids, broker_next_id(journal->broker));

    if (asks || (held && batch_empty(&journal->batches.gathering))) {
        append_block_of_ids(journal, held, asks);
    }
}

bool append_ids_due(const struct journal *journal)
{
    return ids_wanted(&journal->ids, broker_next_id(journal->broker)) ||
           (append_ids_short(journal) && batch_empty(&journal->batches.gathering));
}

bool append_ids_short(const struct journal *journal)
{
    return ids_short(&journal->ids, broker_next_id(journal->broker));
}
