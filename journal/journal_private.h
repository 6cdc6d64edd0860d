/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_PRIVATE_H
#define TANDEM_JOURNAL_PRIVATE_H

// Private to the journal: its state, and the steps that its parts share.

#include "core/broker.h"
#include "journal/file/about.h"
#include "journal/batch.h"
#include "journal/codec.h"
#include "journal/journal.h"
#include "journal/progress.h"
#include "journal/segment.h"
#include "journal/task.h"

// What a live job is promised: space for its end and, unless it is buried, for its burial, each
// with the record that may have to stand at the beginning of a batch.
#define RESERVED_END ((uint64_t)CODEC_END_SIZE + CODEC_NUMBER_SIZE)
#define RESERVED_BURIAL ((uint64_t)CODEC_CHANGE_SIZE + CODEC_NUMBER_SIZE)

// So much space is set aside, or given back, in one go; that much takes a moment on any disk, even
// where each block has to be written for it.
#define STEP_SIZE ((uint64_t)16 * 1024 * 1024)

// Sizes of segments are multiples of this.
#define SEGMENT_UNIT UINT64_C(4096)

// Ids are given out from blocks of this size; so many are kept at a time at most.
#define IDS_BLOCK UINT64_C(65536)
#define IDS_AHEAD_MOST (64 * IDS_BLOCK)

// Where compaction of the oldest segment stands.
struct compaction {
    bool runs;
    bool blocked;    // there is no space to go on, for the present
    size_t run;      // of the segment's ids
    uint64_t id;     // the next one to look at; 0: the run's first
    size_t wants;    // bytes of the record that it has no space for; 0: it has
    nsec_t retry_at; // the spare is not made larger for that before: the disk had no space
    bool told;       // ... and that was logged
};

struct journal {
    struct journal_settings settings; // segment_size is what it has come to
    const struct journal_io *io;
    struct journal_worker worker;
    struct broker *broker;
    struct progress progress; // of journal_open()

    struct segments segments;
    struct segment *current;     // the youngest: what is appended goes to it
    struct segment *spare;       // a file with space set aside, without a number yet; NULL: none
    struct segment *making;      // what is to be the spare, with some space set aside; NULL: none
    struct segment *replacement; // set aside for when a segment must be given up
    struct segment *removing;    // taken out of the row, its file is to go; NULL: none
    uint64_t removable_at;       // ... when this position is synced
    struct segment *shedding;    // its file has no name any more, but still space; NULL: none
    uint64_t unsound_below;      // segments of lower numbers are to go, whatever they have
    struct chunk_pool pool;
    uint64_t salts; // how many were drawn

    struct batch gathering; // what is appended now
    struct batch writing;   // what is being written, or to be written next; empty: nothing
    struct batch unsynced;  // written, but not synced yet: kept so that it can be written anew

    // What the worker thread does. One task at a time.
    struct task task;
    nsec_t begun_at;

    uint64_t reached;     // position up to which who waits may be told
    uint64_t synced;      // position up to which everything is synced
    uint64_t live;        // bytes of the full records of live jobs
    uint64_t reserved;    // bytes that live jobs may still need
    uint64_t used_before; // bytes that records take in all segments but the current one
    uint64_t ids_end;     // ids below it may be given out: that is kept
    uint64_t ids_asked;   // the same, as last appended
    uint64_t ids_written; // the same, as last written
    uint64_t ids_ahead;   // how many are asked for at a time

    struct about about; // as the file of that name says; its host is known before it says anything
    struct about next_about; // what it is to say
    nsec_t quiet_at; // when what was synced last is to be proved; NSEC_NEVER: it need not be

    struct compaction compaction;
    uint64_t appended; // bytes that the core appended since compaction had its turn

    nsec_t failing_at;      // since when nothing can be written; NSEC_NEVER: all is well
    nsec_t retry_at;        // nothing is tried before
    nsec_t upkeep_retry_at; // no upkeep before; it failed
    nsec_t given_up_at;     // when those who waited were given up last

    nsec_t dirty_at;       // since when something written is not synced; NSEC_NEVER: all is
    nsec_t written_at;     // when the last batch was done, by settings.now
    nsec_t write_took_for; // and how long that took
    uint64_t expected;     // so many records may be in the next batch, if those who were told
                           // hand in as much again

    uint64_t total_written;  // records that came from the core
    uint64_t total_migrated; // jobs that were written anew
    uint64_t errors;

