/* SPDX-License-Identifier: MIT */
// Files of rules: which files can be read, and the example.
#include "tests/access/rules.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[32];
static char path[64];

static int setup(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "/tmp/tandem-rules-XXXXXX");
    if (!mkdtemp(folder)) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/rules", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void write_file(const char *text, size_t len)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

static void expect_unreadable(const char *of, const char *what)
{
    struct error_text why = {""};
    char reason[sizeof why.text];

    assert_null(access_read(of, &why));
    (void)snprintf(reason, sizeof reason, "%.100s: %s", of, what);
    assert_string_equal(why.text, reason);
    assert_null(access_read_tokens(of, &why));
    assert_string_equal(why.text, reason);
}

static void a_file_is_read(void **state)
{
    const char *text = "any work q";
    struct error_text why;
    struct access *access;

    (void)state;
    write_file(text, strlen(text));
    access = access_read(path, &why);
    assert_non_null(access);
    assert_int_equal(rights_of(access, peer_at("::1"), "q"), MAY_WORK);
    access_free(access);
    write_file("", 0);
    access = access_read(path, &why);
    assert_non_null(access);
    access_free(access);
}

static void a_reason_has_the_path_and_the_line(void **state)
{
    struct error_text why;
    char reason[256];

    (void)state;
    write_file("\nnobody work *\n", 15);
    assert_null(access_read(path, &why));
    (void)snprintf(reason, sizeof reason,
                   "%s:2: \"nobody\": WHO must be any, token:, cert:, user:, group: or net:", path);
    assert_string_equal(why.text, reason);
}

static void a_path_that_is_not_a_file_is_refused(void **state)
{
    char odd[600];

    (void)state;
    expect_unreadable(path, "No such file or directory");
    expect_unreadable(folder, "Is a directory");
    expect_unreadable("/dev/zero", "not a regular file");
    expect_unreadable("", "No such file or directory");
    memset(odd, 'x', sizeof odd);
    odd[sizeof odd - 1] = '\0';
    expect_unreadable(odd, "File name too long");
}

static void a_pipe_without_a_writer_does_not_block(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_unreadable(path, "not a regular file");
}

static void a_file_is_bounded(void **state)
{
    static char text[(1 << 20) + 1];
    struct error_text why;
    struct access *access;

    (void)state;
    memset(text, '\n', sizeof text);
    write_file(text, sizeof text - 1);
    access = access_read(path, &why);
    assert_non_null(access);
    access_free(access);
    write_file(text, sizeof text);
    expect_unreadable(path, "the file is longer than 1 MiB");
}

static void the_example_is_good(void **state)
{
    struct error_text why = {""};
    struct access *access = access_read(EXAMPLE, &why);
    unsigned billing;

    (void)state;
    if (!access) {
        fail_msg("%s", why.text);
    }
    billing = 1;
    assert_true(slice_equal(access_token_name(access, billing), SLICE("billing")));
    assert_int_equal(rights_of_token(access, billing, "billing-eu"), MAY_SUBMIT | MAY_OBSERVE);
    assert_int_equal(rights_of_token(access, billing, "mail"), 0);
    assert_int_equal(rights_of(access, peer_at("192.0.2.1"), "public.x"), MAY_OBSERVE);
    assert_int_equal(rights_of(access, peer_at("192.0.2.1"), "mail"), 0);
    assert_int_equal(rights_of(access, peer_at("10.1.2.3"), "jobs.x"), MAY_WORK | MAY_SUBMIT);
    assert_int_equal(rights_of(access, peer_user(0, NULL, 0), "mail"), MAY_EVERYTHING);
    access_free(access);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_file_is_read),
        IN_FOLDER(a_reason_has_the_path_and_the_line),
        IN_FOLDER(a_path_that_is_not_a_file_is_refused),
        IN_FOLDER(a_pipe_without_a_writer_does_not_block),
        IN_FOLDER(a_file_is_bounded),
        cmocka_unit_test(the_example_is_good),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
