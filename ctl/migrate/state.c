/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/state.h"

#include "core/base/digits.h"
#include "core/base/slice.h"
#include "ctl/print/need.h"
#include "ctl/print/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

// A line is a word, then numbers. Adds no line end.
static void state_add_line(struct text *to, const char *word, const uint64_t *numbers, size_t count)
{
    char digits[DIGITS_MAX];

    text_put(to, word);
    for (size_t i = 0; i < count; i++) {
        text_put_char(to, ' ');
        text_add(to, slice_of(digits, (size_t)(digits_write(digits, numbers[i]) - digits)));
    }
}

// Reads `word` and `count` numbers, and sets `*rest` to the remaining line.
static bool state_read_line(struct slice line, struct slice word, uint64_t *numbers, size_t count,
                            struct slice *rest)
{
    if (line.len < word.len || memcmp(line.ptr, word.ptr, word.len) != 0) {
        return false;
    }
    line = slice_from(line, word.len);
    for (size_t i = 0; i < count; i++) {
        const char *end;
        size_t len;

        if (line.len == 0 || line.ptr[0] != ' ') {
            return false;
        }
        line = slice_from(line, 1);
        end = line.len ? memchr(line.ptr, ' ', line.len) : NULL;
        len = end ? (size_t)(end - line.ptr) : line.len;
        if (!digits_read(slice_of(line.ptr, len), &numbers[i])) {
            return false;
        }
        line = slice_from(line, len);
    }
    *rest = line;
    return true;
}

#define STATE_FORMAT "tandem-migration "
#define STATE_HEAD STATE_FORMAT "3"
// A batch's name: 16 random bytes in hexadecimal.
#define BATCH_NAME_SIZE 33
// A larger file is truncated when no batch is unfinished.
#define SIZE_USUAL ((size_t)4 << 20)
#define SIZE_MAX_READ ((size_t)256 << 20)

struct migration_state {
    struct problem *problem;
    struct migration *migration;
    struct text path;
    struct text head; // the first lines
    struct text line; // what is to be written
    int fd;
    size_t size;
    uint64_t last;
    char batch[BATCH_NAME_SIZE];
    bool under_way;
};

static bool state_fail(const struct migration_state *state, const char *what)
{
    (void)problem_set(state->problem, OUTCOME_FAILED, "%s %s: %s", text_string(&state->path), what,
                      strerror(errno));
    return false;
}

//
// Writing
//

static bool state_write(struct migration_state *state, bool sync)
{
    size_t at = 0;

    while (at < state->line.len) {
        ssize_t count = write(state->fd, state->line.data + at, state->line.len - at);

        if (count < 0 && errno != EINTR) {
            return state_fail(state, "cannot be written");
        }
        at += count > 0 ? (size_t)count : 0;
    }
    state->size += state->line.len;
    text_cut(&state->line, 0);
    if (sync && fdatasync(state->fd) != 0) {
        return state_fail(state, "cannot be synced");
    }
    return true;
}

// A missing id is written as `-`.
static const char *state_id_text(const char *id)
{
    return *id ? id : "-";
}

// The name is unique, because a target remembers jobs by it.
static bool state_name_batch(struct migration_state *state)
{
    unsigned char bytes[(BATCH_NAME_SIZE - 1) / 2];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return state_fail(state, "cannot name a batch");
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        (void)snprintf(state->batch + 2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

bool state_intend(struct migration_state *state, const struct job_batch *batch)
{
    if (!state_name_batch(state)) {
        return false;
    }
    text_format(&state->line, "batch %s\n", state->batch);
    text_format(&state->line, "servers %s %s\n", state_id_text(state->migration->source_id),
                state_id_text(state->migration->target_id));
    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        state_add_line(&state->line, "i", (const uint64_t[]){item->from, item->hash, item->put_by},
                       3);
        text_put_char(&state->line, ' ');
        text_put_char(&state->line, (char)item->kind);
        text_put_char(&state->line, '\n');
    }
    state_add_line(&state->line, "intended", &(const uint64_t){batch->count}, 1);
    text_put_char(&state->line, '\n');
    state->under_way = true;
    return state_write(state, true);
}

bool state_acknowledge(struct migration_state *state, const struct job_batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        if (item->to == 0) {
            continue;
        }
        state_add_line(&state->line, "a", (const uint64_t[]){item->from, item->to}, 2);
        text_put_char(&state->line, '\n');
        state->last = item->to > state->last ? item->to : state->last;
    }
    state_add_line(&state->line, "acknowledged", &(const uint64_t){batch->count}, 1);
    text_put_char(&state->line, '\n');
    return state_write(state, true);
}

bool state_done(struct migration_state *state, const struct migration_counts *tally)
{
    const uint64_t numbers[] = {tally->moved,      tally->duplicates, tally->doubtful,
                                tally->taken_back, tally->no_ttr,     state->last};

    if (state->size > SIZE_USUAL || state->size == 0) {
        if (ftruncate(state->fd, 0) != 0 || lseek(state->fd, 0, SEEK_SET) != 0) {
            return state_fail(state, "cannot be truncated");
        }
        state->size = 0;
        text_add(&state->line, text_slice(&state->head));
    }
    state_add_line(&state->line, "done", numbers, sizeof numbers / sizeof *numbers);
    text_put_char(&state->line, '\n');
    state->under_way = false;
    return state_write(state, false);
}

