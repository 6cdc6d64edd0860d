/* SPDX-License-Identifier: MIT */
#include "server/conn/eviction.h"

#include "core/base/log.h"
#include "core/base/memory.h"
#include "server/conn/conn.h"
#include "server/conn/loop_turn.h"

#include <malloc.h>
#include <stdint.h>
#include <string.h>

// Connections that are visited in a turn.
enum { EVICTION_SLICE = 512 };
// Turns after which closed connections, and their memory, are gone.
enum { EVICTION_WAITS = 8 };
// Approximate memory of a connection beside what it holds.
#define EVICTION_OVERHEAD ((size_t)4096)
// Pause after a pass that found nothing to close.
#define EVICTION_RESTS_FOR (100 * NSEC_PER_MSEC)

static unsigned eviction_class(size_t held)
{
    unsigned top = 63 ^ (unsigned)__builtin_clzll((unsigned long long)(held | 8));

    return (top - 3) * 8 + (unsigned)(held >> (top - 3) & 7);
}

// The smallest size of the class.
static size_t eviction_class_least(unsigned class)
{
    return (size_t)(8 + class % 8) << class / 8;
}

// The amount of memory at which eviction ends. New work is refused from a sixteenth before the
// limit.
static size_t eviction_target(void)
{
    return memory_limit() - memory_limit() / 8;
}

static void eviction_log(struct eviction *eviction, struct turn *turn)
{
    size_t counted = memory_counted();
    size_t limit = memory_limit();

    if (!eviction->told && memory_is_short() && turn_may_log(turn, LIMITED_LOG_MEMORY_SHORT)) {
        eviction->told = true;
        log_warn("memory_short", log_number("bytes", (int64_t)counted),
                 log_number("max_memory", (int64_t)limit));
    } else if (eviction->told && counted <= eviction_target()) {
        eviction->told = false;
        log_info("memory_eased", log_number("bytes", (int64_t)counted));
    }
}

// The allocator keeps free memory between blocks in use, and slabs would be made from other memory
// in addition. It is trimmed only after much was freed from a process that had nearly reached the
// limit, as trimming visits all of its memory.
static void eviction_trim(struct eviction *eviction)
{
    size_t counted = memory_counted();
    size_t limit = memory_limit();

    if (counted >= eviction->peak) {
        eviction->peak = counted;
    } else if (eviction->peak > limit / 2 && eviction->peak - counted > limit / 16) {
        eviction->peak = counted;
#ifdef HAVE_MALLOC_TRIM
        (void)malloc_trim(0);
#endif
    }
}

static void eviction_rest(struct eviction *eviction, const struct turn *turn, unsigned waits)
{
    eviction->stage = EVICTION_RESTS;
    eviction->waits = waits;
    eviction->rests_until = waits ? 0 : nsec_add(broker_now(turn->broker).mono, EVICTION_RESTS_FOR);
}

// The number of bytes to free. If most of the memory is not held by connections, closing them
// cannot free all that is wanted: then a quarter of the memory that they hold, or the excess over
// the limit if that is more. The next pass finds out whether that was enough.
static size_t eviction_excess(size_t counted, size_t held)
{
    size_t wanted = counted - eviction_target();
    size_t over = counted - memory_limit();
    size_t quarter = held / 4;

    if (wanted <= quarter) {
        return wanted;
    }
    return over > quarter ? over : quarter;
}

// All are measured: chooses the size classes to close, from the largest down, but none below the
// mean.
static void eviction_choose(struct eviction *eviction, struct turn *turn)
{
    size_t counted = memory_counted();
    size_t mean = eviction->all ? eviction->held / eviction->all : 0;
    unsigned class = EVICTION_CLASSES - 1;
    size_t sum = eviction->sums[class];

    // If jobs alone exceed the limit, as jobs restored from the store may, closing connections does
    // not help, and would keep away their workers.
    if (eviction->held == 0 || counted <= memory_limit() ||
        counted - memory_limit() > eviction->held + eviction->all * EVICTION_OVERHEAD) {
        eviction_rest(eviction, turn, 0);
        return;
    }
    eviction->excess = eviction_excess(counted, eviction->held);
    while (class > 0 && sum < eviction->excess) {
        sum += eviction->sums[--class];
    }
    eviction->least = eviction_class_least(class) > mean ? eviction_class_least(class) : mean;
    eviction->stage = EVICTION_CLOSES;
    turn_walk_begin(turn, WALK_EVICT);
}

// Visits a slice of the connections.
static void eviction_scan(struct eviction *eviction, struct turn *turn)
{
    struct conn *conn;

    for (unsigned i = 0; i < EVICTION_SLICE && (conn = conn_registry_walk(turn, WALK_EVICT)); i++) {
        bool weighs = eviction->stage == EVICTION_WEIGHS;
        size_t held = weighs || eviction->excess > 0 ? conn_holds(conn) : 0;

        if (weighs) {
            eviction->all++;
            eviction->held += held;
            eviction->sums[eviction_class(held)] += held;
        } else if (held > 0 && held >= eviction->least) {
            conn_evict(conn, held);
            eviction->excess -= held < eviction->excess ? held : eviction->excess;
        }
    }
    if (turn_walks(turn, WALK_EVICT)) {
        return;
    }
    if (eviction->stage == EVICTION_WEIGHS) {
        eviction_choose(eviction, turn);
    } else {
        eviction_rest(eviction, turn, EVICTION_WAITS);
    }
}

bool eviction_step(struct eviction *eviction, struct turn *turn)
{
    if (memory_limit() == SIZE_MAX && !eviction->told && eviction->stage == EVICTION_RESTS) {
        return false;
    }
    eviction_log(eviction, turn);
    eviction_trim(eviction);
    if (memory_limit() == SIZE_MAX) {
        // The limit was removed.
        eviction->stage = EVICTION_RESTS;
        eviction->waits = 0;
        return false;
    }
    if (eviction->stage != EVICTION_RESTS) {
        eviction_scan(eviction, turn);
    } else if (eviction->waits > 0) {
        eviction->waits--;
    } else if (memory_is_over() && broker_now(turn->broker).mono >= eviction->rests_until) {
        eviction->all = 0;
        eviction->held = 0;
        memset(eviction->sums, 0, sizeof eviction->sums);
        eviction->stage = EVICTION_WEIGHS;
        turn_walk_begin(turn, WALK_EVICT);
    }
    return eviction->stage != EVICTION_RESTS || eviction->waits > 0 ||
           (eviction->rests_until == 0 && memory_is_over());
}
