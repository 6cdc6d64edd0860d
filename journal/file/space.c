/* SPDX-License-Identifier: MIT */

// Space: whether a record that may be refused can be taken, and to which segment records go.
//
// The current segment keeps space for all reserved bytes. Where a record does not fit in beside
// them, the spare becomes the current segment. While a spare is being made, which takes a moment,
// records may go beyond what is set aside; the segment is made larger before they are written, and
// those who submit are held back meanwhile.

#include "journal/journal_private.h"

// So many chunks are set aside: for what the longest turn can append and nobody can refuse, several
// times over.
enum { CHUNKS_SET_ASIDE = 32 };
// What may be refused leaves so much for what nobody promised and nobody can do without: records
// about ids and emptied segments, and the beginning of another file where the process is started
// anew on a full disk.
#define SLACK ((uint64_t)16 * 1024)
// What goes beyond a segment may be this share of what is left on the disk.
enum { OVERFLOW_SHARE = 4 };

bool space_has_memory(struct journal *journal)
{
    return chunk_pool_fill(&journal->pool, CHUNKS_SET_ASIDE) &&
           segment_make_room(journal->current) &&
           (!journal->spare || segment_make_room(journal->spare)) &&
           segments_make_room(&journal->segments) && fail_make_room(journal);
}

bool space_memory_is_low(const struct journal *journal)
{
    return journal->pool.count < CHUNKS_SET_ASIDE / 2;
}

// Whether a segment that is used up to `end` has space for a record, beside what is promised and
// `beside` more.
static bool fits(const struct journal *journal, const struct segment *segment, uint64_t end,
                 uint64_t size, uint64_t beside)
{
    return end + size + CODEC_NUMBER_SIZE + journal->reserved + beside <= segment->size;
}

static bool fits_current(const struct journal *journal, uint64_t size, uint64_t beside)
{
    return fits(journal, journal->current, journal->current->end, size, beside);
}

static bool fits_spare(const struct journal *journal, uint64_t size, uint64_t beside)
{
    return journal->spare && fits(journal, journal->spare, CODEC_SEGMENT_HEAD, size, beside);
}

static size_t size_of(const struct journal *journal, const struct record *record, uint64_t *extra)
{
    *extra = 0;
    switch (record->kind) {
    case RECORD_SUBMIT:
        *extra = RESERVED_END + RESERVED_BURIAL;
        return codec_job_size(job_variable_len(journal->broker, record->job));
    case RECORD_KICK:
    case RECORD_TAKE:
        *extra = record->was_buried ? RESERVED_BURIAL : 0;
        return CODEC_CHANGE_SIZE;
    case RECORD_RELEASE:
    case RECORD_START:
        return CODEC_CHANGE_SIZE;
    case RECORD_PAUSE:
        return codec_pause_size(queue_name(record->queue).len);
    case RECORD_BURY:
    case RECORD_END:
        break;
    }
    UNREACHABLE();
}

uint64_t space_segment_size(uint64_t asked)
{
    const uint64_t least = CODEC_SEGMENT_HEAD + CODEC_JOB_FIXED + CODEC_NAMES_MAX + RESERVED_END +
                           RESERVED_BURIAL + SLACK + SEGMENT_UNIT;

    return journal_round_up(asked > least ? asked : least, SEGMENT_UNIT);
}

// Whether no segment of the usual size has space for the record, not even an empty one.
static bool is_oversize(const struct journal *journal, uint64_t size)
{
    return CODEC_SEGMENT_HEAD + size + CODEC_NUMBER_SIZE + SLACK + RESERVED_END + RESERVED_BURIAL >
           journal->settings.segment_size;
}

// Such a record has a file of its own: the spare, made larger before it is written.
static bool begins_file(const struct journal *journal, uint64_t size)
{
    return journal->spare && is_oversize(journal, size);
}

// What goes beyond a segment must find space on the disk later: there must be plenty now.
static bool may_overflow(const struct journal *journal, uint64_t size)
{
    bool begins = begins_file(journal, size);
    const struct segment *segment = begins ? journal->spare : journal->current;
    uint64_t end = begins ? CODEC_SEGMENT_HEAD : segment->end;
    uint64_t wanted = end + journal->reserved + size + SLACK;
    uint64_t beyond = wanted > segment->size ? wanted - segment->size : 0;

    return beyond == 0 || beyond <= journal->io->space(journal->io->disk) / OVERFLOW_SHARE;
}

