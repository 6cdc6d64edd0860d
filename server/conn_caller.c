/* SPDX-License-Identifier: MIT */
#include "server/conn_caller.h"

#include "access/throttle.h"
#include "core/base/log.h"
#include "server/conn_log.h"
#include "server/conn_peer.h"
#include "server/conn_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What rules can know of the peer by itself. False without memory. `groups` are to be freed.
static bool conn_know_peer(const struct conn *conn, struct access_peer *peer, gid_t **groups)
{
    struct origin origin = conn_origin(conn);
    const struct peer_identity *identity = conn_identity(conn);

    *peer = (struct access_peer){
        .has_address = origin.has_address,
        .address = origin.address,
        .has_user = origin.has_user,
        .user = origin.user,
        .names = identity ? identity->names : NULL,
        .name_count = identity ? identity->name_count : 0,
    };
    *groups =
        origin.has_user ? origin_groups(conn_socket(conn), &origin, &peer->group_count) : NULL;
    peer->groups = *groups;
    return *groups || !origin.has_user;
}

// What the rules grant to the peer by itself. NULL without memory.
static struct grants *grants_of_peer(const struct conn *conn, const struct rules *rules,
                                     bool *known)
{
    struct access_peer peer;
    gid_t *groups;
    struct grants *grants =
        conn_know_peer(conn, &peer, &groups) ? access_of_peer(rules->access, &peer) : NULL;

    *known = peer.has_user || conn_identity(conn);
    free(groups);
    return grants;
}

// At debug: who it is by itself from now on.
static void log_itself(const struct conn *conn)
{
    const struct rules *rules = conn->caller->rules;
    struct slice role = SLICE("");
    struct access_peer peer;
    gid_t *groups;

    if (log_most() < LOG_LEVEL_DEBUG) {
        return;
    }
    if (rules && conn_know_peer(conn, &peer, &groups)) {
        role = access_role_of_peer(rules->access, &peer);
        free(groups);
    }
    conn_log_caller(conn, SLICE(""), role);
}

// At debug: whose token it has shown.
static void log_owner(const struct conn *conn, const struct access *access, unsigned token)
{
    if (log_most() >= LOG_LEVEL_DEBUG) {
        conn_log_caller(conn, access_token_name(access, token),
                        access_role_of_token(access, token));
    }
}

// By the present rules, the token that the caller has shown; 0: there is none.
static unsigned find_again(const struct caller *caller, const struct rules *rules)
{
    return caller->token > 0
               ? access_find_token_again(rules->access, caller->rules->access, caller->token)
               : 0;
}

// The caller is somebody else, who may do this; a reference of the caller's from now on.
static void caller_become(struct caller *caller, struct grants *now, unsigned token, bool also)
{
    grants_unref(caller->now);
    caller->now = now;
    caller->token = token;
    caller->also = also;
}

static void caller_take_rules(struct caller *caller, struct rules *rules, struct grants *itself)
{
    (void)rules_ref(rules);
    rules_unref(caller->rules);
    grants_unref(caller->itself);
    caller->rules = rules;
    caller->itself = itself;
}

// Judges the caller by the present rules. Whose token is not there any more is who it is by itself.
// False without memory: it stays as it was.
static bool caller_renew(const struct conn *conn, struct caller *caller)
{
    struct rules *rules = conn_turn(conn)->rules;
    unsigned token = rules ? find_again(caller, rules) : 0;
    struct grants *itself = NULL;
    struct grants *now = NULL;

    if (rules) {
        itself = grants_of_peer(conn, rules, &caller->known);
    }
    if (caller->also) {
        now = grants_ref(caller->now);
    } else {
        now = token > 0 ? access_of_token(rules->access, token) : grants_ref(itself);
    }
    if (rules && (!itself || !now)) {
        grants_unref(itself);
        grants_unref(now);
        return false;
    }
    caller_take_rules(caller, rules, itself);
    caller->known = caller->known && rules;
    caller_become(caller, now, token, caller->also);
    return true;
}