//
// Reading
//

// The progress of reading.
struct state_reading {
    struct job_batch *unfinished;
    struct migration_counts *tally;
    bool intended;
    size_t next; // of the items: they are acknowledged in their order
};

static bool state_kind_valid(char letter)
{
    return letter == (char)KIND_READY || letter == (char)KIND_DELAYED ||
           letter == (char)KIND_BURIED;
}

static bool state_take_item(struct state_reading *reading, const uint64_t *numbers,
                            struct slice kind)
{
    struct item *item;

    if (kind.len != 2 || kind.ptr[0] != ' ' || !state_kind_valid(kind.ptr[1])) {
        return false;
    }
    item = job_batch_add(reading->unfinished, numbers[0], (enum kind)kind.ptr[1]);
    item->hash = numbers[1];
    item->put_by = numbers[2];
    return true;
}

static bool state_take_acknowledged(struct state_reading *reading, const uint64_t *ids)
{
    struct job_batch *unfinished = reading->unfinished;

    while (reading->next < unfinished->count && unfinished->items[reading->next].from != ids[0]) {
        reading->next++;
    }
    if (reading->next == unfinished->count) {
        return false;
    }
    unfinished->items[reading->next].to = ids[1];
    return true;
}

static bool state_take_servers(struct migration_state *state, struct slice line)
{
    const char *space = line.len ? memchr(line.ptr, ' ', line.len) : NULL;
    size_t len = space ? (size_t)(space - line.ptr) : 0;
    struct slice target = slice_from(line, space ? len + 1 : line.len);

    if (!space || len > SERVER_ID_MAX || target.len > SERVER_ID_MAX) {
        return false;
    }
    memcpy(state->migration->source_id_before, line.ptr, len);
    state->migration->source_id_before[len] = '\0';
    memcpy(state->migration->target_id_before, target.ptr, target.len);
    state->migration->target_id_before[target.len] = '\0';
    return true;
}

static bool state_take_batch(struct migration_state *state, struct slice name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (!strchr("0123456789abcdef", name.ptr[i])) {
            return false;
        }
    }
    if (name.len != BATCH_NAME_SIZE - 1) {
        return false;
    }
    memcpy(state->batch, name.ptr, name.len);
    return true;
}

static bool state_take_line(struct migration_state *state, struct state_reading *reading,
                            struct slice line)
{
    uint64_t numbers[6];
    struct slice rest;

    if (state_read_line(line, SLICE("done"), numbers, 6, &rest) && rest.len == 0) {
        *reading->tally = (struct migration_counts){.moved = numbers[0],
                                                    .duplicates = numbers[1],
                                                    .doubtful = numbers[2],
                                                    .taken_back = numbers[3],
                                                    .no_ttr = numbers[4]};
        state->last = numbers[5] > state->last ? numbers[5] : state->last;
        job_batch_clear(reading->unfinished);
        reading->intended = false;
        reading->next = 0;
        return true;
    }
    if (state_read_line(line, SLICE("batch "), numbers, 0, &rest)) {
        return state_take_batch(state, rest);
    }
    if (state_read_line(line, SLICE("servers "), numbers, 0, &rest)) {
        return state_take_servers(state, rest);
    }
    if (state_read_line(line, SLICE("intended"), numbers, 1, &rest) && rest.len == 0) {
        reading->intended = true;
        return numbers[0] == reading->unfinished->count;
    }
    if (state_read_line(line, SLICE("acknowledged"), numbers, 1, &rest) && rest.len == 0) {
        return reading->intended;
    }
    if (state_read_line(line, SLICE("a"), numbers, 2, &rest) && rest.len == 0) {
        state->last = numbers[1] > state->last ? numbers[1] : state->last;
        return state_take_acknowledged(reading, numbers);
    }
    return state_read_line(line, SLICE("i"), numbers, 3, &rest) &&
           state_take_item(reading, numbers, rest);
}

static bool state_refuse(const struct migration_state *state, struct slice whole)
{
    bool older = whole.len >= sizeof STATE_FORMAT &&
                 memcmp(whole.ptr, STATE_FORMAT, sizeof STATE_FORMAT - 1) == 0 &&
                 memcmp(whole.ptr, STATE_HEAD, sizeof STATE_HEAD - 1) != 0;

    (void)problem_set(state->problem, OUTCOME_USAGE,
                      older
                          ? "%s was written by another version of tandemctl: finish the migration "
                            "with that version; without the file, jobs may be delivered twice"
                          : "%s is not the state of a migration between these servers",
                      text_string(&state->path));
    return false;
}

static bool state_parse(struct migration_state *state, struct state_reading *reading,
                        struct slice whole)
{
    const char *end;

