/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_KEY_H
#define TANDEM_CORE_KEY_H

// Private to the core: keys, by which a second submission of the same thing joins the first. A job
// holds its key while it is live and not buried; no two jobs of a queue hold the same key.

#include "core/broker.h"

struct hash_node;
struct job_extra;

// What a key is compared with: keys of different kinds are never the same. A short body is a key by
// its bytes, a long one (BLOB_DIGEST_ABOVE) by its digest: so neither looking for it nor keeping it
// takes longer the longer it is. The numbers are those of the journal's format (unique.h).
enum key_space { KEY_SPACE_NONE, KEY_SPACE_NAMES, KEY_SPACE_BODIES, KEY_SPACE_DIGESTS };

struct job_key {
    enum key_space space;
    struct slice bytes; // borrowed; empty: there is no key
};

// Where a digest stands that no blob keeps.
struct key_room {
    unsigned char digest[BLAKE2B_LEN];
};

// The key that a body is, which `blob` has, or, where that is NULL, `body`. It borrows from them or
// from `room`. A long body whose digest is not known yet is hashed here.
struct job_key key_of_body(struct slice body, struct blob *blob, struct key_room *room);

// The key that a contract or an image says: its name, its body, or none.
struct job_key job_key_from(enum key_kind kind, struct slice name, struct slice body,
                            struct blob *blob, struct key_room *room);

struct key_hash {
    uint64_t alone;          // of the key's bytes
    uint64_t whole;          // of the queue and the kind, too
    struct job_extra *first; // KEY_NAME: who holds the name first, in whatever queue; NULL: nobody
};

uint64_t key_hash_of(const struct hash_node *node);
uint64_t name_hash_of(const struct hash_node *node);

// The live job that the contract names by its key, NULL for none; and what key_take() wants to know
// where it is called before anything else happens to keys.
struct job *key_find(const struct broker *broker, const struct queue *queue, struct job_key key,
                     struct key_hash *hash);

// Sees to it that one more key can be held, from then on whenever its job wants it. False without
// memory.
bool key_make_room(struct broker *broker) MUST_USE;

// The job holds its key from now on, which no other job holds.
void key_take(struct broker *broker, struct job *job, const struct key_hash *hash);

// The same where no other job holds the key by now; otherwise nothing happens.
void key_claim(struct broker *broker, struct job *job);

// The live job that holds the job's key, NULL for none, and what key_take() wants to know.
struct job *key_find_rival(const struct broker *broker, const struct job *job,
                           struct key_hash *hash);

// The job holds its key no longer. One that holds none is left alone.
void key_yield(struct broker *broker, struct job *job);

// The job is about to go to that queue. It holds its key there, too, at its place among those who
// hold the same name, unless another job of the queue has it.
void key_move(struct broker *broker, struct job *job, const struct queue *to);

// Of a job whose content is its key, and which was never looked for by key_find(): what key_claim()
// wants to know.
void key_know_content(const struct broker *broker, struct job *job);

// Its key, whether it holds it or not.
struct job_key job_key(const struct job *job);

// Whether it has one.
bool job_has_key(const struct job *job);

#endif
