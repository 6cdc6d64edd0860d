/* SPDX-License-Identifier: MIT */
#include "tests/journal/book.h"

#include "core/base/hash.h"
#include "tests/support/with_cmocka.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUBJECTS = 1 << 14, VERSIONS = 1 << 16, NAME = 24 };

// Pauses and memos have keys with these bits, which no id has.
#define PAUSE_KEY (UINT64_C(1) << 63)
#define MEMO_KEY (UINT64_C(1) << 62)

// A job, the pause of a queue, or a memo, and what never changes in it.
struct subject {
    uint64_t key;     // id; 0: none here
    char queue[NAME]; // of a pause; the key of a memo
    size_t queue_len;
    enum memo_kind memo;
    bool loose; // a memo that was replaced, or dropped, where the store had no room
    char name[NAME];
    struct job_image contract; // without its slices
    uint64_t body_len, body_sum;
    uint32_t attempts_most;     // the most that a record may contain
    const struct version *at;   // at the moment that is looked at; NULL: not yet there
    const struct version *last; // of all
    bool right;
};

// The state after a record, or an id that a client learns.
struct version {
    struct subject *subject; // NULL: an id
    uint64_t position;
    uint64_t id;
    bool gone;
    struct job_change now;
    char queue[NAME]; // of a job
    struct dead_letter past;
    char past_queue[NAME];
    uint32_t releases, buries, kicks;
    nsec_t pause_for, until_at;
    uint64_t memo_number, memo_len, memo_sum;
    struct subject *ends; // the kept lease of the job, which this version ends; or NULL
};

struct book {
    struct subject subjects[SUBJECTS];  // a hash table by key
    struct subject *used[SUBJECTS / 2]; // its members: the table has too many places to walk
    size_t subject_count;
    struct version versions[VERSIONS];
    size_t count;
    size_t base; // number of entries when the book began
    bool steps;  // the wall clock is set now and then
    bool shared; // several jobs may say that they hold the same key
};

static void book_clear(struct book *book)
{
    for (size_t i = 0; i < book->subject_count; i++) {
        *book->used[i] = (struct subject){0};
    }
    memset(book->versions, 0, book->count * sizeof *book->versions);
    book->subject_count = 0;
    book->count = 0;
}

// An unused book, all zero. It is large: under a sanitizer, allocating it takes longer than many
// tests need to fill it.
static struct book *kept_book;

struct book *book_new(void)
{
    struct book *book = kept_book ? kept_book : calloc(1, sizeof *book);

    assert_non_null(book);
    kept_book = NULL;
    return book;
}

void book_free(struct book *book)
{
    if (!book || kept_book) {
        free(book);
        return;
    }
    book_clear(book);
    book->base = 0;
    book->steps = false;
    book->shared = false;
    kept_book = book;
}

void book_let_clock_step(struct book *book)
{
    book->steps = true;
}

void book_let_keys_be_shared(struct book *book)
{
    book->shared = true;
}

static uint64_t sum(struct slice bytes)
{
    uint64_t sum = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < bytes.len; i++) {
        sum = (sum ^ (unsigned char)bytes.ptr[i]) * UINT64_C(1099511628211);
    }
    return sum;
}

// NULL if it is missing and `make` is false.
static struct subject *find(struct book *book, uint64_t key, bool make)
{
    size_t place = (size_t)hash_mix(key) % SUBJECTS;

    while (book->subjects[place].key && book->subjects[place].key != key) {
        place = (place + 1) % SUBJECTS;
    }
    if (!book->subjects[place].key) {
        if (!make) {
            return NULL;
        }
        assert_true(book->subject_count < SUBJECTS / 2);
        book->used[book->subject_count++] = &book->subjects[place];
        book->subjects[place].key = key;
    }
    return &book->subjects[place];
}

static uint64_t pause_key(struct slice queue)
{
    return sum(queue) | PAUSE_KEY;
}

