/* SPDX-License-Identifier: MIT */
#include "proto_http/http.h"

#include "access/access.h"
#include "core/base/glob.h"
#include "core/base/log.h"
#include "core/memo.h"
#include "http1/http1_conn.h"
#include "http1/http1_options.h"
#include "http1/user.h"

#include "proto_http/accept.h"
#include "proto_http/once.h"
#include "proto_http/submission.h"
#include "proto_http/wait.h"
#include "proto_http/web_answer.h"
#include "proto_http/web_request.h"
#include "proto_http/web_work.h"

#include <stddef.h>
#include <string.h>

// The most bytes of an invalid value that a message quotes.
#define QUOTED_MAX 128

static const struct option web_option_table[] = {
    {.name = "max_body",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct web_options, max_body),
     .default_value = "64M",
     .max = INT64_C(1) << 30,
     .live = true,
     .is_job_size = true,
     .effect = "Maximum size of the body of a request; a larger one is answered 413."},
    {.name = "max_result",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct web_options, max_result),
     .default_value = "64M",
     .max = INT64_C(1) << 30,
     .live = true,
     .is_job_size = true,
     .effect = "Maximum size of a result that a request gets; a larger one is answered 502."},
    HTTP1_OPTION_ROWS(struct web_options),
    {.name = "wait_timeout",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct web_options, wait_timeout),
     .default_value = "0",
     .max = UINT32_MAX,
     .live = true,
     .effect = "Seconds that a request waits for its job before it is answered 504; 0: no limit."},
    {.name = "lease",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct web_options, lease),
     .default_value = "60",
     .min = 1,
     .max = 86400,
     .live = true,
     .effect = "Default lease in seconds of jobs without a TTR; each report restarts it."},
    {.name = "max_leases",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct web_options, max_leases),
     .default_value = "10000",
     .max = UINT32_MAX,
     .live = true,
     .effect = "Maximum number of jobs that HTTP workers hold; 0: HTTP workers are refused."},
    {.name = "idempotency_for",
     .kind = OPTION_DURATION,
     .offset = offsetof(struct web_options, idempotency_for),
     .default_value = "24h",
     .max = 30 * INT64_C(86400) * NSEC_PER_SEC,
     .live = true,
     .effect =
         "How long the answer to an Idempotency-Key is stored; 0: such requests are refused."},
    {.name = "max_kept_answers",
     .kind = OPTION_SIZE,
     .offset = offsetof(struct web_options, max_kept_answers),
     .default_value = "64M",
     .max = INT64_C(1) << 40,
     .live = true,
     .effect = "Maximum memory for these answers; without space, such requests are refused."},
    {.name = "status_codes",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct web_options, status_codes),
     .default_value = "honest",
     .choices = "honest|gearmand",
     .live = true,
     .effect = "Status codes for jobs that fail and submissions that are refused."},
    {.name = "cors_origins",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct web_options, cors_origins),
     .default_value = "",
     .live = true,
     .effect = "Origins whose pages may send requests and read the answers; *: all."},
    {.name = "hosts",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct web_options, hosts),
     .default_value = "",
     .live = true,
     .effect = "Host names that a request may have, besides localhost and IP addresses: names, "
               "*.suffix, or * for any."},
    {.name = "functions",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct web_options, functions),
     .default_value = "",
     .live = true,
     .effect = "Globs of the functions that HTTP offers; empty: all."},
    {.name = "tokens",
     .kind = OPTION_TEXT,
     .is_file = true,
     .offset = offsetof(struct web_options, tokens),
     .default_value = "",
     .live = true,
     .effect = "File of tokens and their functions; empty: none. Read again on SIGHUP."},
    {.name = "job_retries",
     .section = "gearman",
     .kind = OPTION_NUMBER,
     .offset = offsetof(struct web_options, job_retries),
     .default_value = "-1",
     .min = -1,
     .max = JOB_ATTEMPTS_MAX,
     .live = true},
    {.name = "on_fail",
     .section = "gearman",
     .kind = OPTION_CHOICE,
     .offset = offsetof(struct web_options, on_fail),
     .default_value = "drop",
     .choices = "drop|bury",
     .live = true},
    {.name = "handle_prefix",
     .section = "gearman",
     .kind = OPTION_TEXT,
     .offset = offsetof(struct web_options, handle_prefix),
     .default_value = ""},
    {.name = NULL},
};

// NULL on failure, with the reason in `why`.
static struct access *web_read_tokens(const char *path, struct error_text *why)
{
    struct access *tokens = access_read_tokens(path, why);

    if (!tokens) {
        (void)error_prefix(why, "tokens: ");
    }
    return tokens;
}

static bool web_check_settings(const void *settings, struct error_text *why)
{
    const struct web_options *ours = settings;
    struct slice functions = slice_str(ours->functions);
    struct access *tokens;
    struct slice glob;

    if (!http1_options_check(&ours->http1, why)) {
        return false;
    }
    while (http1_list_next(&functions, &glob)) {
        if (!glob_valid(glob)) {
            return error_set(why, "functions: `%.*s` is not a valid glob",
                             glob.len < QUOTED_MAX ? (int)glob.len : QUOTED_MAX, glob.ptr);
        }
    }
    if (!*ours->tokens) {
        return true;
    }
    tokens = web_read_tokens(ours->tokens, why);
    access_free(tokens);
    return tokens != NULL;
}

