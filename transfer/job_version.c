/* SPDX-License-Identifier: MIT */
#include "transfer/job_version.h"

#include "core/base/siphash.h"
#include "core/types.h"

// Of a long body, only the length and both ends are hashed, so that the cost is limited.
#define BODY_END ((size_t)4096)

// The key is not secret: a client that constructs two jobs with equal hashes harms only these two.
static uint64_t hash_on(uint64_t before, const char *ptr, size_t len)
{
    const struct siphash_key key = {{UINT64_C(0x6a6f622d76657273), before}};

    return siphash(&key, len > 0 ? ptr : "", len);
}

static uint64_t hash_slice(uint64_t before, struct slice bytes)
{
    return hash_on(before ^ bytes.len, bytes.ptr, bytes.len);
}

uint64_t job_contents(const struct job_image *image)
{
    const uint64_t numbers[] = {image->created_ms, image->body.len};
    struct slice body = image->body;
    uint64_t hash = hash_on(1, (const char *)numbers, sizeof numbers);

    hash = hash_slice(hash, image->queue);
    hash = hash_slice(hash, image->key);
    if (body.len <= 2 * BODY_END) {
        return hash_slice(hash, body);
    }
    hash = hash_slice(hash, slice_of(body.ptr, BODY_END));
    return hash_slice(hash, slice_of(body.ptr + body.len - BODY_END, BODY_END));
}

// Rounds to the nearest second: most times were given in whole seconds, and after a conversion by
// the monotonic clock they are slightly earlier or later.
static uint64_t whole_seconds(nsec_t at)
{
    return (uint64_t)at / NSEC_PER_SEC + ((uint64_t)at % NSEC_PER_SEC >= NSEC_PER_SEC / 2);
}

uint64_t job_version(const struct job_image *image)
{
    const struct job_change *now = &image->now;
    bool delayed = now->state == JOB_DELAYED;
    const uint64_t numbers[] = {
        now->id,
        now->state == JOB_RESERVED ? JOB_READY : now->state,
        now->pri,
        now->delay,
        delayed ? whole_seconds(now->due_at) : 0,
        (uint64_t)(delayed && now->on_wall) | (uint64_t)(delayed && now->imposed) << 1,
        now->attempts,
        now->state == JOB_BURIED ? now->burial : 0,
        image->dead_letter.why,
        image->dead_letter.attempts,
        image->dead_letter.at_ms,
    };

    return hash_slice(hash_on(job_contents(image), (const char *)numbers, sizeof numbers),
                      image->dead_letter.why == DEAD_NOT ? SLICE("") : image->dead_letter.queue);
}

void job_version_write(uint64_t version, char text[JOB_VERSION_SIZE])
{
    for (int i = JOB_VERSION_LEN - 1; i >= 0; i--) {
        text[i] = "0123456789abcdef"[version & 15];
        version >>= 4;
    }
    text[JOB_VERSION_LEN] = '\0';
}

bool job_version_read(struct slice text, uint64_t *version)
{
    uint64_t read = 0;

    if (text.len != JOB_VERSION_LEN) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];

        if (c >= '0' && c <= '9') {
            read = read << 4 | (uint64_t)(c - '0');
        } else if (c >= 'a' && c <= 'f') {
            read = read << 4 | (uint64_t)(c - 'a' + 10);
        } else {
            return false;
        }
    }
    *version = read;
    return true;
}
