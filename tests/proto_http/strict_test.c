/* SPDX-License-Identifier: MIT */

// A request that parsers may read in different ways is refused: it gets one reply, and no more is
// read from that connection, however the bytes are cut into pieces.

#include "tests/proto_http/wire_http.h"

#include "tests/proto_common/wire_host.h"

#include <stdio.h>
#include <string.h>

#define HELD "Host: localhost\r\n"
#define POSTS "POST /f HTTP/1.1\r\n" HELD
#define LENGTH "Content-Length: 1\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"
#define CHUNKS POSTS CHUNKED "\r\n"
// The part that a smuggler wants to be read as a second request.
#define SMUGGLED POSTS "X-Gearman-Background: 1\r\n\r\n"
#define HEARD_MAX 2000

struct refusal {
    const char *what;
    struct slice said;
    unsigned status;
};

#define ROW(what, said, status)                                                                    \
    {                                                                                              \
        (what), {(said), sizeof(said) - 1}, (status)                                               \
    }

static const struct refusal lines[] = {
    ROW("nothing but a method", "GET\r\n", 400),
    ROW("0.9", "GET /f\r\n", 400),
    ROW("version 0.9", "GET /f HTTP/0.9\r\n" HELD "\r\n", 505),
    ROW("version 9.9", "GET /f HTTP/9.9\r\n" HELD "\r\n", 505),
    ROW("version 1.2", "GET /f HTTP/1.2\r\n" HELD "\r\n", 505),
    ROW("version 2.0", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505),
    ROW("version 1.10", "GET /f HTTP/1.10\r\n" HELD "\r\n", 400),
    ROW("version 1", "GET /f HTTP/1\r\n" HELD "\r\n", 400),
    ROW("version 01.1", "GET /f HTTP/01.1\r\n" HELD "\r\n", 400),
    ROW("a version in small letters", "GET /f http/1.1\r\n" HELD "\r\n", 400),
    ROW("another protocol", "GET /f ICE/1.1\r\n" HELD "\r\n", 400),
    ROW("a blank behind the version", "GET /f HTTP/1.1 \r\n" HELD "\r\n", 400),
    ROW("a blank in the version", "GET /f HTTP/ 1.1\r\n" HELD "\r\n", 400),
    ROW("no target", "GET HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("an empty target", "GET  HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("two blanks before the target", "GET  /f HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("two blanks behind the target", "GET /f  HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("a tab before the target", "GET\t/f HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("a tab behind the target", "GET /f\tHTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("a blank in the target", "GET /f g HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("a blank before the method", " GET /f HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("no method", "/f HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("a method that is not a token", "G(T /f HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("a NUL in the target", "GET /f\0 HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("a NUL in the method", "G\0ET /f HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("0x80 in the target", "GET /\x80 HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("0xff in the query", "GET /f?\xff HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("0xff in the method", "GE\xff /f HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("0x7f in the target", "GET /\x7f HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("CR in the target", "GET /\rf HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("a lone LF behind the first line", "GET /f HTTP/1.1\n" HELD "\r\n", 400),
    ROW("a lone CR behind the first line", "GET /f HTTP/1.1\r" HELD "\r\n", 400),
    ROW("CR CR LF", "GET /f HTTP/1.1\r\r\n" HELD "\r\n", 400),
    ROW("a lone LF in front of it all", "\nGET /f HTTP/1.1\r\n" HELD "\r\n", 400),
    ROW("CONNECT", "CONNECT localhost:80 HTTP/1.1\r\n" HELD "\r\n", 405),
    ROW("CONNECT of a path", "CONNECT /f HTTP/1.1\r\n" HELD "\r\n", 405),
};

static const struct refusal headers[] = {
    ROW("a lone LF behind a header", "GET /f HTTP/1.1\r\nHost: localhost\n\r\n", 400),
    ROW("a lone LF at the end", "GET /f HTTP/1.1\r\n" HELD "\n", 400),
    ROW("a lone CR in a value", "GET /f HTTP/1.1\r\n" HELD "X: a\rb\r\n\r\n", 400),
    ROW("CR CR LF behind a header", "GET /f HTTP/1.1\r\nHost: localhost\r\r\n\r\n", 400),
    ROW("a blank before the colon", "GET /f HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
    ROW("a tab before the colon", "GET /f HTTP/1.1\r\n" HELD "X\t: y\r\n\r\n", 400),
    ROW("a folded line", "GET /f HTTP/1.1\r\n" HELD "X: y\r\n z\r\n\r\n", 400),
    ROW("a line folded by a tab", "GET /f HTTP/1.1\r\n" HELD "X: y\r\n\tz\r\n\r\n", 400),
    ROW("a first header that is folded", "GET /f HTTP/1.1\r\n " HELD "\r\n", 400),
    ROW("a blank line", "GET /f HTTP/1.1\r\n" HELD " \r\n\r\n", 400),
    ROW("no colon", "GET /f HTTP/1.1\r\n" HELD "X\r\n\r\n", 400),
    ROW("no name", "GET /f HTTP/1.1\r\n" HELD ": y\r\n\r\n", 400),
    ROW("a blank in a name", "GET /f HTTP/1.1\r\n" HELD "X Y: z\r\n\r\n", 400),
    ROW("quotes around a length", POSTS "\"Content-Length\": 5\r\n\r\n", 400),
    ROW("a quote in a length", POSTS "Content\"-Length: 5\r\n\r\n", 400),
    ROW("quotes around a line of length", POSTS "\"Content-Length: 5\"\r\n\r\n", 400),
    ROW("a quoted length in capitals", POSTS "\"CONTENT-LENGTH\": 5\r\n\r\n", 400),
    ROW("a length behind a comma", POSTS "X,Content-Length: 5\r\n\r\n", 400),
    ROW("a length without its dash", POSTS "(ContentLength): 5\r\n\r\n", 400),
    ROW("a length with a blank and a quote", POSTS "\"Content-Length\" : 5\r\n\r\n", 400),
    ROW("a blank behind a length", POSTS "Content-Length : 5\r\n\r\n", 400),
    ROW("a quoted coding", POSTS "\"Transfer-Encoding\": chunked\r\n\r\n0\r\n\r\n", 400),
    ROW("a coding in brackets", POSTS "[Transfer-Encoding]: chunked\r\n\r\n0\r\n\r\n", 400),
    ROW("a quoted Host", "GET /f HTTP/1.1\r\n\"Host\": x\r\n" HELD "\r\n", 400),
    ROW("a quoted Connection", POSTS "\"Connection\": close\r\n\r\n", 400),
    ROW("a quoted Expect", POSTS "Expect@: 100-continue\r\n\r\n", 400),
    ROW("a blank in an odd name", POSTS "\"X Y\": z\r\n\r\n", 400),
    ROW("a blank before an odd name", POSTS " \"X\": z\r\n\r\n", 400),
    ROW("an odd name without a colon", POSTS "\"X\"\r\n\r\n", 400),
    ROW("a NUL behind an odd name", POSTS "\"X\": a\0\r\n\r\n", 400),
    ROW("a lone CR behind an odd name", POSTS "\"X\": a\rb\r\n\r\n", 400),
    ROW("0x80 in a name", "GET /f HTTP/1.1\r\n" HELD "X\x80: z\r\n\r\n", 400),
    ROW("a NUL in a name", "GET /f HTTP/1.1\r\n" HELD "X\0: z\r\n\r\n", 400),
    ROW("a NUL in a value", "GET /f HTTP/1.1\r\n" HELD "X: a\0b\r\n\r\n", 400),
    ROW("a control byte in a value", "GET /f HTTP/1.1\r\n" HELD "X: a\x01\r\n\r\n", 400),
    ROW("0x7f in a value", "GET /f HTTP/1.1\r\n" HELD "X: \x7f\r\n\r\n", 400),
    ROW("no Host", "GET /f HTTP/1.1\r\n\r\n", 400),
    ROW("two Hosts", "GET /f HTTP/1.1\r\n" HELD HELD "\r\n", 400),
    ROW("two Hosts that differ", "GET /f HTTP/1.1\r\n" HELD "host: 127.0.0.1\r\n\r\n", 400),
    ROW("two Hosts on 1.0", "GET /f HTTP/1.0\r\n" HELD HELD "\r\n", 400),
};

static const struct refusal framings[] = {
    ROW("two lengths", POSTS LENGTH LENGTH "\r\nx", 400),
    ROW("two lengths that differ", POSTS LENGTH "Content-Length: 2\r\n\r\nx", 400),
    ROW("a list of lengths", POSTS "Content-Length: 1, 1\r\n\r\nx", 400),
    ROW("a length with a sign", POSTS "Content-Length: +1\r\n\r\nx", 400),
    ROW("a negative length", POSTS "Content-Length: -1\r\n\r\n", 400),
    ROW("a length in hexadecimal", POSTS "Content-Length: 0x1\r\n\r\nx", 400),
    ROW("a length with a blank in it", POSTS "Content-Length: 1 1\r\n\r\nx", 400),
    ROW("a length with letters", POSTS "Content-Length: 1a\r\n\r\nx", 400),
    ROW("an empty length", POSTS "Content-Length:\r\n\r\nx", 400),
    ROW("a length and a coding", POSTS LENGTH CHUNKED "\r\n0\r\n\r\n", 400),
    ROW("a coding and a length", POSTS CHUNKED LENGTH "\r\n0\r\n\r\n", 400),
    ROW("a length of nothing and a coding", POSTS "Content-Length: 0\r\n" CHUNKED "\r\n0\r\n\r\n",
        400),
    ROW("two codings", POSTS CHUNKED CHUNKED "\r\n0\r\n\r\n", 400),
    ROW("two codings that differ", POSTS CHUNKED "Transfer-Encoding: identity\r\n\r\n0\r\n\r\n",
        400),
    ROW("another coding", POSTS "Transfer-Encoding: gzip\r\n\r\n", 501),
    ROW("identity", POSTS "Transfer-Encoding: identity\r\n\r\n", 501),
    ROW("a list of codings", POSTS "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501),
    ROW("chunked twice", POSTS "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 501),
    ROW("an empty coding", POSTS "Transfer-Encoding:\r\n\r\n0\r\n\r\n", 501),
    ROW("a coding with a parameter", POSTS "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", 501),
    ROW("a coding that begins so", POSTS "Transfer-Encoding: chunkedx\r\n\r\n0\r\n\r\n", 501),
    ROW("a coding with 0x0b before it",
        POSTS "Transfer-Encoding: \x0b"
              "chunked\r\n\r\n",
        400),
    ROW("a coding on 1.0", "POST /f HTTP/1.0\r\n" CHUNKED "\r\n0\r\n\r\n", 400),
    ROW("another coding on 1.0", "POST /f HTTP/1.0\r\nTransfer-Encoding: gzip\r\n\r\n", 400),
};

static const struct refusal chunks[] = {
    ROW("an empty size", CHUNKS "\r\n\r\n", 400),
    ROW("a size that is not a number", CHUNKS "g\r\n", 400),
    ROW("a size with a sign", CHUNKS "+1\r\nx\r\n0\r\n\r\n", 400),
    ROW("a negative size", CHUNKS "-1\r\nx\r\n0\r\n\r\n", 400),
    ROW("a size that begins 0x", CHUNKS "0x1\r\nx\r\n0\r\n\r\n", 400),
    ROW("a blank before the size", CHUNKS " 1\r\nx\r\n0\r\n\r\n", 400),
    ROW("a blank behind the size", CHUNKS "1 \r\nx\r\n0\r\n\r\n", 400),
    ROW("a tab behind the size", CHUNKS "1\t\r\nx\r\n0\r\n\r\n", 400),
    ROW("an extension", CHUNKS "1;a=b\r\nx\r\n0\r\n\r\n", 400),
    ROW("an empty extension", CHUNKS "1;\r\nx\r\n0\r\n\r\n", 400),
    ROW("an extension of the last chunk", CHUNKS "1\r\nx\r\n0;a\r\n\r\n", 400),
    ROW("a NUL in the size", CHUNKS "1\0\r\nx\r\n", 400),
    ROW("a lone LF behind the size", CHUNKS "1\nx\r\n0\r\n\r\n", 400),
    ROW("a lone CR behind the size", CHUNKS "1\rx\r\n0\r\n\r\n", 400),
    ROW("CR CR LF behind the size", CHUNKS "1\r\r\nx\r\n0\r\n\r\n", 400),
    ROW("no CR LF behind the data", CHUNKS "1\r\nx0\r\n\r\n", 400),
    ROW("a lone LF behind the data", CHUNKS "1\r\nx\n0\r\n\r\n", 400),
    ROW("a lone CR behind the data", CHUNKS "1\r\nx\r0\r\n\r\n", 400),
    ROW("more data than was said", CHUNKS "1\r\nxy\r\n0\r\n\r\n", 400),
    ROW("less data than was said", CHUNKS "3\r\nx\r\n0\r\n\r\n", 400),
    ROW("a trailer", CHUNKS "0\r\nX: y\r\n\r\n", 400),
    ROW("a trailer that would be a length", CHUNKS "1\r\nx\r\n0\r\nContent-Length: 5\r\n\r\n", 400),
    ROW("a lone LF at the end", CHUNKS "0\r\n\n", 400),
    ROW("a lone CR at the end", CHUNKS "0\r\n\rX", 400),
    ROW("another byte for the CR behind the data", CHUNKS "1\r\nxX\n0\r\n\r\n", 400),
    ROW("another byte for the LF behind the data", CHUNKS "1\r\nx\rX0\r\n\r\n", 400),
    ROW("another byte for the CR at the end", CHUNKS "0\r\nX\n", 400),
    ROW("another byte for the LF behind the size", CHUNKS "1\rXx\r\n0\r\n\r\n", 400),
    ROW("a size of 64 bits", CHUNKS "ffffffffffffffff\r\nx\r\n0\r\n\r\n", 400),
    ROW("a size of 65 bits", CHUNKS "10000000000000001\r\nx\r\n0\r\n\r\n", 400),
    ROW("a size of 17 digits", CHUNKS "00000000000000001\r\nx\r\n0\r\n\r\n", 400),
    ROW("a size of 60 bits", CHUNKS "fffffffffffffff\r\nx\r\n0\r\n\r\n", 413),
    ROW("no chunks at all", CHUNKS "GET / HTTP/1.1\r\n", 400),
};

struct verdict {
    char heard[HEARD_MAX];
    size_t len;
};

// The reply on a new connection to the request and the bytes behind it. The first piece has `first`
// bytes and the others have `piece`.
static void judge(struct rig *rig, struct slice said, size_t first, size_t piece,
                  struct verdict *verdict)
{
    struct peer *peer = peer_new(rig);
    struct slice left = gear_many((const struct slice[]){said, SLICE(SMUGGLED)}, 2);
    struct slice heard;

    while (left.len > 0) {
        size_t len = left.len < first ? left.len : first;

        peer_send(peer, slice_of(left.ptr, len));
        rig_run(rig);
        left = slice_from(left, len);
        first = piece;
    }
    heard = peer_hear(peer);
    assert_true(heard.len <= HEARD_MAX);
    memcpy(verdict->heard, heard.ptr, heard.len);
    verdict->len = heard.len;
    assert_int_equal(peer_kept(peer), 0);
    peer_free(peer);
}

// One answer, of that status, which ends the connection.
static void check_answer(const struct refusal *row, const struct verdict *verdict)
{
    struct slice heard = slice_of(verdict->heard, verdict->len);
    struct http_answer answer;

    if (!http_take(&heard, false, &answer) || heard.len > 0 || answer.status != row->status ||
        !slice_equal(http_field(&answer, "Connection"), SLICE("close"))) {
        fail_msg("%s: expected %u, heard %.*s", row->what, row->status, (int)verdict->len,
                 verdict->heard);
    }
}

static void is_refused(struct web *t, const struct refusal *row)
{
    static struct verdict whole, cut;
    size_t all = row->said.len + strlen(SMUGGLED);

    judge(t->rig, row->said, all, 1, &whole);
    check_answer(row, &whole);
    for (size_t first = 0; first < row->said.len; first++) {
        judge(t->rig, row->said, first ? first : 1, first ? all : 1, &cut);
        if (!slice_equal(slice_of(whole.heard, whole.len), slice_of(cut.heard, cut.len))) {
            fail_msg("%s: cut at %zu: heard %.*s", row->what, first, (int)cut.len, cut.heard);
        }
    }
    assert_int_equal(http_jobs(t), 0);
}

#define ALL_ARE_REFUSED(t, rows)                                                                   \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++) {                                   \
        is_refused((t), &(rows)[i]);                                                               \
    }

static void a_first_line_that_is_malformed_is_refused(void **state)
{
    ALL_ARE_REFUSED(*state, lines);
}

static void tls_hello_is_closed_unanswered_at_its_first_byte(void **state)
{
    struct web *t = *state;
    struct peer *first = peer_new(t->rig);
    struct peer *later = peer_new(t->rig);

    assert_int_equal(peer_ask(first, SLICE("\x16")).len, 0);
    assert_true(peer_closed(first));
    assert_int_equal(rig_tls_hellos(t->rig), 1);
    assert_true(peer_ask(later, SLICE("OPTIONS / HTTP/1.1\r\n" HELD "\r\n")).len > 0);
    assert_int_equal(peer_ask(later, SLICE("\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\n")).len, 0);
    assert_true(peer_closed(later));
    peer_free(first);
    peer_free(later);
}

static void a_proxy_head_is_refused_with_the_reason(void **state)
{
    static const struct slice heads[] = {
        {"PROXY TCP4 10.1.2.3 10.0.0.1 1234 8080\r\n", 41},
        {"PROXY UNKNOWN\r\n", 15},
        {"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\x0a\1\2\3\x0a\0\0\1\4\xd2\x2c\x24\r\n", 30},
    };
    struct web *t = *state;

    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct peer *peer = peer_new(t->rig);
        struct http_answer answer;
        struct slice heard;

        peer_send(peer, heads[i]);
        heard = peer_ask(peer, SLICE("OPTIONS / HTTP/1.1\r\n" HELD "\r\n"));
        assert_true(http_take(&heard, false, &answer));
        assert_int_equal(answer.status, 400);
        assert_non_null(strstr(answer.body.ptr, "no PROXY protocol"));
        assert_int_equal(rig_proxy_heads(t->rig), i + 1);
        peer_free(peer);
    }
}

static void headers_that_are_malformed_are_refused(void **state)
{
    ALL_ARE_REFUSED(*state, headers);
}

static void a_body_of_doubtful_length_is_refused(void **state)
{
    ALL_ARE_REFUSED(*state, framings);
}

static void chunks_that_are_malformed_are_refused(void **state)
{
    ALL_ARE_REFUSED(*state, chunks);
}

// Each byte as the value of a header, as a part of a name, and in a target.
static void each_byte_is_allowed_or_refused_by_its_place(void **state)
{
    struct web *t = *state;

    for (int byte = 0; byte < 256; byte++) {
        char said[3][100];
        bool text = byte == '\t' || (byte >= ' ' && byte != 0x7f);
        bool target = byte > ' ' && byte < 0x7f;
        // A name with a byte that no token has is passed over.
        const bool good[] = {text, target, target};

        (void)snprintf(said[0], sizeof said[0], "OPTIONS / HTTP/1.1\r\n" HELD "X: a%cb\r\n\r\n", 1);
        (void)snprintf(said[1], sizeof said[1], "OPTIONS / HTTP/1.1\r\n" HELD "X%cY: z\r\n\r\n", 1);
        (void)snprintf(said[2], sizeof said[2], "OPTIONS /f%c HTTP/1.1\r\n" HELD "\r\n", 1);
        for (size_t i = 0; i < 3; i++) {
            size_t len = strlen(said[i]);
            struct peer *peer = peer_new(t->rig);
            struct http_answer answer;
            struct slice heard;

            *strchr(said[i], 1) = (char)byte;
            heard = peer_ask(peer, slice_of(said[i], len));
            assert_true(http_take(&heard, false, &answer));
            if (answer.status !=
                (good[i] && !(i == 2 && (byte == '#' || byte == '%')) ? 204 : 400)) {
                fail_msg("byte %d at place %zu: %u", byte, i, answer.status);
            }
            peer_free(peer);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP(a_first_line_that_is_malformed_is_refused),
        HTTP(tls_hello_is_closed_unanswered_at_its_first_byte),
        HTTP(a_proxy_head_is_refused_with_the_reason),
        HTTP(headers_that_are_malformed_are_refused),
        HTTP(a_body_of_doubtful_length_is_refused),
        HTTP(chunks_that_are_malformed_are_refused),
        HTTP(each_byte_is_allowed_or_refused_by_its_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
