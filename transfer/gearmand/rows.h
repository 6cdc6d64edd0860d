/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_GEARMAND_ROWS_H
#define TANDEM_TRANSFER_GEARMAND_ROWS_H

// Rows of gearmand's table, whatever they are kept in, and the source that is made of them: all are
// read once for the survey, and once more for the jobs.

#include "transfer/source.h"

#define TABLE_NAME_MAX 64

struct row {
    struct slice unique, function, data; // borrowed until the next one
    int64_t priority, when_to_run;
    uint64_t number; // for who is told of it: of the row, or of its line
};

struct rows;

struct rows_ops {
    // SOURCE_JOB: a row; otherwise as source_next().
    enum source_answer (*read)(struct rows *rows, struct row *row, struct source_news *news);
    // The first one is next. False with the reason in news->what.
    bool (*rewind)(struct rows *rows, struct source_news *news);
    // What is another when the rows are others, without reading them, of `size` bytes; empty:
    // nobody knows. NULL: the same. False: there is nothing there.
    bool (*stamp)(const struct rows *rows, char *to, size_t size);
    void (*progress)(const struct rows *rows, struct source_progress *progress); // NULL: not known
    const char *(*path)(const struct rows *rows); // of the file; NULL: it is none
    void (*close)(struct rows *rows);
};

struct rows {
    const struct rows_ops *ops;
    char table[TABLE_NAME_MAX + 1]; // its name, for what is said of it
};

// The place without what stands behind it, for free(), and the table's name, `preset` where none is
// given. NULL with the reason.
char *rows_place(const char *place, const char *preset, char table[TABLE_NAME_MAX + 1],
                 struct source_news *news);

// A source of those rows, which become its own; NULL with the reason, and they are closed.
struct source *rows_source(struct rows *rows, struct source_news *news);

// The job of a row. False with the reason in `why`, of `size` bytes, where no job can be like that.
bool rows_image(const struct row *row, uint64_t id, uint64_t now_ms, struct job_image *image,
                char *why, size_t size);

// False with the reason where something stands there that is no file: to open a pipe would be to
// wait for whoever writes to it.
bool rows_may_be_file(const char *path, struct source_news *news);

// The file's size and when it was changed; false where there is none.
bool rows_stamp_file(const char *path, char *to, size_t size);

#endif
