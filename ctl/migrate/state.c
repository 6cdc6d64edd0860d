/* SPDX-License-Identifier: MIT */
#include "ctl/migrate/state.h"

#include "ctl/migrate/line.h"
#include "ctl/print/need.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORM "tandem-migration "
#define HEAD FORM "3"
// A batch's name: 16 random bytes in hexadecimal.
#define BATCH_NAME_SIZE 33
// What is larger than this is begun anew.
#define SIZE_USUAL ((size_t)4 << 20)
#define SIZE_MAX_READ ((size_t)256 << 20)

struct state {
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

static bool fail(const struct state *state, const char *what)
{
    (void)problem_set(state->problem, OUTCOME_FAILED, "%s %s: %s", text_string(&state->path), what,
                      strerror(errno));
    return false;
}

//
// Writing
//

static bool write_out(struct state *state, bool sync)
{
    size_t at = 0;

    while (at < state->line.len) {
        ssize_t count = write(state->fd, state->line.data + at, state->line.len - at);

        if (count < 0 && errno != EINTR) {
            return fail(state, "cannot be written");
        }
        at += count > 0 ? (size_t)count : 0;
    }
    state->size += state->line.len;
    text_cut(&state->line, 0);
    if (sync && fdatasync(state->fd) != 0) {
        return fail(state, "cannot be synced");
    }
    return true;
}

// One that has no id is written as `-`.
static const char *id_or_none(const char *id)
{
    return *id ? id : "-";
}

// Never the same again: a target remembers jobs by it.
static bool name_batch(struct state *state)
{
    unsigned char bytes[(BATCH_NAME_SIZE - 1) / 2];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        return fail(state, "cannot name a batch");
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        (void)snprintf(state->batch + 2 * i, 3, "%02x", bytes[i]);
    }
    return true;
}

bool state_intend(struct state *state, const struct load *batch)
{
    if (!name_batch(state)) {
        return false;
    }
    text_format(&state->line, "batch %s\n", state->batch);
    text_format(&state->line, "servers %s %s\n", id_or_none(state->migration->source_id),
                id_or_none(state->migration->target_id));
    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        line_add(&state->line, "i", (const uint64_t[]){item->from, item->hash, item->put_by}, 3);
        text_put_char(&state->line, ' ');
        text_put_char(&state->line, (char)item->kind);
        text_put_char(&state->line, '\n');
    }
    line_add(&state->line, "intended", &(const uint64_t){batch->count}, 1);
    text_put_char(&state->line, '\n');
    state->under_way = true;
    return write_out(state, true);
}

bool state_acknowledge(struct state *state, const struct load *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        const struct item *item = &batch->items[i];

        if (item->to == 0) {
            continue;
        }
        line_add(&state->line, "a", (const uint64_t[]){item->from, item->to}, 2);
        text_put_char(&state->line, '\n');
        state->last = item->to > state->last ? item->to : state->last;
    }
    line_add(&state->line, "acknowledged", &(const uint64_t){batch->count}, 1);
    text_put_char(&state->line, '\n');
    return write_out(state, true);
}

bool state_done(struct state *state, const struct tally *tally)
{
    const uint64_t numbers[] = {tally->moved,      tally->duplicates, tally->doubtful,
                                tally->taken_back, tally->no_ttr,     state->last};

    if (state->size > SIZE_USUAL || state->size == 0) {
        if (ftruncate(state->fd, 0) != 0 || lseek(state->fd, 0, SEEK_SET) != 0) {
            return fail(state, "cannot be begun anew");
        }
        state->size = 0;
        text_add(&state->line, text_slice(&state->head));
    }
    line_add(&state->line, "done", numbers, sizeof numbers / sizeof *numbers);
    text_put_char(&state->line, '\n');
    state->under_way = false;
    return write_out(state, false);
}

//
// Reading
//

// What is read so far.
struct reading {
    struct load *left;
    struct tally *tally;
    bool intended;
    size_t next; // of the items: they are acknowledged in their order
};

