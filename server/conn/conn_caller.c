/* SPDX-License-Identifier: MIT */
#include "server/conn/conn_caller.h"

#include "access/throttle.h"
#include "core/base/log.h"
#include "server/conn/conn_log.h"
#include "server/conn/conn_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What the rules can match a peer by. `groups` are to be freed. False without memory.
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

// The rights of the peer without a token. NULL without memory.
static struct grants *conn_peer_grants(const struct conn *conn, const struct rule_set *rules,
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

// Logs at debug that it acts for its peer from now on.
static void conn_log_itself(const struct conn *conn)
{
    const struct rule_set *rules = conn->caller->rules;
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

// Sets the caller's present rights; owns the reference `now`.
static void caller_become(struct caller *caller, struct grants *now, unsigned token, bool also)
{
    grants_unref(caller->now);
    caller->now = now;
    caller->token = token;
    caller->also = also;
}

// Determines the caller's rights by the present rules. A caller whose token is gone has the rights
// of its peer. False without memory: nothing has changed.
static bool caller_renew(const struct conn *conn, struct caller *caller)
{
    struct rule_set *rules = conn_turn(conn)->rules;
    unsigned token = 0;
    struct grants *itself = NULL;
    struct grants *now = NULL;

    if (rules && caller->token > 0) {
        token = access_find_token_again(rules->access, caller->rules->access, caller->token);
    }
    if (rules) {
        itself = conn_peer_grants(conn, rules, &caller->known);
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
    (void)rule_set_ref(rules);
    rule_set_unref(caller->rules);
    grants_unref(caller->itself);
    caller->rules = rules;
    caller->itself = itself;
    caller->known = caller->known && rules;
    caller_become(caller, now, token, caller->also);
    return true;
}

void conn_free_caller(struct conn *conn)
{
    struct caller *caller = conn->caller;

    if (caller) {
        grants_unref(caller->itself);
        grants_unref(caller->now);
        rule_set_unref(caller->rules);
        free(caller);
        conn->caller = NULL;
    }
}

// Makes sure that the connection has a caller with rights by the present rules. False without
// memory.
static bool conn_has_caller(struct conn *conn)
{
    struct caller *caller = conn->caller;

    if (caller) {
        return caller->rules == conn_turn(conn)->rules || caller_renew(conn, caller);
    }
    caller = calloc(1, sizeof *caller);
    if (!caller || !caller_renew(conn, caller)) {
        free(caller);
        return false;
    }
    conn->caller = caller;
    return true;
}

// To a front-end, any grants mean that rules are in force.
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
    conn_log_itself(conn);
    progress = conn_tell_granted(conn);
    ENSURE(progress != GRANT_MORE); // a new connection has at most one subscription
    return true;
}

bool conn_caller_is_old(const struct conn *conn)
{
    return conn->authorizing ||
           (conn->caller ? conn->caller->rules : NULL) != conn_turn(conn)->rules;
}

// The front-end is told even if it has asked since the rules changed: it may have refused a command
// then.
enum caller_change conn_find_caller_again(struct conn *conn)
{
    bool had_rules = conn->authorizing || (conn->caller && conn->caller->rules);
    enum grant_progress progress;

    if (!conn_turn(conn)->rules && !had_rules) {
        return CALLER_STAYS;
    }
    if (!conn_has_caller(conn)) {
        return CALLER_NOT_FOUND;
    }
    progress = conn_tell_granted(conn);
    conn->authorizing = progress == GRANT_MORE;
    if (conn->authorizing) {
        return CALLER_MORE;
    }
    if (!conn->caller->rules && !conn->caller->also) {
        conn_free_caller(conn);
    }
    return progress == GRANT_LOST ? CALLER_LOST : CALLER_STAYS;
}

static bool conn_find_itself(struct conn *conn, struct wire_caller *found)
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
        conn_log_itself(conn);
    }
    *found = (struct wire_caller){.kind = caller->known ? CALLER_KNOWN : CALLER_ADDRESS,
                                  .grants = caller->now};
    return true;
}

// It has shown a token of `access`: of the rules in force, or of its front-end (`also`).
static bool conn_find_owner(struct conn *conn, struct access *access, unsigned token, bool also,
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
    if (changed && log_most() >= LOG_LEVEL_DEBUG) {
        conn_log_caller(conn, access_token_name(access, token),
                        access_role_of_token(access, token));
    }
    *found = (struct wire_caller){.kind = CALLER_KNOWN, .grants = now};
    return true;
}

// The peer that its wrong tokens are counted for.
static struct access_peer conn_throttled_peer(const struct conn *conn)
{
    struct origin origin = conn_origin(conn);

    return (struct access_peer){.has_address = origin.has_address,
                                .address = origin.address,
                                .has_user = origin.has_user,
                                .user = origin.user};
}

// When its next wrong token may be answered; 0: now. The kernel is not asked for the peer before
// there was a wrong token.
static nsec_t conn_token_allowed_at(const struct conn *conn)
{
    const struct turn *turn = conn_turn(conn);
    struct access_peer peer;

    if (!turn->throttle) {
        return 0;
    }
    peer = conn_throttled_peer(conn);
    return throttle_ask(turn->throttle, &peer, broker_now(turn->broker).mono);
}

// All tokens are compared, whichever matches: with many tokens, that costs more than any command.
static unsigned conn_look_up_token(const struct conn *conn, const struct access *access,
                                   struct slice text)
{
    broker_charge_links(conn_turn(conn)->broker, access_count(access));
    return access_find_token(access, text);
}

// The token is wrong. If there are tokens, too many wrong ones from one address are slowed down.
// Correct tokens from there are not: their owner does not know who else has the address, and could
// be locked out by them.
static bool conn_refuse_token(struct conn *conn, bool has_tokens, struct wire_caller *found)
{
    nsec_t again_at = has_tokens ? conn_token_allowed_at(conn) : 0;
    struct turn *turn = conn_turn(conn);
    struct access_peer peer;

    if (again_at != 0) {
        conn_log_delayed_token(conn);
        *found = (struct wire_caller){.kind = CALLER_LATER, .again_at = again_at};
        return true;
    }
    service_count_refusal(conn->service->counters, REFUSAL_TOKEN);
    conn_log_wrong_token(conn);
    if (!has_tokens) {
        return true;
    }
    peer = conn_throttled_peer(conn);
    if (!turn->throttle) {
        turn->throttle = throttle_new();
    }
    if (turn->throttle) {
        throttle_wrong(turn->throttle, &peer, broker_now(turn->broker).mono);
    }
    return turn->throttle != NULL;
}

// The caller's role by the rules, or the name of its token; empty: neither.
static struct slice conn_caller_name(const struct conn *conn)
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
    struct slice name = conn_caller_name(conn);
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
    struct rule_set *rules = conn_turn(conn)->rules;
    unsigned token = 0;

    *found = (struct wire_caller){.kind = CALLER_UNKNOWN};
    if (!claim->token) {
        return conn_find_itself(conn, found);
    }
    token = rules ? conn_look_up_token(conn, rules->access, *claim->token) : 0;
    if (token > 0) {
        return conn_find_owner(conn, rules->access, token, false, found);
    }
    token = claim->also ? conn_look_up_token(conn, claim->also, *claim->token) : 0;
    if (token > 0) {
        return conn_find_owner(conn, claim->also, token, true, found);
    }
    return conn_refuse_token(conn, rules || claim->also, found);
}
