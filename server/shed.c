/* SPDX-License-Identifier: MIT */
#include "server/shed.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/conn.h"
#include "server/roster.h"
#include "server/turn.h"

#include <malloc.h>
#include <stdint.h>
#include <string.h>

// Connections that are looked at in a turn.
enum { SLICE = 512 };
// Those that were closed are gone, and their memory with them, after so many turns.
enum { WAITS = 8 };
// What goes with a connection beside what it holds, about.
#define BESIDE ((size_t)4096)
// So long nothing is looked for where there was nothing to close.
#define RESTS_FOR (100 * NSEC_PER_MSEC)

static unsigned class_of(size_t held)
{
    unsigned top = 63 ^ (unsigned)__builtin_clzll((unsigned long long)(held | 8));

    return (top - 3) * 8 + (unsigned)(held >> (top - 3) & 7);
}

// The smallest of the class.
static size_t least_of(unsigned class)
{
    return (size_t)(8 + class % 8) << class / 8;
}

// From here on all is well again: new work was refused for a sixteenth before the limit.
static size_t eased_at(void)
{
    return memory_limit() - memory_limit() / 8;
}

static void tell(struct shed *shed, struct turn *turn)
{
    size_t counted = memory_counted();
    size_t limit = memory_limit();

    if (!shed->told && memory_is_short() && turn_may_complain(turn, COMPLAINT_MEMORY_SHORT)) {
        shed->told = true;
        log_warn("memory_short", log_number("bytes", (int64_t)counted),
                 log_number("max_memory", (int64_t)limit));
    } else if (shed->told && counted <= eased_at()) {
        shed->told = false;
        log_info("memory_eased", log_number("bytes", (int64_t)counted));
    }
}

// The allocator keeps what lies between things that are in use; blocks of slabs are made of other
// memory, and would come on top of that. It is asked for it only when much has been freed of what
// had nearly reached the limit: it looks through all that it has.
static void give_back(struct shed *shed)
{
    size_t counted = memory_counted();
    size_t limit = memory_limit();

    if (counted >= shed->peak) {
        shed->peak = counted;
    } else if (shed->peak > limit / 2 && shed->peak - counted > limit / 16) {
        shed->peak = counted;
        (void)malloc_trim(0);
    }
}

static void begin_pass(struct shed *shed, struct turn *turn, enum shed_stage stage)
{
    shed->stage = stage;
    turn_walk_begin(turn, WALK_SHED);
}

static void begin(struct shed *shed, struct turn *turn)
{
    shed->all = 0;
    shed->held = 0;
    memset(shed->sums, 0, sizeof shed->sums);
    begin_pass(shed, turn, SHED_WEIGHS);
}

static void rest(struct shed *shed, const struct turn *turn, unsigned waits)
{
    shed->stage = SHED_RESTS;
    shed->waits = waits;
    shed->rests_until = waits ? 0 : nsec_add(broker_now(turn->broker).mono, RESTS_FOR);
}

static void weigh(struct shed *shed, struct conn *conn)
{
    size_t held = conn_holds(conn);

    shed->all++;
    shed->held += held;
    shed->sums[class_of(held)] += held;
}

static void close_heavy(struct shed *shed, struct conn *conn)
{
    size_t held = shed->excess > 0 ? conn_holds(conn) : 0;

    if (held > 0 && held >= shed->least) {
        conn_shed(conn, held);
        shed->excess -= held < shed->excess ? held : shed->excess;
    }
}

// How much is to go. Where most of the memory is not what connections hold, they cannot free as
// much as is wanted, and none is to go in vain: a quarter of what they hold, if it is enough to get
// below the limit. The next pass finds out whether that was enough.
static size_t excess_of(size_t counted, size_t held)
{
    size_t wanted = counted - eased_at();
    size_t over = counted - memory_limit();
    size_t quarter = held / 4;

    if (wanted <= quarter) {
        return wanted;
    }
    return over > quarter ? over : quarter;
}

// Whether it would help to close them. Where jobs alone pass the limit, as those may that came back
// from the store, it would not, and keep away those who do the jobs.
static bool can_help(const struct shed *shed, size_t counted)
{
    return shed->held > 0 && counted > memory_limit() &&
           counted - memory_limit() <= shed->held + shed->all * BESIDE;
}

// All are weighed: those are to go that hold most, as many classes of them as it takes, but none
// that holds less than the mean.
static void choose(struct shed *shed, struct turn *turn)
{
    size_t counted = memory_counted();
    size_t mean = shed->all ? shed->held / shed->all : 0;
    unsigned class = SHED_CLASSES - 1;
    size_t sum = shed->sums[class];

    if (!can_help(shed, counted)) {
        rest(shed, turn, 0);
        return;
    }
    shed->excess = excess_of(counted, shed->held);
    while (class > 0 && sum < shed->excess) {
        sum += shed->sums[--class];
    }
    shed->least = least_of(class) > mean ? least_of(class) : mean;
    begin_pass(shed, turn, SHED_CLOSES);
}

// A slice of a pass.
static void look(struct shed *shed, struct turn *turn)
{
    struct conn *conn;

    for (unsigned i = 0; i < SLICE && (conn = roster_walk(turn, WALK_SHED)); i++) {
        if (shed->stage == SHED_WEIGHS) {
            weigh(shed, conn);
        } else {
            close_heavy(shed, conn);
        }
    }
    if (turn_walks(turn, WALK_SHED)) {
        return;
    }
    if (shed->stage == SHED_WEIGHS) {
        choose(shed, turn);
    } else {
        rest(shed, turn, WAITS);
    }
}

static bool is_rested(struct shed *shed, const struct turn *turn)
{
    if (shed->waits > 0) {
        shed->waits--;
        return false;
    }
    return memory_is_over() && broker_now(turn->broker).mono >= shed->rests_until;
}

bool shed_step(struct shed *shed, struct turn *turn)
{
    if (memory_limit() == SIZE_MAX && !shed->told && shed->stage == SHED_RESTS) {
        return false;
    }
    tell(shed, turn);
    give_back(shed);
    if (memory_limit() == SIZE_MAX) {
        // It was taken back.
        shed->stage = SHED_RESTS;
        shed->waits = 0;
        return false;
    }
    if (shed->stage != SHED_RESTS) {
        look(shed, turn);
    } else if (is_rested(shed, turn)) {
        begin(shed, turn);
    }
    return shed->stage != SHED_RESTS || shed->waits > 0 ||
           (shed->rests_until == 0 && memory_is_over());
}
