/* SPDX-License-Identifier: MIT */
// strerrorname_np is a GNU function.
#define _GNU_SOURCE
#include "tests/journal/file/fake_disk.h"

#include "core/base/macros.h"
#include "tests/journal/file/fake_faults.h"
#include "tests/journal/file/fake_names.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { FILES_MAX = 256, TRACE_MAX = 16384 };

struct fake_disk {
    struct fake_file files[FILES_MAX]; // a descriptor is a place in here
    struct fake_names names;
    bool claimed;
    uint64_t budget;
    struct fake_faults faults;
    char trace[TRACE_MAX];
    size_t trace_len;
};

struct fake_disk *fake_disk_new(void)
{
    struct fake_disk *disk = mmap(NULL, sizeof *disk, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    ENSURE(disk != MAP_FAILED);
    disk->budget = UINT64_MAX;
    return disk;
}

struct fake_disk *fake_disk_copy(const struct fake_disk *disk)
{
    struct fake_disk *copy = fake_disk_new();

    for (int i = 0; i < FILES_MAX; i++) {
        if (disk->files[i].written) {
            fake_file_copy(&copy->files[i], &disk->files[i]);
            copy->files[i].opened = 0;
        }
    }
    fake_names_copy(&copy->names, &disk->names);
    copy->budget = disk->budget;
    return copy;
}

void fake_disk_free(struct fake_disk *disk)
{
    if (disk) {
        for (int i = 0; i < FILES_MAX; i++) {
            fake_file_clear(&disk->files[i]);
        }
        (void)munmap(disk, sizeof *disk);
    }
}

//
// Files
//

// Whether the file takes space: it has a name, or is open.
static bool is_there(const struct fake_disk *disk, int file)
{
    return disk->files[file].written &&
           (disk->files[file].opened > 0 || fake_names_of(&disk->names, file));
}

// Makes that state of the directory the lasting one. Files that are no longer reachable are freed.
static void settle(struct fake_disk *disk, int state)
{
    fake_names_settle(&disk->names, state);
    for (int i = 0; i < FILES_MAX; i++) {
        if (disk->files[i].written && !is_there(disk, i)) {
            fake_file_clear(&disk->files[i]);
        }
    }
}

static int file_new(struct fake_disk *disk)
{
    int file = 0;

    while (file < FILES_MAX && disk->files[file].written) {
        file++;
    }
    ENSURE(file < FILES_MAX);
    fake_file_init(&disk->files[file]);
    return file;
}

static const char *name_of(const struct fake_disk *disk, int file)
{
    const char *name = fake_names_of(&disk->names, file);

    return name ? name : "?";
}

static struct fake_file *opened(struct fake_disk *disk, int file)
{
    ENSURE(file >= 0 && file < FILES_MAX && disk->files[file].opened > 0);
    return &disk->files[file];
}

//
// Faults
//

// The outcome of the call.
static struct fake_fate call(struct fake_disk *disk, enum fake_op op)
{
    return fake_faults_call(&disk->faults, op);
}

void fake_disk_fault(struct fake_disk *disk, const struct fake_fault *fault)
{
    fake_faults_add(&disk->faults, fault);
}

void fake_disk_storm(struct fake_disk *disk, unsigned one_in, uint64_t seed)
{
    disk->faults.one_in = one_in;
    disk->faults.dice = seed | 1;
}

void fake_disk_heal(struct fake_disk *disk)
{
    disk->faults.count = 0;
    disk->faults.one_in = 0;
}

void fake_disk_set_budget(struct fake_disk *disk, uint64_t bytes)
{
    disk->budget = bytes;
}

// Whether there is space to allocate that size for the file.
static bool has_room(const struct fake_disk *disk, const struct fake_file *file, size_t size)
{
    return size <= file->allocated || fake_disk_used(disk) - file->allocated + size <= disk->budget;
}

// Writes a line of the trace, and returns the error of the call.
__attribute__((format(printf, 3, 4))) static int trace(struct fake_disk *disk, int error,
                                                       const char *format, ...)
{
    char line[160];
    size_t len;
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof line - 16, format, args);
    va_end(args);
    len = strlen(line);
    if (error) {
        len += (size_t)snprintf(line + len, 16, " = %s", strerrorname_np(error));
    }
    line[len++] = '\n';
    if (disk->trace_len + len < TRACE_MAX) {
        memcpy(disk->trace + disk->trace_len, line, len);
        disk->trace_len += len;
        disk->trace[disk->trace_len] = '\0';
    }
    return error;
}

const char *fake_disk_trace(const struct fake_disk *disk)
{
    return disk->trace;
}

void fake_disk_trace_clear(struct fake_disk *disk)
{
    disk->trace_len = 0;
    disk->trace[0] = '\0';
}

//
// The calls of the journal
//

