/* SPDX-License-Identifier: MIT */
// The containers of the core, each for itself and against an array that is searched end to end.
#include "core/base/list.h"
#include "core/base/table.h"
#include "core/base/tree.h"

#include "tests/support/chance.h"
#include "tests/support/nth_alloc.h"
#include "tests/support/with_cmocka.h"

#include <stdlib.h>
#include <string.h>

enum { ITEMS = 600 };

struct item {
    struct list_node in_list;
    struct tree_node in_tree;
    uint64_t key;
    uint32_t place;
    bool in;
};

static struct item items[ITEMS];

static int clear_items(void **state)
{
    (void)state;
    memset(items, 0, sizeof items);
    return 0;
}

//
// Lists
//

static void list_keeps_the_order_of_appending(void **state)
{
    struct list_node list;
    size_t seen = 0;

    (void)state;
    list_init(&list);
    assert_true(list_empty(&list));
    assert_null(list_first(&list));
    for (size_t i = 0; i < 5; i++) {
        list_init(&items[i].in_list);
        assert_false(list_linked(&items[i].in_list));
        list_append(&list, &items[i].in_list);
        assert_true(list_linked(&items[i].in_list));
    }
    list_each (node, &list) {
        assert_ptr_equal(list_item(node, struct item, in_list), &items[seen++]);
    }
    assert_int_equal(seen, 5);
    assert_ptr_equal(list_first(&list), &items[0].in_list);
}

static void node_may_be_removed_twice_and_inserted_before_another(void **state)
{
    struct list_node list;

    (void)state;
    list_init(&list);
    for (size_t i = 0; i < 3; i++) {
        list_append(&list, &items[i].in_list);
    }
    list_remove(&items[1].in_list);
    list_remove(&items[1].in_list);
    assert_false(list_linked(&items[1].in_list));
    assert_ptr_equal(items[0].in_list.next, &items[2].in_list);
    assert_ptr_equal(items[2].in_list.prev, &items[0].in_list);
    list_insert_before(&items[0].in_list, &items[1].in_list);
    assert_ptr_equal(list_first(&list), &items[1].in_list);
    for (size_t i = 0; i < 3; i++) {
        list_remove(&items[i].in_list);
    }
    assert_true(list_empty(&list));
}

static bool lower_key(const struct list_node *a, const struct list_node *b)
{
    return list_item((struct list_node *)(uintptr_t)a, struct item, in_list)->key <
           list_item((struct list_node *)(uintptr_t)b, struct item, in_list)->key;
}

// Sorts `count` items with `kinds` different keys, and asserts that equal items keep their order.
static void sort_items(uint32_t count, uint32_t kinds)
{
    const struct item *before = NULL;
    struct list_node list;
    uint32_t seen = 0;

    list_init(&list);
    for (uint32_t i = 0; i < count; i++) {
        items[i].key = below(kinds);
        list_append(&list, &items[i].in_list);
    }
    list_sort(&list, lower_key);
    list_each (node, &list) {
        const struct item *item = list_item(node, struct item, in_list);

        assert_ptr_equal(node->next->prev, node);
        assert_true(!before || before->key < item->key ||
                    (before->key == item->key && before < item));
        before = item;
        seen++;
    }
    assert_int_equal(seen, count);
}

static void sorted_list_is_in_order_and_keeps_that_of_equals(void **state)
{
    (void)state;
    for (uint32_t count = 0; count < 40; count++) {
        for (uint32_t kinds = 1; kinds <= 40; kinds += 3) {
            sort_items(count, kinds);
        }
    }
    sort_items(ITEMS, 7);
    sort_items(ITEMS, UINT32_MAX);
}

//
// Trees
//

static bool item_before(const struct tree_node *a, const struct tree_node *b)
{
    const struct item *x = container_of((struct tree_node *)(uintptr_t)a, struct item, in_tree);
    const struct item *y = container_of((struct tree_node *)(uintptr_t)b, struct item, in_tree);

    return x->key != y->key ? x->key < y->key : x < y;
}

static size_t depth_of(const struct tree_node *node)
{
    size_t left = node ? depth_of(node->left) : 0;
    size_t right = node ? depth_of(node->right) : 0;

    return node ? 1 + (left > right ? left : right) : 0;
}

static void expect_below(const struct tree_node *node, const struct tree_node *child)
{
    assert_true(!child || tree_rank(child) < tree_rank(node));
}