static void keep(char *to, struct slice name)
{
    assert_true(name.len < NAME);
    if (name.len) {
        memcpy(to, name.ptr, name.len);
    }
    to[name.len] = '\0';
}

static struct version *add(struct book *book, struct subject *subject, uint64_t position)
{
    struct version *version = &book->versions[book->count++];

    assert_true(book->count < VERSIONS);
    *version = (struct version){.subject = subject, .position = position};
    if (subject) {
        subject->last = version;
    }
    return version;
}

//
// Writing
//

static struct subject *subject_of_job(struct book *book, const struct job_image *image)
{
    struct subject *subject = find(book, image->now.id, true);

    keep(subject->name, image->key);
    subject->contract = *image;
    subject->body_len = image->body.len;
    subject->body_sum = sum(image->body);
    return subject;
}

static void add_job(struct book *book, const struct job_image *image, bool gone, uint64_t position)
{
    struct subject *subject = find(book, image->now.id, false);
    struct version *version;

    // Attributes that never change are taken from the first description.
    if (!subject) {
        subject = subject_of_job(book, image);
    }
    version = add(book, subject, position);
    version->gone = gone;
    version->now = image->now;
    keep(version->queue, image->queue);
    version->past = image->dead_letter;
    keep(version->past_queue, image->dead_letter.queue);
    version->releases = image->now.counters.releases;
    version->buries = image->now.counters.buries;
    version->kicks = image->now.counters.kicks;
    if (subject->attempts_most < image->now.attempts) {
        subject->attempts_most = image->now.attempts;
    }
}

static void add_pause(struct book *book, const struct broker *broker, const struct queue *queue,
                      uint64_t position)
{
    struct subject *subject = find(book, pause_key(queue_name(queue)), true);
    struct version *version;

    keep(subject->queue, queue_name(queue));
    version = add(book, subject, position);
    version->gone = !queue_describe_pause(broker, queue, &version->pause_for, &version->until_at);
}

static uint64_t memo_key(const struct memo *memo)
{
    return ((sum(memo->key) ^ (uint64_t)memo->kind) & ~PAUSE_KEY) | MEMO_KEY;
}

void book_note_refusal(struct book *book, const struct record *record)
{
    struct subject *subject = record->memo ? find(book, memo_key(record->memo), false) : NULL;

    if (subject) {
        subject->loose = true;
    }
}

static void add_memo(struct book *book, const struct memo *memo, bool gone, uint64_t position)
{
    struct subject *subject = find(book, memo_key(memo), true);
    struct version *version;

    keep(subject->queue, memo->key);
    subject->queue_len = memo->key.len;
    subject->memo = memo->kind;
    version = add(book, subject, position);
    version->gone = gone;
    version->until_at = memo->until_at;
    version->memo_number = memo->number;
    version->memo_len = memo->value.len;
    version->memo_sum = sum(memo->value);
}

// The lease of the job, where one was ever kept.
static struct subject *lease_of(struct book *book, uint64_t id)
{
    uint64_t bytes = htole64(id);
    const struct memo memo = {.kind = MEMO_LEASE,
                              .key = slice_of((const char *)&bytes, sizeof bytes)};

    return find(book, memo_key(&memo), false);
}

void book_note(struct book *book, const struct broker *broker, const struct record *record,
               uint64_t position)
{
    struct job_image image;

    if (record->kind == RECORD_PAUSE) {
        add_pause(book, broker, record->queue, position);
    } else if (record->memo) {
        add_memo(book, record->memo, record->kind == RECORD_FORGET, position);
    } else {
        job_describe(broker, record->job, &image);
        add_job(book, &image, record->kind == RECORD_END, position);
        if (record->kind != RECORD_SUBMIT && record->kind != RECORD_SET) {
            book->versions[book->count - 1].ends = lease_of(book, image.now.id);
        }
    }
}

