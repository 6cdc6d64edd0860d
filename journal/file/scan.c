/* SPDX-License-Identifier: MIT */
#include "journal/file/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// The most that is read at a time.
#define WINDOW_MAX ((size_t)1 << 20)
// Larger records are not read into the buffer: their bodies are read directly to their final place.
#define WHOLE_MAX ((size_t)64 * 1024)
// If the disk cannot read a byte, the block around it is lost: systems read whole blocks.
#define BLOCK ((uint64_t)4096)
// Bytes that are written back at a time.
enum { WRITE_BACK = 65536 };

bool scan_begin(struct scan *scan, const struct journal_io *io, uint64_t segment_size,
                struct opening_counters *progress)
{
    *scan = (struct scan){.io = io, .file = -1, .progress = progress, .window_size = WHOLE_MAX};
    if (segment_size > WHOLE_MAX) {
        scan->window_size = segment_size < WINDOW_MAX ? (size_t)segment_size : WINDOW_MAX;
    }
    scan->window = malloc(scan->window_size);
    return scan->window != NULL;
}

void scan_finish(struct scan *scan)
{
    scan_close(scan);
    free(scan->window);
    scan->window = NULL;
}

int scan_open(struct scan *scan, const char *name, uint64_t *size)
{
    int error = scan->io->open(scan->io->disk, name, JOURNAL_OPEN_READ, &scan->file);

    if (error) {
        scan->file = -1;
        return error;
    }
    error = scan->io->size(scan->io->disk, scan->file, size);
    if (error) {
        scan_close(scan);
        return error;
    }
    scan->limit = *size;
    scan->filled = 0;
    scan->window_at = 0;
    return 0;
}

void scan_close(struct scan *scan)
{
    blob_unref(scan->blob);
    scan->blob = NULL;
    if (scan->file >= 0) {
        scan->io->close(scan->io->disk, scan->file);
        scan->file = -1;
    }
}

void scan_start(struct scan *scan, uint64_t at, uint64_t salt)
{
    scan->at = at;
    scan->salt = salt;
}

// Reads at least one byte, at most `len`. Passing over bytes that cannot be read sets them to 0xff:
// no record begins with that and, unlike zeros, it is not taken for unused space.
static int scan_read_some(struct scan *scan, char *to, size_t len, uint64_t offset, size_t *got)
{
    const struct journal_io *io = scan->io;
    uint64_t block = BLOCK - offset % BLOCK;
    int error = io->read(io->disk, scan->file, to, len, offset, got);

    if (error == EIO && len > block) {
        len = (size_t)block;
        error = io->read(io->disk, scan->file, to, len, offset, got);
    }
    if (error == EIO && scan->pass_over) {
        memset(to, 0xff, len);
        *got = len;
        return 0;
    }
    return error ? error : *got ? 0 : EIO;
}

int scan_bytes(struct scan *scan, char *to, size_t len, uint64_t offset)
{
    while (len > 0) {
        size_t got = 0;
        int error = progress_stops(scan->progress) ? ECANCELED
                                                   : scan_read_some(scan, to, len, offset, &got);

        if (error) {
            scan->error = error;
            scan->error_at = offset;
            return error;
        }
        progress_add(scan->progress, got);
        to += got;
        len -= got;
        offset += got;
    }
    return 0;
}

// Makes the window begin at `offset`, and fills it; keeps what it already has from there on.
static bool scan_window_move(struct scan *scan, uint64_t offset)
{
    uint64_t end = scan->window_at + scan->filled;
    size_t keep = offset >= scan->window_at && offset < end ? (size_t)(end - offset) : 0;
    size_t len = scan->window_size - keep;

    if (scan->limit - offset < scan->window_size) {
        len = scan->limit - offset > keep ? (size_t)(scan->limit - offset) - keep : 0;
    }
    memmove(scan->window, scan->window + scan->filled - keep, keep);
    scan->window_at = offset;
    scan->filled = keep;
    if (scan_bytes(scan, scan->window + keep, len, offset + keep)) {
        return false;
    }
    scan->filled += len;
    return true;
}

