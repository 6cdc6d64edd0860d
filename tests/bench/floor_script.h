/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_BENCH_FLOOR_SCRIPT_H
#define TANDEM_BENCH_FLOOR_SCRIPT_H

// The replies of a server that does not read the requests. Its connections are of one side or
// of two (workers and clients, say): those that begin with exactly the first request of the first
// side are of that one. Each goes through the steps of its side, by the number of bytes that
// arrive: each step has a number of bytes and a reply. A step may also give notice to the other
// side, and may make its own connection wait for the other side's notice. That is how one
// connection's request makes bytes on another.
//
// On the command line a side is `@NOTICE`, what its connections are told when the other side gives
// notice, and then its steps, each `BYTES[o][n][w]:REPLY`. NOTICE and REPLY are hexadecimal digits,
// or nothing. `o`: this step comes once, and is not repeated behind the last one; `n`: gives
// notice; `w`: waits.

#include <stdbool.h>
#include <stddef.h>

#define FLOOR_SIDES_MAX 2
#define FLOOR_STEPS_MAX 8
#define FLOOR_TEXT_MAX 256

struct floor_text {
    char bytes[FLOOR_TEXT_MAX];
    size_t len;
};

struct floor_step {
    size_t request_len;
    struct floor_text reply;
    bool gives_notice;
    bool waits;
};

struct floor_side {
    struct floor_text notice;
    struct floor_step steps[FLOOR_STEPS_MAX];
    size_t count;
    size_t repeat_from; // the step behind the last one
};

struct floor_script {
    struct floor_side sides[FLOOR_SIDES_MAX];
    size_t count;
};

// Reads the words of a command line; ends the process where they are no script.
void floor_script_read(struct floor_script *script, char **words);

#endif
