/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_JOURNAL_SEAL_H
#define TANDEM_JOURNAL_SEAL_H

// The last that is done to a batch before it is written, by whoever writes it: its checksums, and
// the pieces of memory that it is in.

#include "journal/batch.h"
#include "journal/codec.h"

#include <sys/uio.h>

// Most pieces of a chunk.
enum { CHUNK_PARTS = 3 };

// Fills in the checksums of the chunk's records, for the place where it stands.
void chunk_seal(struct chunk *chunk);
// The pieces that it consists of; how many.
int chunk_parts(struct chunk *chunk, struct iovec parts[CHUNK_PARTS]);

// The head of the segment, as it stands at its beginning; and where it is a unit of a database.
void segment_put_head(char to[CODEC_SEGMENT_HEAD], const struct segment *segment);
void segment_put_unit_head(char to[CODEC_SEGMENT_HEAD], const struct segment *segment);

#endif
