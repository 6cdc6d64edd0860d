/* SPDX-License-Identifier: MIT */

// Export of jobs as lines of JSON from one broker, and import into another.

#include "tests/admin/wire_admin.h"
#include "tests/proto_beanstalk/wire_bean.h"
#include "tests/proto_common/record_quota.h"
#include "tests/proto_common/wire_callers.h"

#include "admin/api/source_memo.h"
#include "tests/support/broker_check.h"
#include "transfer/job_version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define POSTS(target, document) admin_change("POST", (target), (document))
#define IMPORTS(lines) POSTS("/api/v1/import", (lines))

// The body of the reply without its chunks; to be freed with free().
static char *body_of(struct slice heard)
{
    char *text = malloc(heard.len + 1);
    const char *at = strstr(heard.ptr, "\r\n\r\n") + 4;
    size_t len = 0;

    assert_non_null(text);
    for (;;) {
        char *behind;
        size_t chunk = strtoul(at, &behind, 16);

        if (chunk == 0) {
            break;
        }
        memcpy(text + len, behind + 2, chunk);
        len += chunk;
        at = behind + 2 + chunk + 2;
    }
    text[len] = '\0';
    return text;
}

static char *exports(struct admin *t, const char *target)
{
    struct slice heard = peer_ask(t->a, SEES(target));

    assert_memory_equal(heard.ptr, "HTTP/1.1 200 ", 13);
    return body_of(heard);
}

// The lines without their ids and burials.
static void strip(char *text)
{
    static const char *const members[] = {"{\"id\":", "\"burial\":"};

    for (size_t i = 0; i < 2; i++) {
        for (char *at = text; (at = strstr(at, members[i])); at++) {
            at += strlen(members[i]);
            memmove(at, strpbrk(at, ","), strlen(strpbrk(at, ",")) + 1);
        }
    }
}

static int by_line(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// The same lines in the order of their text, for free().
static char *sorted(char *text)
{
    char *lines[64] = {NULL};
    size_t count = 0, len = 0;
    size_t size = strlen(text) + 2;
    char *made = calloc(1, size);

    assert_non_null(made);
    for (char *at = strtok(text, "\n"); at; at = strtok(NULL, "\n")) {
        assert_true(count < 64);
        lines[count++] = at;
    }
    qsort(lines, count, sizeof *lines, by_line);
    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(made + len, size - len, "%s\n", lines[i]);
    }
    return made;
}

static char *exported_plainly(struct admin *t)
{
    char *text = exports(t, "/api/v1/export");
    char *made;

    strip(text);
    made = sorted(text);
    free(text);
    return made;
}

// Jobs in all states, with all properties.
static void fill(struct admin *t)
{
    says(t->w, "use q\r\nput 5 0 60 1\r\na\r\n", "USING q\r\nINSERTED 1\r\n");
    says(t->w, "put 5 9 60 3\r\n\0\xff\n\r\n", "INSERTED 2\r\n");
    says(t->w, "put 4 0 7 4\r\ntext\r\nput 3 0 60 0\r\n\r\n", "INSERTED 3\r\nINSERTED 4\r\n");
    asks(t->a, IMPORTS("{\"queue\": {\"encoding\": \"base64\", \"data\": \"/25hbWU=\"}}"), 200);
    says(t->w, "watch q\r\nreserve\r\nbury 4 8\r\nreserve\r\n",
         "WATCHING 2\r\nRESERVED 4 0\r\n\r\nBURIED\r\nRESERVED 3 4\r\ntext\r\n");
    asks(t->a,
         POSTS("/api/v1/jobs", "{\"queue\": \"k\", \"key\": \"name\", \"max_attempts\": 7,"
                               "\"on_failure\": \"drop\", \"delay_seconds\": 1.5}"),
         201);
    asks(
        t->a,
        IMPORTS("{\"queue\": \"dead\", \"key_kind\": \"content\", \"body\": \"b\","
                "\"reducer\": \"r\", \"attempts\": 3, \"on_loss\": \"back\", \"created_at\": 5.125,"
                "\"counts\": {\"reserves\": 100, \"timeouts\": 1, \"releases\": 2, \"buries\": 3,"
                "\"kicks\": 4}, \"past\": {\"queue\": \"alive\", \"why\": \"failed\","
                "\"attempts\": 3, \"at\": 6.5}}\n"
                "{\"queue\": \"later\", \"state\": \"delayed\", \"due_at\": 4e9,"
                "\"due_by_calendar\": true}\n"
                "{\"queue\": \"again\", \"state\": \"delayed\", \"delay_seconds\": 9,"
                "\"delay_imposed\": true}"),
        200);
}