// Walks in order; returns how many nodes there are.
static size_t expect_ordered(const struct tree_node *node, const struct tree_node **before)
{
    size_t count = 0;

    if (node) {
        expect_below(node, node->left);
        expect_below(node, node->right);
        count = expect_ordered(node->left, before);
        assert_true(!*before || item_before(*before, node));
        *before = node;
        count += 1 + expect_ordered(node->right, before);
    }
    return count;
}

static void expect_tree(const struct tree *tree, size_t count)
{
    const struct tree_node *before = NULL;
    const struct tree_node *first = tree->root;

    while (first && first->left) {
        first = first->left;
    }
    assert_ptr_equal(tree_first(tree), first);
    assert_int_equal(tree_empty(tree), count == 0);
    assert_int_equal(expect_ordered(tree->root, &before), count);
}

static void tree_gives_its_nodes_in_order(void **state)
{
    struct tree tree = {0};
    uint64_t last = 0;

    (void)state;
    for (size_t i = 0; i < ITEMS; i++) {
        items[i].key = below(50);
        tree_insert(&tree, &items[i].in_tree, item_before);
    }
    expect_tree(&tree, ITEMS);
    for (size_t i = ITEMS; i > 0; i--) {
        struct item *item = container_of(tree_first(&tree), struct item, in_tree);

        assert_true(item->key >= last);
        last = item->key;
        tree_remove(&tree, &item->in_tree, item_before);
        assert_null(item->in_tree.left);
        assert_null(item->in_tree.right);
    }
    expect_tree(&tree, 0);
}

static void tree_follows_random_changes(void **state)
{
    struct tree tree = {0};
    size_t count = 0;

    (void)state;
    for (int step = 0; step < 20000; step++) {
        struct item *item = &items[below(ITEMS)];

        if (item->in) {
            tree_remove(&tree, &item->in_tree, item_before);
            count--;
        } else {
            item->key = below(200);
            tree_insert(&tree, &item->in_tree, item_before);
            count++;
        }
        item->in = !item->in;
        if (step % 64 == 0) {
            expect_tree(&tree, count);
        }
    }
    expect_tree(&tree, count);
}

// The last node of high rank, found the long way.
static const struct tree_node *last_high(const struct tree_node *node)
{
    const struct tree_node *found = node ? last_high(node->right) : NULL;

    if (!node || found) {
        return found;
    }
    return tree_rank(node) >= TREE_HIGH ? node : last_high(node->left);
}

static const struct tree_node *last_node(const struct tree_node *node)
{
    return node && node->right ? last_node(node->right) : node;
}

static void tree_with_late_inserts_follows_random_changes(void **state)
{
    struct tree_end end = {NULL, NULL};
    struct tree tree = {0};
    size_t count = 0;

    (void)state;
    for (unsigned step = 0; step < 40000; step++) {
        struct item *item = &items[below(ITEMS)];

        if (item->in) {
            tree_remove_late(&tree, &end, &item->in_tree, item_before);
            count--;
        } else {
            // Some come before others, most behind all.
            item->key = below(4) ? step : below(step + 1);
            tree_insert_late(&tree, &end, &item->in_tree, item_before);
            count++;
        }
        item->in = !item->in;
        if (end.last) {
            assert_ptr_equal(end.last, last_node(tree.root));
            assert_ptr_equal(end.high, last_high(tree.root));
        } else {
            assert_null(end.high);
        }
        if (step % 64 == 0) {
            expect_tree(&tree, count);
        }
    }
    expect_tree(&tree, count);
}

static size_t comparisons;

static bool counted_before(const struct tree_node *a, const struct tree_node *b)
{
    comparisons++;
    return item_before(a, b);
}

static void late_inserts_are_compared_with_few(void **state)
{
    enum { MANY = 1 << 14 };
    struct item *many = calloc(MANY, sizeof *many);
    size_t from_root;

    (void)state;
    assert_non_null(many);
    for (int late = 0; late < 2; late++) {
        struct tree_end end = {NULL, NULL};
        struct tree tree = {0};

        from_root = comparisons;
        comparisons = 0;
        for (uint64_t i = 0; i < MANY; i++) {
            many[i].key = i;
            if (late) {
                tree_insert_late(&tree, &end, &many[i].in_tree, counted_before);
            } else {
                tree_insert(&tree, &many[i].in_tree, counted_before);
            }
        }
    }
    // From the root, the number is the logarithm of all; at the end, one for each node.
    assert_true(comparisons < 2 * MANY && from_root > 8 * MANY);
    free(many);
}

