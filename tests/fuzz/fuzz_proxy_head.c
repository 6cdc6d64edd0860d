/* SPDX-License-Identifier: MIT */

// Feeds a head of the PROXY protocol in pieces: the first byte says how long these are. What it
// says, and where it ends, must not depend on that; and a head that is written from it must be read
// as the same.

#include "server/transport/proxy_head.h"

#include "core/base/macros.h"

#include <string.h>

// Feeds the bytes in pieces of that length. Returns the last step; `*taken`: all bytes of the head.
static enum proxy_head_step feed_pieces(struct proxy_head *head, struct slice bytes, size_t piece,
                                        size_t *taken)
{
    enum proxy_head_step step = PROXY_HEAD_MORE;

    *head = (struct proxy_head){.len = 0};
    *taken = 0;
    while (step == PROXY_HEAD_MORE && bytes.len > 0) {
        size_t len = bytes.len < piece ? bytes.len : piece;
        size_t some;

        step = proxy_head_feed(head, slice_of(bytes.ptr, len), &some);
        ENSURE(some <= len && (some == len || step != PROXY_HEAD_MORE));
        *taken += some;
        bytes = slice_from(bytes, some);
    }
    return step;
}

static bool same_client(const struct client_address *one, const struct client_address *other)
{
    return one->known == other->known &&
           (!one->known || (one->port == other->port &&
                            memcmp(&one->address, &other->address, sizeof one->address) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of((const char *)data, size);
    unsigned char written[PROXY_HEAD_WRITE_MAX];
    struct proxy_head whole, cut;
    size_t whole_taken, cut_taken, len;
    enum proxy_head_step step;

    if (size < 2) {
        return 0;
    }
    bytes = slice_from(bytes, 1);
    step = feed_pieces(&whole, bytes, bytes.len, &whole_taken);
    ENSURE(feed_pieces(&cut, bytes, (size_t)data[0] + 1, &cut_taken) == step);
    ENSURE(cut_taken == whole_taken && whole_taken <= PROXY_HEAD_MOST);
    if (step != PROXY_HEAD_DONE) {
        return 0;
    }
    ENSURE(cut.says == whole.says && same_client(&cut.client, &whole.client));
    len = proxy_head_write(written, whole.says == PROXY_SAYS_CLIENT ? &whole.client : NULL,
                           &whole.client);
    step = feed_pieces(&cut, slice_of((const char *)written, len), 1, &cut_taken);
    ENSURE(step == PROXY_HEAD_DONE && cut_taken == len && cut.says == whole.says);
    ENSURE(whole.says != PROXY_SAYS_CLIENT || same_client(&cut.client, &whole.client));
    return 0;
}