void book_note_id(struct book *book, uint64_t id, uint64_t position)
{
    add(book, NULL, position)->id = id;
}

void book_note_attempts(struct book *book, uint64_t id, uint32_t attempts)
{
    struct subject *subject = find(book, id, false);

    if (subject && subject->attempts_most < attempts) {
        subject->attempts_most = attempts;
    }
}

typedef void (*see_job)(struct book *book, const struct broker *broker, const struct job *job);

static void each_job(struct book *book, const struct broker *broker, see_job see)
{
    struct job_walk walk = {0};
    enum status status;

    do {
        const struct job *job;

        status = broker_job_next(broker, &walk, &job);
        if (status == STATUS_OK && job_is_durable(job)) {
            see(book, broker, job);
        }
    } while (status != STATUS_EMPTY);
}

static void begin_job(struct book *book, const struct broker *broker, const struct job *job)
{
    struct job_image image;

    job_describe(broker, job, &image);
    add_job(book, &image, false, 0);
}

static void begin_memos(struct book *book, const struct broker *broker)
{
    for (int kind = 0; kind < MEMO_KINDS; kind++) {
        const struct memo *memo;
        uint64_t cursor = 0;

        while ((memo = broker_memo_next(broker, (enum memo_kind)kind, &cursor))) {
            add_memo(book, memo, false, 0);
        }
    }
}

void book_begin(struct book *book, const struct broker *broker)
{
    const struct queue *queue;
    uint32_t cursor = 0;

    book_clear(book);
    each_job(book, broker, begin_job);
    while ((queue = broker_queue_next((struct broker *)(uintptr_t)broker, &cursor))) {
        add_pause(book, broker, queue, 0);
    }
    begin_memos(book, broker);
    book->base = book->count;
}

size_t book_jobs(const struct book *book)
{
    size_t count = 0;

    for (size_t i = 0; i < book->subject_count; i++) {
        const struct subject *subject = book->used[i];

        count += !(subject->key & (PAUSE_KEY | MEMO_KEY)) && !subject->last->gone;
    }
    return count;
}

//
// Comparing
//

static bool same_bytes(const char *text, struct slice bytes)
{
    return strlen(text) == bytes.len && (bytes.len == 0 || memcmp(text, bytes.ptr, bytes.len) == 0);
}

static bool same_contract(const struct book *book, const struct subject *subject,
                          const struct job_image *image)
{
    const struct job_image *first = &subject->contract;

    return same_bytes(subject->at->queue, image->queue) && same_bytes(subject->name, image->key) &&
           first->key_kind == image->key_kind && first->on_fail == image->on_fail &&
           first->on_loss == image->on_loss && first->max_attempts == image->max_attempts &&
           first->ttr == image->ttr && (book->steps || first->created_ms == image->created_ms) &&
           subject->body_len == image->body.len && subject->body_sum == sum(image->body);
}

// A delay is over, or is no longer than it was. A delay that was over may have ended by a clock
// that was ahead.
static bool same_delay(const struct job_change *then, const struct job_change *now, nsec_t wall)
{
    if (now->state != JOB_DELAYED) {
        return now->state == JOB_READY;
    }
    if (now->on_wall) {
        return then->state == JOB_READY;
    }
    return now->due_at - wall <= nsec_from_seconds(then->delay);
}

// A delay that is over is over.
static bool same_state(const struct book *book, const struct job_change *then,
                       const struct job_change *now, nsec_t wall)
{
    if (book->steps && then->state != JOB_BURIED && !then->on_wall) {
        return same_delay(then, now, wall);
    }
    // A calendar moment may have passed by a clock that was ahead.
    if (book->steps && then->state == JOB_DELAYED && now->state == JOB_READY) {
        return true;
    }
    if (then->state == JOB_DELAYED && then->due_at <= wall) {
        return now->state == JOB_READY;
    }
    if (then->state == JOB_DELAYED &&
        (then->due_at != now->due_at || then->on_wall != now->on_wall)) {
        return false;
    }
    return then->state == now->state && (then->state != JOB_BURIED || then->burial == now->burial);
}

