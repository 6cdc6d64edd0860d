/* SPDX-License-Identifier: MIT */
#include "tests/journal/file/fake_file.h"

#include "core/base/macros.h"

#include <string.h>
#include <sys/mman.h>

// The allocator is not used here, because tests make it fail. Pages that are not touched cost
// nothing.
static void *pages(size_t len)
{
    void *at =
        mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    ENSURE(at != MAP_FAILED);
    return at;
}

// Sectors up to that of the last byte that may not be zero.
static size_t sectors(const struct fake_file *file)
{
    return (file->high + FAKE_SECTOR - 1) / FAKE_SECTOR;
}

// Images of removed files, zeroed: for the system, mapping and unmapping pages takes longer than
// most tests. Images of long files are unmapped.
enum { IMAGES_MAX = 64, IMAGES_HIGH = 256 * 1024 };
static struct fake_file images[IMAGES_MAX];
static size_t image_count;

static bool keep_images(struct fake_file *file)
{
    if (image_count == IMAGES_MAX || file->high > IMAGES_HIGH) {
        return false;
    }
    memset(file->written, 0, sectors(file) * FAKE_SECTOR);
    memset(file->safe, 0, sectors(file) * FAKE_SECTOR);
    fake_file_forget(file);
    images[image_count++] = *file;
    return true;
}

void fake_file_init(struct fake_file *file)
{
    struct fake_file found = {.written = NULL};

    if (image_count > 0) {
        found = images[--image_count];
    }
    *file = (struct fake_file){
        .written = found.written ? found.written : pages(FAKE_FILE_MAX),
        .safe = found.safe ? found.safe : pages(FAKE_FILE_MAX),
        .dirty = found.dirty ? found.dirty : pages(FAKE_FILE_MAX / FAKE_SECTOR),
        .broken_at = UINT64_MAX,
    };
}

void fake_file_clear(struct fake_file *file)
{
    if (file->written && !keep_images(file)) {
        (void)munmap(file->written, FAKE_FILE_MAX);
        (void)munmap(file->safe, FAKE_FILE_MAX);
        (void)munmap(file->dirty, FAKE_FILE_MAX / FAKE_SECTOR);
    }
    *file = (struct fake_file){.written = NULL};
}

void fake_file_copy(struct fake_file *to, const struct fake_file *from)
{
    struct fake_file own;

    fake_file_init(to);
    memcpy(to->written, from->written, from->high);
    memcpy(to->safe, from->safe, from->high);
    memcpy(to->dirty, from->dirty, sectors(from) * sizeof *from->dirty);
    own = *to;
    *to = *from;
    to->written = own.written;
    to->safe = own.safe;
    to->dirty = own.dirty;
}

static void mark_dirty(struct fake_file *file, size_t from, size_t to)
{
    for (size_t at = from / FAKE_SECTOR; at * FAKE_SECTOR < to; at++) {
        file->dirty[at] = true;
    }
}

void fake_file_write(struct fake_file *file, size_t offset, const char *bytes, size_t len)
{
    ENSURE(len <= FAKE_FILE_MAX && offset <= FAKE_FILE_MAX - len);
    memcpy(file->written + offset, bytes, len);
    mark_dirty(file, offset, offset + len);
    if (offset + len > file->high) {
        file->high = offset + len;
    }
    if (offset + len > file->size) {
        file->size = offset + len;
    }
    if (offset + len > file->allocated) {
        file->allocated = offset + len;
    }
}

void fake_file_resize(struct fake_file *file, size_t size)
{
    ENSURE(size <= FAKE_FILE_MAX);
    if (size < file->size && size < file->high) {
        memset(file->written + size, 0, file->high - size);
        mark_dirty(file, size, file->high);
    }
    file->size = size;
    file->allocated = size;
}

static void sector_keep(struct fake_file *file, size_t at)
{
    memcpy(file->safe + at * FAKE_SECTOR, file->written + at * FAKE_SECTOR, FAKE_SECTOR);
}

void fake_file_sync(struct fake_file *file)
{
    for (size_t at = 0; at < sectors(file); at++) {
        if (file->dirty[at]) {
            sector_keep(file, at);
        }
    }
    file->safe_size = file->size;
    fake_file_forget(file);
}

void fake_file_forget(struct fake_file *file)
{
    memset(file->dirty, 0, sectors(file) * sizeof *file->dirty);
}

uint64_t fake_dice(uint64_t *dice)
{
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    return *dice * UINT64_C(0x2545F4914F6CDD1D);
}

static bool kept(enum fake_keep keep, uint64_t *dice)
{
    return keep == FAKE_KEEP_ALL || (keep == FAKE_KEEP_SOME && fake_dice(dice) >> 63);
}

void fake_file_cut(struct fake_file *file, enum fake_keep keep, uint64_t *dice)
{
    for (size_t at = 0; at < sectors(file); at++) {
        if (file->dirty[at] && kept(keep, dice)) {
            sector_keep(file, at);
        }
    }
    if (file->size != file->safe_size && kept(keep, dice)) {
        file->safe_size = file->size;
    }
    if (file->safe_size < file->high) {
        memset(file->safe + file->safe_size, 0, file->high - file->safe_size);
    }
    memcpy(file->written, file->safe, file->high);
    fake_file_forget(file);
    file->size = file->safe_size;
    file->allocated = file->safe_size;
}