    // Where it stands.
    unsigned failures;   // to write, in a row
    uint64_t upkeep_due; // so many pieces of upkeep may come before the next batch
    int upkeep_error;    // what care of that kind met; 0: all is well, or told as a full disk
    enum task_kind upkeep_kind;
    bool locked;
    bool opened;   // from now on the core appends
    bool closing;  // from now on everything is synced
    bool busy;     // the worker thread has `task`
    bool full;     // the disk has no space for a spare
    bool given_up; // submissions are refused until something succeeds
    bool gave_up;  // that has not been told yet
};

// The present, by the broker's monotonic clock.
static inline nsec_t journal_present(const struct journal *journal)
{
    return broker_now(journal->broker).mono;
}

// The next multiple of `unit` that is no less.
static inline uint64_t journal_round_up(uint64_t number, uint64_t unit)
{
    return (number + unit - 1) / unit * unit;
}

// Closes the file of a segment, where it is open.
static inline void journal_close_file(const struct journal *journal, struct segment *segment)
{
    if (segment->file >= 0) {
        journal->io->close(journal->io->disk, segment->file);
        segment->file = -1;
    }
}

// Has the next task done, and waits for it; the one that is being done, where there is one. False
// where there is none.
bool journal_do_next(struct journal *journal);

//
// The books (ledger.c)
//

// The job's full record, of `size` bytes, is in that segment now: marks it, and counts it. It must
// not be counted yet. The segment must have space for its id.
void ledger_add(struct journal *journal, struct segment *segment, const struct job *job,
                size_t size);
// The job is gone, or its full record stands elsewhere: it is counted no longer.
void ledger_remove(struct journal *journal, const struct job *job);
// The record was written anew, to that segment.
void ledger_move(struct journal *journal, struct segment *segment, const struct job *job);
// A job has just been buried, or is buried no more.
void ledger_buried(struct journal *journal);
void ledger_unburied(struct journal *journal);
// Bytes that the pauses of queues take, at most.
uint64_t ledger_paused(const struct journal *journal);
void ledger_pause(struct journal *journal, struct segment *segment, const struct queue *queue);
// The row is another than before, or segments in it that are written to no more end elsewhere.
void ledger_count_row(struct journal *journal);
// Bytes that the files have on the disk, set aside or used; and those that records take.
uint64_t ledger_on_disk(const struct journal *journal);
uint64_t ledger_used(const struct journal *journal);

//
// Space (space.c)
//

// Whether the memory is there that an append may need.
bool space_has_memory(struct journal *journal);
bool space_memory_is_low(const struct journal *journal);
// The size that segments have where so much is asked for: space for any record but a job's is
// there.
uint64_t space_segment_size(uint64_t asked);
// Whether compaction may write a record of that size.
bool space_to_copy(const struct journal *journal, size_t size);
// Whether it may say that a segment is empty.
bool space_to_drop(const struct journal *journal);
// Whether the core may append the record.
bool space_is_there(struct journal *journal, const struct record *record);
// Goes on to the spare where the record does not fit into the current segment.
void space_choose(struct journal *journal, size_t size, uint64_t extra);
// Whether more was appended than the current segment has set aside beside its reserved bytes.
bool space_overflows(const struct journal *journal);
// A segment that has less set aside than is to be written to it; NULL for none.
struct segment *space_too_small(const struct journal *journal);
// How many bytes such a segment should have.
uint64_t space_wanted(const struct journal *journal, const struct segment *segment);
// Whether a spare has a segment's worth beside all reserved bytes.
bool space_suffices(const struct journal *journal, const struct segment *spare);
// What a file is made with: so much beside all reserved bytes, and some more, since these may grow
// while it waits.
uint64_t space_file_size(const struct journal *journal);
// What the spare should have: that, or more where compaction waits for a place for a job that is
// larger than a segment. A disk that has no space for more is not full.
uint64_t space_spare_size(const struct journal *journal);
// Whether the spare has less than that job needs.
bool space_spare_lacks_copy(const struct journal *journal);
// Makes `next` the current segment. The row has space for it.
void space_follow(struct journal *journal, struct segment *next);
// Notes, for the head of the current segment and for the books, where those before it end.
void space_note_previous(struct journal *journal);

//
// Appending (append.c)
//

