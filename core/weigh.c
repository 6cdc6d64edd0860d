/* SPDX-License-Identifier: MIT */
#include "core/weigh.h"

#include "core/charge.h"
#include "core/gate.h"
#include "core/subscription.h"
#include "core/job_private.h"
#include "core/session_private.h"

// What a search comes to know of the queues with a weight that the session may take from now and
// whose best jobs have the lowest priority number among them.
struct pick {
    struct subscription *by; // of the lowest tag; NULL: there is none
    bool several;            // another one is there
    uint64_t began;          // of the last turn that one of them had
};

static struct gate *gate_of(const struct subscription *by)
{
    return subscription_queue(by)->gate;
}

// Two ways lead to it, and are gone at once, a step of each in turn. This is the first one: through
// all such queues, those with the lowest tags first, until two are the session's, then those with
// the latest turns, until one is.
struct by_gates {
    const struct gate *gate; // to be looked at, NULL after the last
    bool latest;             // those with the latest turns are looked at
    struct pick pick;
};

static bool look_at_gate(const struct session *session, struct by_gates *way)
{
    const struct gate *gate = way->gate;
    struct pick *pick = &way->pick;
    struct subscription *by;

    if (gate && !way->latest && pick->by && gate->pri > gate_of(pick->by)->pri) {
        gate = NULL;
    }
    if (!gate) {
        return true;
    }
    by = session_find(session, gate->queue);
    if (!by || by->barred) {
        way->gate = way->latest ? gates_by_began(session->broker, gate, gate->pri)
                                : gates_by_tag(session->broker, gate);
        return false;
    }
    if (way->latest) {
        pick->began = gate_began(gate->tag, gate->weight);
        return true;
    }
    if (!pick->by) {
        pick->by = by;
        pick->began = gate_began(gate->tag, gate->weight);
        way->gate = gates_by_tag(session->broker, gate);
        return false;
    }
    pick->several = true;
    way->latest = true;
    way->gate = gates_by_began(session->broker, NULL, gate->pri);
    return false;
}

// This is the second one: through all subscriptions of the session.
static void look_at_own(struct pick *pick, struct subscription *by)
{
    const struct gate *gate = gate_of(by);
    const struct gate *best = pick->by ? gate_of(pick->by) : NULL;
    uint64_t began;

    if (!gate || !gate->weighing || by->barred || (best && best->pri < gate->pri)) {
        return;
    }
    began = gate_began(gate->tag, gate->weight);
    if (!best || gate->pri < best->pri) {
        *pick = (struct pick){.by = by, .began = began};
        return;
    }
    pick->several = true;
    pick->began = began > pick->began ? began : pick->began;
    if (gate->tag < best->tag || (gate->tag == best->tag && gate->seq < best->seq)) {
        pick->by = by;
    }
}

static struct pick pick_weighed(struct session *session)
{
    struct by_gates way = {.gate = gates_by_tag(session->broker, NULL)};
    struct pick own = {.by = NULL};
    size_t looked = 0;

    list_each (node, &session->subscribed) {
        looked++;
        if (look_at_gate(session, &way)) {
            charge_links(session->broker, looked);
            return way.pick;
        }
        look_at_own(&own, list_item(node, struct subscription, in_session));
    }
    charge_links(session->broker, looked);
    return own;
}

struct job *weigh(struct session *session, struct job *oldest, struct subscription **by)
{
    struct gates *gates = &session->broker->gates;
    struct pick pick = pick_weighed(session);
    const struct gate *gate = pick.by ? gate_of(pick.by) : NULL;
    bool both = gate && oldest && gate->pri == oldest->pri;
    uint64_t others_began = gate_began(gates->others, 1);
    struct job *best = oldest;
    uint64_t tag = gates->others;

    if (both) {
        pick.several = true;
        pick.began = others_began > pick.began ? others_began : pick.began;
    }
    if (gate && (!oldest || gate->pri < oldest->pri ||
                 (both && (gate->tag < gates->others ||
                           (gate->tag == gates->others && gate->seq < oldest->seq))))) {
        best = job_in_tree(tree_first(&gate->queue->ready));
        tag = gate->tag;
        *by = pick.by;
    } else if (gate && !both) {
        pick.several = false; // those with a weight have jobs of lower priority
    }
    gates->weighed = best && pick.several ? best->id : 0;
    gates->weighed_tag = tag > pick.began ? tag : pick.began;
    return best;
}

void weigh_taken(const struct subscription *by, const struct job *job)
{
    const struct session *session = by->session;
    struct queue *queue = subscription_queue(by);
    bool weighs = queue->gate && queue->gate->weight > 0;
    struct gates *gates = &session->broker->gates;
    uint64_t tag = gates->weighed_tag + GATE_STRIDE / (weighs ? queue->gate->weight : 1);

    // Others have chosen without weights, and what was noted is older than that.
    if (session->choice != CHOICE_OLDEST || session->subscriptions == 1 ||
        gates->weighed != job->id) {
        return;
    }
    gates->weighed = 0;
    if (weighs) {
        gate_set_tag(session->broker, queue, tag);
    } else {
        gates->others = tag;
    }
}