static bool same_past(const struct version *version, const struct dead_letter *past)
{
    return version->past.why == past->why && version->past.attempts == past->attempts &&
           version->past.at_ms == past->at_ms && same_bytes(version->past_queue, past->queue);
}

// (If memory ran out, a release was kept, but not counted.)
static bool job_is_right(const struct book *book, const struct subject *subject,
                         const struct broker *broker)
{
    const struct job *job = broker_find(broker, subject->key);
    const struct version *version = subject->at;
    struct job_image image;

    if (!version || version->gone) {
        return !job;
    }
    if (!job) {
        return false;
    }
    job_describe(broker, job, &image);
    return same_contract(book, subject, &image) && same_past(version, &image.dead_letter) &&
           same_state(book, &version->now, &image.now, broker_now(broker).wall) &&
           version->now.pri == image.now.pri && version->now.delay == image.now.delay &&
           (book->shared || version->now.keyed == image.now.keyed) &&
           version->releases <= image.now.counters.releases &&
           version->buries == image.now.counters.buries &&
           version->kicks == image.now.counters.kicks &&
           image.now.attempts >= version->now.attempts &&
           image.now.attempts <= subject->attempts_most;
}

static bool pause_is_right(const struct book *book, const struct subject *subject,
                           const struct broker *broker)
{
    const struct queue *queue =
        broker_queue_find((struct broker *)(uintptr_t)broker, slice_str(subject->queue));
    const struct version *version = subject->at;
    nsec_t pause_for = 0;
    nsec_t until_at = 0;
    bool paused = queue && queue_describe_pause(broker, queue, &pause_for, &until_at);

    if (book->steps) {
        return !paused || until_at - broker_now(broker).wall <= pause_for;
    }
    if (!version || version->gone || version->until_at <= broker_now(broker).wall) {
        return !paused;
    }
    return paused && pause_for == version->pause_for && until_at == version->until_at;
}

// If the clock was set, a memo that was due to end may have ended, and one that had ended may be
// back. A memo that was replaced or dropped in memory only may be as it was, or missing.
static bool memo_is_right(const struct book *book, const struct subject *subject,
                          const struct broker *broker)
{
    const struct version *version = subject->at;
    const struct memo *memo =
        broker_memo_find(broker, subject->memo, slice_of(subject->queue, subject->queue_len));

    if (!version || version->gone || version->until_at <= broker_now(broker).wall) {
        return !memo || (book->steps && memo->until_at != NSEC_NEVER);
    }
    if (!memo) {
        return (book->steps && version->until_at != NSEC_NEVER) ||
               (subject->loose && (subject->memo == MEMO_RESULT || subject->memo == MEMO_UNIQUE ||
                                   subject->memo == MEMO_LEASE));
    }
    return memo->until_at == version->until_at && memo->number == version->memo_number &&
           memo->value.len == version->memo_len && sum(memo->value) == version->memo_sum;
}

static bool is_right(const struct book *book, const struct subject *subject,
                     const struct broker *broker)
{
    if (subject->key & PAUSE_KEY) {
        return pause_is_right(book, subject, broker);
    }
    return subject->key & MEMO_KEY ? memo_is_right(book, subject, broker)
                                   : job_is_right(book, subject, broker);
}

// The number of versions that must have survived: up to the last one that was acknowledged.
static size_t kept_count(const struct book *book, uint64_t kept)
{
    size_t count = book->count;

    while (count > book->base) {
        const struct version *last = &book->versions[count - 1];

        if (last->subject && last->position > 0 && last->position <= kept) {
            break;
        }
        count--;
    }
    return count;
}