// The bytes at `offset`, `len` of them (at most WHOLE_MAX), all before the limit; NULL:
// scan->error.
static const char *scan_window_at(struct scan *scan, uint64_t offset, size_t len)
{
    if (offset < scan->window_at || offset + len > scan->window_at + scan->filled) {
        if (!scan_window_move(scan, offset)) {
            return NULL;
        }
    }
    return scan->window + (offset - scan->window_at);
}

// Checks the head of the next record. SCAN_RECORD, with size and type, if it is valid and the
// record ends before the limit.
static enum scan_step scan_read_head(struct scan *scan, uint64_t *size, uint8_t *type)
{
    const char *head;

    if (scan->at >= scan->limit) {
        return SCAN_END;
    }
    if (scan->limit - scan->at < CODEC_HEAD) {
        return SCAN_BAD;
    }
    head = scan_window_at(scan, scan->at, CODEC_HEAD);
    if (!head) {
        return SCAN_FAILED;
    }
    if (!codec_head_good(head, scan->salt, scan->at)) {
        return SCAN_BAD;
    }
    *size = codec_record_size(head);
    *type = codec_record_type(head);
    return *size <= scan->limit - scan->at ? SCAN_RECORD : SCAN_BAD;
}

// The body of a large record, which begins at `offset`: copied from the window as far as it is
// there, otherwise read directly.
static struct blob *scan_read_body(struct scan *scan, uint64_t offset, size_t len)
{
    struct blob *blob = blob_new(len);
    uint64_t end = scan->window_at + scan->filled;
    size_t here = offset < end ? (size_t)(end - offset) : 0;

    if (!blob) {
        scan->error = ENOMEM;
        scan->error_at = offset;
        return NULL;
    }
    here = here < len ? here : len;
    if (here > 0) {
        memcpy(blob->bytes, scan->window + (offset - scan->window_at), here);
    }
    if (scan_bytes(scan, blob->bytes + here, len - here, offset + here)) {
        blob_unref(blob);
        return NULL;
    }
    return blob;
}

// The long part of a record: the body of a job, the value of a memo.
static bool scan_long_part(const char *bytes, size_t *start, size_t *len)
{
    switch (codec_record_type(bytes)) {
    case CODEC_JOB:
        return codec_job_body(bytes, start, len);
    case CODEC_MEMO:
        return codec_memo_value(bytes, start, len);
    default:
        return false;
    }
}

static bool scan_read_parts(const struct scan *scan, const char *bytes, const char *padding,
                            struct codec_record *record)
{
    struct slice part = blob_slice(scan->blob);

    if (codec_record_type(bytes) == CODEC_MEMO) {
        if (!codec_read_memo_parts(bytes, part, padding, scan->salt, scan->at, record)) {
            return false;
        }
        record->memo.blob = scan->blob;
        return true;
    }
    if (!codec_read_job(bytes, part, padding, scan->salt, scan->at, record)) {
        return false;
    }
    record->job.blob = scan->blob;
    return true;
}

static enum scan_step scan_read_large(struct scan *scan, uint64_t size, struct codec_record *record)
{
    // The record is larger than WHOLE_MAX, so these bytes exist.
    const char *bytes = scan_window_at(scan, scan->at, CODEC_JOB_FIXED + CODEC_NAMES_MAX);
    char padding[8];
    size_t start, len;

    if (!bytes) {
        return SCAN_FAILED;
    }
    if (!scan_long_part(bytes, &start, &len)) {
        return SCAN_BAD;
    }
    scan->blob = scan_read_body(scan, scan->at + start, len);
    if (!scan->blob ||
        scan_bytes(scan, padding, (size_t)size - start - len, scan->at + start + len)) {
        return SCAN_FAILED;
    }
    return scan_read_parts(scan, bytes, padding, record) ? SCAN_RECORD : SCAN_BAD;
}

// Reads the record of that size, whose head is valid, and advances.
static enum scan_step scan_read_record(struct scan *scan, uint64_t size,
                                       struct codec_record *record)
{
    enum scan_step step;