static void exported_and_imported_jobs_differ_only_in_their_ids(void **state)
{
    struct admin *t = *state;
    void *other_state;
    struct admin *other;
    char *before, *after, *all;

    fill(t);
    all = exports(t, "/api/v1/export");
    before = exported_plainly(t);
    assert_int_equal(admin_setup(&other_state), 0);
    other = other_state;
    asks(other->a, IMPORTS(all), 200);
    after = exported_plainly(other);
    assert_string_equal(before, after);
    assert_non_null(strstr(before, "\"past\":{\"queue\":\"alive\",\"why\":\"failed\""));
    assert_non_null(strstr(before, "{\"encoding\":\"base64\",\"data\":\"/25hbWU=\"}"));
    assert_non_null(strstr(before, "\"delay_imposed\":true"));
    broker_check(rig_broker(other->rig));
    (void)admin_teardown(&other_state);
    free(all);
    free(before);
    free(after);
}

static void held_jobs_are_exported_as_ready(void **state)
{
    struct admin *t = *state;
    char *text;

    says(t->w, "put 5 0 60 1\r\na\r\nreserve\r\n", "INSERTED 1\r\nRESERVED 1 1\r\na\r\n");
    text = exports(t, "/api/v1/export?queue=def*");
    assert_non_null(strstr(text, "\"state\":\"ready\""));
    assert_non_null(strstr(text, "\"reserves\":1,"));
    assert_non_null(strstr(text, "\n{\"next\":null}\n"));
    free(text);
    text = exports(t, "/api/v1/export?queue=other");
    assert_string_equal(text, "{\"next\":null}\n");
    free(text);
}

static void pages_have_each_job_once(void **state)
{
    struct admin *t = *state;
    char target[128] = "/api/v1/export?limit=7";
    char seen[51] = "";
    unsigned pages = 0;

    for (int i = 1; i <= 50; i++) {
        (void)peer_ask(t->w, SLICE("put 5 0 60 1\r\na\r\n"));
    }
    for (bool more = true; more; pages++) {
        char *text = exports(t, target);
        const char *next = strstr(text, "{\"next\":\"");

        for (const char *at = text; (at = strstr(at, "{\"id\":")); at++) {
            seen[strtoul(at + 6, NULL, 10)]++;
        }
        more = next != NULL;
        if (more) {
            (void)snprintf(target, sizeof target, "/api/v1/export?limit=7&cursor=%.*s",
                           (int)strcspn(next + 9, "\""), next + 9);
        }
        // An exported job may be deleted.
        (void)peer_ask(t->w, SLICE("reserve\r\ndelete 1\r\n"));
        free(text);
    }
    assert_int_equal(pages, 8);
    for (int i = 2; i <= 50; i++) {
        assert_int_equal(seen[i], 1);
    }
}

