/* SPDX-License-Identifier: MIT */
#include "journal/file/space.h"

#include "journal/space.h"

// What goes beyond a segment may be this share of what is left on the disk.
enum { OVERFLOW_SHARE = 4 };

bool files_next_fits(const struct journal *journal, uint64_t size, uint64_t beside)
{
    const struct segment *spare = files_of(journal)->spare;

    return spare && space_fits(journal, spare, CODEC_SEGMENT_HEAD, size, beside);
}

// What a file must have beside reserved bytes for a record of that size to be its first.
static uint64_t with_first(uint64_t size)
{
    return CODEC_SEGMENT_HEAD + size + CODEC_NUMBER_SIZE + SPACE_SLACK;
}

// Whether no segment of the usual size has space for the record, not even an empty one.
static bool is_oversize(const struct journal *journal, uint64_t size)
{
    return with_first(size) + RESERVED_END + RESERVED_BURIAL > journal->settings.segment_size;
}

// Such a record has a file of its own: the spare, made larger before it is written.
static bool begins_file(const struct journal *journal, uint64_t size)
{
    return files_of(journal)->spare && is_oversize(journal, size);
}

// What goes beyond a segment must find space on the disk later: there must be plenty now.
static bool may_overflow(const struct journal *journal, uint64_t size)
{
    bool begins = begins_file(journal, size);
    const struct segment *segment = begins ? files_of(journal)->spare : journal->row.current;
    uint64_t end = begins ? CODEC_SEGMENT_HEAD : segment->end;
    uint64_t wanted = end + journal->ledger.reserved + size + SPACE_SLACK;
    uint64_t beyond = wanted > segment->size ? wanted - segment->size : 0;

    return beyond == 0 ||
           beyond <= files_of(journal)->io->space(files_of(journal)->io->disk) / OVERFLOW_SHARE;
}

bool files_can_take(const struct journal *journal, uint64_t size, uint64_t extra)
{
    return files_next_fits(journal, size, extra + SPACE_SLACK) ||
           may_overflow(journal, size + extra);
}

// What a segment must have for its records, and, where it is written to, for the reserved bytes.
static uint64_t least_size(const struct journal *journal, const struct segment *segment)
{
    return segment->end + (segment == journal->row.current ? journal->ledger.reserved : 0);
}

struct segment *files_too_small(const struct journal *journal)
{
    for (size_t i = journal->row.segments.count; i-- > 0;) {
        struct segment *segment = journal->row.segments.list[i];

        if (least_size(journal, segment) > segment->size && !segment->failed) {
            return segment;
        }
        if (segment->published) {
            break;
        }
    }
    return NULL;
}

uint64_t files_wanted(const struct journal *journal, const struct segment *segment)
{
    uint64_t least = least_size(journal, segment);

    // Where even that is hard to have, no more is asked for.
    return journal->failure.count > 0 ? least : least + journal->settings.segment_size / 4;
}

// What a file needs beside reserved bytes to take the record that compaction waits to copy.
static uint64_t copy_needs(const struct journal *journal)
{
    size_t size = journal->compaction.wants;

    return size ? with_first(size) : 0;
}

bool files_suffices(const struct journal *journal, const struct segment *spare)
{
    return spare->size >= journal->settings.segment_size + journal->ledger.reserved;
}

static uint64_t with_reserved(const struct journal *journal, uint64_t size)
{
    return size + journal->ledger.reserved + journal->ledger.reserved / 8;
}

uint64_t files_file_size(const struct journal *journal)
{
    return with_reserved(journal, journal->settings.segment_size);
}

uint64_t files_spare_size(const struct journal *journal)
{
    uint64_t size = journal->settings.segment_size;
    uint64_t copy = copy_needs(journal);

    return with_reserved(journal, copy > size ? copy : size);
}

bool files_spare_lacks_copy(const struct journal *journal)
{
    const struct segment *spare = files_of(journal)->spare;

    return spare && spare->size < copy_needs(journal) + journal->ledger.reserved;
}

void files_move_on(struct journal *journal, uint64_t size, uint64_t extra)
{
    if (files_next_fits(journal, size, extra + SPACE_SLACK) ||
        (begins_file(journal, size) &&
         !space_fits_current(journal, size, extra + SPACE_SLACK / 2))) {
        struct segment *spare = files_of(journal)->spare;

        files_of(journal)->spare = NULL;
        files_follow(journal, spare);
    }
}

static uint64_t size_of(const struct segment *segment)
{
    return segment ? segment->size : 0;
}

uint64_t files_bytes(const struct journal *journal)
{
    const struct files *files = files_of(journal);
    uint64_t bytes = size_of(files->spare) + size_of(files->making) +
                     size_of(journal->row.removing) + size_of(files->shedding);

    for (size_t i = 0; i < journal->row.segments.count; i++) {
        bytes += journal->row.segments.list[i]->size;
    }
    return bytes;
}
