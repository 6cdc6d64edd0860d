/* SPDX-License-Identifier: MIT */
#include "tests/budget/cases.h"

#include "proto_http/http.h"

#define POST                                                                                       \
    "POST /jobs HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nX-Gearman-Background: true\r\n"                \
    "Content-Length: 64\r\n\r\n" BODY_64

// Submits background jobs over one persistent connection.
static void background(struct host *host, unsigned long count)
{
    struct caller *caller = host_connect(host);

    for (unsigned long i = 0; i < count; i++) {
        (void)caller_ask(caller, SLICE(POST), SLICE("HTTP/1.1 2"));
    }
}

static char empty[] = "";
static char handle_prefix[] = "H:host";

static const struct web_options settings = {.max_body = 64 << 20,
                                            .max_result = 64 << 20,
                                            .max_header_bytes = 16 << 10,
                                            .header_timeout = 10,
                                            .body_timeout = 60,
                                            .idle_timeout = 75,
                                            .cors_origins = empty,
                                            .hosts = empty,
                                            .functions = empty,
                                            .tokens = empty,
                                            .job_retries = -1,
                                            .handle_prefix = handle_prefix};

static const struct budget_case cases[] = {
    {.name = "http_background", .run = background},
    {.name = NULL},
};

const struct budget_area http_area = {
    .frontend = &http_frontend, .settings = &settings, .cases = cases};
