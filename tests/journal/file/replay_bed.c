/* SPDX-License-Identifier: MIT */
#include "tests/journal/file/replay_bed.h"

#include "journal/journal_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int bed_setup(void **state)
{
    struct replay_bed *b = calloc(1, sizeof *b);

    assert_non_null(b);
    b->disk = fake_disk_new();
    forge_begin(&b->one, 1, 0);
    *state = b;
    return 0;
}

void bed_end(struct replay_bed *b)
{
    if (b->revived_once) {
        revived_free(&b->revived);
        b->revived_once = false;
    }
}

int bed_teardown(void **state)
{
    struct replay_bed *b = *state;

    bed_end(b);
    fake_disk_free(b->disk);
    forge_free(&b->one);
    forge_free(&b->two);
    forge_free(&b->three);
    free(b);
    return 0;
}

bool bed_revive(struct replay_bed *b, bool repair)
{
    bed_end(b);
    revive(&b->revived, b->disk, repair);
    b->revived_once = true;
    return b->revived.good;
}

bool bed_has(const struct replay_bed *b, uint64_t id)
{
    return broker_find(b->revived.broker, id) != NULL;
}

const struct segment *bed_segment(const struct replay_bed *b, size_t place)
{
    assert_true(place < b->revived.journal->segments.list.count);
    return b->revived.journal->segments.list.items[place];
}

void bed_expect_row(const struct replay_bed *b, uint64_t first, size_t count)
{
    assert_int_equal(b->revived.journal->segments.list.count, count);
    assert_true(count == 0 || b->revived.journal->segments.list.first == first);
}

void expect_says(const char *text, const char *what)
{
    if (!strstr(text, what)) {
        fail_msg("\"%s\" does not say \"%s\"", text, what);
    }
}

void bed_stops(struct replay_bed *b, const char *what)
{
    assert_false(bed_revive(b, false));
    expect_says(b->revived.why.text, what);
}

// Notes the offset, as it appears in a message.
void bed_stops_at(struct replay_bed *b, const char *file, size_t offset)
{
    char text[80];

    (void)snprintf(text, sizeof text, "%s is damaged at offset %zu:", file, offset);
    bed_stops(b, text);
}

void bed_loses(struct replay_bed *b, const char *file, size_t offset, size_t bytes)
{
    char text[120];

    assert_true(bed_revive(b, true));
    assert_true(b->revived.damaged);
    (void)snprintf(text, sizeof text, "journal_lost file=%s offset=%zu bytes=%zu ", file, offset,
                   bytes);
    expect_says(b->revived.log, text);
}

void bed_flip(struct replay_bed *b, const char *file, size_t offset)
{
    fake_disk_flip(b->disk, file, offset, 0x10);
}

void bed_make_three(struct replay_bed *b)
{
    forge_plain(&b->one, 1, "x");
    forge_plain(&b->one, 2, "y");
    forge_begin(&b->two, 2, b->one.len);
    forge_plain(&b->two, 3, "z");
    forge_plain(&b->two, 4, "zz");
    forge_begin(&b->three, 3, b->two.len);
    forge_plain(&b->three, 5, "zzz");
}

void bed_put_three(struct replay_bed *b)
{
    forge_put(&b->one, b->disk);
    forge_put(&b->two, b->disk);
    forge_put(&b->three, b->disk);
}

void forge_large(struct forge *forge, uint64_t id, size_t len)
{
    struct job_image image = {.now = {.id = id, .state = JOB_READY}, .queue = SLICE("q")};
    char *body = malloc(len);

    assert_non_null(body);
    for (size_t i = 0; i < len; i++) {
        body[i] = (char)(i * 31 + i / 251);
    }
    image.body = slice_of(body, len);
    forge_job(forge, &image);
    free(body);
}
