/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TRANSFER_BEANSTALKD_BINLOG_DIR_H
#define TANDEM_TRANSFER_BEANSTALKD_BINLOG_DIR_H

// The directory of a binlog: files binlog.N, in the order of their numbers, and beanstalkd's lock
// on the file `lock`. Nothing is ever written or made. As long as it is open here, no beanstalkd
// starts on it: it would ask for a lock that excludes ours.

#include "transfer/source.h"

#include <sys/types.h>

struct binlog_file {
    uint32_t number;
    int64_t changed_at; // nanoseconds, as the file system has it
    uint64_t size;
};

struct binlog_dir {
    int directory;             // -1: there is none
    int lock;                  /* private: -1: there is no such file */
    struct binlog_file *files; // by number
    size_t count;
    size_t room; /* private */
};

// No directory, or none with such files, is no failure. False with the reason; to be closed in any
// case.
bool binlog_dir_open(struct binlog_dir *dir, const char *path, struct source_news *news) MUST_USE;
void binlog_dir_close(struct binlog_dir *dir);

#define BINLOG_FILE_NAME 24
void binlog_file_name(uint32_t number, char name[BINLOG_FILE_NAME]);

//
// A window on the files: reads ahead, so that neighbours cost one call
//

#define BINLOG_WINDOW ((size_t)1 << 16)

struct binlog_window {
    const struct binlog_dir *dir;
    int fd;         /* private: -1: none */
    size_t file;    /* private: which one is open */
    uint64_t at;    /* private: of what is in `bytes` */
    size_t len;     /* private */
    uint64_t reads; // bytes that were read so far
    char *bytes;    /* private */
};

// False without memory; to be closed in any case.
bool binlog_window_open(struct binlog_window *window, const struct binlog_dir *dir) MUST_USE;
void binlog_window_close(struct binlog_window *window);

// Up to `len` bytes, at most BINLOG_WINDOW, of the file of that index: as many as there are, in
// `*got`, borrowed until the next call. 0, or errno.
int binlog_window_look(struct binlog_window *window, size_t file, uint64_t at, size_t len,
                       struct slice *got) MUST_USE;

// So many bytes to `to`, past the window. 0, or errno; EIO where there are fewer.
int binlog_window_copy(struct binlog_window *window, size_t file, uint64_t at, char *to,
                       size_t len) MUST_USE;

#endif
