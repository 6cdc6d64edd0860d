/* SPDX-License-Identifier: MIT */
#include "proto_http/leases.h"

#include "core/base/base64.h"
#include "core/base/log.h"
#include "core/base/memory.h"
#include "core/durable_lease.h"
#include "http1/http1_conn.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <string.h>

void lease_token_write(const struct lease_token *token, char *to)
{
    base64url_encode(slice_of((const char *)token->bits, LEASE_TOKEN_SIZE), to);
}

bool lease_token_read(struct slice text, struct lease_token *token)
{
    return base64url_decode(text, (char *)token->bits, LEASE_TOKEN_SIZE);
}

bool lease_print_of(const struct lease_token *token, struct lease_print *print)
{
    unsigned char whole[SHA256_DIGEST_LENGTH];

    if (!SHA256(token->bits, LEASE_TOKEN_SIZE, whole)) {
        return false;
    }
    memcpy(print->bits, whole, LEASE_PRINT_SIZE);
    return true;
}

bool lease_print_equal(const struct lease_print *a, const struct lease_print *b)
{
    return CRYPTO_memcmp(a->bits, b->bits, LEASE_PRINT_SIZE) == 0;
}

bool lease_tokens_make(struct lease_tokens *tokens, struct lease_token *token)
{
    struct lease_token *next;

    if (tokens->left == 0) {
        if (RAND_bytes((unsigned char *)tokens->next, sizeof tokens->next) != 1) {
            return false;
        }
        tokens->left = LEASE_TOKENS_AT_ONCE;
    }
    next = &tokens->next[--tokens->left];
    *token = *next;
    OPENSSL_cleanse(next, sizeof *next);
    return true;
}

_Static_assert(LEASE_PRINT_SIZE == DURABLE_LEASE_NAME, "a lease is kept by the print of its token");

// The most sessions that are closed in one turn.
#define CLOSED_AT_ONCE 16

static struct web_lease *lease_in(const struct hash_node *node)
{
    return container_of((struct hash_node *)(uintptr_t)node, struct web_lease, by_print);
}

static uint64_t lease_hash(const struct hash_node *node)
{
    return lease_in(node)->hash;
}

// The hash depends on a secret, so that the time of a lookup reveals nothing about valid tokens.
static uint64_t hash_print(const struct web_leases *leases, const struct lease_print *print)
{
    return siphash(&leases->key, (const char *)print->bits, LEASE_PRINT_SIZE);
}

//
// Life cycle
//

void web_leases_begin(struct web_leases *leases, struct broker *broker)
{
    leases->broker = broker;
    hash_init(&leases->by_print, lease_hash);
    list_init(&leases->holders);
    list_init(&leases->emptied);
}

static struct web_holder *holder_in(struct list_node *node)
{
    return container_of(node, struct web_holder, in_leases);
}

static void free_holders(struct list_node *list)
{
    while (!list_empty(list)) {
        web_holder_free(holder_in(list_first(list)));
    }
}

void web_leases_end(struct web_leases *leases)
{
    if (leases->broker) {
        free_holders(&leases->holders);
        free_holders(&leases->emptied);
        hash_clear(&leases->by_print);
    }
}

nsec_t web_leases_due(const struct web_leases *leases)
{
    return list_empty(&leases->emptied) ? NSEC_NEVER : broker_now(leases->broker).mono;
}

void web_leases_work(struct web_leases *leases)
{
    for (int i = 0; i < CLOSED_AT_ONCE && !list_empty(&leases->emptied); i++) {
        web_holder_free(holder_in(list_first(&leases->emptied)));
    }
}

//
// Holders
//

static void holder_on_leased(void *owner, const struct job *job)
{
    struct web_holder *holder = owner;

    holder->told_of = job_id(job);
    wire_wake(holder->conn->wire);
}

static void holder_on_wait_over(void *owner, enum wait_end why)
{
    struct web_holder *holder = owner;

    (void)why;
    holder->waited_enough = true;
    wire_wake(holder->conn->wire);
}

static void holder_on_nudged(void *owner)
{
    (void)owner;
    UNREACHABLE(); // it awaits no nudge
}

static void holder_on_job_event(void *owner, struct watch *watch, const struct job_event *event)
{
    (void)owner;
    (void)watch;
    (void)event;
    UNREACHABLE(); // it has no watch
}