static void tree_stays_shallow_whatever_the_order(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        struct tree tree = {0};

        for (uint64_t i = 0; i < ITEMS; i++) {
            items[i].key = order == 0 ? i : order == 1 ? ITEMS - i : i % 2 ? i : 2 * ITEMS - i;
            tree_insert(&tree, &items[i].in_tree, item_before);
        }
        // 600 nodes: 10 levels at best; far more than 30 would mean that chance is not at work.
        assert_true(depth_of(tree.root) <= 32);
        expect_tree(&tree, ITEMS);
    }
}

//
// Tables
//

static void table_follows_random_changes(void **state)
{
    static struct item *by_place[ITEMS];
    struct table table;
    size_t count = 0;

    (void)state;
    memset(by_place, 0, sizeof by_place);
    table_init(&table);
    for (int step = 0; step < 20000; step++) {
        struct item *item = &items[below(ITEMS)];
        uint32_t cursor = 0;
        size_t seen = 0;

        if (item->in) {
            assert_ptr_equal(table_get(&table, item->place), item);
            table_remove(&table, item->place);
            by_place[item->place] = NULL;
            count--;
        } else {
            assert_true(table_make_room(&table));
            item->place = table_put(&table, item);
            // Places are given out again: there are never more than things at a time.
            assert_true(item->place < (ITEMS / TABLE_PAGE + 1) * TABLE_PAGE);
            assert_true(item->place >= ITEMS || !by_place[item->place]);
            if (item->place < ITEMS) {
                by_place[item->place] = item;
            }
            count++;
        }
        item->in = !item->in;
        while (step % 64 == 0 && (item = table_next(&table, &cursor)) != NULL) {
            assert_true(item->in);
            seen++;
        }
        assert_true(step % 64 != 0 || seen == count);
    }
    table_clear(&table);
}

static void table_without_memory_says_so_and_can_go_on(void **state)
{
    struct table table;

    (void)state;
    table_init(&table);
    for (size_t n = 1; n <= 2; n++) {
        nth_alloc_fail(n);
        assert_false(table_make_room(&table));
    }
    nth_alloc_fail(0);
    for (size_t i = 0; i < ITEMS; i++) {
        nth_alloc_fail(1);
        if (!table_make_room(&table)) {
            assert_true(table_make_room(&table));
        }
        items[i].place = table_put(&table, &items[i]);
    }
    nth_alloc_fail(0);
    for (size_t i = 0; i < ITEMS; i++) {
        assert_ptr_equal(table_get(&table, items[i].place), &items[i]);
    }
    table_clear(&table);
}

static void walk_of_a_table_survives_changes(void **state)
{
    struct table table;
    uint32_t cursor = 0;
    struct item *item;
    size_t seen = 0;

    (void)state;
    table_init(&table);
    for (size_t i = 0; i < ITEMS / 2; i++) {
        assert_true(table_make_room(&table));
        items[i].place = table_put(&table, &items[i]);
    }
    while ((item = table_next(&table, &cursor)) != NULL) {
        assert_false(item->in);
        item->in = true;
        table_remove(&table, item->place);
        seen++;
    }
    assert_int_equal(seen, ITEMS / 2);
    table_clear(&table);
}

#define WITH_ITEMS(f) cmocka_unit_test_setup(f, clear_items)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ITEMS(list_keeps_the_order_of_appending),
        WITH_ITEMS(node_may_be_removed_twice_and_inserted_before_another),
        WITH_ITEMS(sorted_list_is_in_order_and_keeps_that_of_equals),
        WITH_ITEMS(tree_gives_its_nodes_in_order),
        WITH_ITEMS(tree_follows_random_changes),
        WITH_ITEMS(tree_with_late_inserts_follows_random_changes),
        WITH_ITEMS(late_inserts_are_compared_with_few),
        WITH_ITEMS(tree_stays_shallow_whatever_the_order),
        WITH_ITEMS(table_follows_random_changes),
        WITH_ITEMS(table_without_memory_says_so_and_can_go_on),
        WITH_ITEMS(walk_of_a_table_survives_changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
