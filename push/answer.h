/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_PUSH_ANSWER_H
#define TANDEM_PUSH_ANSWER_H

// What an endpoint answers, as it comes in: bounded in each of its parts. The body of a 2xx is
// kept, as the job's result; of any other answer only the status counts.

#include "core/base/blob.h"

#include <stdbool.h>
#include <stddef.h>

// Header fields that are longer in all are too long.
#define ANSWER_HEAD_MAX ((size_t)64 << 10)
// So much of a body that does not count is read, so that the connection can be used again.
#define ANSWER_IGNORED_MAX ((size_t)64 << 10)

enum answer_fault {
    ANSWER_GOOD,
    ANSWER_HEAD_TOO_LARGE,
    ANSWER_TOO_LARGE, // the result
    ANSWER_NO_MEMORY
};

struct answer {
    struct blob_builder body; /* private */
    size_t head_len;          /* private */
    size_t ignored_len;       /* private */
    enum answer_fault fault;
};

// Begins one with a result of at most `most` bytes.
void answer_begin(struct answer *answer, size_t most);

// So many bytes of header fields came. False: no more, please.
bool answer_take_head(struct answer *answer, size_t len);

// Bytes of the body came, `counts` those of the result. False: no more, please.
bool answer_take_body(struct answer *answer, struct slice bytes, bool counts);

// The answer is complete: hands its result over, NULL where it is empty or, which `fault` tells
// then, there is no memory.
struct blob *answer_finish(struct answer *answer);

// Frees what came. A zeroed one is allowed.
void answer_discard(struct answer *answer);

#endif