static void lease_forget(struct web_lease *lease)
{
    if (lease->known) {
        hash_remove(&lease->holder->leases->by_print, &lease->by_print);
        lease->holder->leases->count--;
        lease->known = false;
    }
}

static void holder_forget_leases(struct web_holder *holder)
{
    for (uint32_t i = 0; i < holder->count; i++) {
        lease_forget(&holder->all[i]);
    }
}

static void holder_on_emptied(void *owner)
{
    struct web_holder *holder = owner;

    // A request that waits or is being answered checks this itself.
    if (!holder->conn) {
        holder_forget_leases(holder);
        list_remove(&holder->in_leases);
        list_append(&holder->leases->emptied, &holder->in_leases);
    }
}

// Whether the answer is not made yet, or waits for the store.
static bool holder_on_undelivered(void *owner, uint64_t id)
{
    const struct web_holder *holder = owner;

    (void)id;
    return holder->conn ||
           (holder->held_until > 0 && holder->held_until > holder->leases->pool->reached);
}

static const struct session_ops holder_ops = {
    .leased = holder_on_leased,
    .wait_over = holder_on_wait_over,
    .nudged = holder_on_nudged,
    .job_event = holder_on_job_event,
    .emptied = holder_on_emptied,
    .undelivered = holder_on_undelivered,
};

static enum status open_holder(struct web_leases *leases, struct web_holder **opened)
{
    struct web_holder *holder;
    enum status status;

    // The key is made on first use, because the first random bits take milliseconds.
    if (!leases->keyed && RAND_bytes((unsigned char *)&leases->key, sizeof leases->key) != 1) {
        return STATUS_NO_MEMORY;
    }
    leases->keyed = true;
    holder = memory_zeroed_of(MEMORY_JOBS, sizeof *holder);
    if (!holder) {
        return STATUS_NO_MEMORY;
    }
    status =
        broker_session_open(leases->broker, &holder_ops, holder, CHOICE_OLDEST, &holder->session);
    if (status != STATUS_OK) {
        memory_free_of(MEMORY_JOBS, holder, sizeof *holder);
        return status;
    }
    holder->leases = leases;
    holder->all = &holder->only;
    holder->room = 1;
    list_append(&leases->holders, &holder->in_leases);
    leases->count++;
    *opened = holder;
    return STATUS_OK;
}

enum status web_holder_open(struct web_leases *leases, struct http1_conn *conn,
                            struct web_holder **holder)
{
    enum status status = open_holder(leases, holder);

    if (status == STATUS_OK) {
        (void)broker_session_grant((*holder)->session, broker_session_grants(conn->session));
        (*holder)->conn = conn;
        leases->pool = conn->wire->out.pool;
    }
    return status;
}

void web_holder_free(struct web_holder *holder)
{
    if (!holder) {
        return;
    }
    holder->leases->count -= holder->count == 0;
    holder_forget_leases(holder);
    if (holder->all != &holder->only) {
        memory_free_of(MEMORY_JOBS, holder->all, holder->room * sizeof *holder->all);
    }
    list_remove(&holder->in_leases);
    broker_session_close(holder->session);
    memory_free_of(MEMORY_JOBS, holder, sizeof *holder);
}

void web_holder_undelivered(struct web_holder *holder)
{
    if (holder) {
        broker_all_undelivered(holder->session);
        web_holder_free(holder);
    }
}

struct web_holder *web_holder_of(const struct web_leases *leases, uint64_t job_id,
                                 uint64_t answered_to)
{
    const struct job *job = broker_find(leases->broker, job_id);
    const struct session *session = job ? job_holder(leases->broker, job) : NULL;
    struct web_holder *holder = session ? session_owner(session, &holder_ops) : NULL;

    return holder && holder->answered_to == answered_to ? holder : NULL;
}

enum status web_holder_room(struct web_holder *holder, uint32_t count)
{
    struct web_lease *all;

    ENSURE(holder->count == 0 && holder->room == 1 && count > 0);
    if (count == 1) {
        return STATUS_OK;
    }
    all = memory_zeroed_of(MEMORY_JOBS, count * sizeof *all);
    if (!all) {
        return STATUS_NO_MEMORY;
    }
    holder->all = all;
    holder->room = count;
    return STATUS_OK;
}

void web_holder_take_no_more(struct web_holder *holder)
{
    const struct subscription *cursor = NULL;
    struct queue *queue;

    while ((queue = session_queue_next(holder->session, &cursor))) {
        (void)broker_unsubscribe(holder->session, queue_name(queue), false);
        cursor = NULL;
    }
}

