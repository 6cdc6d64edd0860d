/* SPDX-License-Identifier: MIT */
#include "tests/journal/journal_bed.h"

#include "journal/journal_private.h"

// How often a start may be refused in a storm.
enum { STARTS = 3 };

// All records up to the reached position have been written. With a policy other than `always`, only
// records up to the synced position survive a power cut.
uint64_t bed_kept(const struct bed *bed, enum bed_end end)
{
    if (end == BED_KILLED || bed->options.sync_every_for == 0) {
        return journal_reached(bed->journal);
    }
    return bed->journal->position.synced;
}

static void end_disk(struct fake_disk *disk, enum bed_end end, uint64_t seed)
{
    switch (end) {
    case BED_KILLED:
        fake_disk_kill(disk);
        return;
    case BED_CUT:
        fake_disk_cut(disk, FAKE_KEEP_NONE, 0);
        return;
    case BED_CUT_LATE:
        fake_disk_cut(disk, FAKE_KEEP_SOME, seed);
        return;
    }
    UNREACHABLE();
}

static void expect_opened(struct bed *bed, enum bed_end end, uint64_t seed)
{
    if (!bed_open(bed)) {
        print_error("end %d, seed %llu\n", (int)end, (unsigned long long)seed);
        fail_msg("not opened: %s", bed->why.text);
    }
}

// Ends a copy of the disk so, starts a broker from it, and compares that with the book.
static void expect_back(struct bed *bed, struct book *book, enum bed_end end, uint64_t seed,
                        uint64_t survives, uint64_t ids)
{
    struct bed other = {
        .options = bed->options, .disk = fake_disk_copy(bed->disk), .now = bed->now};

    other.io = fake_disk_io(other.disk);
    other.disk_worker.io = &other.io;
    other.options.bounded = false;
    end_disk(other.disk, end, seed);
    expect_opened(&other, end, seed);
    if (book) {
        book_expect(book, other.broker, survives, ids);
    }
    bed_discard(&other);
}

void bed_expect_survives(struct bed *bed, enum bed_end end, uint64_t seed)
{
    expect_back(bed, bed->book, end, seed, bed_kept(bed, end), journal_reached(bed->journal));
}

void bed_expect_opens(struct bed *bed, enum bed_end end, uint64_t seed)
{
    expect_back(bed, NULL, end, seed, 0, 0);
}

void bed_expect_left(struct bed *bed, enum bed_end end, uint64_t seed)
{
    expect_back(bed, bed->book, end, seed, end == BED_KILLED ? bed->left : bed->left_safe, 0);
}

void bed_expect_survives_all(struct bed *bed)
{
    bed_expect_survives(bed, BED_KILLED, 0);
    bed_expect_survives(bed, BED_CUT, 0);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        bed_expect_survives(bed, BED_CUT_LATE, seed);
    }
}

void bed_restart_anyhow(struct bed *bed, enum bed_end end, uint64_t seed)
{
    bed_abandon(bed);
    end_disk(bed->disk, end, seed);
    expect_opened(bed, end, seed);
    if (bed->book) {
        book_let_keys_be_shared(bed->book);
        book_begin(bed->book, bed->broker);
    }
    bed_resume_leases(bed);
}

// If any call may fail, a start may fail, and leave files in any state.
static bool open_in_storm(struct bed *bed, unsigned one_in, uint64_t seed)
{
    bool opened = false;

    for (int i = 0; one_in > 0 && i < STARTS && !opened; i++) {
        fake_disk_storm(bed->disk, one_in, seed + (uint64_t)i);
        opened = bed_open(bed);
        if (!opened) {
            fake_disk_kill(bed->disk);
        }
    }
    fake_disk_heal(bed->disk);
    return opened;
}

void bed_restart_in_storm(struct bed *bed, enum bed_end end, uint64_t seed, unsigned one_in)
{
    uint64_t survives = bed_kept(bed, end);
    uint64_t ids = journal_reached(bed->journal);

    bed_abandon(bed);
    end_disk(bed->disk, end, seed);
    if (!open_in_storm(bed, one_in, seed)) {
        expect_opened(bed, end, seed);
    }
    if (bed->book) {
        book_expect(bed->book, bed->broker, survives, ids);
        book_begin(bed->book, bed->broker);
    }
    bed_resume_leases(bed);
}

void bed_restart(struct bed *bed, enum bed_end end, uint64_t seed)
{
    bed_restart_in_storm(bed, end, seed, 0);
}