static void caller_free(struct caller *caller)
{
    if (caller) {
        grants_unref(caller->itself);
        grants_unref(caller->now);
        rules_unref(caller->rules);
        free(caller);
    }
}

void conn_free_caller(struct conn *conn)
{
    caller_free(conn->caller);
    conn->caller = NULL;
}

static bool conn_make_caller(struct conn *conn)
{
    struct caller *caller = calloc(1, sizeof *caller);

    if (!caller || !caller_renew(conn, caller)) {
        free(caller);
        return false;
    }
    conn->caller = caller;
    return true;
}

// Has the connection's caller judged by the present rules. False without memory.
static bool conn_has_caller(struct conn *conn)
{
    if (!conn->caller) {
        return conn_make_caller(conn);
    }
    return conn->caller->rules == conn_turn(conn)->rules || caller_renew(conn, conn->caller);
}

// A front-end takes any grants for a sign that rules are in force.
static enum grant_progress conn_tell_granted(struct conn *conn)
{
    return conn->service->frontend->granted(conn->frontend_state,
                                            conn->caller->rules ? conn->caller->now : NULL);
}

bool conn_find_caller(struct conn *conn)
{
    enum grant_progress progress;

    if (!conn_turn(conn)->rules) {
        return true;
    }
    if (!conn_has_caller(conn)) {
        return false;
    }
    log_itself(conn);
    progress = conn_tell_granted(conn);
    ENSURE(progress != GRANT_MORE); // it has subscribed to one queue at most
    return true;
}

bool conn_caller_is_old(const struct conn *conn)
{
    return conn->unjudged || (conn->caller ? conn->caller->rules : NULL) != conn_turn(conn)->rules;
}

// Its front-end is told even where it has asked meanwhile: it may not have liked the answer.
enum caller_change conn_find_caller_again(struct conn *conn)
{
    bool had_rules = conn->unjudged || (conn->caller && conn->caller->rules);
    enum grant_progress progress;

    if (!conn_turn(conn)->rules && !had_rules) {
        return CALLER_STAYS;
    }
    if (!conn_has_caller(conn)) {
        return CALLER_NOT_FOUND;
    }
    progress = conn_tell_granted(conn);
    conn->unjudged = progress == GRANT_MORE;
    if (conn->unjudged) {
        return CALLER_MORE;
    }
    if (!conn->caller->rules && !conn->caller->also) {
        conn_free_caller(conn);
    }
    return progress == GRANT_LOST ? CALLER_LOST : CALLER_STAYS;
}

static bool find_itself(struct conn *conn, struct wire_caller *found)
{
    struct caller *caller;

    if (!conn->caller && !conn_turn(conn)->rules) {
        *found = (struct wire_caller){.kind = CALLER_ADDRESS};
        return true;
    }
    if (!conn_has_caller(conn)) {
        return false;
    }
    caller = conn->caller;
    if (caller->token > 0 || caller->also) {
        caller_become(caller, grants_ref(caller->itself), 0, false);
        log_itself(conn);
    }
    *found = (struct wire_caller){.kind = caller->known ? CALLER_KNOWN : CALLER_ADDRESS,
                                  .grants = caller->now};
    return true;
}

// It has shown a token of these rules: those in force, or its front-end's own.
static bool find_owner(struct conn *conn, struct access *access, unsigned token, bool also,
                       struct wire_caller *found)
{
    struct grants *now = conn_has_caller(conn) ? access_of_token(access, token) : NULL;
    struct caller *caller = conn->caller;
    bool changed;

    if (!now) {
        return false;
    }
    changed = also != caller->also || now != caller->now || (!also && token != caller->token);
    caller_become(caller, now, also ? 0 : token, also);
    if (changed) {
        log_owner(conn, access, token);
    }
    *found = (struct wire_caller){.kind = CALLER_KNOWN, .grants = now};
    return true;
}

// As whom its wrong tokens count.
static struct access_peer peer_to_blame(const struct conn *conn)
{
    struct origin origin = conn_origin(conn);

    return (struct access_peer){.has_address = origin.has_address,
                                .address = origin.address,
                                .has_user = origin.has_user,
                                .user = origin.user};
}

