/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_BEANSTALKD_BINLOG_DIR_H
#define TANDEM_TRANSFER_BEANSTALKD_BINLOG_DIR_H

// The directory of a binlog: files binlog.N, in the order of their numbers, and the file `lock`.
// Nothing is written or created. While the directory is open here, beanstalkd cannot start on it,
// because it needs an exclusive lock on `lock`.

#include "transfer/source.h"

#include <sys/types.h>

struct binlog_file {
    uint32_t number;
    int64_t changed_at; // nanoseconds, by the file system
    uint64_t size;
};

struct binlog_dir {
    int directory;             // -1: missing
    int lock;                  /* private: -1: missing */
    struct binlog_file *files; // by number
    size_t count;
    size_t room; /* private */
};

// A directory that is missing or empty is not a failure. False with the reason. Call
// binlog_dir_close() in any case.
bool binlog_dir_open(struct binlog_dir *dir, const char *path, struct source_news *news) MUST_USE;
void binlog_dir_close(struct binlog_dir *dir);

#define BINLOG_FILE_NAME 24
void binlog_file_name(uint32_t number, char name[BINLOG_FILE_NAME]);

//
// A window on the files: reads ahead, so that adjacent records cost one system call
//

#define BINLOG_WINDOW ((size_t)1 << 16)

struct binlog_window {
    const struct binlog_dir *dir;
    int fd;         /* private: -1: none */
    size_t file;    /* private: index of the open file */
    uint64_t at;    /* private: position of `bytes` in the file */
    size_t len;     /* private */
    uint64_t reads; // number of bytes read so far
    char *bytes;    /* private */
};

// False without memory. Call binlog_window_close() in any case.
bool binlog_window_open(struct binlog_window *window, const struct binlog_dir *dir) MUST_USE;
void binlog_window_close(struct binlog_window *window);

// Reads up to `len` bytes, at most BINLOG_WINDOW, of the file with that index. `*got` is shorter at
// the end of the file, and borrowed until the next call. 0, or errno.
int binlog_window_read(struct binlog_window *window, size_t file, uint64_t at, size_t len,
                       struct slice *got) MUST_USE;

// Reads exactly `len` bytes to `to`, without the window. 0, or errno; EIO if the file is shorter.
int binlog_window_copy(struct binlog_window *window, size_t file, uint64_t at, char *to,
                       size_t len) MUST_USE;

#endif
