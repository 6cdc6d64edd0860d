/* SPDX-License-Identifier: MIT */

// However input is cut into pieces, and however small the budget of a turn, the answers are the
// same to the byte.

#include "tests/proto_common/wire_host.h"
#include "tests/proto_http/wire_http.h"

#include <string.h>

#define SAID_MAX 100000
#define HEARD_MAX 100000
#define BODY 40000
#define HELD "Host: localhost\r\n"
#define BACKGROUND "X-Gearman-Background: 1\r\n"
#define STREAM "Accept: text/event-stream\r\n"

struct script {
    const char *what;
    char said[SAID_MAX];
    size_t len;
};

static void compose_answers(struct script *script);
static void compose_jobs(struct script *script);
static void compose_bodies(struct script *script);
static void compose_malformed(struct script *script);
static void compose_refused_body(struct script *script);

static const struct {
    const char *what;
    void (*compose)(struct script *script);
} kinds[] = {
    {"answers at once", compose_answers},     {"jobs", compose_jobs},
    {"large bodies", compose_bodies},         {"a malformed request", compose_malformed},
    {"a refused body", compose_refused_body},
};

#define SCRIPTS (sizeof kinds / sizeof *kinds)

static void say(struct script *script, struct slice bytes)
{
    assert_true(bytes.len <= sizeof script->said - script->len);
    memcpy(script->said + script->len, bytes.ptr, bytes.len);
    script->len += bytes.len;
}

