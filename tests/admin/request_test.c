/* SPDX-License-Identifier: MIT */

// Checks that apply to all requests.

#include "tests/admin/wire_admin.h"
#include "tests/proto_common/wire_callers.h"
#include "tests/proto_common/wire_host_private.h"

static void the_process_is_alive_and_ready(void **state)
{
    struct admin *t = *state;

    t->introspect.is_opening = false;
    body_is(asks(t->a, SEES("/healthz"), 200), "ok\n");
    body_is(asks(t->a, SEES("/readyz"), 200), "ok\n");
}

static void while_the_journal_is_read_it_is_not_ready_and_shows_the_progress(void **state)
{
    struct admin *t = *state;

    t->introspect.is_opening = true;
    t->introspect.opening = (struct restore_progress){.read = 250, .size = 1000, .jobs = 7};
    body_is(asks(t->a, SEES("/readyz"), 503),
            "the journal is being read: 25 %, 250 of 1000 bytes, 7 jobs so far\n");
    asks(t->b, SEES("/healthz"), 200);
}

// The broker is empty then, and its connections are closed before it is freed.
static void while_the_journal_is_read_each_reply_is_the_last_of_its_connection(void **state)
{
    struct admin *t = *state;

    t->introspect.is_opening = true;
    ends(t->a, asks(t->a, SEES("/api/v1/openapi.json"), 503));
    ends(t->b, asks(t->b, SEES("/readyz"), 503));
}

static void a_broker_that_drains_is_not_ready(void **state)
{
    struct admin *t = *state;

    broker_drain(rig_broker(t->rig));
    asks(t->a, SEES("/readyz"), 503);
    broker_end_drain(rig_broker(t->rig));
    asks(t->a, SEES("/readyz"), 200);
}

static void a_journal_that_fails_is_not_ready(void **state)
{
    struct admin *t = *state;

    t->introspect.journal.failing = true;
    asks(t->a, SEES("/readyz"), 503);
}

static void the_description_of_the_api_is_a_document(void **state)
{
    struct admin *t = *state;
    json_t *document = tells(t->a, SEES("/api/v1/openapi.json"), 200);

    assert_string_equal(text_at(document, "openapi"), "3.1.0");
    json_decref(document);
}

static void an_unknown_path_is_not_found(void **state)
{
    struct admin *t = *state;

    asks(t->a, SEES("/nothing"), 404);
    asks(t->a, SEES("/healthz/"), 404);
    asks(t->a, http_bare("GET", "*", ""), 400);
}

static void a_method_that_the_path_does_not_allow_gets_the_allowed_ones(void **state)
{
    struct admin *t = *state;

    field_is(asks(t->a, admin_change("POST", "/healthz", ""), 405), "Allow", "OPTIONS, GET, HEAD");
    field_is(asks(t->a, http_bare("OPTIONS", "/healthz", ""), 204), "Allow", "OPTIONS, GET, HEAD");
}

static void a_page_of_another_origin_is_refused(void **state)
{
    struct admin *t = *state;

    // The message must not name a setting that does not exist.
    body_is(asks(t->a, http_get("/nothing", "Origin: http://evil.example\r\n"), 403),
            "{\"error\": \"Origin is another site: its pages are not allowed to use this API\"}\n");
    asks(t->a, http_get("/nothing", "Sec-Fetch-Site: cross-site\r\n"), 403);
    asks(t->a, http_get("/nothing", "Referer: http://evil.example/x\r\n"), 403);
    asks(t->a, http_get("/nothing", "Origin: http://localhost\r\n"), 404);
    asks(t->a, SLICE("GET /nothing HTTP/1.1\r\nHost: evil.example\r\n\r\n"), 403);
}