static void a_line_that_is_not_a_job_is_refused_alone(void **state)
{
    static const char *const wrong[] = {
        "{",
        "[]",
        "{}",
        "{\"queue\": 5}",
        "{\"queue\": \"\"}",
        "{\"queue\": \"q\", \"colour\": 1}",
        "{\"queue\": \"q\", \"state\": \"lost\"}",
        "{\"queue\": \"q\", \"priority\": -1}",
        "{\"queue\": \"q\", \"attempts\": 1001}",
        "{\"queue\": \"q\", \"created_at\": 1e10}",
        "{\"queue\": \"q\", \"state\": \"delayed\", \"due_at\": -1}",
        "{\"queue\":\"q\",\"state\":\"delayed\",\"due_by_calendar\":true,\"delay_imposed\":true}",
        "{\"queue\": \"q\", \"key_kind\": \"name\"}",
        "{\"queue\": \"q\", \"key\": \"k\", \"key_kind\": \"content\"}",
        "{\"queue\": \"q\", \"counts\": {\"colour\": 1}}",
        "{\"queue\": \"q\", \"past\": {\"why\": \"failed\"}}",
        "{\"queue\": \"q\", \"body\": {\"encoding\": \"base64\", \"data\": \"?\"}}",
        "{\"queue\": \"q\", \"body\": {\"encoding\": \"text\"}}",
        "{\"queue\":\"q\",\"body\":{\"encoding\":\"text\",\"data\":\"a\",\"truncated\":true}}",
        "{\"queue\": \"a\\u0000b\"}",
        "{\"queue\": \"q\", \"counts\": [1,2,3,[[[[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]]]]}",
    };
    struct admin *t = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char lines[512];
        json_t *said;

        (void)snprintf(lines, sizeof lines, "{\"queue\": \"x\"}\r\n\n%s\n{\"queue\": \"y\"}\n",
                       wrong[i]);
        said = tells(t->a, IMPORTS(lines), 200);
        assert_int_equal(number_at(said, "counts/imported"), 2);
        assert_int_equal(number_at(said, "counts/refused"), 1);
        assert_int_equal(number_at(said, "lines/1/line"), 3);
        assert_int_equal(number_at(said, "lines/1/status"), 400);
        assert_int_equal(number_at(said, "lines/2/line"), 4);
        json_decref(said);
    }
    assert_null(broker_queue_find(rig_broker(t->rig), SLICE("q")));
}

static void a_line_with_the_key_of_a_live_job_joins_it(void **state)
{
    struct admin *t = *state;
    json_t *said = tells(t->a,
                         IMPORTS("{\"queue\": \"q\", \"key\": \"k\"}\n"
                                 "{\"queue\": \"q\", \"key\": \"k\"}"),
                         200);

    assert_int_equal(number_at(said, "lines/0/id"), number_at(said, "lines/1/id"));
    assert_true(json_is_true(admin_at(said, "lines/1/joined")));
    assert_int_equal(number_at(said, "counts/joined"), 1);
    json_decref(said);
}

static void without_room_the_remaining_lines_are_not_processed(void **state)
{
    struct admin *t = *state;
    json_t *said;

    t->store_room = 1;
    said = tells(t->a, IMPORTS("{\"queue\": \"q\"}\n{\"queue\": \"q\"}\n{\"queue\": \"q\"}"), 200);
    assert_int_equal(number_at(said, "counts/imported"), 1);
    assert_int_equal(number_at(said, "counts/refused"), 0);
    assert_int_equal(number_at(said, "stopped/line"), 2);
    assert_int_equal(number_at(said, "stopped/status"), 503);
    json_decref(said);
    t->store_room = RECORD_QUOTA_PLENTY;
    broker_drain(rig_broker(t->rig));
    said = tells(t->a, IMPORTS("{\"queue\": \"q\"}"), 200);
    assert_int_equal(number_at(said, "stopped/line"), 1);
    json_decref(said);
}

static void a_delay_ends_at_its_time(void **state)
{
    struct admin *t = *state;

    asks(
        t->a,
        IMPORTS("{\"queue\": \"default\", \"state\": \"delayed\", \"due_at\": 1, \"body\": \"a\"}\n"
                "{\"queue\": \"default\", \"state\": \"delayed\", \"delay_seconds\": 9,"
                "\"body\": \"b\"}"),
        200);
    says(t->w, "reserve-with-timeout 0\r\n", "RESERVED 1 1\r\na\r\n");
    says(t->w, "reserve-with-timeout 0\r\n", "TIMED_OUT\r\n");
    rig_advance(t->rig, SECONDS(10));
    says(t->w, "reserve-with-timeout 0\r\n", "RESERVED 2 1\r\nb\r\n");
}

