/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_FILE_IO_H
#define TANDEM_JOURNAL_FILE_IO_H

// What the journal asks of a disk, within one directory: a table of functions, so that a test can
// put a disk of its own in place of the real one, which fails, forgets and reports false success as
// it is told.
//
// Names are those of files in the directory. Each function returns 0, or an errno value; never
// EINTR: what was interrupted has been tried again. Functions are called by one thread at a time,
// but not always by the same one.

#include "core/base/macros.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum journal_open {
    JOURNAL_OPEN_READ,  // a file that is there, to read and to write
    JOURNAL_OPEN_CREATE // an empty file, whether one was there or not
};

struct journal_io {
    void *disk; // handed to each function

    // Claims the directory for this process until `unlock`. EWOULDBLOCK where another has it, EBUSY
    // where that is a beanstalkd.
    int (*lock)(void *disk);
    void (*unlock)(void *disk);

    // Calls `each` with the name of each file that there is.
    int (*list)(void *disk, void (*each)(void *context, const char *name), void *context);

    int (*open)(void *disk, const char *name, enum journal_open how, int *file);
    void (*close)(void *disk, int file);
    int (*size)(void *disk, int file, uint64_t *size);

    // May read less than asked for; `*got` is 0 at the end of the file.
    int (*read)(void *disk, int file, void *to, size_t len, uint64_t offset, size_t *got);
    // Where, from `offset` on, bytes stand that may be other than zero; UINT64_MAX: nowhere.
    // `offset` itself where that is not known.
    uint64_t (*data)(void *disk, int file, uint64_t offset);
    // May write less than asked for, but not nothing.
    int (*write)(void *disk, int file, const struct iovec *parts, int count, uint64_t offset,
                 size_t *put);
    // What was written to the file, and its size, will survive a power cut.
    int (*sync)(void *disk, int file);

    // Sets space aside, so that the file has `size` bytes, the new ones zero, and writing to these
    // cannot fail for want of space. Never makes it smaller. ENOSPC, EDQUOT: no space.
    int (*allocate)(void *disk, int file, uint64_t size);
    int (*truncate)(void *disk, int file, uint64_t size);
    // Bytes that nobody had set aside when the last function above or below that may change it came
    // to its end; UINT64_MAX where that is not known. Called at any time, also while another
    // function is at work; does not wait for the disk.
    uint64_t (*space)(void *disk);

    int (*rename)(void *disk, const char *from, const char *to);
    int (*remove)(void *disk, const char *name);
    // Names that came, went or changed have done so for good.
    int (*sync_directory)(void *disk);
};

// A directory of the file system. It is made where it is missing (mode 0700) in one that is there;
// files have mode 0600. 0 or an errno value; `io` can be used until journal_disk_close().
int journal_disk_open(struct journal_io *io, const char *path) MUST_USE;

// A zeroed `io` is allowed.
void journal_disk_close(struct journal_io *io);

#endif
