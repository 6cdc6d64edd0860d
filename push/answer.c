/* SPDX-License-Identifier: MIT */
#include "push/answer.h"

void answer_begin(struct answer *answer, size_t most)
{
    *answer = (struct answer){.fault = ANSWER_GOOD};
    blob_builder_init(&answer->body, most);
}

bool answer_take_head(struct answer *answer, size_t len)
{
    answer->head_len += len;
    if (answer->head_len > ANSWER_HEAD_MAX) {
        answer->fault = ANSWER_HEAD_TOO_LARGE;
    }
    return answer->fault == ANSWER_GOOD;
}

static bool take_result(struct answer *answer, struct slice bytes)
{
    if (bytes.len > blob_builder_missing(&answer->body)) {
        answer->fault = ANSWER_TOO_LARGE;
    } else if (blob_builder_take(&answer->body, bytes) != bytes.len) {
        answer->fault = ANSWER_NO_MEMORY;
    }
    return answer->fault == ANSWER_GOOD;
}

bool answer_take_body(struct answer *answer, struct slice bytes, bool counts)
{
    if (counts) {
        return take_result(answer, bytes);
    }
    answer->ignored_len += bytes.len;
    return answer->ignored_len <= ANSWER_IGNORED_MAX;
}

struct blob *answer_finish(struct answer *answer)
{
    struct blob *result;

    answer->body.total -= blob_builder_missing(&answer->body);
    if (answer->body.total == 0) {
        answer_discard(answer);
        return NULL;
    }
    result = blob_builder_finish(&answer->body);
    if (!result) {
        answer->fault = ANSWER_NO_MEMORY;
    }
    return result;
}

void answer_discard(struct answer *answer)
{
    blob_builder_discard(&answer->body);
}
