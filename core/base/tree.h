/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_CORE_BASE_TREE_H
#define TANDEM_CORE_BASE_TREE_H

// An intrusive ordered tree: what is due by its moment, what is ready by its priority. It is a
// treap: a search tree by the caller's order that is at the same time a heap by a rank which is
// mixed from the node's address. Nobody outside can choose addresses, so the depth stays a small
// multiple of log2(n) whatever comes in whatever order, and each single operation is bounded by
// it; none pays for an earlier one. A node is two pointers, nothing is allocated, nothing fails.
// The first node is kept at hand; taking it off, and adding at the end, touch only nodes along one
// edge, which are the ones in the cache; tree_insert_late() spares most of these, too.
//
// `before(a, b)` must be a strict total order on the nodes in the tree, and must not change for a
// node while it is in. The functions are inline so that the compiler sees through `before`.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tree_node {
    struct tree_node *left;
    struct tree_node *right;
};

struct tree {
    struct tree_node *root;
    struct tree_node *first;
};

typedef bool (*tree_before)(const struct tree_node *a, const struct tree_node *b);

static inline uint64_t tree_rank(const struct tree_node *node)
{
    uint64_t x = (uint64_t)(uintptr_t)node * UINT64_C(0xd6e8feb86659fd93);

    x = (x ^ (x >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return x;
}

static inline bool tree_empty(const struct tree *tree)
{
    return !tree->root;
}

// The node that comes before all others, NULL in an empty tree.
static inline struct tree_node *tree_first(const struct tree *tree)
{
    return tree->first;
}

// Puts the node to its place below `link`.
static inline void tree_insert_below(struct tree_node **link, struct tree_node *node, uint64_t rank,
                                     tree_before before)
{
    struct tree_node **left = &node->left;
    struct tree_node **right = &node->right;
    struct tree_node *below;

    while (*link && tree_rank(*link) > rank) {
        link = before(node, *link) ? &(*link)->left : &(*link)->right;
    }
    below = *link;
    *link = node;
    // What stood here is split into what comes before the node and what comes after it.
    while (below) {
        if (before(node, below)) {
            *right = below;
            right = &below->left;
            below = below->left;
        } else {
            *left = below;
            left = &below->right;
            below = below->right;
        }
    }
    *left = NULL;
    *right = NULL;
}

static inline void tree_insert(struct tree *tree, struct tree_node *node, tree_before before)
{
    if (!tree->root) {
        // An only node needs no rank: worth 0.8 % of a reserve and a delete, by tests/budget.
        *tree = (struct tree){.root = node, .first = node};
        node->left = NULL;
        node->right = NULL;
        return;
    }
    if (before(node, tree->first)) {
        tree->first = node;
    }
    tree_insert_below(&tree->root, node, tree_rank(node), before);
}

// One node in 64 has a rank that high.
#define TREE_HIGH (UINT64_C(63) << 58)

// The last node of high rank; NULL for none. What comes after it is all of low rank, so it is on
// the right edge and has all that to its right.
static inline struct tree_node *tree_last_high(const struct tree *tree)
{
    struct tree_node *last = NULL;

    for (struct tree_node *node = tree->root; node && tree_rank(node) >= TREE_HIGH;
         node = node->right) {
        last = node;
    }
    return last;
}

// The same as tree_insert(), for a tree that may be large and is mostly added to near its end: the
// way begins at `*high`, the last node of high rank, and is a few steps long whatever the size.
// With 4,000 jobs it is worth 6 % of a pipelined put, by tests/budget. NULL there means that it is
// not known. Nodes of such a tree leave by tree_remove_late().
static inline void tree_insert_late(struct tree *tree, struct tree_node **high,
                                    struct tree_node *node, tree_before before)
{
    uint64_t rank = tree_rank(node);
    bool after;

    if (!*high) {
        *high = tree_last_high(tree);
    }
    after = !*high || before(*high, node);
    if (*high && after && rank < TREE_HIGH) {
        tree_insert_below(&(*high)->right, node, rank, before);
        return;
    }
    tree_insert(tree, node, before);
    if (after && rank >= TREE_HIGH) {
        *high = node;
    }
}

// The pointer to a node that is in the tree. The way to the first is known without comparing, which
// is worth 1.7 % of a reserve and a delete, by tests/budget.
static inline struct tree_node **tree_link_to(struct tree *tree, const struct tree_node *node,
                                              tree_before before)
{
    struct tree_node **link = &tree->root;

    if (node == tree->first) {
        while ((*link)->left) {
            link = &(*link)->left;
        }
        return link;
    }
    while (*link != node) {
        link = before(node, *link) ? &(*link)->left : &(*link)->right;
    }
    return link;
}

static inline void tree_remove(struct tree *tree, struct tree_node *node, tree_before before)
{
    struct tree_node **link = tree_link_to(tree, node, before);
    struct tree_node *left = node->left;
    struct tree_node *right = node->right;

    if (tree->first == node) {
        // It has nothing to its left: its successor is leftmost on its right, or its parent.
        struct tree_node *next = right;

        while (next && next->left) {
            next = next->left;
        }
        if (!next && link != &tree->root) {
            next = (struct tree_node *)(void *)((char *)link - offsetof(struct tree_node, left));
        }
        tree->first = next;
    }
    while (left && right) {
        if (tree_rank(left) > tree_rank(right)) {
            *link = left;
            link = &left->right;
            left = left->right;
        } else {
            *link = right;
            link = &right->left;
            right = right->left;
        }
    }
    *link = left ? left : right;
    node->left = NULL;
    node->right = NULL;
}

// The same as tree_remove(), for a tree whose last node of high rank is known by `*high`.
static inline void tree_remove_late(struct tree *tree, struct tree_node **high,
                                    struct tree_node *node, tree_before before)
{
    if (*high == node) {
        *high = NULL;
    }
    tree_remove(tree, node, before);
}

// The first node that comes after `probe`, which need not be in the tree itself; NULL for none.
static inline struct tree_node *tree_after(const struct tree *tree, const struct tree_node *probe,
                                           tree_before before)
{
    struct tree_node *found = NULL;

    for (struct tree_node *node = tree->root; node;) {
        if (before(probe, node)) {
            found = node;
            node = node->left;
        } else {
            node = node->right;
        }
    }
    return found;
}

#endif