// A load balancer may use its own name for this host.
static void probes_are_answered_under_any_host_name(void **state)
{
    struct admin *t = *state;

    asks(t->a, SLICE("GET /healthz HTTP/1.1\r\nHost: tandem\r\n\r\n"), 200);
    asks(t->a, SLICE("GET /readyz HTTP/1.1\r\nHost: tandem\r\n\r\n"), 200);
    asks(t->a, SLICE("OPTIONS /readyz HTTP/1.1\r\nHost: tandem\r\n\r\n"), 403);
    asks(t->a, SLICE("GET / HTTP/1.1\r\nHost: tandem\r\n\r\n"), 403);
    asks(t->a, SLICE("GET /metrics HTTP/1.1\r\nHost: tandem\r\n\r\n"), 403);
}

// A proxy speaks for anyone who reaches it.
static void without_rules_a_request_through_a_local_proxy_is_refused(void **state)
{
    static const char *const headers[] = {"X-Forwarded-For: 192.0.2.1\r\n", "Via: 1.1 proxy\r\n",
                                          "Forwarded: for=192.0.2.1\r\n",
                                          "X-Forwarded-Host: tandem.example\r\n"};
    struct admin *t = *state;

    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        body_is(
            asks(t->a, http_get("/nothing", headers[i]), 403),
            "{\"error\": \"without access rules (server.access_file), requests through a proxy are "
            "refused\"}\n");
        asks(t->a, http_get("/api/v1/queues", headers[i]), 403);
        asks(t->a, http_get("/metrics", headers[i]), 403);
        asks(t->a, http_get("/healthz", headers[i]), 200);
    }
    rig_callers(t->rig)->default_grants = GRANTS({MAY_OBSERVE, "*"});
    (void)peer_grant(t->a, rig_callers(t->rig)->default_grants);
    asks(t->a, http_get("/api/v1/queues", headers[0]), 200);
    peer_send(t->a, http_get("/api/v1/events", headers[0]));
    rig_run(t->rig);
    assert_true(peer_grant(t->a, NULL));
}

static void without_rules_only_local_callers_are_allowed(void **state)
{
    struct admin *t = *state;

    t->rig->callers.remote = true;
    asks(t->a, SEES("/nothing"), 403);
    asks(t->a, SEES("/healthz"), 200);
    t->rig->callers.remote = false;
    asks(t->a, SEES("/nothing"), 404);
}

// This includes replies in progress, because without rules a session may do everything.
static void when_the_rules_are_removed_remote_callers_are_disconnected(void **state)
{
    struct admin *t = *state;

    t->rig->callers.remote = true;
    rig_callers(t->rig)->default_grants = GRANTS({MAY_OBSERVE, "q*"});
    (void)peer_grant(t->a, rig_callers(t->rig)->default_grants);
    (void)peer_grant(t->b, rig_callers(t->rig)->default_grants);
    asks(t->b, SEES("/nothing"), 404);
    peer_send(t->a, SEES("/api/v1/events"));
    rig_run(t->rig);
    assert_true(peer_grant(t->a, NULL));
    assert_false(peer_grant(t->b, NULL));
    asks(t->b, SEES("/nothing"), 403);
    t->rig->callers.remote = false;
    peer_send(t->b, SEES("/api/v1/events"));
    rig_run(t->rig);
    assert_false(peer_grant(t->b, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(the_process_is_alive_and_ready),
        ADMIN(while_the_journal_is_read_it_is_not_ready_and_shows_the_progress),
        ADMIN(while_the_journal_is_read_each_reply_is_the_last_of_its_connection),
        ADMIN(a_broker_that_drains_is_not_ready),
        ADMIN(a_journal_that_fails_is_not_ready),
        ADMIN(the_description_of_the_api_is_a_document),
        ADMIN(an_unknown_path_is_not_found),
        ADMIN(a_method_that_the_path_does_not_allow_gets_the_allowed_ones),
        ADMIN(a_page_of_another_origin_is_refused),
        ADMIN(probes_are_answered_under_any_host_name),
        ADMIN(without_rules_a_request_through_a_local_proxy_is_refused),
        ADMIN(without_rules_only_local_callers_are_allowed),
        ADMIN(when_the_rules_are_removed_remote_callers_are_disconnected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
