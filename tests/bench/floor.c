/* SPDX-License-Identifier: MIT */
// tandem_floor [--slow-turn MS] PORT SCRIPT...: the least that a server on this kernel can do. It
// understands nothing and keeps no job: see floor_script.h for what it answers. It reads once from
// each connection that has something for it, and then writes once to each that gets something. The
// address is 127.0.0.1. It serves one load and is stopped behind it.
//
// With --slow-turn MS, each turn that takes more than MS milliseconds is a line on stderr, as of
// tandemd: `slow_turn us=N`. A turn is what is between two waits, and takes the thread's processor
// time, but no more than what passed.
// accept4 is a GNU function.
#define _GNU_SOURCE
#include "tests/bench/floor_script.h"

#include <arpa/inet.h>
#include <err.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define READ_MAX 65536
// More than one read can ask for, and no power of two: the beginnings of all buffers would fall
// into the same few lines of the cache.
#define OUT_MAX (16384 + 64)
#define CONNS_MAX 4096
#define EVENTS_PER_WAIT 256

struct conn {
    struct side *side; // NULL until the first bytes are there
    size_t step;
    size_t begun; // bytes of its request that have come
    size_t out_len;
    char out[OUT_MAX];
};

struct side {
    const struct floor_side *script;
    int waiting[CONNS_MAX]; // descriptors, the next to get a notice at `first`
    size_t first;
    size_t waiting_count;
    size_t notices; // given while no connection waited
};

struct turn {
    int64_t slow_for; // nanoseconds; negative: turns are not measured
    int64_t woke_at;
    int64_t cpu_began_at;
};

static struct floor_script script;
static struct side sides[FLOOR_SIDES_MAX];
static struct conn conns[CONNS_MAX]; // by descriptor
static int touched[CONNS_MAX];       // those with output
static size_t touched_count;
static struct turn turn = {.slow_for = -1};

static void stage(int fd, const struct floor_text *text)
{
    struct conn *conn = &conns[fd];
    if (text->len == 0)
        return;
    if (conn->out_len + text->len > OUT_MAX)
        errx(1, "too many requests at once");
    if (conn->out_len == 0)
        touched[touched_count++] = fd;
    memcpy(conn->out + conn->out_len, text->bytes, text->len);
    conn->out_len += text->len;
}

static void give_notice(struct side *side)
{
    if (side->waiting_count == 0) {
        side->notices++;
        return;
    }
    stage(side->waiting[side->first], &side->script->notice);
    side->first = (side->first + 1) % CONNS_MAX;
    side->waiting_count--;
}

static void await_notice(struct side *side, int fd)
{
    if (side->notices > 0) {
        side->notices--;
        stage(fd, &side->script->notice);
        return;
    }
    side->waiting[(side->first + side->waiting_count++) % CONNS_MAX] = fd;
}

static void do_step(int fd, const struct floor_step *step)
{
    struct side *side = conns[fd].side;
    stage(fd, &step->reply);
    if (step->gives_notice)
        give_notice(side == &sides[0] ? &sides[script.count - 1] : &sides[0]);
    if (step->waits)
        await_notice(side, fd);
}

// The side of a connection is told by the length of what it says first.
static struct side *side_of(size_t first_len)
{
    bool first = first_len == script.sides[0].steps[0].request_len;
    return first ? &sides[0] : &sides[script.count - 1];
}

static void receive(int fd)
{
    static char bytes[READ_MAX];
    struct conn *conn = &conns[fd];
    ssize_t got = recv(fd, bytes, sizeof bytes, 0);
    if (got <= 0) {
        close(fd);
        return;
    }
    if (!conn->side)
        conn->side = side_of((size_t)got);
    const struct floor_side *steps = conn->side->script;
    conn->begun += (size_t)got;
    while (conn->begun >= steps->steps[conn->step].request_len) {
        const struct floor_step *step = &steps->steps[conn->step];
        conn->begun -= step->request_len;
        conn->step = conn->step + 1 < steps->count ? conn->step + 1 : steps->repeat_from;
        do_step(fd, step);
    }
}

static void send_all(void)
{
    for (size_t i = 0; i < touched_count; i++) {
        struct conn *conn = &conns[touched[i]];
        // Where the peer has gone, or does not read, its bytes are lost: the load will miss them.
        (void)!send(touched[i], conn->out, conn->out_len, MSG_NOSIGNAL);
        conn->out_len = 0;
    }
    touched_count = 0;
}

static void accept_one(int listener, int epoll)
{
    const int on = 1;
    struct sockaddr_in peer;
    socklen_t len = sizeof peer;
    int fd = accept4(listener, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 || fd >= CONNS_MAX)
        errx(1, "cannot take a connection");
    // One read takes all input: no load sends more at once.
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = fd};
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) < 0)
        err(1, "cannot serve a connection");
    conns[fd].side = NULL;
    conns[fd].step = conns[fd].begun = conns[fd].out_len = 0;
}

static int listen_on(uint16_t port)
{
    const int on = 1;
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0 ||
        bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 || listen(fd, SOMAXCONN))
        err(1, "cannot listen on port %u", port);
    return fd;
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void begin_turn(void)
{
    turn.woke_at = read_clock(CLOCK_MONOTONIC);
    turn.cpu_began_at = read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static void end_turn(void)
{
    int64_t used_for = read_clock(CLOCK_THREAD_CPUTIME_ID) - turn.cpu_began_at;
    int64_t passed_for = read_clock(CLOCK_MONOTONIC) - turn.woke_at;
    int64_t took_for = used_for < passed_for ? used_for : passed_for;
    if (took_for > turn.slow_for)
        (void)fprintf(stderr, "slow_turn us=%" PRId64 "\n", took_for / 1000);
}

// Where turns are measured, one ends here and the next begins. That is one look a turn at whether
// they are, which is all that it costs where they are not.
static int await_events(int epoll, struct epoll_event *events)
{
    if (turn.slow_for < 0)
        return epoll_wait(epoll, events, EVENTS_PER_WAIT, -1);
    end_turn();
    int count = epoll_wait(epoll, events, EVENTS_PER_WAIT, -1);
    begin_turn();
    return count;
}

// Behind the options, the words begin at `optind`.
static void read_options(int argc, char **argv)
{
    static const struct option options[] = {
        {"slow-turn", required_argument, NULL, 's'},
        {NULL, 0, NULL, 0},
    };
    int key;
    while ((key = getopt_long(argc, argv, "+", options, NULL)) == 's')
        turn.slow_for = (int64_t)strtoul(optarg, NULL, 10) * 1000000;
    if (key != -1 || argc - optind < 2)
        errx(2, "usage: tandem_floor [--slow-turn MS] PORT "
                "@NOTICE BYTES[o][n][w]:REPLY... [@NOTICE ...]");
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    const char *port = argv[optind];
    floor_script_read(&script, argv + optind + 1);
    for (size_t i = 0; i < script.count; i++)
        sides[i].script = &script.sides[i];
    int listener = listen_on((uint16_t)strtoul(port, NULL, 10));
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) < 0)
        err(1, "epoll");
    begin_turn();
    for (;;) {
        struct epoll_event events[EVENTS_PER_WAIT];
        int count = await_events(epoll, events);
        for (int i = 0; i < count; i++) {
            if (events[i].data.fd == listener)
                accept_one(listener, epoll);
            else
                receive(events[i].data.fd);
        }
        send_all();
    }
}
