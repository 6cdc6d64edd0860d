/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_TESTS_JOURNAL_FILE_FORGE_H
#define TANDEM_TESTS_JOURNAL_FILE_FORGE_H

// Makes segments by hand, record by record, good ones and others, and puts them on the fake disk.

#include "journal/codec.h"
#include "tests/journal/file/fake_disk.h"

#include <stddef.h>
#include <stdint.h>

#define FORGE_MARKS 64

// A segment. All zero at first; forge_free() frees.
struct forge {
    char *bytes;
    size_t len;
    size_t room;
    uint64_t number;
    uint64_t salt;
    uint64_t ids_end;          // of the head; 0 stands for 1
    size_t marks[FORGE_MARKS]; // the offsets of records
    size_t count;              // of them
};

// Begins with the head of a segment whose number says its salt.
void forge_begin(struct forge *forge, uint64_t number, uint64_t previous_end);
// Its head says that the segment before may end earlier.
void forge_unsure(struct forge *forge);
void forge_free(struct forge *forge);

void forge_job(struct forge *forge, const struct job_image *image);
void forge_change(struct forge *forge, enum codec_type type, const struct job_change *change);
void forge_move(struct forge *forge, const struct job_change *change, struct slice name);
void forge_number(struct forge *forge, enum codec_type type, uint64_t number);
void forge_pause(struct forge *forge, struct slice name, nsec_t pause_for, nsec_t until_at);
void forge_memo(struct forge *forge, const struct memo *memo);
void forge_forget(struct forge *forge, enum memo_kind kind, struct slice key);
void forge_bytes(struct forge *forge, struct slice bytes);
void forge_zeros(struct forge *forge, size_t len);
// Gives the record that was made last its checksums once more.
void forge_seal(struct forge *forge);

// An ordinary job that is ready, in queue "q".
void forge_plain(struct forge *forge, uint64_t id, const char *body);

void forge_put(const struct forge *forge, struct fake_disk *disk);

#endif
