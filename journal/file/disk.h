/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_DISK_H
#define TANDEM_JOURNAL_FILE_DISK_H

// File operations of the journal within one directory: a table of functions, so that a test can
// replace the real disk by one that fails, loses writes, and reports false success as it is told.
//
// Names are those of files in the directory. Each function returns 0 or an errno value, but never
// EINTR: interrupted calls are repeated. One thread at a time calls them, but not always the same
// one.

#include "core/base/macros.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum journal_open {
    JOURNAL_OPEN_READ,  // an existing file, to read and to write
    JOURNAL_OPEN_CREATE // an empty file, which replaces an existing one
};

struct journal_io {
    void *disk; // passed to each function

    // Claims the directory for this process until `unlock`. EWOULDBLOCK: another process has it;
    // EBUSY: a beanstalkd has it.
    int (*lock)(void *disk);
    void (*unlock)(void *disk);

    // Calls `each` with the name of each file.
    int (*list)(void *disk, void (*each)(void *context, const char *name), void *context);

    int (*open)(void *disk, const char *name, enum journal_open how, int *file);
    void (*close)(void *disk, int file);
    int (*size)(void *disk, int file, uint64_t *size);

    // May read less than `len`; `*got` is 0 at the end of the file.
    int (*read)(void *disk, int file, void *to, size_t len, uint64_t offset, size_t *got);
    // The first offset from `offset` on whose byte may differ from zero; UINT64_MAX: none. `offset`
    // itself if that is unknown.
    uint64_t (*data)(void *disk, int file, uint64_t offset);
    // May write less than all parts, but not nothing.
    int (*write)(void *disk, int file, const struct iovec *parts, int count, uint64_t offset,
                 size_t *put);
    // Makes the content and the size of the file survive a power failure.
    int (*sync)(void *disk, int file);

    // Allocates space, so that the file has `size` bytes, the new ones zero, and writing to these
    // cannot fail for lack of space. Never shrinks the file. ENOSPC, EDQUOT: no space.
    int (*allocate)(void *disk, int file, uint64_t size);
    int (*truncate)(void *disk, int file, uint64_t size);
    // Free bytes after the last call that may have changed them; UINT64_MAX if unknown. May be
    // called at any time, also during another call; does not wait for the disk.
    uint64_t (*space)(void *disk);

    int (*rename)(void *disk, const char *from, const char *to);
    int (*remove)(void *disk, const char *name);
    // Makes all changes of names survive a power failure.
    int (*sync_directory)(void *disk);
};

// Opens a directory of the file system, and creates it (mode 0700) if only its parent exists; files
// have mode 0600. 0 or an errno value; `io` can be used until journal_disk_close().
int journal_disk_open(struct journal_io *io, const char *path) MUST_USE;

// A zeroed `io` is allowed.
void journal_disk_close(struct journal_io *io);

// Opens an existing directory for inspection: functions that would change it report success and do
// nothing. It is still claimed, as no other process may use the journal meanwhile. 0 or an errno
// value; `io` can be used until journal_disk_close_readonly().
int journal_disk_open_readonly(struct journal_io *io, const char *path) MUST_USE;

// A zeroed `io` is allowed.
void journal_disk_close_readonly(struct journal_io *io);

#endif