static void free_if_empty(struct web_holder *holder)
{
    if (session_leases(holder->session) == 0) {
        web_holder_free(holder);
    }
}

void web_holder_leave(struct web_holder *holder)
{
    holder->answered_to = holder->conn->wire->number;
    holder->conn = NULL;
    free_if_empty(holder);
}

//
// Leases
//

// Adds the holder's next lease. Its digest is set, and the table has room.
static void holder_add_lease(struct web_holder *holder, struct web_lease *lease,
                             const struct durable_lease *kept)
{
    struct web_leases *leases = holder->leases;

    lease->holder = holder;
    lease->job_id = kept->job_id;
    lease->limit_for = kept->limit_for;
    memcpy(lease->print.bits, kept->name, LEASE_PRINT_SIZE);
    lease->hash = hash_print(leases, &lease->print);
    lease->known = true;
    hash_insert(&leases->by_print, &lease->by_print);
    leases->count += holder->count > 0; // the first lease was counted with the holder
    holder->count++;
}

enum status web_lease_add(struct web_holder *holder, uint64_t job_id, nsec_t limit_for)
{
    struct web_leases *leases = holder->leases;
    struct web_lease *lease = &holder->all[holder->count];
    struct durable_lease kept = {.job_id = job_id, .limit_for = limit_for};
    struct lease_print print;

    ENSURE(holder->count < holder->room);
    if (!hash_make_room(&leases->by_print) || !lease_tokens_make(&leases->tokens, &lease->token) ||
        !lease_print_of(&lease->token, &print) ||
        (limit_for > 0 && broker_limit(holder->session, job_id, limit_for) != STATUS_OK)) {
        return STATUS_NO_MEMORY;
    }
    memcpy(kept.name, print.bits, LEASE_PRINT_SIZE);
    holder_add_lease(holder, lease, &kept);
    broker_lease_persist(holder->session, &kept);
    return STATUS_OK;
}

static bool resume_lease(struct web_leases *leases, const struct durable_lease *kept)
{
    struct web_holder *holder;

    if (open_holder(leases, &holder) != STATUS_OK) {
        return false;
    }
    if (!hash_make_room(&leases->by_print) ||
        broker_lease_resume(holder->session, kept) != STATUS_OK) {
        web_holder_free(holder);
        return false;
    }
    holder_add_lease(holder, &holder->only, kept);
    return true;
}

void web_leases_resume(struct web_leases *leases)
{
    struct durable_lease kept;
    uint64_t cursor = 0;
    int64_t resumed = 0;
    int64_t over = 0;

    while (broker_durable_lease_next(leases->broker, &cursor, &kept)) {
        if (resume_lease(leases, &kept)) {
            resumed++;
        } else {
            broker_lease_discard(leases->broker, kept.job_id);
            over++;
        }
    }
    if (resumed + over > 0) {
        log_info("leases_resumed", log_number("count", resumed), log_number("over", over));
    }
}

static struct web_lease *find_by_print(const struct web_leases *leases,
                                       const struct lease_print *print)
{
    uint64_t hash = hash_print(leases, print);

    for (struct hash_node *node = hash_first(&leases->by_print, hash); node; node = node->next) {
        if (lease_in(node)->hash == hash && lease_print_equal(&lease_in(node)->print, print)) {
            return lease_in(node);
        }
    }
    return NULL;
}

struct web_lease *web_lease_find(struct web_leases *leases, struct slice text)
{
    struct lease_token token;
    struct lease_print print;
    struct web_lease *lease =
        leases->keyed && lease_token_read(text, &token) && lease_print_of(&token, &print)
            ? find_by_print(leases, &print)
            : NULL;
    const struct job *job = lease ? broker_find(leases->broker, lease->job_id) : NULL;

    if (!lease || (job && job_held_by(leases->broker, job, lease->holder->session))) {
        return lease;
    }
    lease_forget(lease);
    return NULL;
}

void web_lease_renew(struct web_lease *lease)
{
    enum status status;

    if (lease->limit_for > 0) {
        status = broker_limit(lease->holder->session, lease->job_id, lease->limit_for);
        ENSURE(status == STATUS_OK); // memory for its limit is allocated
    }
}

void web_lease_end(struct web_lease *lease)
{
    struct web_holder *holder = lease->holder;

    lease_forget(lease);
    free_if_empty(holder);
}
