/* SPDX-License-Identifier: MIT */

// The files of the page, as a browser requests them.

#include "tests/admin/wire_admin.h"
#include "tests/proto_common/wire_host_private.h"

#include <stdio.h>

#define GZIP "Accept-Encoding: br, gzip, deflate\r\n"

static void the_page_is_at_the_root(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer = asks(t->a, SEES("/"), 200);

    field_is(answer, "Content-Type", "text/html; charset=utf-8");
    assert_memory_equal(answer->body.ptr, "<!doctype html>", 15);
}

static void the_parts_of_the_page_have_their_types(void **state)
{
    struct admin *t = *state;

    field_is(asks(t->a, SEES("/app.js"), 200), "Content-Type", "text/javascript; charset=utf-8");
    field_is(asks(t->a, SEES("/base.css"), 200), "Content-Type", "text/css; charset=utf-8");
    field_is(asks(t->a, SEES("/mark.svg"), 200), "Content-Type", "image/svg+xml");
    asks(t->a, SEES("/index.html"), 404);
}

static void the_page_allows_only_its_own_scripts(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer = asks(t->a, SEES("/"), 200);

    field_is(answer, "Content-Security-Policy",
             "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
             "img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'; form-action 'none'");
    field_is(answer, "X-Content-Type-Options", "nosniff");
    field_is(answer, "Referrer-Policy", "same-origin");
}

static void only_clients_that_accept_gzip_get_it(void **state)
{
    static const char *const refuses[] = {
        "", "Accept-Encoding: br\r\n", "Accept-Encoding: gzip;q=0\r\n",
        "Accept-Encoding: deflate, gzip; q=0.000\r\n", "Accept-Encoding: gzipped\r\n"};
    static const char *const takes[] = {GZIP, "Accept-Encoding: gzip\r\n",
                                        "Accept-Encoding: GZIP;q=0.5, br;q=0\r\n"};
    struct admin *t = *state;

    for (size_t i = 0; i < sizeof refuses / sizeof *refuses; i++) {
        const struct http_answer *answer = asks(t->a, http_get("/", refuses[i]), 200);

        field_is(answer, "Content-Encoding", NULL);
        assert_memory_equal(answer->body.ptr, "<!doctype html>", 15);
    }
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        const struct http_answer *answer = asks(t->a, http_get("/", takes[i]), 200);

        field_is(answer, "Content-Encoding", "gzip");
        field_is(answer, "Vary", "Accept-Encoding");
        assert_memory_equal(answer->body.ptr, "\x1f\x8b", 2);
    }
}

// A request with the tag of the previous reply, after the text `before`.
static struct slice again(const struct http_answer *answer, const char *target, const char *extra,
                          const char *before)
{
    struct slice tag = http_field(answer, "ETag");
    char headers[256];

    (void)snprintf(headers, sizeof headers, "%sIf-None-Match: %s%.*s\r\n", extra, before,
                   (int)tag.len, tag.ptr);
    return http_get(target, headers);
}

static void a_cached_file_is_not_sent_again(void **state)
{
    struct admin *t = *state;
    const struct http_answer *answer = asks(t->a, http_get("/app.js", GZIP), 200);

    answer = asks(t->a, again(answer, "/app.js", GZIP, ""), 304);
    assert_int_equal(answer->body.len, 0);
    answer = asks(t->a, again(answer, "/app.js", GZIP, "\"other\", W/"), 304);
    field_is(answer, "Cache-Control", "no-cache");
    // The compressed form and other files have other tags.
    asks(t->a, again(answer, "/app.js", "", ""), 200);
    asks(t->a, again(answer, "/dom.js", GZIP, ""), 200);
}

static void the_page_is_public_but_only_under_a_valid_host(void **state)
{
    struct admin *t = *state;

    t->rig->callers.remote = true;
    asks(t->a, SEES("/"), 200);
    // A page of another site may link to this page.
    asks(t->a, http_get("/", "Sec-Fetch-Site: cross-site\r\n"), 200);
    asks(t->a, SLICE("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(the_page_is_at_the_root),
        ADMIN(the_parts_of_the_page_have_their_types),
        ADMIN(the_page_allows_only_its_own_scripts),
        ADMIN(only_clients_that_accept_gzip_get_it),
        ADMIN(a_cached_file_is_not_sent_again),
        ADMIN(the_page_is_public_but_only_under_a_valid_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