static const struct http1_user web_user = {
    .texts = {HTTP1_TEXTS("http"), HTTP1_ORIGIN_TEXTS("http"),
              .bad_token = "the token is not in http.tokens or server.access_file",
              .forbidden = "no rule in server.access_file or http.tokens allows this request"},
    .exposed = WEB_EXPOSED,
    .rights = MAY_SUBMIT | MAY_WORK | MAY_OBSERVE | MAY_CANCEL,
    .session = &web_session_ops,
    .request_size = sizeof(struct web_request),
    .request_cleared = offsetof(struct web_request, target.name),
    .other_method = web_accept_no_method,
    .accept = web_accept,
    .complete = web_complete,
    .step = web_step,
    .expired = web_wait_expired,
    .stopping = web_stopping,
    .no_memory = web_refuse_memory,
    .closing = web_work_undelivered,
    .forget = web_forget,
    .holds = web_holds,
};

static enum status web_start(void *state, struct broker *broker, const void *settings,
                             const struct process_facts *facts)
{
    struct web_shared *shared = state;
    struct error_text why;

    shared->options = settings;
    http1_shared_begin(&shared->http1, &web_user, broker, &shared->options->http1, facts,
                       web_field_names, WEB_FIELD_COUNT);
    web_leases_begin(&shared->leases, broker);
    if (!handles_set_prefix(&shared->handles, shared->options->handle_prefix, facts->hostname)) {
        return STATUS_BAD_NAME;
    }
    if (*shared->options->tokens) {
        shared->http1.tokens = web_read_tokens(shared->options->tokens, &why);
        if (!shared->http1.tokens) {
            log_error("tokens_not_read", log_string("why", why.text));
            return STATUS_NOT_FOUND;
        }
    }
    return web_once_begin(shared);
}

static void web_opened(void *state)
{
    struct web_shared *shared = state;

    web_once_mend(shared);
    web_leases_resume(&shared->leases);
}

static void web_name_host(void *state, const char *host)
{
    struct web_shared *shared = state;

    handles_set_host(&shared->handles, shared->options->handle_prefix, host);
}

static void web_stop(void *state)
{
    struct web_shared *shared = state;

    web_leases_end(&shared->leases);
    access_free(shared->http1.tokens);
}

static nsec_t web_due(const void *state)
{
    return web_leases_due(&((const struct web_shared *)state)->leases);
}

static void web_close_emptied(void *state)
{
    web_leases_work(&((struct web_shared *)state)->leases);
}

// The connection's own session takes no jobs.
static enum grant_progress web_granted(void *state, struct grants *grants)
{
    struct http1_conn *conn = state;
    enum grant_progress progress = http1_granted(conn, grants);

    return conn->request && web_request(conn)->target.place == WEB_PLACE_WORK
               ? web_work_granted(conn, grants)
               : progress;
}

static bool web_prepare(void *state, const void *settings, struct error_text *why)
{
    struct web_shared *shared = state;
    const struct web_options *fresh = settings;

    shared->fresh_tokens = *fresh->tokens ? web_read_tokens(fresh->tokens, why) : NULL;
    return shared->fresh_tokens || !*fresh->tokens;
}

static void web_discard(void *state)
{
    struct web_shared *shared = state;

    access_free(shared->fresh_tokens);
    shared->fresh_tokens = NULL;
}

static void web_reload(void *state)
{
    struct web_shared *shared = state;

    broker_memo_limit(shared->http1.broker, MEMO_ANSWER, shared->options->max_kept_answers);
    access_free(shared->http1.tokens);
    shared->http1.tokens = shared->fresh_tokens;
    shared->fresh_tokens = NULL;
}

const struct frontend http_frontend = {
    .name = "http",
    .listen = "127.0.0.1:8080",
    .alpn = "\x08http/1.1\x08http/1.0",
    .options = web_option_table,
    .options_size = sizeof(struct web_options),
    .shared_size = sizeof(struct web_shared),
    .conn_size = sizeof(struct http1_conn),
    .check = web_check_settings,
    .start = web_start,
    .opened = web_opened,
    .name_host = web_name_host,
    .stop = web_stop,
    .prepare = web_prepare,
    .discard = web_discard,
    .reload = web_reload,
    .open = http1_open,
    .due = web_due,
    .work = web_close_emptied,
    .granted = web_granted,
    .feed = http1_feed,
    .filled = http1_filled,
    .eof = http1_eof,
    .expired = http1_expired,
    .limits = http1_limits,
    .pace = http1_pace,
    .overdue = http1_overdue,
    .stopping = http1_stopping,
    .holds = http1_holds,
    .facts = http1_facts,
    .commands = http1_commands,
    .close = http1_close,
};
