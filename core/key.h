/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_KEY_H
#define TANDEM_CORE_KEY_H

// Private to the core: keys, by which a second submission joins the first job with the same key. A
// job holds its key while it is live and not buried; no two jobs of a queue hold the same key.

#include "core/broker.h"

struct hash_node;
struct job_extra;

// Keys of different spaces are never equal. A short body is a key by its bytes, a long one
// (BLOB_DIGEST_ABOVE) by its digest, so that the cost of a search does not grow with the body. The
// numbers are those of the journal's format.
enum key_space { KEY_SPACE_NONE, KEY_SPACE_NAMES, KEY_SPACE_BODIES, KEY_SPACE_DIGESTS };

struct job_key {
    enum key_space space;
    struct slice bytes; // borrowed; empty: no key
};

// Room for the digest of a body without a blob.
struct key_room {
    unsigned char digest[BLAKE2B_LEN];
};

// The key of a contract or an image: its name, its body, or none.
struct job_key job_key_from(enum key_kind kind, struct slice name, struct slice body,
                            struct blob *blob, struct key_room *room);

struct key_hash {
    uint64_t alone;          // of the key's bytes
    uint64_t whole;          // of the queue and the kind, too
    struct job_extra *first; // KEY_NAME: the first job with the name, in any queue; NULL: none
};

uint64_t key_hash_of(const struct hash_node *node);
uint64_t name_hash_of(const struct hash_node *node);

// The live job that holds the key in the queue, NULL for none. `hash` is valid for key_take() until
// another key changes.
struct job *key_find(const struct broker *broker, const struct queue *queue, struct job_key key,
                     struct key_hash *hash);

// Makes room for the key of one more job, for its whole life. False without memory.
bool key_make_room(struct broker *broker) MUST_USE;

// Gives the job its key, which no other job holds.
void key_take(struct broker *broker, struct job *job, const struct key_hash *hash);

// The same, if no other job holds the key.
void key_claim(struct broker *broker, struct job *job);

// The live job that holds the job's key, NULL for none, with the hash for key_take().
struct job *key_find_rival(const struct broker *broker, const struct job *job,
                           struct key_hash *hash);

// Takes the key from the job, if it holds it.
void key_yield(struct broker *broker, struct job *job);

// Called before the job moves to that queue. It holds its key there, too, at its place among the
// jobs with the same name, unless another job of the queue holds it.
void key_move(struct broker *broker, struct job *job, const struct queue *to);

// Computes the hash for key_claim() of a job whose content is its key and for which key_find() was
// never called.
void key_know_content(const struct broker *broker, struct job *job);

// Its key, held or not.
struct job_key job_key(const struct job *job);

// True if it has a key.
bool job_has_key(const struct job *job);

#endif