static void an_invalid_export_query_is_refused(void **state)
{
    struct admin *t = *state;

    asks(t->a, SEES("/api/v1/export?queue=["), 400);
    asks(t->a, SEES("/api/v1/export?limit=0"), 400);
    asks(t->a, SEES("/api/v1/export?cursor=1"), 400);
    asks(t->a, SEES("/api/v1/export?cursor=1.2.3"), 400);
    asks(t->a, SEES("/api/v1/export?state=ready"), 400);
    asks(t->a, POSTS("/api/v1/import?dry=1", "{}"), 400);
    asks(t->a, POSTS("/api/v1/import?source=a/b", "{}"), 400);
    asks(t->a, POSTS("/api/v1/import?hold_seconds=3", "{}"), 400);
    asks(t->a, POSTS("/api/v1/import/end", ""), 400);
    asks(t->a, SEES("/api/v1/export?what=all"), 400);
    asks(t->a, http_post("/api/v1/import", "", SLICE("{}")), 403);
}

//
// Under the name of a source
//

#define ONCE(lines) POSTS("/api/v1/import?source=s", (lines))
#define FORGETS(target) admin_change("DELETE", (target), "")

static void a_line_of_a_source_is_imported_once_even_if_its_job_is_done(void **state)
{
    struct admin *t = *state;
    const char *line = "{\"id\":7,\"queue\":\"default\",\"body\":\"a\"}";
    json_t *said = tells(t->a, ONCE(line), 200);

    assert_int_equal(number_at(said, "counts/imported"), 1);
    assert_int_equal(number_at(said, "lines/0/id"), 1);
    json_decref(said);
    for (int done = 0; done < 2; done++) {
        said = tells(t->a, ONCE(line), 200);
        assert_int_equal(number_at(said, "counts/imported"), 0);
        assert_int_equal(number_at(said, "counts/repeated"), 1);
        assert_int_equal(number_at(said, "lines/0/id"), 1);
        json_decref(said);
        if (done == 0) {
            says(t->w, "reserve\r\ndelete 1\r\n", "RESERVED 1 1\r\na\r\nDELETED\r\n");
        }
    }
    said = tells(t->a, POSTS("/api/v1/import?source=other", line), 200);
    assert_int_equal(number_at(said, "counts/imported"), 1);
    json_decref(said);
    said = tells(t->a, FORGETS("/api/v1/import?source=s"), 200);
    assert_int_equal(number_at(said, "count"), 1);
    json_decref(said);
    said = tells(t->a, ONCE(line), 200);
    assert_int_equal(number_at(said, "counts/imported"), 1);
    json_decref(said);
}

// The journal was cut after the first memo, or after the job.
static void a_memo_without_its_job_does_not_prevent_the_import(void **state)
{
    struct admin *t = *state;
    struct broker *broker = rig_broker(t->rig);
    struct source_memo memo = {.from = 7, .id = 1, .contents = 5};
    const struct job *job;
    struct job_image image;
    json_t *said;

    assert_int_equal(source_memo_put(broker, SLICE("s"), &memo), STATUS_OK);
    said = tells(t->a, POSTS("/api/v1/import/end?source=s", ""), 200);
    assert_int_equal(number_at(said, "count"), 0);
    json_decref(said);
    asks(t->a, POSTS("/api/v1/import", "{\"queue\":\"default\",\"body\":\"a\"}"), 200);
    said = tells(t->a, POSTS("/api/v1/import/end?source=s", ""), 200);
    // Another job has the id.
    assert_int_equal(number_at(said, "count"), 0);
    json_decref(said);
    job = broker_find(broker, 1);
    assert_non_null(job);
    job_describe(broker, job, &image);
    memo.contents = job_contents(&image);
    assert_int_equal(source_memo_put(broker, SLICE("s"), &memo), STATUS_OK);
    said = tells(t->a, POSTS("/api/v1/import/end?source=s", ""), 200);
    assert_int_equal(number_at(said, "count"), 1);
    assert_int_equal(number_at(said, "jobs/0/source_id"), 7);
    assert_int_equal(number_at(said, "jobs/0/id"), 1);
    json_decref(said);
}