    if (scan->blob) {
        blob_unref(scan->blob);
        scan->blob = NULL;
    }
    if (size > WHOLE_MAX) {
        step = scan_read_large(scan, size, record);
    } else {
        const char *bytes = scan_window_at(scan, scan->at, (size_t)size);

        if (!bytes) {
            return SCAN_FAILED;
        }
        step = codec_read(bytes, scan->salt, scan->at, record) ? SCAN_RECORD : SCAN_BAD;
    }
    if (step == SCAN_RECORD) {
        scan->record_at = scan->at;
        scan->at += size;
    }
    return step;
}

enum scan_step scan_next(struct scan *scan, struct codec_record *record)
{
    uint64_t size = 0;
    uint8_t type = 0;
    enum scan_step step = scan_read_head(scan, &size, &type);

    return step == SCAN_RECORD ? scan_read_record(scan, size, record) : step;
}

enum scan_step scan_next_of(struct scan *scan, enum codec_type wanted, struct codec_record *record)
{
    uint64_t size = 0;
    uint8_t type = 0;
    enum scan_step step = scan_read_head(scan, &size, &type);

    if (step != SCAN_RECORD || type == wanted) {
        return step == SCAN_RECORD ? scan_read_record(scan, size, record) : step;
    }
    record->type = (enum codec_type)type;
    scan->at += size;
    return SCAN_RECORD;
}

// If `at` is in a hole of the file, the first place after it where a record can begin; otherwise
// `at`. A hole reads as zeros, which are not a record. The system is asked only if the window does
// not have the next `len` bytes.
static uint64_t scan_behind_hole(const struct scan *scan, uint64_t at, size_t len)
{
    uint64_t data;

    if (at >= scan->window_at && at + len <= scan->window_at + scan->filled) {
        return at;
    }
    data = scan->io->data(scan->io->disk, scan->file, at);
    if (data >= scan->limit) {
        return scan->limit > at ? scan->limit : at;
    }
    // A record may begin with the last zeros of the hole.
    data = data / 8 * 8;
    return data > at + CODEC_HEAD ? data - CODEC_HEAD : at;
}

enum scan_step scan_search(struct scan *scan, uint64_t until, struct codec_record *record)
{
    enum scan_step step = SCAN_BAD;

    while (step == SCAN_BAD) {
        scan->at = scan_behind_hole(scan, scan->at + 8, CODEC_HEAD);
        step = scan->at < until ? scan_next(scan, record) : SCAN_END;
    }
    return step;
}

// Where the last byte that is not zero ends, or 0.
static size_t scan_last_set(const char *bytes, size_t len)
{
    while (len > 0 && bytes[len - 1] == 0) {
        len--;
    }
    return len;
}

bool scan_rest(struct scan *scan, uint64_t *end)
{
    static const char zeros[BLOCK];
    uint64_t at = scan->at;

    *end = scan->at;
    for (at = scan_behind_hole(scan, at, BLOCK); at < scan->limit;
         at = scan_behind_hole(scan, at, BLOCK)) {
        size_t len = scan->limit - at < BLOCK ? (size_t)(scan->limit - at) : (size_t)BLOCK;
        const char *bytes = scan_window_at(scan, at, len);

        if (!bytes) {
            return false;
        }
        if (memcmp(bytes, zeros, len) != 0) {
            *end = at + scan_last_set(bytes, len);
        }
        at += len;
    }
    return true;
}

int scan_write_back(const struct scan *scan, uint64_t offset, uint64_t end)
{
    const struct journal_io *io = scan->io;
    char bytes[WRITE_BACK];
    int error = 0;

    while (offset < end && error == 0) {
        struct iovec part = {.iov_base = bytes, .iov_len = sizeof bytes};
        size_t got = 0;
        size_t put = 0;

        if (end - offset < part.iov_len) {
            part.iov_len = (size_t)(end - offset);
        }
        error = progress_stops(scan->progress)
                    ? ECANCELED
                    : io->read(io->disk, scan->file, bytes, part.iov_len, offset, &got);
        part.iov_len = got;
        if (error == 0) {
            error = got > 0 ? io->write(io->disk, scan->file, &part, 1, offset, &put) : EIO;
        }
        offset += put;
        progress_add(scan->progress, put);
    }
    return error;
}