static bool is_kind(char letter)
{
    return letter == (char)KIND_READY || letter == (char)KIND_DELAYED ||
           letter == (char)KIND_BURIED;
}

static bool take_item(struct reading *reading, const uint64_t *numbers, struct slice kind)
{
    struct item *item;

    if (kind.len != 2 || kind.ptr[0] != ' ' || !is_kind(kind.ptr[1])) {
        return false;
    }
    item = load_add(reading->left, numbers[0], (enum kind)kind.ptr[1]);
    item->hash = numbers[1];
    item->put_by = numbers[2];
    return true;
}

static bool take_acknowledged(struct reading *reading, const uint64_t *ids)
{
    struct load *left = reading->left;

    while (reading->next < left->count && left->items[reading->next].from != ids[0]) {
        reading->next++;
    }
    if (reading->next == left->count) {
        return false;
    }
    left->items[reading->next].to = ids[1];
    return true;
}

static bool take_servers(struct state *state, struct slice line)
{
    const char *space = line.len ? memchr(line.ptr, ' ', line.len) : NULL;
    size_t len = space ? (size_t)(space - line.ptr) : 0;
    struct slice target = slice_from(line, space ? len + 1 : line.len);

    if (!space || len > SERVER_ID_MAX || target.len > SERVER_ID_MAX) {
        return false;
    }
    memcpy(state->migration->source_then, line.ptr, len);
    state->migration->source_then[len] = '\0';
    memcpy(state->migration->target_then, target.ptr, target.len);
    state->migration->target_then[target.len] = '\0';
    return true;
}

static bool take_batch(struct state *state, struct slice name)
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

static bool take_line(struct state *state, struct reading *reading, struct slice line)
{
    uint64_t numbers[6];
    struct slice rest;

    if (line_read(line, SLICE("done"), numbers, 6, &rest) && rest.len == 0) {
        *reading->tally = (struct tally){.moved = numbers[0],
                                         .duplicates = numbers[1],
                                         .doubtful = numbers[2],
                                         .taken_back = numbers[3],
                                         .no_ttr = numbers[4]};
        state->last = numbers[5] > state->last ? numbers[5] : state->last;
        load_clear(reading->left);
        reading->intended = false;
        reading->next = 0;
        return true;
    }
    if (line_read(line, SLICE("batch "), numbers, 0, &rest)) {
        return take_batch(state, rest);
    }
    if (line_read(line, SLICE("servers "), numbers, 0, &rest)) {
        return take_servers(state, rest);
    }
    if (line_read(line, SLICE("intended"), numbers, 1, &rest) && rest.len == 0) {
        reading->intended = true;
        return numbers[0] == reading->left->count;
    }
    if (line_read(line, SLICE("acknowledged"), numbers, 1, &rest) && rest.len == 0) {
        return reading->intended;
    }
    if (line_read(line, SLICE("a"), numbers, 2, &rest) && rest.len == 0) {
        state->last = numbers[1] > state->last ? numbers[1] : state->last;
        return take_acknowledged(reading, numbers);
    }
    return line_read(line, SLICE("i"), numbers, 3, &rest) && take_item(reading, numbers, rest);
}

static bool refuse(const struct state *state, struct slice whole)
{
    bool older = whole.len >= sizeof FORM && memcmp(whole.ptr, FORM, sizeof FORM - 1) == 0 &&
                 memcmp(whole.ptr, HEAD, sizeof HEAD - 1) != 0;

    (void)problem_set(state->problem, OUTCOME_USAGE,
                      older ? "%s was begun by another version of tandemctl, which has to end the "
                              "migration; without the file, jobs that were under way may come "
                              "twice"
                            : "%s is not the state of a migration between these two",
                      text_string(&state->path));
    return false;
}

