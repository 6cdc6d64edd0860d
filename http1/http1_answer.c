/* SPDX-License-Identifier: MIT */
#include "http1/http1_answer.h"

#include "core/base/digits.h"
#include "core/base/macros.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

// The lines of an event before its data, and NUL.
#define LINES_MAX (sizeof "id: \nevent: \ndata: " + DIGITS_MAX + HTTP1_EVENT_NAME_MAX)
// A size in hexadecimal digits, CRLF and NUL.
#define SIZE_LINE_MAX 24

// The reason phrases of the status line.
struct reason {
    unsigned status;
    size_t len;
    const char *text;
};

#define REASON(status, text)                                                                       \
    {                                                                                              \
        (status), sizeof(#status " " text) - 1, #status " " text                                   \
    }

static const struct reason reasons[] = {
    REASON(200, "OK"),
    REASON(201, "Created"),
    REASON(202, "Accepted"),
    REASON(204, "No Content"),
    REASON(304, "Not Modified"),
    REASON(400, "Bad Request"),
    REASON(401, "Unauthorized"),
    REASON(403, "Forbidden"),
    REASON(404, "Not Found"),
    REASON(405, "Method Not Allowed"),
    REASON(406, "Not Acceptable"),
    REASON(408, "Request Timeout"),
    REASON(409, "Conflict"),
    REASON(410, "Gone"),
    REASON(412, "Precondition Failed"),
    REASON(413, "Content Too Large"),
    REASON(415, "Unsupported Media Type"),
    REASON(417, "Expectation Failed"),
    REASON(422, "Unprocessable Content"),
    REASON(429, "Too Many Requests"),
    REASON(431, "Request Header Fields Too Large"),
    REASON(500, "Internal Server Error"),
    REASON(501, "Not Implemented"),
    REASON(502, "Bad Gateway"),
    REASON(503, "Service Unavailable"),
    REASON(504, "Gateway Timeout"),
    REASON(505, "HTTP Version Not Supported"),
};

static struct slice reason_of(unsigned status)
{
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].status == status) {
            return slice_of(reasons[i].text, reasons[i].len);
        }
    }
    UNREACHABLE();
}

bool http1_answer_begin(struct http1_answer *answer, struct output *out, unsigned status,
                        bool version_1_0)
{
    *answer = (struct http1_answer){
        .out = out,
        .start = output_reserve(out, HTTP1_ANSWER_MAX),
        .status = status,
        .version_1_0 = version_1_0,
    };
    if (!answer->start) {
        return false;
    }
    answer->at = answer->start;
    answer->end = answer->start + HTTP1_ANSWER_MAX;
    http1_answer_put(answer, version_1_0 ? SLICE("HTTP/1.0 ") : SLICE("HTTP/1.1 "));
    http1_answer_put(answer, reason_of(status));
    http1_answer_put(answer, SLICE("\r\n"));
    return true;
}

void http1_answer_common(struct http1_answer *answer, struct http1_common *common,
                         const char *version, nsec_t wall)
{
    static const char days[][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    time_t now = (time_t)(wall / NSEC_PER_SEC);
    struct tm utc;
    int len;

    if ((now != common->second || common->len == 0) && gmtime_r(&now, &utc)) {
        len = snprintf(common->text, sizeof common->text,
                       "Server: Tandem/%s\r\nDate: %s, %02d %s %04d %02d:%02d:%02d GMT\r\n",
                       version, days[utc.tm_wday], utc.tm_mday, months[utc.tm_mon],
                       (utc.tm_year + 1900) % 10000, utc.tm_hour, utc.tm_min, utc.tm_sec);
        ENSURE(len > 0 && (size_t)len < sizeof common->text);
        common->len = (uint8_t)len;
        common->second = now;
    }
    http1_answer_put(answer, slice_of(common->text, common->len));
}

bool http1_answer_more(struct http1_answer *answer)
{
    output_commit(answer->out, (size_t)(answer->at - answer->start));
    answer->start = output_reserve(answer->out, HTTP1_ANSWER_MAX);
    if (!answer->start) {
        return false;
    }
    answer->at = answer->start;
    answer->end = answer->start + HTTP1_ANSWER_MAX;
    return true;
}

void http1_answer_length(struct http1_answer *answer, uint64_t len)
{
    if (answer->status != 204 && answer->status != 304) {
        http1_answer_put(answer, SLICE("Content-Length: "));
        ENSURE(answer->end - answer->at >= DIGITS_MAX);
        answer->at = digits_write(answer->at, len);
        http1_answer_put(answer, SLICE("\r\n"));
    }
}

void http1_answer_chunked(struct http1_answer *answer)
{
    ENSURE(!answer->version_1_0);
    http1_answer_put(answer, SLICE("Transfer-Encoding: chunked\r\n"));
}

void http1_answer_end(struct http1_answer *answer, bool keep_alive)
{
    if (!keep_alive) {
        http1_answer_put(answer, SLICE("Connection: close\r\n"));
    } else if (answer->version_1_0) {
        http1_answer_put(answer, SLICE("Connection: keep-alive\r\n"));
    }
    http1_answer_put(answer, SLICE("\r\n"));
    output_commit(answer->out, (size_t)(answer->at - answer->start));
}

//
// Bodies of unknown length
//

void http1_piece(struct output *out, bool chunked, const struct slice *parts, size_t count)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++) {
        total += parts[i].len;
    }
    ENSURE(total > 0);
    if (chunked) {
        char size[SIZE_LINE_MAX];
        int len = snprintf(size, sizeof size, "%zx\r\n", total);

        output_write(out, slice_of(size, (size_t)len));
    }
    for (size_t i = 0; i < count; i++) {
        output_write(out, parts[i]);
    }
    if (chunked) {
        output_write(out, SLICE("\r\n"));
    }
}

void http1_pieces_end(struct output *out, bool chunked)
{
    if (chunked) {
        output_write(out, SLICE("0\r\n\r\n"));
    }
}

void http1_event(struct output *out, bool chunked, uint64_t id, const char *name, struct slice data)
{
    char lines[LINES_MAX];
    int len = snprintf(lines, sizeof lines, "id: %" PRIu64 "\nevent: %s\ndata: ", id, name);

    ENSURE(len > 0 && (size_t)len < sizeof lines);
    http1_piece(out, chunked,
                (const struct slice[]){slice_of(lines, (size_t)len), data, SLICE("\n\n")}, 3);
}

void http1_event_comment(struct output *out, bool chunked)
{
    http1_piece(out, chunked, &SLICE(":\n\n"), 1);
}