    if (whole.len < state->head.len || memcmp(whole.ptr, state->head.data, state->head.len) != 0) {
        return state_refuse(state, whole);
    }
    whole = slice_from(whole, state->head.len);
    while (whole.len > 0 && (end = memchr(whole.ptr, '\n', whole.len)) != NULL) {
        struct slice line = slice_of(whole.ptr, (size_t)(end - whole.ptr));

        if (!state_take_line(state, reading, line)) {
            (void)problem_set(state->problem, OUTCOME_FAILED, "%s is damaged",
                              text_string(&state->path));
            return false;
        }
        whole = slice_from(whole, line.len + 1);
    }
    // Without `intended`, no put of the batch was sent.
    if (!reading->intended) {
        job_batch_clear(reading->unfinished);
    }
    // A line without an end is cut off.
    state->size -= whole.len;
    return (ftruncate(state->fd, (off_t)state->size) == 0 && lseek(state->fd, 0, SEEK_END) >= 0) ||
           state_fail(state, "cannot be cut");
}

static bool state_read_file(struct migration_state *state, struct state_reading *reading)
{
    struct stat about;
    char *whole;
    bool good = true;

    if (fstat(state->fd, &about) != 0 || (size_t)about.st_size > SIZE_MAX_READ) {
        errno = EFBIG;
        return state_fail(state, "cannot be read");
    }
    whole = need(malloc((size_t)about.st_size + 1));
    while (good && state->size < (size_t)about.st_size) {
        ssize_t count = read(state->fd, whole + state->size, (size_t)about.st_size - state->size);

        good = count > 0 || state_fail(state, "cannot be read");
        state->size += good ? (size_t)count : 0;
    }
    // A file without its first lines was being created or truncated, and no batch was unfinished.
    if (good &&
        (state->size >= state->head.len || memcmp(whole, state->head.data, state->size) != 0)) {
        good = state_parse(state, reading, slice_of(whole, state->size));
    } else {
        state->size = 0;
    }
    free(whole);
    return good;
}

//
// The file
//

// Adds an address without its scheme, as a part of a file name.
static void state_add_address(struct text *to, const char *name)
{
    const char *scheme = strstr(name, "://");

    for (const char *at = scheme ? scheme + 3 : name; *at; at++) {
        if (*at == '/') {
            text_put_char(to, '_');
        } else {
            text_put_char(to, *at);
        }
    }
}

static void state_find_path(struct migration_state *state,
                            const struct migration_settings *settings)
{
    const char *home = getenv("XDG_STATE_HOME");

    if (settings->state) {
        text_put(&state->path, settings->state);
        return;
    }
    if (home && *home) {
        (void)mkdir(home, 0700);
        text_format(&state->path, "%s/", home);
    }
    text_put(&state->path, "tandem-migrate-");
    state_add_address(&state->path, state->migration->from_name);
    text_put(&state->path, "-to-");
    state_add_address(&state->path, state->migration->to_name);
    text_put(&state->path, ".state");
}

static bool state_open_file(struct migration_state *state)
{
    struct stat about;

    state->fd = open(text_string(&state->path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (state->fd < 0) {
        return state_fail(state, "cannot be opened");
    }
    // Another process may have removed the file between our open and our lock.
    if (flock(state->fd, LOCK_EX | LOCK_NB) != 0 || fstat(state->fd, &about) != 0 ||
        about.st_nlink == 0) {
        (void)problem_set(state->problem, OUTCOME_NOT_NOW, "%s is in use by another migration",
                          text_string(&state->path));
        return false;
    }
    return true;
}

bool state_open(struct migration_state **opened, struct migration *migration,
                struct job_batch *unfinished)
{
    const struct migration_settings *settings = migration->settings;
    struct migration_state *state = need(calloc(1, sizeof *state));
    struct state_reading reading = {.unfinished = unfinished, .tally = &migration->counts};

    state->problem = migration->problem;
    state->migration = migration;
    text_format(&state->head, STATE_HEAD "\nfrom %s\nto %s\n", state->migration->from_name,
                state->migration->to_name);
    state_find_path(state, settings);
    *opened = state;
    // Until the file is read, it must not be removed.
    state->under_way = true;
    if (!state_open_file(state) || !state_read_file(state, &reading)) {
        state_close(state);
        *opened = NULL;
        return false;
    }
    state->under_way = unfinished->count > 0;
    // This also ends a batch whose puts were not begun.
    return state->under_way || state_done(state, &migration->counts);
}

void state_close(struct migration_state *state)
{
    if (state) {
        if (!state->under_way) {
            (void)unlink(text_string(&state->path));
        }
        if (state->fd >= 0) {
            (void)close(state->fd);
        }
        text_free(&state->path);
        text_free(&state->head);
        text_free(&state->line);
        free(state);
    }
}

const char *state_path(const struct migration_state *state)
{
    return text_string(&state->path);
}

bool state_has_unfinished(const struct migration_state *state)
{
    return state && state->under_way;
}

const char *state_batch(const struct migration_state *state)
{
    return state->batch;
}

uint64_t state_last(const struct migration_state *state)
{
    return state->last;
}