// When its next wrong token may be answered; 0: now. As long as no client has shown a wrong one,
// the kernel is not asked.
static nsec_t wrong_again_at(const struct conn *conn)
{
    const struct turn *turn = conn_turn(conn);
    struct access_peer peer;

    if (!turn->throttle) {
        return 0;
    }
    peer = peer_to_blame(conn);
    return throttle_ask(turn->throttle, &peer, broker_now(turn->broker).mono);
}

// False without memory.
static bool count_wrong_token(const struct conn *conn)
{
    struct turn *turn = conn_turn(conn);
    struct access_peer peer = peer_to_blame(conn);

    if (!turn->throttle) {
        turn->throttle = throttle_new();
    }
    if (turn->throttle) {
        throttle_wrong(turn->throttle, &peer, broker_now(turn->broker).mono);
    }
    return turn->throttle != NULL;
}

// All tokens are looked at, whichever it is: with many, that is more than any other command costs.
static unsigned look_up(const struct conn *conn, const struct access *access, struct slice text)
{
    broker_charge_links(conn_turn(conn)->broker, access_count(access));
    return access_find_token(access, text);
}

// The token is wrong. Where there are tokens, too many wrong ones from one address slow each other
// down. A right one from there is not slowed: its owner cannot know who else has that address, and
// could be shut out by anyone who has.
static bool find_no_owner(struct conn *conn, bool has_tokens, struct wire_caller *found)
{
    nsec_t again_at = has_tokens ? wrong_again_at(conn) : 0;

    if (again_at != 0) {
        conn_log_delayed_token(conn);
        *found = (struct wire_caller){.kind = CALLER_LATER, .again_at = again_at};
        return true;
    }
    tally_refusal(conn->service->tally, SIGHT_TOKEN);
    conn_log_wrong_token(conn);
    return !has_tokens || count_wrong_token(conn);
}

static bool find_token(struct conn *conn, struct slice text, struct access *also,
                       struct wire_caller *found)
{
    struct rules *rules = conn_turn(conn)->rules;
    unsigned token;

    token = rules ? look_up(conn, rules->access, text) : 0;
    if (token > 0) {
        return find_owner(conn, rules->access, token, false, found);
    }
    token = also ? look_up(conn, also, text) : 0;
    if (token > 0) {
        return find_owner(conn, also, token, true, found);
    }
    return find_no_owner(conn, rules || also, found);
}

// What rules call it, or the name of its token; empty: nothing.
static struct slice name_of(const struct conn *conn)
{
    const struct caller *caller = conn->caller;
    struct slice name = SLICE("");
    struct access_peer peer;
    gid_t *groups;

    if (!caller || !caller->rules || caller->also) {
        return name;
    }
    if (caller->token > 0) {
        name = access_role_of_token(caller->rules->access, caller->token);
        return name.len > 0 ? name : access_token_name(caller->rules->access, caller->token);
    }
    if (conn_know_peer(conn, &peer, &groups)) {
        name = access_role_of_peer(caller->rules->access, &peer);
        free(groups);
    }
    return name;
}

void conn_caller_text(const struct conn *conn, char *text, size_t room)
{
    const struct peer_identity *identity = conn_identity(conn);
    struct slice name = name_of(conn);
    char origin_words[ORIGIN_TEXT_MAX];
    struct origin origin;

    if (name.len == 0 && identity) {
        name = slice_str(identity->subject);
    } else if (name.len == 0 && conn->caller) {
        origin = conn_origin(conn);
        if (origin.has_user) {
            origin_text(&origin, origin_words);
            name = slice_str(origin_words);
        }
    }
    (void)snprintf(text, room, "%.*s", (int)name.len, name.ptr);
}

bool conn_find_claimed(struct conn *conn, const struct wire_claim *claim, struct wire_caller *found)
{
    *found = (struct wire_caller){.kind = CALLER_UNKNOWN};
    return claim->token ? find_token(conn, *claim->token, claim->also, found)
                        : find_itself(conn, found);
}
