/* SPDX-License-Identifier: MIT */
#define _XOPEN_SOURCE 700 // nftw()
// The limits of a control group, in a tree of files as the kernel shows it.
#include "server/process/cgroup.h"

#include "tests/support/with_cmocka.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOUNT "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"

struct tree {
    char root[32];
    struct cgroup_limits limits;
};

static int tree_setup(void **state)
{
    struct tree *tree = calloc(1, sizeof *tree);

    assert_non_null(tree);
    (void)snprintf(tree->root, sizeof tree->root, "/tmp/tandem-cgroup-XXXXXX");
    assert_non_null(mkdtemp(tree->root));
    *state = tree;
    return 0;
}

static int tree_remove(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static int tree_teardown(void **state)
{
    struct tree *tree = *state;

    (void)nftw(tree->root, tree_remove, 8, FTW_DEPTH | FTW_PHYS);
    free(tree);
    return 0;
}

// Writes the file, and makes the directories above it.
static void tree_write(const struct tree *tree, const char *path, const char *text)
{
    char whole[256];
    FILE *file;

    (void)snprintf(whole, sizeof whole, "%s%s", tree->root, path);
    for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(whole, 0700);
        *slash = '/';
    }
    file = fopen(whole, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void expect_limits(struct tree *tree, unsigned processors, uint64_t memory)
{
    cgroup_limits_read(tree->root, &tree->limits);
    assert_int_equal(tree->limits.processors, processors);
    assert_int_equal(tree->limits.memory, memory);
}

static void container_sees_its_own_group_as_the_root(void **state)
{
    struct tree *tree = *state;

    tree_write(tree, "/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n" MOUNT);
    tree_write(tree, "/proc/self/cgroup", "0::/\n");
    tree_write(tree, "/sys/fs/cgroup/memory.max", "536870912\n");
    tree_write(tree, "/sys/fs/cgroup/cpu.max", "250000 100000\n");
    expect_limits(tree, 2, 512 << 20);
}

static void lowest_limit_of_the_groups_above_counts(void **state)
{
    struct tree *tree = *state;

    tree_write(tree, "/proc/self/mountinfo", MOUNT);
    tree_write(tree, "/proc/self/cgroup", "1:name=systemd:/x\n0::/system.slice/tandem.service\n");
    tree_write(tree, "/sys/fs/cgroup/system.slice/memory.max", "1000\n");
    tree_write(tree, "/sys/fs/cgroup/system.slice/cpu.max", "max 100000\n");
    tree_write(tree, "/sys/fs/cgroup/system.slice/tandem.service/memory.max", "2000\n");
    tree_write(tree, "/sys/fs/cgroup/system.slice/tandem.service/cpu.max", "600000 100000\n");
    expect_limits(tree, 6, 1000);
    tree_write(tree, "/sys/fs/cgroup/system.slice/tandem.service/memory.high", "900\n");
    expect_limits(tree, 6, 900);
}

// Docker without a namespace of its own mounts the group of the container only.
static void group_may_be_below_the_one_that_is_mounted(void **state)
{
    struct tree *tree = *state;

    tree_write(tree, "/proc/self/mountinfo",
               "30 23 0:26 /docker/ab /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
    tree_write(tree, "/proc/self/cgroup", "0::/docker/ab/inner\n");
    tree_write(tree, "/sys/fs/cgroup/memory.max", "4096\n");
    tree_write(tree, "/sys/fs/cgroup/inner/memory.max", "max\n");
    tree_write(tree, "/sys/fs/cgroup/inner/cpu.max", "50000 100000\n");
    expect_limits(tree, 1, 4096);
    // A group that cannot be seen: the mounted one is the best that is known.
    tree_write(tree, "/proc/self/cgroup", "0::/docker/abc\n");
    expect_limits(tree, 0, 4096);
    tree_write(tree, "/proc/self/cgroup", "0::/../cd\n");
    expect_limits(tree, 0, 4096);
}

static void what_cannot_be_read_is_no_limit(void **state)
{
    static const char *const bad[] = {"", "\n", "x\n", "-1\n", "0\n", "99999999999999999999999\n"};
    struct tree *tree = *state;

    expect_limits(tree, 0, 0);
    tree_write(tree, "/proc/self/mountinfo", "1\n\n2 3 - cgroup2\n" MOUNT);
    expect_limits(tree, 0, 0);
    tree_write(tree, "/proc/self/cgroup", "4:memory:/\n");
    expect_limits(tree, 0, 0);
    tree_write(tree, "/proc/self/cgroup", "0::/");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tree_write(tree, "/sys/fs/cgroup/memory.max", bad[i]);
        tree_write(tree, "/sys/fs/cgroup/cpu.max", bad[i]);
        expect_limits(tree, 0, 0);
    }
    tree_write(tree, "/sys/fs/cgroup/cpu.max", "100000 0\n");
    expect_limits(tree, 0, 0);
    // An old kernel, whose controllers are elsewhere.
    tree_write(tree, "/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup cgroup rw\n");
    tree_write(tree, "/sys/fs/cgroup/memory.max", "5\n");
    expect_limits(tree, 0, 0);
}

#define CGROUP_TEST(name) cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CGROUP_TEST(container_sees_its_own_group_as_the_root),
        CGROUP_TEST(lowest_limit_of_the_groups_above_counts),
        CGROUP_TEST(group_may_be_below_the_one_that_is_mounted),
        CGROUP_TEST(what_cannot_be_read_is_no_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
