/* SPDX-License-Identifier: MIT */
#include "tests/journal/file/revive.h"

#include "core/base/log.h"
#include "core/base/macros.h"
#include "tests/support/broker_check.h"
#include "core/restore.h"
#include "tests/journal/journal_check.h"
#include "journal/file/replay.h"
#include "journal/file/files.h"

#include <stdlib.h>

static nsec_t stopped_clock(void)
{
    return 0;
}

static void add_text(struct revived *revived, struct slice text)
{
    size_t len = strlen(revived->log);

    if (len + text.len < sizeof revived->log) {
        memcpy(revived->log + len, text.ptr, text.len);
        revived->log[len + text.len] = 0;
    }
}

static void note_line(void *context, enum log_level level, const char *event,
                      const struct log_field *fields, size_t count)
{
    struct revived *revived = context;

    if (level > LOG_LEVEL_WARN) {
        return;
    }
    add_text(revived, slice_str(event));
    for (size_t i = 0; i < count; i++) {
        char text[160];
        int len = fields[i].is_text ? snprintf(text, sizeof text, " %s=%.*s", fields[i].key,
                                               (int)fields[i].text.len, fields[i].text.ptr)
                                    : snprintf(text, sizeof text, " %s=%lld", fields[i].key,
                                               (long long)fields[i].number);

        ENSURE(len >= 0 && (size_t)len < sizeof text);
        add_text(revived, slice_of(text, (size_t)len));
    }
    add_text(revived, SLICE("; "));
}

// All that was read is closed.
static void check_row(const struct journal *journal)
{
    journal_check(journal);
    journal_check_ledger(journal);
    for (size_t i = 0; i < journal->segments.list.count; i++) {
        const struct segment *segment = journal->segments.list.items[i];

        ENSURE(segment->file == -1 && segment->end <= segment->size + CODEC_SEGMENT_HEAD);
    }
}

void revive_begin(struct revived *revived, struct fake_disk *disk, bool repair)
{
    const struct journal_settings settings = {.now = stopped_clock, .repair = repair};
    const struct journal_worker no_worker = {0};
    const struct instant now = {.mono = NSEC_PER_SEC, .wall = REVIVE_WALL};

    *revived = (struct revived){.io = fake_disk_io(disk)};
    revived->broker = broker_new(&(struct broker_options){0}, now);
    revived->journal = journal_new(&settings, journal_files_new(&revived->io), &no_worker);
    ENSURE(revived->broker && revived->journal);
    revived->journal->broker = revived->broker;
}

void revive_read(struct revived *revived)
{
    struct restored restored = {0};

    log_set_sink(note_line, revived, LOG_LEVEL_INFO);
    revived->good = replay_files(revived->journal, &restored, &revived->why);
    revived->ids_end = restored.ids_end;
    revived->damaged = restored.damaged;
    log_set_sink(NULL, NULL, LOG_LEVEL_INFO);
}

void revive_end(struct revived *revived)
{
    uint64_t next = revived->ids_end ? revived->ids_end : 1;

    if (revived->good) {
        check_row(revived->journal);
        ENSURE(broker_restore_finish(revived->broker, next) == STATUS_OK);
        broker_check(revived->broker);
    }
}

void revive(struct revived *revived, struct fake_disk *disk, bool repair)
{
    revive_begin(revived, disk, repair);
    revive_read(revived);
    ENSURE(fake_disk_opened(disk) == 0);
    revive_end(revived);
}

void revived_free(struct revived *revived)
{
    (void)journal_close(revived->journal);
    broker_free(revived->broker);
}
