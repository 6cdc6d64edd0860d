/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_GEARMAND_ROWS_H
#define TANDEM_TRANSFER_GEARMAND_ROWS_H

#include "transfer/source.h"

// The rows of gearmand's table, in any kind of database, and the source (transfer/source.h) that
// reads them: once for the survey, and again for the jobs.

#define TABLE_NAME_MAX 64

struct row {
    struct slice unique, function, data; // borrowed until the next row
    int64_t priority, when_to_run;
    uint64_t number; // of the row, or of its line, for messages
};

struct rows;

struct rows_ops {
    // Like source_next(); SOURCE_JOB means that there is a row.
    enum source_answer (*read)(struct rows *rows, struct row *row, struct source_news *news);
    // Goes back to the first row. False with the reason in news->what.
    bool (*rewind)(struct rows *rows, struct source_news *news);
    // Writes a text that differs once the rows have changed, without reading them; empty if there
    // is no such text. False: the database is missing. NULL: always empty.
    bool (*stamp)(const struct rows *rows, char *to, size_t size);
    void (*progress)(const struct rows *rows, struct source_progress *progress); // NULL: unknown
    const char *(*path)(const struct rows *rows); // of the file; NULL: not a file
    void (*close)(struct rows *rows);
};

struct rows {
    const struct rows_ops *ops;
    char table[TABLE_NAME_MAX + 1]; // its name, for messages
};

// Splits `PLACE?table=NAME`: returns the place, for free(), and writes the name, `fallback` if
// there is none. NULL with the reason.
char *rows_place(const char *place, const char *fallback, char table[TABLE_NAME_MAX + 1],
                 struct source_news *news);

// Makes a source, which owns the rows. NULL with the reason; the rows are closed.
struct source *rows_source(struct rows *rows, struct source_news *news);

// Makes the job of a row. False with the reason in `why`, of `size` bytes, if the row is invalid.
bool rows_image(const struct row *row, uint64_t id, uint64_t now_ms, struct job_image *image,
                char *why, size_t size);

// False with the reason if the path names something other than a regular file. Opening a pipe would
// wait for its writer.
bool rows_may_be_file(const char *path, struct source_news *news);

// Writes the size and the modification time of the file. False if the file is missing.
bool rows_stamp_file(const char *path, char *to, size_t size);

#endif