bool space_is_there(struct journal *journal, const struct record *record)
{
    uint64_t extra;
    size_t size = size_of(journal, record, &extra);

    if (journal->given_up || !space_has_memory(journal)) {
        return false;
    }
    if (journal->full) {
        return record->kind != RECORD_SUBMIT && fits_current(journal, size, extra + SLACK);
    }
    return fits_current(journal, size, extra + SLACK) || fits_spare(journal, size, extra + SLACK) ||
           may_overflow(journal, size + extra);
}

bool space_overflows(const struct journal *journal)
{
    return journal->current->end + journal->reserved > journal->current->size;
}

struct segment *space_too_small(const struct journal *journal)
{
    for (size_t i = journal->segments.count; i-- > 0;) {
        struct segment *segment = journal->segments.list[i];
        uint64_t reserved = segment == journal->current ? journal->reserved : 0;

        if (segment->end + reserved > segment->size && !segment->failed) {
            return segment;
        }
        if (segment->published) {
            break;
        }
    }
    return NULL;
}

uint64_t space_wanted(const struct journal *journal, const struct segment *segment)
{
    uint64_t least = segment->end + (segment == journal->current ? journal->reserved : 0);

    // Where even that is hard to have, no more is asked for.
    return journal->failures > 0 ? least : least + journal->settings.segment_size / 4;
}

// What a file needs beside reserved bytes to take the record that compaction waits to copy.
static uint64_t copy_needs(const struct journal *journal)
{
    size_t size = journal->compaction.wants;

    return size ? CODEC_SEGMENT_HEAD + size + CODEC_NUMBER_SIZE + SLACK : 0;
}

bool space_suffices(const struct journal *journal, const struct segment *spare)
{
    return spare->size >= journal->settings.segment_size + journal->reserved;
}

static uint64_t with_reserved(const struct journal *journal, uint64_t size)
{
    return size + journal->reserved + journal->reserved / 8;
}

uint64_t space_file_size(const struct journal *journal)
{
    return with_reserved(journal, journal->settings.segment_size);
}

uint64_t space_spare_size(const struct journal *journal)
{
    uint64_t size = journal->settings.segment_size;
    uint64_t copy = copy_needs(journal);

    return with_reserved(journal, copy > size ? copy : size);
}

bool space_spare_lacks_copy(const struct journal *journal)
{
    return journal->spare->size < copy_needs(journal) + journal->reserved;
}

bool space_to_copy(const struct journal *journal, size_t size)
{
    return fits_current(journal, size, SLACK / 2) || fits_spare(journal, size, SLACK / 2);
}

bool space_to_drop(const struct journal *journal)
{
    return fits_current(journal, CODEC_NUMBER_SIZE, 0) || fits_spare(journal, CODEC_NUMBER_SIZE, 0);
}

void space_follow(struct journal *journal, struct segment *next)
{
    size_t count = journal->segments.count;

    next->number = count ? journal->segments.list[count - 1]->number + 1 : 1;
    next->ids_end = journal->ids_asked;
    next->created_ms = (uint64_t)(broker_now(journal->broker).wall / NSEC_PER_MSEC);
    next->end = CODEC_SEGMENT_HEAD;
    segments_add(&journal->segments, next);
    journal->current = next;
    space_note_previous(journal);
}

// The one before may have left the row already.
void space_note_previous(struct journal *journal)
{
    size_t count = journal->segments.count;
    const struct segment *before =
        count > 1 ? journal->segments.list[count - 2] : journal->removing;

    if (before) {
        journal->current->previous_end = before->end;
        journal->current->previous_unsure = before->unsure;
    }
    ledger_count_row(journal);
}

void space_choose(struct journal *journal, size_t size, uint64_t extra)
{
    // What was set aside for reserved bytes that are no more does not make a segment longer: it
    // could not be compacted while it is written to.
    bool full = journal->current->end + size > journal->settings.segment_size ||
                !fits_current(journal, size, extra + SLACK);

    if (full && (fits_spare(journal, size, extra + SLACK) ||
                 (begins_file(journal, size) && !fits_current(journal, size, extra + SLACK / 2)))) {
        struct segment *spare = journal->spare;

        journal->spare = NULL;
        space_follow(journal, spare);
    }
}