static void describe_change(const char *when, const struct job_change *change)
{
    print_error("  %s: state %d, pri %u, delay %u, keyed %d, attempts %d, burial %" PRIu64
                ", due at %" PRId64 "\n",
                when, change->state, change->pri, change->delay, change->keyed, change->attempts,
                change->burial, change->due_at);
}

static void describe(const struct subject *subject, const struct broker *broker)
{
    const struct job *job = broker_find(broker, subject->key);
    const struct version *version = subject->at;
    struct job_image image;

    if (subject->key & (PAUSE_KEY | MEMO_KEY)) {
        print_error("the %s %s is not as it was\n", subject->key & PAUSE_KEY ? "pause of" : "memo",
                    subject->queue);
        return;
    }
    print_error("job %" PRIu64 "\n", subject->key);
    if (version && !version->gone) {
        describe_change("was", &version->now);
        print_error("  dead %d from %s\n", version->past.why, version->past_queue);
        print_error("  releases %u buries %u kicks %u, position %" PRIu64 "\n", version->releases,
                    version->buries, version->kicks, version->position);
    }
    if (job) {
        job_describe(broker, job, &image);
        describe_change("is", &image.now);
        print_error("  releases %u buries %u kicks %u\n", image.now.counters.releases,
                    image.now.counters.buries, image.now.counters.kicks);
    }
}

// Compares with the state after that many versions. Returns how many subjects differ.
static size_t look_at(struct book *book, const struct broker *broker, size_t count)
{
    size_t wrong = 0;

    for (size_t i = 0; i < book->subject_count; i++) {
        book->used[i]->at = NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (book->versions[i].subject) {
            book->versions[i].subject->at = &book->versions[i];
        }
        if (book->versions[i].ends) {
            book->versions[i].ends->at = NULL;
        }
    }
    for (size_t i = 0; i < book->subject_count; i++) {
        struct subject *subject = book->used[i];

        subject->right = is_right(book, subject, broker);
        wrong += !subject->right;
    }
    return wrong;
}

static void complain(struct book *book, const struct broker *broker, size_t kept)
{
    print_error("%zu of %zu records must have survived\n", kept, book->count);
    (void)look_at(book, broker, kept);
    for (size_t i = 0; i < book->subject_count; i++) {
        if (!book->used[i]->right) {
            describe(book->used[i], broker);
        }
    }
    fail_msg("%s", "what came back is not what was there at any moment");
}

static void expect_known(struct book *book, const struct broker *broker, const struct job *job)
{
    (void)broker;
    assert_non_null(find(book, job_id(job), false));
}

static void expect_new_ids(const struct book *book, const struct broker *broker, uint64_t told)
{
    for (size_t i = 0; i < book->count; i++) {
        const struct version *version = &book->versions[i];
        uint64_t id = version->subject ? version->now.id : version->id;

        if (told > 0 && version->position <= told) {
            assert_true(id < broker_next_id(broker));
        }
    }
}

// Moves the subject to the version `at`. Returns how many subjects differ then; before, `wrong` of
// them did.
static size_t look_again(const struct book *book, struct subject *subject, const struct version *at,
                         const struct broker *broker, size_t wrong)
{
    wrong -= !subject->right;
    subject->at = at;
    subject->right = is_right(book, subject, broker);
    return wrong + !subject->right;
}

void book_expect(struct book *book, const struct broker *broker, uint64_t kept, uint64_t told)
{
    size_t count = kept_count(book, kept);
    size_t wrong = look_at(book, broker, count);

    for (size_t i = count; wrong > 0 && i < book->count; i++) {
        struct subject *subject = book->versions[i].subject;

        if (subject) {
            wrong = look_again(book, subject, &book->versions[i], broker, wrong);
        }
        if (book->versions[i].ends) {
            wrong = look_again(book, book->versions[i].ends, NULL, broker, wrong);
        }
    }
    if (wrong > 0) {
        complain(book, broker, count);
    }
    each_job(book, broker, expect_known);
    expect_new_ids(book, broker, told);
}
