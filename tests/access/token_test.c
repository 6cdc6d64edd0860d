/* SPDX-License-Identifier: MIT */
// Tokens: their hashes and names, and the rights of a caller that shows one.
#include "tests/access/rules.h"

#include "access/token.h"

#define HASH_ABD "a52d159f262b2c6ddb724a61840befc36eb30c88877a4030b65cbe86298449c9"

static void a_hash_is_sha_256_in_hexadecimal(void **state)
{
    struct token_digest digest, read;
    char hash[TOKEN_HASH_SIZE];

    (void)state;
    assert_true(token_digest(SLICE("abc"), &digest));
    token_digest_write(&digest, hash);
    assert_string_equal(hash, HASH_ABC);
    assert_true(token_digest_read(SLICE(HASH_ABC), &read));
    assert_true(token_digest_equal(&digest, &read));
    assert_true(token_digest_read(SLICE(HASH_DEF), &read));
    assert_false(token_digest_equal(&digest, &read));
    assert_true(token_digest(slice_of(NULL, 0), &digest));
    token_digest_write(&digest, hash);
    assert_string_equal(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void two_hashes_are_equal_in_all_bytes(void **state)
{
    struct token_digest digest, other;

    (void)state;
    assert_true(token_digest(SLICE("abc"), &digest));
    for (size_t i = 0; i < 8 * TOKEN_DIGEST_SIZE; i++) {
        other = digest;
        other.bytes[i / 8] ^= (unsigned char)(1u << i % 8);
        assert_false(token_digest_equal(&digest, &other));
    }
}

static void an_invalid_hash_is_refused(void **state)
{
#define NO_HASH "the hash of a token has 64 hexadecimal digits, in lower case"
    (void)state;
    expect_refused("token:t: work *", "rules:1: \"token:t\": " NO_HASH);
    expect_refused("token:t:12 work *", "rules:1: \"token:t\": " NO_HASH);
    expect_refused("token:t:" HASH_ABC "0 work *", "rules:1: \"token:t\": " NO_HASH);
    expect_refused("token:t:x" HASH_ABC " work *", "rules:1: \"token:t\": " NO_HASH);
    expect_refused("token:t:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD work "
                   "*",
                   "rules:1: \"token:t\": " NO_HASH);
    expect_refused("token:t:ga7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad work "
                   "*",
                   "rules:1: \"token:t\": " NO_HASH);
    expect_refused("token:a:b:" HASH_ABC " work *", "rules:1: \"token:a\": " NO_HASH);
}

static void a_token_in_plain_text_is_never_shown(void **state)
{
    struct error_text why;

    (void)state;
    expect_refused("token:t:secret work *", "rules:1: \"token:t\": " NO_HASH);
    expect_refused("Token:t:secret work *",
                   "rules:1: \"Token:\": WHO must be any, token:, cert:, user:, group: or net:");
    assert_null(access_parse_tokens(SLICE("secret f"), "tokens", &why));
    assert_string_equal(why.text, "tokens:1: the line does not begin with the hash of a token");
}

static void a_token_has_a_name(void **state)
{
#define NO_NAME "the name of a token has 1 to 64 bytes"
    char name[66] = "", text[200];

    (void)state;
    expect_refused("token: work *", "rules:1: \"token:\": " NO_NAME);
    expect_refused("token::" HASH_ABC " work *", "rules:1: \"token:\": " NO_NAME);
    memset(name, 'n', sizeof name - 1);
    (void)snprintf(text, sizeof text, "token:%s:%s work *", name, HASH_ABC);
    expect_refused(text, "rules:1: \"token:nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn\": " NO_NAME);
    (void)snprintf(text, sizeof text, "token:%s:%s work *", name + 1, HASH_ABC);
    access_free(rules_of(text));
}

static void a_token_is_found_by_its_text(void **state)
{
    struct access *access =
        rules_of("token:a:" HASH_ABC " work q\ntoken:b:" HASH_DEF " submit q\n");
    unsigned a = token_of(access, "abc"), b = token_of(access, "def");

    (void)state;
    assert_true(a && b && a != b);
    assert_int_equal(token_of(access, "abd"), 0);
    assert_int_equal(token_of(access, "ab"), 0);
    assert_int_equal(token_of(access, "abcd"), 0);
    assert_int_equal(token_of(access, "Abc"), 0);
    assert_int_equal(token_of(access, ""), 0);
    assert_int_equal(token_of(access, HASH_ABC), 0);
    assert_int_equal(access_find_token(access, slice_of("abc\0", 4)), 0);
    assert_int_equal(rights_of_token(access, a, "q"), MAY_WORK);
    assert_int_equal(rights_of_token(access, b, "q"), MAY_SUBMIT);
    assert_int_equal(rights_of_token(access, b, "r"), 0);
    access_free(access);
}

static void a_token_is_found_again_by_its_hash(void **state)
{
    struct access *before =
        rules_of("token:a:" HASH_ABC " work q\ntoken:ab:" HASH_DEF " submit q\n");
    struct access *swapped =
        rules_of("token:a:" HASH_DEF " work q\ntoken:ab:" HASH_ABC " submit q\n");
    struct access *one = rules_of("token:a:" HASH_DEF " work q\n");

    (void)state;
    assert_true(slice_equal(access_token_name(before, token_of(before, "def")), SLICE("ab")));
    assert_int_equal(access_find_token_again(before, before, 1), 1);
    assert_int_equal(access_find_token_again(swapped, before, 1), 2);
    assert_int_equal(access_find_token_again(swapped, before, 2), 1);
    assert_int_equal(access_find_token_again(one, before, 1), 0);
    assert_int_equal(access_find_token_again(one, before, 2), 1);
    access_free(one);
    access_free(swapped);
    access_free(before);
}

static void a_name_stands_for_the_hash_of_another_line(void **state)
{
    struct access *access = rules_of("token:t observe a\ntoken:t:" HASH_ABC " work a\n"
                                     "token:t submit a\ntoken:t:" HASH_ABC " operate b\n");

    (void)state;
    assert_int_equal(rights_of_token(access, token_of(access, "abc"), "a"),
                     MAY_WORK | MAY_SUBMIT | MAY_OBSERVE);
    assert_int_equal(rights_of_token(access, token_of(access, "abc"), "b"),
                     MAY_OPERATE | MAY_CANCEL);
    access_free(access);
    expect_refused("any work *\ntoken:t work *\ntoken:u:" HASH_ABC " work *\ntoken:t work *\n",
                   "rules:2: \"t\": no line gives the hash of this token");
}

static void a_name_has_one_hash_and_a_hash_one_name(void **state)
{
    (void)state;
    expect_refused("token:t:" HASH_ABC " work *\n\ntoken:t:" HASH_DEF " work *\n",
                   "rules:3: \"token:t\": the token has another hash in another line");
    expect_refused("token:t:" HASH_ABC " work *\ntoken:u:" HASH_ABC " work *\n",
                   "rules:2: \"token:u\": another token has this hash");
}

static void a_token_replaces_the_identity_of_the_peer(void **state)
{
    struct access *access = rules_of("any observe *\nnet:0.0.0.0/0 admin *\nuser:0 admin *\n"
                                     "cert:* admin *\ntoken:t:" HASH_ABC " work *\n"
                                     "token:u:" HASH_DEF " submit *\n");

    (void)state;
    assert_int_equal(rights_of_token(access, token_of(access, "abc"), "q"), MAY_OBSERVE | MAY_WORK);
    assert_int_equal(rights_of_token(access, token_of(access, "def"), "q"),
                     MAY_OBSERVE | MAY_SUBMIT);
    access_free(access);
}

static void one_of_many_tokens_is_found(void **state)
{
    static char text[200 * 100];
    struct access *access;
    size_t len = 0;

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        struct token_digest digest;
        char hash[TOKEN_HASH_SIZE], token[16];
        int size = snprintf(token, sizeof token, "token-%u", i);

        assert_true(token_digest(slice_of(token, (size_t)size), &digest));
        token_digest_write(&digest, hash);
        len += (size_t)snprintf(text + len, sizeof text - len, "token:n%u:%s work *\n", i, hash);
    }
    access = rules_of(text);
    assert_int_equal(token_of(access, "token-0"), 1);
    assert_int_equal(token_of(access, "token-137"), 138);
    assert_int_equal(token_of(access, "token-199"), 200);
    assert_int_equal(token_of(access, "token-200"), 0);
    assert_int_equal(access_find_token_again(access, access, 138), 138);
    access_free(access);
}

static struct access *tokens_of(const char *text)
{
    struct error_text why = {""};
    struct access *access = access_parse_tokens(slice_str(text), "tokens", &why);

    if (!access) {
        fail_msg("%s", why.text);
    }
    return access;
}

#define MAY_CALL (MAY_SUBMIT | MAY_OBSERVE | MAY_CANCEL)

static void tokens_of_http_may_submit_see_and_cancel(void **state)
{
    struct access *access = tokens_of("# who may do what\n\n" HASH_ABC " f,mail-*\r\n" HASH_DEF
                                      "  g , h  \n" HASH_ABC "\tw\n" HASH_ABD " #x");
    unsigned abc = token_of(access, "abc"), def = token_of(access, "def");

    (void)state;
    assert_int_equal(rights_of_token(access, abc, "f"), MAY_CALL);
    assert_int_equal(rights_of_token(access, abc, "mail-x"), MAY_CALL);
    assert_int_equal(rights_of_token(access, abc, "w"), MAY_CALL);
    assert_int_equal(rights_of_token(access, abc, "g"), 0);
    assert_int_equal(rights_of_token(access, def, "g"), MAY_CALL);
    assert_int_equal(rights_of_token(access, def, "h"), MAY_CALL);
    assert_int_equal(rights_of_token(access, token_of(access, "abd"), "#x"), MAY_CALL);
    assert_true(slice_equal(access_token_name(access, abc), SLICE("http.tokens:3")));
    assert_true(slice_equal(access_token_name(access, def), SLICE("http.tokens:4")));
    assert_int_equal(rights_of(access, peer_at("127.0.0.1"), "f"), 0);
    access_free(access);
}

static void expect_wrong_tokens(const char *text, const char *reason)
{
    struct error_text why = {""};

    assert_null(access_parse_tokens(slice_str(text), "tokens", &why));
    assert_string_equal(why.text, reason);
}

static void an_invalid_line_of_http_tokens_is_refused(void **state)
{
    (void)state;
    expect_wrong_tokens("\n" HASH_ABC "\n", "tokens:2: the line names no functions");
    expect_wrong_tokens(HASH_ABC " , \n", "tokens:1: the line names no functions");
    expect_wrong_tokens(HASH_ABC "0 f\n",
                        "tokens:1: the line does not begin with the hash of a token");
    expect_wrong_tokens(HASH_ABC " f\ntoken f\n",
                        "tokens:2: the line does not begin with the hash of a token");
    expect_wrong_tokens(HASH_ABC " f,[a\n",
                        "tokens:1: \"[a\": the glob is malformed: a set, a range or a \\ is not "
                        "complete");
    expect_wrong_tokens(HASH_ABC " f\x01", "tokens:1: the line has a control character");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hash_is_sha_256_in_hexadecimal),
        cmocka_unit_test(two_hashes_are_equal_in_all_bytes),
        cmocka_unit_test(an_invalid_hash_is_refused),
        cmocka_unit_test(a_token_in_plain_text_is_never_shown),
        cmocka_unit_test(a_token_has_a_name),
        cmocka_unit_test(a_token_is_found_by_its_text),
        cmocka_unit_test(a_token_is_found_again_by_its_hash),
        cmocka_unit_test(a_name_stands_for_the_hash_of_another_line),
        cmocka_unit_test(a_name_has_one_hash_and_a_hash_one_name),
        cmocka_unit_test(a_token_replaces_the_identity_of_the_peer),
        cmocka_unit_test(one_of_many_tokens_is_found),
        cmocka_unit_test(tokens_of_http_may_submit_see_and_cancel),
        cmocka_unit_test(an_invalid_line_of_http_tokens_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