static void compose_answers(struct script *script)
{
    say(script, http_get("/", ""));
    say(script, SLICE("\r\n\r\n"));
    say(script, http_get("/-/jobs/" GEAR_PREFIX "1", ""));
    say(script, POST("/b", BACKGROUND, "one"));
    say(script, http_chunked("/b", BACKGROUND, SLICE("two")));
    say(script, http_get("/-/jobs/" GEAR_PREFIX "2", ""));
    say(script, http_bare("OPTIONS", "*", ""));
    say(script, http_bare("DELETE", "/-/jobs/" GEAR_PREFIX "1", ""));
    say(script, POST("/b", "X-Gearman-Ttr: x\r\n", ""));
    say(script, http_get("/f", "Origin: http://x\r\n"));
    say(script, http_get("/f", "Last-Event-ID: 1\r\n"));
    say(script, SLICE("POST /b HTTP/1.1\r\n" HELD BACKGROUND
                      "Transfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"
                      "1\r\nx\r\n00A\r\n0123456789\r\n0\r\n\r\n"));
    say(script, SLICE("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    say(script, http_get("/%00", "Connection: close\r\n"));
    say(script, http_get("/never", ""));
}

static void compose_jobs(struct script *script)
{
    say(script, POST("/f", "", "one"));
    say(script, http_get("/f?two", STREAM));
    say(script, POST("/b", BACKGROUND, "three"));
    say(script, http_chunked("/f", "", SLICE("four")));
    say(script, SLICE("PUT /f HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\n5"));
    say(script, SLICE("POST /f HTTP/1.0\r\n" STREAM "Content-Length: 3\r\n\r\nsix"));
    say(script, POST("/f", "", "never"));
}

static void compose_bodies(struct script *script)
{
    struct slice body = slice_of(gear_run('b', BODY), BODY);

    say(script, http_post("/f", "", body));
    say(script, http_chunked("/b", BACKGROUND, body));
    say(script, http_get("/", ""));
}

static void compose_malformed(struct script *script)
{
    say(script, POST("/b", BACKGROUND, "one"));
    say(script, SLICE("POST /b HTTP/1.1\r\n" HELD "Transfer-Encoding: chunked\r\n\r\n1\r\nx\n"));
    say(script, POST("/b", BACKGROUND, "never"));
}

static void compose_refused_body(struct script *script)
{
    say(script, http_post("/b", BACKGROUND, slice_of(gear_run('b', BODY + 1), BODY + 1)));
    say(script, POST("/b", BACKGROUND, "never"));
}

static const struct script *scripts(void)
{
    static struct script all[SCRIPTS];

    for (size_t i = 0; i < SCRIPTS && !all[i].what; i++) {
        all[i].what = kinds[i].what;
        kinds[i].compose(&all[i]);
    }
    return all;
}

struct outcome {
    char heard[HEARD_MAX];
    size_t len;
    uint64_t jobs;
    bool closed;
};

static void setup(void **state, unsigned budget)
{
    struct web_options settings = HTTP_DEFAULTS;

    settings.max_body = BODY;
    http_setup_with(state, (struct rig_options){.budget = budget}, settings);
}

// Does the jobs at `f`, one after the other.
static void work(struct peer *worker)
{
    http_can_do(worker, "f");
    for (uint64_t id = 1; id < 10; id++) {
        const char *handle = gear_handle(id);

        peer_ask(worker, MANY(REQ(GRAB_JOB), REQ(WORK_STATUS, handle, "1", "2"),
                              REQ(WORK_DATA, handle, "d")));
        peer_ask(worker, REQ(id % 3 ? WORK_COMPLETE : WORK_EXCEPTION, handle, "r"));
    }
}

// Lets a fresh world hear the script in pieces: the first has `first` bytes, the others `piece`.
static void play(const struct script *script, size_t first, size_t piece, unsigned budget,
                 struct outcome *outcome)
{
    struct slice heard;
    struct web *t;
    void *state;

    setup(&state, budget);
    t = state;
    peer_send_pieces(t->a, slice_of(script->said, script->len), first, piece);
    work(t->w);
    heard = peer_hear(t->a);
    assert_true(heard.len < sizeof outcome->heard);
    memcpy(outcome->heard, heard.ptr, heard.len);
    outcome->len = heard.len;
    outcome->closed = peer_closed(t->a);
    outcome->jobs = http_jobs(t);
    http_teardown(&state);
}

static void check(const struct script *script, size_t first, size_t piece, unsigned budget)
{
    static const char *played;
    static struct outcome whole, cut;

    if (played != script->what) {
        played = script->what;
        play(script, script->len, 1, 0, &whole);
    }
    play(script, first, piece, budget, &cut);
    if (cut.len != whole.len || memcmp(cut.heard, whole.heard, whole.len) != 0) {
        fail_msg("%s, first %zu, then %zu, budget %u: heard %zu bytes, expected %zu", script->what,
                 first, piece, budget, cut.len, whole.len);
    }
    assert_int_equal(cut.closed, whole.closed);
    assert_int_equal(cut.jobs, whole.jobs);
}

// A body is not cut at each of its bytes: those around it, and some within, tell the same.
static size_t step_at(const struct script *script, size_t at)
{
    struct slice said = slice_of(script->said, script->len);
    char same[64];

    if (at < sizeof same || said.len - at < sizeof same) {
        return 1;
    }
    memset(same, said.ptr[at], sizeof same);
    return memcmp(said.ptr + at - sizeof same / 2, same, sizeof same) == 0 ? 397 : 1;
}

static void each_script_is_answered_as_a_whole(void **state)
{
    static const size_t answers[SCRIPTS] = {14, 6, 3, 2, 1};
    static struct outcome whole;

    (void)state;
    for (size_t s = 0; s < SCRIPTS; s++) {
        struct http_answer answer;
        struct slice heard;
        size_t count = 0;

        play(&scripts()[s], scripts()[s].len, 1, 0, &whole);
        heard = slice_of(whole.heard, whole.len);
        while (http_take(&heard, false, &answer)) {
            count++;
        }
        assert_int_equal(count, answers[s]);
    }
}

static void every_split_in_two_gives_the_same_answers(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCRIPTS; s++) {
        const struct script *script = &scripts()[s];

        for (size_t first = 1; first < script->len; first += step_at(script, first)) {
            check(script, first, script->len, 0);
        }
    }
}

static void pieces_of_every_size_give_the_same_answers(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCRIPTS; s++) {
        const struct script *script = &scripts()[s];
        size_t least = script->len < 10000 ? 1 : 37;

        for (size_t piece = least; piece < least + 40; piece++) {
            check(script, piece, piece, 0);
        }
        for (size_t piece = 1000; piece < 50000; piece += 3371) {
            check(script, piece, piece, 0);
        }
    }
}

static void every_budget_gives_the_same_answers(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCRIPTS; s++) {
        for (unsigned budget = 1; budget < 8; budget++) {
            check(&scripts()[s], scripts()[s].len, 1, budget);
            check(&scripts()[s], 50, 50, budget);
        }
    }
}

static void a_connection_may_break_anywhere(void **state)
{
    (void)state;
    for (size_t s = 0; s < SCRIPTS; s++) {
        const struct script *script = &scripts()[s];

        for (size_t len = 0; len < script->len; len += step_at(script, len)) {
            struct broker_info info;
            struct web *t;
            void *world;

            setup(&world, 0);
            t = world;
            peer_ask(t->a, slice_of(script->said, len));
            peer_free(t->a);
            broker_info(rig_broker(t->rig), &info);
            assert_int_equal(info.sessions, 3);
            asks(t->b, http_get("/", ""), 404);
            http_teardown(&world);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_script_is_answered_as_a_whole),
        cmocka_unit_test(every_split_in_two_gives_the_same_answers),
        cmocka_unit_test(pieces_of_every_size_give_the_same_answers),
        cmocka_unit_test(every_budget_gives_the_same_answers),
        cmocka_unit_test(a_connection_may_break_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
