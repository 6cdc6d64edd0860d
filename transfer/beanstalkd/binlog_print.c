/* SPDX-License-Identifier: MIT */
#include "transfer/beanstalkd/binlog_print.h"

#include <stdlib.h>
#include <string.h>

// What is beyond has no list of its files.
#define FILES_MOST 40000

struct jobs_part {
    uint64_t hash;
    uint64_t count;
    uint64_t last_number;
    uint64_t last_end;
};

struct file_part {
    uint64_t number;
    uint64_t size;
    int64_t changed_at;
};

static struct file_part part_of(const struct binlog_file *file)
{
    return (struct file_part){
        .number = file->number, .size = file->size, .changed_at = file->changed_at};
}

bool binlog_print_make(struct binlog_print *print, const struct binlog_dir *dir,
                       const struct binlog_scan *scan)
{
    const struct jobs_part jobs = {.hash = binlog_index_hash(scan->index),
                                   .count = scan->index->count,
                                   .last_number = scan->last_number,
                                   .last_end = scan->last_end};
    size_t files = dir->count <= FILES_MOST ? dir->count : 0;

    print->len = sizeof jobs + files * sizeof(struct file_part);
    print->bytes = malloc(print->len);
    if (!print->bytes) {
        return false;
    }
    memcpy(print->bytes, &jobs, sizeof jobs);
    for (size_t i = 0; i < files; i++) {
        const struct file_part part = part_of(&dir->files[i]);

        memcpy(print->bytes + sizeof jobs + i * sizeof part, &part, sizeof part);
    }
    return true;
}

void binlog_print_clear(struct binlog_print *print)
{
    free(print->bytes);
    *print = (struct binlog_print){NULL, 0};
}

struct slice binlog_print_bytes(const struct binlog_print *print)
{
    return slice_of(print->bytes, print->len);
}

bool binlog_print_has_files(struct slice print, const struct binlog_dir *dir)
{
    if (print.len != sizeof(struct jobs_part) + dir->count * sizeof(struct file_part)) {
        return false;
    }
    for (size_t i = 0; i < dir->count; i++) {
        const struct file_part part = part_of(&dir->files[i]);

        if (memcmp(print.ptr + sizeof(struct jobs_part) + i * sizeof part, &part, sizeof part) !=
            0) {
            return false;
        }
    }
    return true;
}

bool binlog_print_has_jobs(struct slice print, const struct binlog_print *other)
{
    return print.len >= sizeof(struct jobs_part) &&
           memcmp(print.ptr, other->bytes, sizeof(struct jobs_part)) == 0;
}
