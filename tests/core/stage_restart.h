/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_CORE_STAGE_RESTART_H
#define TANDEM_TESTS_CORE_STAGE_RESTART_H

// A restart on the stage: a new broker is given the durable jobs of another one, either as full
// records of one moment, as a store that compacts writes them, or record by record.

#include "core/restore.h"
#include "tests/core/stage.h"

// Describes all durable jobs and the pauses of `s`, gives them to the broker of a new stage, in a
// random order, and finishes. The wall clock has gone on by `down_for` meanwhile; the monotonic
// clock is another one.
struct stage *stage_restart(struct stage *s, nsec_t down_for);

// Describes the job of that id, which must be there.
struct job_image stage_image(struct stage *s, uint64_t id);

// A job with each part that a job can have: number 42, delayed, in `mail`.
struct job_image stage_whole_image(void);

void stage_expect_same_change(const struct job_change *a, const struct job_change *b);
void stage_expect_same_image(const struct job_image *a, const struct job_image *b);

// A store in memory that keeps the records of a broker and gives them back. Names and keys are
// short.
#define STAGE_TAPE 4096
#define STAGE_TAPE_NAME 8

struct stage_tape_record {
    enum record_kind kind;
    struct job_image image;
    char queue[STAGE_TAPE_NAME];
    char key[STAGE_TAPE_NAME];
    char past_queue[STAGE_TAPE_NAME];
    nsec_t pause_for, until_at;
    struct instant at; // when the record was written
};

struct stage_tape {
    struct broker *broker;     // whose records they are; set when it has been made
    const struct instant *now; // its present; the same
    size_t count;
    struct stage_tape_record records[STAGE_TAPE];
};

extern const struct recorder stage_tape_recorder; // its store is a struct stage_tape

// Replaces the records by full records of all jobs.
void stage_tape_begin(struct stage_tape *tape);

// Gives all records to a new stage's broker, at the moment `now` of the wall clock, and finishes.
struct stage *stage_tape_play(const struct stage_tape *tape, nsec_t now);

// The same, but each record is given to the broker as of the time when it was written, the broker
// tidies up at random moments, and finishes at the present.
struct stage *stage_tape_follow(const struct stage_tape *tape, uint64_t chance);

#endif
