/* SPDX-License-Identifier: MIT */
#include "server/roster.h"

#include "core/statistics.h"
#include "server/conn_private.h"

static struct conn *conn_at(struct tree_node *node)
{
    return node ? container_of(node, struct conn, member.all) : NULL;
}

static uint64_t number_at(const struct tree_node *node)
{
    return conn_at((struct tree_node *)(uintptr_t)node)->wire.number;
}

static bool before(const struct tree_node *a, const struct tree_node *b)
{
    return number_at(a) < number_at(b);
}

void roster_add(struct conn *conn)
{
    struct turn *turn = conn_turn(conn);

    tree_insert(&turn->all, &conn->member.all, before);
    turn->members++;
}

static void walk_on(struct turn *turn, unsigned walk)
{
    turn->walks[walk] = tree_after(&turn->all, turn->walks[walk], before);
}

void roster_remove(struct conn *conn)
{
    struct turn *turn = conn_turn(conn);

    for (unsigned walk = 0; walk < TURN_WALKS; walk++) {
        if (turn->walks[walk] == &conn->member.all) {
            walk_on(turn, walk);
        }
    }
    tree_remove(&turn->all, &conn->member.all, before);
    list_remove(&conn->member.touched);
    turn->members--;
}

struct conn *roster_first(const struct turn *turn)
{
    return conn_at(tree_first(&turn->all));
}

struct conn *roster_next(const struct conn *conn)
{
    return conn_at(tree_after(&conn_turn(conn)->all, &conn->member.all, before));
}

struct conn *roster_after(const struct turn *turn, uint64_t number)
{
    struct tree_node *node = turn->all.root;
    struct tree_node *found = NULL;

    while (node) {
        if (number_at(node) > number) {
            found = node;
            node = node->left;
        } else {
            node = node->right;
        }
    }
    return conn_at(found);
}

struct conn *roster_find(const struct turn *turn, uint64_t number)
{
    struct conn *conn = number > 0 ? roster_after(turn, number - 1) : NULL;

    return conn && conn->wire.number == number ? conn : NULL;
}

static const struct session *session_at(struct tree_node *node)
{
    const struct conn *conn = conn_at(node);

    return conn->service->frontend->about(conn->frontend_state).session;
}

static uint64_t session_number(const struct session *session)
{
    struct session_info info;

    session_info(session, &info);
    return info.number;
}

struct conn *roster_find_session(const struct turn *turn, const struct session *session)
{
    uint64_t number = session_number(session);
    struct tree_node *node = turn->all.root;

    while (node && session_at(node) != session) {
        node = number < session_number(session_at(node)) ? node->left : node->right;
    }
    return conn_at(node);
}

struct conn *roster_walk(struct turn *turn, enum turn_walk walk)
{
    struct conn *conn = conn_at(turn->walks[walk]);

    if (conn) {
        walk_on(turn, walk);
    }
    return conn;
}

void roster_walk_back(struct conn *conn, enum turn_walk walk)
{
    conn_turn(conn)->walks[walk] = &conn->member.all;
}