static void a_closed_source_refuses_late_lines(void **state)
{
    struct admin *t = *state;
    json_t *said;

    asks(t->a, ONCE("{\"id\":7,\"queue\":\"q\"}"), 200);
    said = tells(t->a, POSTS("/api/v1/import/end?source=s", ""), 200);
    assert_int_equal(number_at(said, "count"), 1);
    json_decref(said);
    for (int forgotten = 0; forgotten < 2; forgotten++) {
        said = tells(t->a, ONCE("{\"id\":8,\"queue\":\"q\"}"), 200);
        assert_int_equal(number_at(said, "lines/0/status"), 409);
        json_decref(said);
        asks(t->a, FORGETS("/api/v1/import?source=s"), 200);
    }
}

static void delayed_imports_become_ready_in_order_when_the_source_is_forgotten(void **state)
{
    struct admin *t = *state;

    asks(t->a,
         POSTS("/api/v1/import?source=s&hold_seconds=30",
               "{\"id\":7,\"queue\":\"default\",\"body\":\"a\"}\n"
               "{\"id\":5,\"queue\":\"default\",\"body\":\"b\"}\n"
               "{\"id\":6,\"queue\":\"default\",\"state\":\"buried\",\"body\":\"c\"}"),
         200);
    says(t->w, "reserve-with-timeout 0\r\n", "TIMED_OUT\r\n");
    asks(t->a, FORGETS("/api/v1/import?source=s"), 200);
    says(t->w, "reserve-with-timeout 0\r\nreserve-with-timeout 0\r\nreserve-with-timeout 0\r\n",
         "RESERVED 1 1\r\na\r\nRESERVED 2 1\r\nb\r\nTIMED_OUT\r\n");
}

static void a_duplicate_does_not_end_the_delay_of_an_import(void **state)
{
    struct admin *t = *state;

    asks(t->a,
         POSTS("/api/v1/import?source=s&hold_seconds=30",
               "{\"id\":7,\"queue\":\"default\",\"key\":\"k\",\"body\":\"a\"}"),
         200);
    says(t->w, "put-unique 0 0 60 1 k\r\na\r\nreserve-with-timeout 0\r\n",
         "INSERTED 1\r\nTIMED_OUT\r\n");
    rig_advance(t->rig, SECONDS(31));
    says(t->w, "reserve-with-timeout 0\r\n", "RESERVED 1 1\r\na\r\n");
}

// The duplicate in the other broker has no delay.
static void an_imposed_delay_survives_export_and_duplicates(void **state)
{
    struct admin *t = *state;
    void *other_state;
    struct admin *other;
    char *all;

    says(t->w,
         "put-unique 0 0 60 1 k\r\na\r\nreserve\r\nrelease 1 0 9\r\n"
         "put-unique 0 9 60 1 l\r\nb\r\n",
         "INSERTED 1\r\nRESERVED 1 1\r\na\r\nRELEASED\r\nINSERTED 2\r\n");
    all = exports(t, "/api/v1/export");
    assert_int_equal(admin_setup(&other_state), 0);
    other = other_state;
    asks(other->a, IMPORTS(all), 200);
    (void)peer_ask(other->w, SLICE("put-unique 0 0 60 1 k\r\na\r\nput-unique 0 0 60 1 l\r\nb\r\n"));
    says(other->w, "reserve-with-timeout 0\r\nreserve-with-timeout 0\r\n",
         "RESERVED 2 1\r\nb\r\nTIMED_OUT\r\n");
    (void)admin_teardown(&other_state);
    free(all);
}

