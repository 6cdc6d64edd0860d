/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_BUFFER_H
#define TANDEM_BENCH_BUFFER_H

// Bytes in a row that grow at the end and are used up from the front. A zeroed buffer is empty.
// Without memory the load generator ends: it has nothing to protect.

#include <stddef.h>

struct buffer {
    char *bytes; /* private */
    size_t head; /* private: first byte that is not used up */
    size_t tail; /* private: behind the last byte */
    size_t room; /* private: bytes allocated */
};

void buffer_free(struct buffer *buffer);

// Room for at least `len` more bytes behind the last one; say how many were put there with
// buffer_filled(). Valid until the next call.
char *buffer_room(struct buffer *buffer, size_t len);
void buffer_filled(struct buffer *buffer, size_t len);

void buffer_add(struct buffer *buffer, const void *bytes, size_t len);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The first `len` bytes are done with.
void buffer_used(struct buffer *buffer, size_t len);

const char *buffer_bytes(const struct buffer *buffer);
size_t buffer_len(const struct buffer *buffer);

#endif
