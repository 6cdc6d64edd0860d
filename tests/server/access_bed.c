/* SPDX-License-Identifier: MIT */
#include "tests/server/access_bed.h"

#include "core/base/log.h"
#include "server/conn/rule_set.h"
#include "tests/support/with_cmocka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Where the next part of a line goes; and how much room is left there.
static char *end_of(struct access_bed *bed, size_t *room)
{
    size_t len = strlen(bed->log);

    *room = sizeof bed->log - len;
    return bed->log + len;
}

static void note_field(struct access_bed *bed, const struct log_field *field)
{
    size_t room;
    char *end = end_of(bed, &room);

    if (field->is_text) {
        (void)snprintf(end, room, "%s=%.*s ", field->key, (int)field->text.len, field->text.ptr);
    } else {
        (void)snprintf(end, room, "%s=%lld ", field->key, (long long)field->number);
    }
}

static void note_line(void *context, enum log_level level, const char *event,
                      const struct log_field *fields, size_t count)
{
    size_t room;
    char *end = end_of(context, &room);

    (void)level;
    (void)snprintf(end, room, " %s ", event);
    for (size_t i = 0; i < count; i++) {
        note_field(context, &fields[i]);
    }
    end = end_of(context, &room);
    (void)snprintf(end, room, "\n");
}

int access_bed_setup(void **state)
{
    struct access_bed *bed = calloc(1, sizeof *bed);

    assert_non_null(bed);
    bed_init(&bed->bed, bed_now);
    log_set_sink(note_line, bed, LOG_LEVEL_DEBUG);
    *state = bed;
    return 0;
}

int access_bed_teardown(void **state)
{
    struct access_bed *bed = *state;

    bed_close(&bed->bed);
    log_set_sink(NULL, NULL, LOG_LEVEL_ERROR);
    free(bed);
    return 0;
}

void access_bed_rule(struct access_bed *bed, const char *format, ...)
{
    char path[] = "/tmp/tandem-access-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    struct rule_set *rules;
    struct error_text why = {""};
    va_list args;
    int written;

    assert_non_null(file);
    va_start(args, format);
    // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is begun a line above.
    written = vfprintf(file, format, args);
    va_end(args);
    assert_true(written > 0);
    assert_int_equal(fclose(file), 0);
    rules = rule_set_read(path, &why);
    (void)unlink(path);
    assert_string_equal(why.text, "");
    assert_non_null(rules);
    turn_set_rules(&bed->bed.loop.turn, rules);
}

void access_bed_unrule(struct access_bed *bed)
{
    turn_set_rules(&bed->bed.loop.turn, NULL);
}

void access_bed_ask(struct access_bed *bed, int client, const char *line, const char *answer)
{
    char text[256];

    (void)snprintf(text, sizeof text, "%s\n", line);
    bed_send(&bed->bed, client, text);
    (void)snprintf(text, sizeof text, "%s\n", answer);
    bed_expect(&bed->bed, client, text);
}

void access_bed_expect_log(const struct access_bed *bed, const char *words)
{
    if (!strstr(bed->log, words)) {
        print_error("%s", bed->log);
        fail_msg("the log has no line with: %s", words);
    }
}

void access_bed_expect_no_log(const struct access_bed *bed, const char *words)
{
    if (strstr(bed->log, words)) {
        print_error("%s", bed->log);
        fail_msg("the log has a line with: %s", words);
    }
}