static void delayed_imports_become_ready_without_a_confirmation(void **state)
{
    struct admin *t = *state;

    asks(t->a,
         POSTS("/api/v1/import?source=s&hold_seconds=30",
               "{\"id\":7,\"queue\":\"default\",\"body\":\"a\"}"),
         200);
    rig_advance(t->rig, SECONDS(31));
    says(t->w, "reserve-with-timeout 0\r\n", "RESERVED 1 1\r\na\r\n");
    asks(t->a, FORGETS("/api/v1/import?source=s"), 200);
}

static void a_source_without_room_for_its_memo_is_stopped(void **state)
{
    struct admin *t = *state;
    json_t *said;

    t->store_room = 0;
    said = tells(t->a, ONCE("{\"id\":7,\"queue\":\"q\"}"), 200);
    assert_int_equal(number_at(said, "stopped/line"), 1);
    json_decref(said);
    // The job is imported, and the first memo finds it.
    t->store_room = 2;
    said = tells(t->a, ONCE("{\"id\":7,\"queue\":\"q\"}"), 200);
    assert_int_equal(number_at(said, "stopped/line"), 1);
    json_decref(said);
    t->store_room = RECORD_QUOTA_PLENTY;
    said = tells(t->a, ONCE("{\"id\":7,\"queue\":\"q\"}"), 200);
    assert_int_equal(number_at(said, "counts/repeated"), 1);
    json_decref(said);
}

//
// Deleting what was exported
//

// The version of the job in the API.
static void version_of(struct admin *t, uint64_t id, char version[JOB_VERSION_SIZE])
{
    char body[32];
    char *text;
    const char *at;
    struct slice heard;

    (void)snprintf(body, sizeof body, "%llu\n", (unsigned long long)id);
    heard = peer_ask(t->a, POSTS("/api/v1/export", body));
    text = body_of(heard);
    at = strstr(text, "\"version\":\"");
    assert_non_null(at);
    memcpy(version, at + 11, JOB_VERSION_LEN);
    version[JOB_VERSION_LEN] = '\0';
    free(text);
}

static json_t *deletes(struct admin *t, uint64_t id, const char *version)
{
    char line[128];

    (void)snprintf(line, sizeof line, "{\"id\":%llu,\"version\":\"%s\"}\n", (unsigned long long)id,
                   version);
    return tells(t->a, POSTS("/api/v1/delete", line), 200);
}

static void a_job_is_deleted_only_if_it_is_unchanged(void **state)
{
    static const char *const changes[][2] = {
        {"reserve-job 1\r\nrelease 1 6 0\r\n", "RESERVED 1 1\r\na\r\nRELEASED\r\n"},
        {"reserve-job 1\r\nbury 1 6\r\n", "RESERVED 1 1\r\na\r\nBURIED\r\n"},
        {"kick-job 1\r\n", "KICKED\r\n"},
        {"reserve-job 1\r\nrelease 1 6 9\r\n", "RESERVED 1 1\r\na\r\nRELEASED\r\n"},
    };
    struct admin *t = *state;
    char version[JOB_VERSION_SIZE];
    json_t *said;

    says(t->w, "put 5 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        version_of(t, 1, version);
        says_text(t->w, changes[i][0], changes[i][1]);
        said = deletes(t, 1, version);
        assert_int_equal(number_at(said, "counts/changed"), 1);
        json_decref(said);
    }
    version_of(t, 1, version);
    says(t->w, "reserve-job 1\r\n", "RESERVED 1 1\r\na\r\n");
    said = deletes(t, 1, version);
    assert_int_equal(number_at(said, "counts/held"), 1);
    json_decref(said);
    says(t->w, "release 1 6 0\r\n", "RELEASED\r\n");
    version_of(t, 1, version);
    said = deletes(t, 1, version);
    assert_int_equal(number_at(said, "counts/deleted"), 1);
    json_decref(said);
    said = deletes(t, 1, version);
    assert_int_equal(number_at(said, "counts/missing"), 1);
    json_decref(said);
}

