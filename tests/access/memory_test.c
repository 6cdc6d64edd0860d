/* SPDX-License-Identifier: MIT */
// Every allocation fails once: nothing is granted then, nothing leaks, and the next try is as if
// nothing had been.
#include "tests/access/rules.h"

#include "tests/support/nth_alloc.h"

#include "access/throttle.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct access *(*make_fn)(struct error_text *why);

#define TEXT                                                                                       \
    "token:a:" HASH_ABC " work a,b,c\ntoken:b:" HASH_DEF " submit *\ncert:a* work *\n"             \
    "any work a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t\nany submit x\nany submit x\nany submit x\n" \
    "any submit x\nany submit x\nany submit x\nany submit x\nany submit x\nany submit x\n"         \
    "any submit x\nany submit x\nany submit x\nany submit x\nany submit x\nany submit x\n"

static struct access *make_rules(struct error_text *why)
{
    return access_parse(SLICE(TEXT), "rules", why);
}

static struct access *make_tokens(struct error_text *why)
{
    return access_parse_tokens(SLICE(HASH_ABC " f,g\n" HASH_DEF " h\n"), "rules", why);
}

static char path[32];

static struct access *make_from_file(struct error_text *why)
{
    return access_read(path, why);
}

// Returns how many allocations it takes.
static size_t fail_each(make_fn make)
{
    for (size_t n = 1;; n++) {
        struct error_text why = {""};
        struct access *access;

        nth_alloc_fail(n);
        access = make(&why);
        if (nth_alloc_count() < n) {
            nth_alloc_fail(0);
            assert_non_null(access);
            access_free(access);
            return n - 1;
        }
        nth_alloc_fail(0);
        assert_null(access);
        assert_non_null(strstr(why.text, "out of memory"));
    }
}

static void rules_are_read_whole_or_not_at_all(void **state)
{
    (void)state;
    assert_true(fail_each(make_rules) > 12);
    assert_true(fail_each(make_tokens) > 8);
}

static void a_file_is_read_whole_or_not_at_all(void **state)
{
    int fd;

    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/tandem-rules-XXXXXX");
    fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, TEXT, sizeof TEXT - 1), sizeof TEXT - 1);
    assert_int_equal(close(fd), 0);
    assert_true(fail_each(make_from_file) > 13);
    assert_int_equal(unlink(path), 0);
}

static void without_memory_nothing_is_granted(void **state)
{
    const struct slice name = SLICE("abc");
    const struct access_peer peer = peer_named(&name);
    size_t n = 0;

    (void)state;
    for (struct grants *grants = NULL; !grants;) {
        struct access *access = rules_of(TEXT);

        nth_alloc_fail(++n);
        grants = access_of_peer(access, &peer);
        if (!grants) {
            assert_int_equal(nth_alloc_count(), n);
        }
        nth_alloc_fail(0);
        assert_int_equal(rights_of(access, peer, "a"), MAY_WORK);
        grants_unref(grants);
        access_free(access);
    }
    assert_true(n > 4);
}

static void without_memory_no_throttle_is_made(void **state)
{
    (void)state;
    nth_alloc_fail(1);
    assert_null(throttle_new());
    nth_alloc_fail(0);
    throttle_free(NULL);
    access_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_read_whole_or_not_at_all),
        cmocka_unit_test(a_file_is_read_whole_or_not_at_all),
        cmocka_unit_test(without_memory_nothing_is_granted),
        cmocka_unit_test(without_memory_no_throttle_is_made),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