static int disk_lock(void *self)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_LOCK);

    if (fate.error == 0 && disk->claimed) {
        fate.error = EWOULDBLOCK;
    }
    disk->claimed = disk->claimed || (fate.done && fate.error == 0);
    return trace(disk, fate.error, "lock");
}

static void disk_unlock(void *self)
{
    struct fake_disk *disk = self;

    disk->claimed = false;
    (void)trace(disk, 0, "unlock");
}

static int disk_list(void *self, void (*each)(void *context, const char *name), void *context)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_LIST);
    const char *name;

    for (int i = 0; fate.done && (name = fake_names_at(&disk->names, i)); i++) {
        each(context, name);
    }
    return fate.error;
}

static int disk_open(void *self, const char *name, enum journal_open how, int *file)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_OPEN);
    bool creates = how == JOURNAL_OPEN_CREATE;
    int found = fake_names_find(&disk->names, name);

    *file = -1;
    if (fate.done && found < 0 && !creates) {
        fate.error = ENOENT;
    } else if (fate.done && found < 0) {
        found = file_new(disk);
        fake_names_put(&disk->names, name, found);
    } else if (fate.done && creates) {
        fake_file_resize(&disk->files[found], 0);
    }
    if (fate.error == 0) {
        *file = found;
        disk->files[found].opened++;
    }
    return trace(disk, fate.error, "%s %s", creates ? "create" : "open", name);
}

static void disk_close(void *self, int file)
{
    struct fake_disk *disk = self;

    // The process of a halted disk goes on, and releases the lock.
    opened(disk, file)->opened--;
    (void)trace(disk, 0, "close %s", name_of(disk, file));
}

static int disk_size(void *self, int file, uint64_t *size)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_SIZE);

    *size = opened(disk, file)->size;
    return fate.error;
}

static int disk_read(void *self, int file, void *to, size_t len, uint64_t offset, size_t *got)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_READ);
    const struct fake_file *from = opened(disk, file);
    size_t rest = offset < from->size ? from->size - (size_t)offset : 0;

    *got = 0;
    if (fate.error) {
        return fate.error;
    }
    len = len < rest ? len : rest;
    len = fate.half && len > 1 ? len / 2 : len;
    if (from->broken_at >= offset && from->broken_at - offset < len) {
        return EIO;
    }
    memcpy(to, from->written + offset, len);
    *got = len;
    return 0;
}

// Sectors of zeros are holes.
static uint64_t disk_data(void *self, int file, uint64_t offset)
{
    const struct fake_file *from = opened(self, file);

    for (size_t at = (size_t)offset; at < from->high; at = (at / FAKE_SECTOR + 1) * FAKE_SECTOR) {
        size_t end = (at / FAKE_SECTOR + 1) * FAKE_SECTOR;

        for (size_t byte = at; byte < end; byte++) {
            if (from->written[byte]) {
                return at;
            }
        }
    }
    return UINT64_MAX;
}

// Writes the first `len` bytes of the parts.
static void write_parts(struct fake_file *file, const struct iovec *part, size_t offset, size_t len)
{
    for (; len > 0; part++) {
        size_t piece = part->iov_len < len ? part->iov_len : len;

        fake_file_write(file, offset, part->iov_base, piece);
        offset += piece;
        len -= piece;
    }
}

static int disk_write(void *self, int file, const struct iovec *parts, int count, uint64_t offset,
                      size_t *put)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_WRITE);
    struct fake_file *to = opened(disk, file);
    size_t len = 0;

    for (int i = 0; i < count; i++) {
        len += parts[i].iov_len;
    }
    len = fate.half && len > 1 ? len / 2 : len;
    if (fate.done && !has_room(disk, to, (size_t)offset + len)) {
        fate = (struct fake_fate){.error = fate.error ? fate.error : ENOSPC};
    }
    if (fate.done) {
        write_parts(to, parts, (size_t)offset, len);
    }
    *put = fate.error ? 0 : len;
    return trace(disk, fate.error, "write %s %zu+%zu", name_of(disk, file), (size_t)offset, len);
}

static int disk_sync(void *self, int file)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_SYNC);
    struct fake_file *synced = opened(disk, file);

    if (fate.done) {
        fake_file_sync(synced);
    } else if (fate.error && !disk->faults.halted) {
        fake_file_forget(synced);
    }
    return trace(disk, fate.error, "sync %s", name_of(disk, file));
}

static int disk_allocate(void *self, int file, uint64_t size)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_ALLOCATE);
    struct fake_file *grown = opened(disk, file);

    if (fate.done && !has_room(disk, grown, (size_t)size)) {
        fate = (struct fake_fate){.error = fate.error ? fate.error : ENOSPC};
    }
    if (fate.done && size > grown->size) {
        fake_file_resize(grown, (size_t)size);
    }
    return trace(disk, fate.error, "allocate %s %zu", name_of(disk, file), (size_t)size);
}