static void the_version_of_a_delayed_job_does_not_depend_on_clock_reads(void **state)
{
    struct job_image image = {.queue = SLICE("q"), .body = SLICE("a")};
    uint64_t version;

    (void)state;
    image.now.state = JOB_DELAYED;
    image.now.due_at = SECONDS(1000000);
    version = job_version(&image);
    image.now.due_at = SECONDS(1000000) - 1000;
    assert_true(job_version(&image) == version);
    image.now.due_at = SECONDS(1000000) + 1000;
    assert_true(job_version(&image) == version);
    image.now.due_at = SECONDS(1000001);
    assert_true(job_version(&image) != version);
    // The version of a delayed job covers whether the delay was imposed.
    image.now.due_at = SECONDS(1000000);
    image.now.imposed = true;
    assert_true(job_version(&image) != version);
}

static void a_line_without_a_version_deletes_nothing(void **state)
{
    static const char *const wrong[] = {"1", "{\"id\":1}", "{\"id\":1,\"version\":\"0\"}",
                                        "{\"id\":\"1\",\"version\":\"0123456789abcdef\"}",
                                        "{\"id\":1,\"version\":\"0123456789abcdeF\"}"};
    struct admin *t = *state;

    says(t->w, "put 5 0 60 1\r\na\r\n", "INSERTED 1\r\n");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *said = tells(t->a, POSTS("/api/v1/delete", wrong[i]), 200);

        assert_int_equal(number_at(said, "counts/refused"), 1);
        assert_int_equal(number_at(said, "counts/deleted"), 0);
        json_decref(said);
    }
    assert_non_null(broker_find(rig_broker(t->rig), 1));
}

static void versions_of_all_jobs_are_exported_and_named_jobs_in_order(void **state)
{
    struct admin *t = *state;
    char *text;

    says(t->w, "put 5 0 60 1\r\na\r\nput 5 9 60 2\r\nbb\r\n", "INSERTED 1\r\nINSERTED 2\r\n");
    says(t->w, "reserve\r\n", "RESERVED 1 1\r\na\r\n");
    text = exports(t, "/api/v1/export?what=versions");
    assert_non_null(strstr(text, "{\"id\":1,\"state\":\"reserved\""));
    assert_non_null(strstr(text, "\"held\":true,\"durable\":true,\"version\":\""));
    assert_non_null(strstr(text, "\"size\":2,\"held\":false"));
    free(text);
    text = body_of(peer_ask(t->a, POSTS("/api/v1/export", "2\n9\nx\n1\n")));
    assert_memory_equal(text, "{\"id\":2,", 8);
    assert_non_null(strstr(text, "\n{\"id\":1,"));
    assert_non_null(strstr(text, "\n{\"next\":null}\n"));
    // Lines that were exported this way can be imported.
    asks(t->a, IMPORTS(text), 200);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ADMIN(exported_and_imported_jobs_differ_only_in_their_ids),
        ADMIN(held_jobs_are_exported_as_ready),
        ADMIN(pages_have_each_job_once),
        ADMIN(a_line_that_is_not_a_job_is_refused_alone),
        ADMIN(a_line_with_the_key_of_a_live_job_joins_it),
        ADMIN(without_room_the_remaining_lines_are_not_processed),
        ADMIN(a_delay_ends_at_its_time),
        ADMIN(an_invalid_export_query_is_refused),
        ADMIN(a_line_of_a_source_is_imported_once_even_if_its_job_is_done),
        ADMIN(a_memo_without_its_job_does_not_prevent_the_import),
        ADMIN(a_closed_source_refuses_late_lines),
        ADMIN(delayed_imports_become_ready_in_order_when_the_source_is_forgotten),
        ADMIN(delayed_imports_become_ready_without_a_confirmation),
        ADMIN(a_duplicate_does_not_end_the_delay_of_an_import),
        ADMIN(an_imposed_delay_survives_export_and_duplicates),
        ADMIN(a_source_without_room_for_its_memo_is_stopped),
        ADMIN(a_job_is_deleted_only_if_it_is_unchanged),
        ADMIN(the_version_of_a_delayed_job_does_not_depend_on_clock_reads),
        ADMIN(a_line_without_a_version_deletes_nothing),
        ADMIN(versions_of_all_jobs_are_exported_and_named_jobs_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
