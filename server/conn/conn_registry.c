/* SPDX-License-Identifier: MIT */
#include "server/conn/conn_private.h"

#include "core/statistics.h"

static struct conn *registry_conn(struct tree_node *node)
{
    return node ? container_of(node, struct conn, member.all) : NULL;
}

static uint64_t registry_number(const struct tree_node *node)
{
    return registry_conn((struct tree_node *)(uintptr_t)node)->wire.number;
}

static bool registry_before(const struct tree_node *a, const struct tree_node *b)
{
    return registry_number(a) < registry_number(b);
}

void conn_registry_add(struct conn *conn)
{
    struct turn *turn = conn_turn(conn);

    tree_insert(&turn->all, &conn->member.all, registry_before);
    turn->members++;
}

static void registry_advance(struct turn *turn, unsigned walk)
{
    turn->walks[walk] = tree_after(&turn->all, turn->walks[walk], registry_before);
}

void conn_registry_remove(struct conn *conn)
{
    struct turn *turn = conn_turn(conn);

    for (unsigned walk = 0; walk < TURN_WALKS; walk++) {
        if (turn->walks[walk] == &conn->member.all) {
            registry_advance(turn, walk);
        }
    }
    tree_remove(&turn->all, &conn->member.all, registry_before);
    list_remove(&conn->member.touched);
    turn->members--;
}

struct conn *conn_registry_first(const struct turn *turn)
{
    return registry_conn(tree_first(&turn->all));
}

struct conn *conn_registry_next(const struct conn *conn)
{
    return registry_conn(tree_after(&conn_turn(conn)->all, &conn->member.all, registry_before));
}

struct conn *conn_registry_after(const struct turn *turn, uint64_t number)
{
    struct tree_node *node = turn->all.root;
    struct tree_node *found = NULL;

    while (node) {
        if (registry_number(node) > number) {
            found = node;
            node = node->left;
        } else {
            node = node->right;
        }
    }
    return registry_conn(found);
}

struct conn *conn_registry_find(const struct turn *turn, uint64_t number)
{
    struct conn *conn = number > 0 ? conn_registry_after(turn, number - 1) : NULL;

    return conn && conn->wire.number == number ? conn : NULL;
}

static const struct session *registry_session(struct tree_node *node)
{
    const struct conn *conn = registry_conn(node);

    return conn->service->frontend->facts(conn->frontend_state).session;
}

static uint64_t registry_session_number(const struct session *session)
{
    struct session_info info;

    session_info(session, &info);
    return info.number;
}

struct conn *conn_registry_find_session(const struct turn *turn, const struct session *session)
{
    uint64_t number = registry_session_number(session);
    struct tree_node *node = turn->all.root;

    while (node && registry_session(node) != session) {
        node = number < registry_session_number(registry_session(node)) ? node->left : node->right;
    }
    return registry_conn(node);
}

struct conn *conn_registry_walk(struct turn *turn, enum turn_walk walk)
{
    struct conn *conn = registry_conn(turn->walks[walk]);

    if (conn) {
        registry_advance(turn, walk);
    }
    return conn;
}

void conn_registry_walk_back(struct conn *conn, enum turn_walk walk)
{
    conn_turn(conn)->walks[walk] = &conn->member.all;
}
