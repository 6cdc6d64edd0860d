/* SPDX-License-Identifier: MIT */

#include "core/grants.h"

#include "core/base/glob.h"
#include "core/charge.h"
#include "core/job_private.h"
#include "core/queue_private.h"
#include "core/session_private.h"

#include <stdlib.h>
#include <string.h>

struct grants {
    size_t refs;
    size_t count;
    struct grant list[]; // followed by the bytes of the globs
};

struct grants *grants_new(const struct grant *list, size_t count)
{
    size_t size = sizeof(struct grants) + count * sizeof *list;
    struct grants *grants;
    char *bytes;

    for (size_t i = 0; i < count; i++) {
        size += list[i].queues.len;
    }
    grants = malloc(size);
    if (!grants) {
        return NULL;
    }
    grants->refs = 1;
    grants->count = count;
    bytes = (char *)&grants->list[count];
    for (size_t i = 0; i < count; i++) {
        struct slice glob = list[i].queues;

        if (glob.len > 0) {
            memcpy(bytes, glob.ptr, glob.len);
        }
        grants->list[i] = (struct grant){
            .rights = list[i].rights | (list[i].rights & MAY_OPERATE ? MAY_CANCEL : 0),
            .queues = slice_of(bytes, glob.len),
        };
        bytes += glob.len;
    }
    return grants;
}

struct grants *grants_ref(struct grants *grants)
{
    if (grants) {
        grants->refs++;
    }
    return grants;
}

void grants_unref(struct grants *grants)
{
    if (grants && --grants->refs == 0) {
        free(grants);
    }
}

bool grants_shared(const struct grants *grants)
{
    return grants->refs > 1;
}

bool grants_same(const struct grants *a, const struct grants *b)
{
    if (a == b || !a || !b || a->count != b->count) {
        return a == b;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (a->list[i].rights != b->list[i].rights ||
            !slice_equal(a->list[i].queues, b->list[i].queues)) {
            return false;
        }
    }
    return true;
}

bool grants_have(const struct grants *grants, enum right right, struct slice name, size_t *looked)
{
    *looked = 0;
    for (size_t i = 0; i < grants->count; i++) {
        const struct grant *grant = &grants->list[i];

        if (grant->rights & right) {
            ++*looked;
            if (glob_matches(grant->queues, name)) {
                return true;
            }
        }
    }
    return false;
}

unsigned grants_somewhere(const struct grants *grants)
{
    unsigned rights = 0;

    for (size_t i = 0; i < grants->count; i++) {
        rights |= grants->list[i].rights;
    }
    return rights;
}

unsigned grants_everywhere(const struct grants *grants)
{
    unsigned rights = 0;

    for (size_t i = 0; i < grants->count; i++) {
        const struct slice glob = grants->list[i].queues;
        bool all = glob.len > 0;

        for (size_t j = 0; j < glob.len; j++) {
            all = all && glob.ptr[j] == '*';
        }
        rights |= all ? grants->list[i].rights : 0;
    }
    return rights;
}

bool session_has_grants(const struct session *session)
{
    return session->grants != NULL;
}

// Comparing this many bytes of a name with a glob costs about as much as looking at a link.
#define BYTES_A_LINK 16

// APART saves 1.5 % of a put, by tests/budget, since mostly there are no rules. With many rules and
// long names, this takes longer than most commands, so that it is charged.
static APART bool session_has_right(const struct session *session, enum right right,
                                    struct slice name)
{
    size_t looked;
    bool has = grants_have(session->grants, right, name, &looked);

    charge_links(session->broker, looked * (1 + name.len / BYTES_A_LINK));
    return has;
}

bool caller_has_right(const struct session *session, enum right right, const struct queue *queue)
{
    return session_has_right(session, right, queue_name(queue));
}

bool session_may(const struct session *session, enum right right, const struct queue *queue)
{
    return caller_may(session, right, queue);
}

bool session_may_by_name(const struct session *session, enum right right, struct slice name)
{
    return !session || !session->grants || session_has_right(session, right, name);
}

bool session_may_somewhere(const struct session *session, enum right right)
{
    return !session || !session->grants || (grants_somewhere(session->grants) & right) != 0;
}

bool session_may_everywhere(const struct session *session, enum right right)
{
    return !session || !session->grants || (grants_everywhere(session->grants) & right) != 0;
}

enum status session_check_job(const struct session *by, enum right right, const struct job *job)
{
    const struct queue *queue;

    if (!job) {
        return STATUS_NOT_FOUND;
    }
    if (!by || !by->grants) {
        return STATUS_OK;
    }
    queue = queue_at(by->broker, job);
    if (session_may(by, right, queue)) {
        return STATUS_OK;
    }
    return session_may(by, MAY_OBSERVE, queue) ? STATUS_FORBIDDEN : STATUS_NOT_FOUND;
}

// A session without an extra part is not wide: the loop is short.
static APART bool subscriptions_all_barred(const struct session *session)
{
    size_t looked = 0;
    size_t barred = 0;

    if (session->extra) {
        return session->extra->barred == session->subscriptions;
    }
    list_each (node, &session->subscribed) {
        looked++;
        if (!list_item(node, struct subscription, in_session)->barred) {
            break;
        }
        barred++;
    }
    charge_links(session->broker, looked);
    return barred == session->subscriptions;
}

bool session_is_barred(const struct session *session)
{
    return session->grants && session->subscriptions > 0 && subscriptions_all_barred(session);
}

struct grants *broker_session_grants(const struct session *session)
{
    return session->grants;
}