// These return the bytes of the record. `extra` is what the record adds to the reserved bytes.
size_t append_job(struct journal *journal, const struct job *job, uint64_t extra);
size_t append_pause(struct journal *journal, const struct queue *queue);
size_t append_number(struct journal *journal, enum codec_type type, uint64_t number);
// Begins a batch, of which nothing more need come; there must be space for it.
void append_mark(struct journal *journal);
// Sees to it that there are ids to be given out.
void append_ids(struct journal *journal);
// Whether ids were given out of which it is not synced that they may be.
bool append_ids_short(const struct journal *journal);

//
// Compaction (compact.c)
//

void compact_step(struct journal *journal);
// Whether the next turn has something to do for it.
bool compact_has_work(const struct journal *journal);
// Whether the files are near to what they may take at most.
bool compact_is_behind(const struct journal *journal);
// Whether who submits had better wait until that is over: nothing is in its way.
bool compact_holds_back(const struct journal *journal);

//
// Failing (fail.c)
//

// The worker thread could not write, or sync: another segment takes over.
void fail_segment(struct journal *journal);
// What is to be written cannot be at present: that is tried again.
void fail_for_now(struct journal *journal);
// Nothing is tried for a moment; nothing has failed yet.
void fail_wait(struct journal *journal);
// The current segment has no file: it gets that of the spare. False where there is none.
bool fail_take_spare(struct journal *journal);
// Sees to it that a segment can be given up without asking for memory.
bool fail_make_replacement(struct journal *journal) MUST_USE;
static inline bool fail_make_room(struct journal *journal)
{
    return journal->replacement || fail_make_replacement(journal);
}
// When those who wait are given up, once more perhaps; NSEC_NEVER where nobody is. And does it,
// when it is time.
nsec_t fail_due_at(const struct journal *journal);
void fail_review(struct journal *journal);

//
// Upkeep of the files (upkeep.c)
//

// Gives the worker thread what is to be done next; false where nothing is.
bool upkeep_give(struct journal *journal);
// A piece of making the segment larger, for what is to be written to it. Always true.
bool upkeep_make_larger(struct journal *journal, struct segment *segment);
// Takes in what became of it.
void upkeep_take_in(struct journal *journal);
// How many pieces may come between that batch and the next.
uint64_t upkeep_after(const struct journal *journal, const struct batch *batch);
// The disk is not full any more, if it was.
void upkeep_has_space(struct journal *journal);

//
// The turn (turn.c)
//

// Hands `task` over. Always true: there was something to do.
bool turn_give(struct journal *journal);
// Has the segment synced, as far as it is written; false for NULL.
bool turn_give_sync(struct journal *journal, struct segment *segment);
void turn_take_in(struct journal *journal);
void turn_hand_over(struct journal *journal);
// The segment that has what was written last, if more may be written to it; NULL for none.
struct segment *turn_written_last(const struct journal *journal);
// Fills in, where the batch begins with that, how far its segment is synced.
void turn_say_synced(const struct batch *batch, uint64_t synced);
// Until when a batch waits for more to come, by settings.now.
nsec_t turn_gathers_until(const struct journal *journal);
bool turn_gathers(const struct journal *journal);
// Whether that errno value says so, and not that something is broken, or used up in the process.
bool turn_disk_is_full(int error);
// A random number for a segment.
uint64_t turn_draw_salt(struct journal *journal);

//
// Proof that nothing is missing (proof.c)
//

// All that was written is synced: if nothing comes for a moment, that is to be said.
void proof_is_wanted(struct journal *journal);
// When it is; NSEC_NEVER: something else must come first. And does it, when it is time.
nsec_t proof_due_at(const struct journal *journal);
void proof_step(struct journal *journal);
// Whether the batch has nothing else in it: nobody waits for that.
bool proof_is_all(const struct batch *batch);
// What the file is to say that does not say it yet; false for nothing.
bool proof_next_about(struct journal *journal, struct about *about);
// The journal has been closed: all is written and synced. False where that could not be said.
bool proof_close(struct journal *journal);
// The name of the host, for a journal that has none.
void proof_name_host(struct journal *journal, const char *host);

//
// Coming back (replay.c)
//

// Reads all segments and gives their jobs to the broker. Afterwards the row has a segment for each
// number from the oldest to the youngest (also for one that is missing, where that was repaired);
// all are closed, each with its `end`, and `*ids_end` is the highest that was found. What was read
// is synced. With settings.repair, `*damaged` says whether anything was passed over.
bool journal_replay(struct journal *journal, uint64_t *ids_end, bool *damaged,
                    struct journal_error *why) MUST_USE;

__attribute__((format(printf, 2, 3))) void journal_complain(struct journal_error *why,
                                                            const char *format, ...);

#endif
