/* SPDX-License-Identifier: MIT */

#include "core/session_private.h"

#include "core/charge.h"
#include "core/job_private.h"
#include "core/queue_private.h"

bool session_has_grants(const struct session *session)
{
    return session->grants != NULL;
}

// To compare so many bytes of a name with a glob takes about as long as to look at a link.
#define BYTES_A_LINK 16

// APART is worth 1.5 % of a put, by tests/budget: mostly there are no rules. Where there are many,
// and names are long, it takes longer than most commands.
static APART bool has_right(const struct session *session, enum right right, struct slice name)
{
    size_t looked;
    bool has = grants_have(session->grants, right, name, &looked);

    charge_links(session->broker, looked * (1 + name.len / BYTES_A_LINK));
    return has;
}

bool caller_has_right(const struct session *session, enum right right, const struct queue *queue)
{
    return has_right(session, right, queue_name(queue));
}

bool session_may(const struct session *session, enum right right, const struct queue *queue)
{
    return caller_may(session, right, queue);
}

bool session_may_by_name(const struct session *session, enum right right, struct slice name)
{
    return !session || !session->grants || has_right(session, right, name);
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

// Without an extra part the session is not wide.
static APART bool are_all_barred(const struct session *session)
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
    return session->grants && session->subscriptions > 0 && are_all_barred(session);
}

struct grants *broker_session_grants(const struct session *session)
{
    return session->grants;
}