static bool parse(struct state *state, struct reading *reading, struct slice whole)
{
    const char *end;

    if (whole.len < state->head.len || memcmp(whole.ptr, state->head.data, state->head.len) != 0) {
        return refuse(state, whole);
    }
    whole = slice_from(whole, state->head.len);
    while (whole.len > 0 && (end = memchr(whole.ptr, '\n', whole.len)) != NULL) {
        struct slice line = slice_of(whole.ptr, (size_t)(end - whole.ptr));

        if (!take_line(state, reading, line)) {
            (void)problem_set(state->problem, OUTCOME_FAILED, "%s is damaged",
                              text_string(&state->path));
            return false;
        }
        whole = slice_from(whole, line.len + 1);
    }
    // What was written before `intended` was not begun.
    if (!reading->intended) {
        load_clear(reading->left);
    }
    // A line without an end goes, so that the next one begins a line.
    state->size -= whole.len;
    return (ftruncate(state->fd, (off_t)state->size) == 0 && lseek(state->fd, 0, SEEK_END) >= 0) ||
           fail(state, "cannot be cut");
}

static bool read_all(struct state *state, struct reading *reading)
{
    struct stat about;
    char *whole;
    bool good = true;

    if (fstat(state->fd, &about) != 0 || (size_t)about.st_size > SIZE_MAX_READ) {
        errno = EFBIG;
        return fail(state, "cannot be read");
    }
    whole = need(malloc((size_t)about.st_size + 1));
    while (good && state->size < (size_t)about.st_size) {
        ssize_t count = read(state->fd, whole + state->size, (size_t)about.st_size - state->size);

        good = count > 0 || fail(state, "cannot be read");
        state->size += good ? (size_t)count : 0;
    }
    // A file without its first lines was being made, or begun anew while nothing was under way.
    if (good &&
        (state->size >= state->head.len || memcmp(whole, state->head.data, state->size) != 0)) {
        good = parse(state, reading, slice_of(whole, state->size));
    } else {
        state->size = 0;
    }
    free(whole);
    return good;
}

//
// The file
//

// An address without its scheme, as a part of a file's name.
static void add_name(struct text *to, const char *name)
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

static void find_path(struct state *state, const struct migration_settings *settings)
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
    add_name(&state->path, state->migration->from_name);
    text_put(&state->path, "-to-");
    add_name(&state->path, state->migration->to_name);
    text_put(&state->path, ".state");
}

static bool open_file(struct state *state)
{
    struct stat about;

    state->fd = open(text_string(&state->path), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (state->fd < 0) {
        return fail(state, "cannot be opened");
    }
    // Whoever had it may have ended, and removed it, between our opening it and our lock.
    if (flock(state->fd, LOCK_EX | LOCK_NB) != 0 || fstat(state->fd, &about) != 0 ||
        about.st_nlink == 0) {
        (void)problem_set(state->problem, OUTCOME_NOT_NOW, "%s is in use by another migration",
                          text_string(&state->path));
        return false;
    }
    return true;
}

bool state_open(struct state **opened, struct migration *migration, struct load *left)
{
    const struct migration_settings *settings = migration->settings;
    struct state *state = need(calloc(1, sizeof *state));
    struct reading reading = {.left = left, .tally = &migration->tally};

    state->problem = migration->problem;
    state->migration = migration;
    text_format(&state->head, HEAD "\nfrom %s\nto %s\n", state->migration->from_name,
                state->migration->to_name);
    find_path(state, settings);
    *opened = state;
    // Until it is known what it has, it stays.
    state->under_way = true;
    if (!open_file(state) || !read_all(state, &reading)) {
        state_close(state);
        *opened = NULL;
        return false;
    }
    state->under_way = left->count > 0;
    // What was written of a batch that was not begun ends here, too.
    return state->under_way || state_done(state, &migration->tally);
}

void state_close(struct state *state)
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

const char *state_path(const struct state *state)
{
    return text_string(&state->path);
}

bool state_open_end(const struct state *state)
{
    return state && state->under_way;
}

const char *state_batch(const struct state *state)
{
    return state->batch;
}

uint64_t state_last(const struct state *state)
{
    return state->last;
}