static int disk_truncate(void *self, int file, uint64_t size)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_TRUNCATE);

    if (fate.done) {
        fake_file_resize(opened(disk, file), (size_t)size);
    }
    return trace(disk, fate.error, "truncate %s %zu", name_of(disk, file), (size_t)size);
}

static uint64_t disk_space(void *self)
{
    const struct fake_disk *disk = self;
    uint64_t used = fake_disk_used(disk);

    return used < disk->budget ? disk->budget - used : 0;
}

static int disk_rename(void *self, const char *from, const char *to)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_RENAME);

    if (fate.done && fake_names_find(&disk->names, from) < 0) {
        fate.error = ENOENT;
    } else if (fate.done) {
        fake_names_move(&disk->names, from, to);
    }
    return trace(disk, fate.error, "rename %s %s", from, to);
}

static int disk_remove(void *self, const char *name)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_REMOVE);

    if (fate.done && fake_names_find(&disk->names, name) < 0) {
        fate.error = ENOENT;
    } else if (fate.done) {
        fake_names_remove(&disk->names, name);
    }
    return trace(disk, fate.error, "remove %s", name);
}

static int disk_sync_directory(void *self)
{
    struct fake_disk *disk = self;
    struct fake_fate fate = call(disk, FAKE_SYNC_DIRECTORY);

    if (fate.done) {
        settle(disk, disk->names.youngest);
    }
    return trace(disk, fate.error, "sync_directory");
}

struct journal_io fake_disk_io(struct fake_disk *disk)
{
    return (struct journal_io){
        .disk = disk,
        .lock = disk_lock,
        .unlock = disk_unlock,
        .list = disk_list,
        .open = disk_open,
        .close = disk_close,
        .size = disk_size,
        .read = disk_read,
        .data = disk_data,
        .write = disk_write,
        .sync = disk_sync,
        .allocate = disk_allocate,
        .truncate = disk_truncate,
        .space = disk_space,
        .rename = disk_rename,
        .remove = disk_remove,
        .sync_directory = disk_sync_directory,
    };
}

//
// The end of the process
//

void fake_disk_kill(struct fake_disk *disk)
{
    for (int i = 0; i < FILES_MAX; i++) {
        disk->files[i].opened = 0;
    }
    disk->claimed = false;
    disk->faults.halted = false;
}

void fake_disk_cut(struct fake_disk *disk, enum fake_keep keep, uint64_t seed)
{
    // A generator of this kind must not begin with 0, and close seeds begin alike.
    uint64_t dice = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    int state = keep == FAKE_KEEP_NONE ? 0 : disk->names.youngest;

    dice = dice ? dice : 1;
    if (keep == FAKE_KEEP_SOME) {
        state = (int)(fake_dice(&dice) % (uint64_t)(disk->names.youngest + 1));
    }
    fake_disk_kill(disk);
    settle(disk, state);
    for (int i = 0; i < FILES_MAX; i++) {
        if (disk->files[i].written) {
            fake_file_cut(&disk->files[i], keep, &dice);
        }
    }
}

//
// Looks
//

const char *fake_disk_bytes(const struct fake_disk *disk, const char *name, size_t *len)
{
    int file = fake_names_find(&disk->names, name);

    *len = file < 0 ? 0 : disk->files[file].size;
    return file < 0 ? NULL : disk->files[file].written;
}

uint64_t fake_disk_used(const struct fake_disk *disk)
{
    uint64_t used = 0;

    for (int i = 0; i < FILES_MAX; i++) {
        used += is_there(disk, i) ? disk->files[i].allocated : 0;
    }
    return used;
}

int fake_disk_opened(const struct fake_disk *disk)
{
    int count = 0;

    for (int i = 0; i < FILES_MAX; i++) {
        count += disk->files[i].opened;
    }
    return count;
}

unsigned long fake_disk_calls(const struct fake_disk *disk, enum fake_op op)
{
    return disk->faults.calls[op];
}

static struct fake_file *file_named(struct fake_disk *disk, const char *name)
{
    int file = fake_names_find(&disk->names, name);

    ENSURE(file >= 0);
    return &disk->files[file];
}

void fake_disk_put(struct fake_disk *disk, const char *name, const void *bytes, size_t len)
{
    int file = file_new(disk);

    fake_file_write(&disk->files[file], 0, bytes, len);
    fake_file_sync(&disk->files[file]);
    fake_names_put(&disk->names, name, file);
    settle(disk, disk->names.youngest);
}

void fake_disk_flip(struct fake_disk *disk, const char *name, size_t offset, unsigned char mask)
{
    struct fake_file *file = file_named(disk, name);

    ENSURE(offset < file->size);
    file->written[offset] = (char)((unsigned char)file->written[offset] ^ mask);
    file->safe[offset] = (char)((unsigned char)file->safe[offset] ^ mask);
    file->high = file->high > offset ? file->high : offset + 1;
}

void fake_disk_break(struct fake_disk *disk, const char *name, uint64_t offset)
{
    file_named(disk, name)->broken_at = offset;
}
