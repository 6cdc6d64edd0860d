/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/clear.h"

#include "core/base/memory.h"
#include "core/operate.h"

#include <string.h>

struct bean_clear {
    struct sweep sweep;
    char name[]; // of the tube
};

static size_t size_of(const struct bean_clear *clear)
{
    return sizeof *clear + clear->sweep.queue.len;
}

void bean_clear_tube(struct bean_conn *conn, const struct bean_command *command)
{
    struct bean_clear *clear = memory_alloc(sizeof *clear + command->name.len);
    enum status status;

    if (!clear) {
        bean_refuse(conn->wire, BEAN_OUT_OF_MEMORY);
        return;
    }
    memcpy(clear->name, command->name.ptr, command->name.len);
    clear->sweep = (struct sweep){
        .queue = slice_of(clear->name, command->name.len),
        .filter = JOB_FILTER_ALL,
        .act = {.kind = ACT_DELETE},
    };
    conn->doing.clear = clear;
    conn->state = BEAN_CLEARING;
    status = broker_sweep_begin(conn->shared->broker, conn->session, &clear->sweep);
    if (status != STATUS_OK) {
        bean_clear_discard(conn);
        bean_reply_status(conn->wire, status, BEAN_INTERNAL_ERROR);
    }
}

enum step bean_clear_step(struct bean_conn *conn)
{
    struct sweep *sweep = &conn->doing.clear->sweep;
    enum status status = broker_sweep(conn->shared->broker, conn->session, sweep);

    // The answer, which is the next thing that is staged, waits for the records of all slices.
    wire_hold(conn->wire, broker_position(conn->shared->broker));
    if (status == STATUS_MORE) {
        return STEP_AGAIN;
    }
    // The room for the end of a job was set aside when it was submitted: deleting never lacks it.
    ENSURE(status == STATUS_OK);
    bean_reply_number(&conn->wire->out, SLICE("CLEARED "), sweep->counts.done);
    bean_clear_discard(conn);
    return STEP_ON;
}

size_t bean_clear_holds(const struct bean_conn *conn)
{
    return size_of(conn->doing.clear);
}

void bean_clear_discard(struct bean_conn *conn)
{
    memory_free(conn->doing.clear, size_of(conn->doing.clear));
    conn->doing.clear = NULL;
    conn->state = BEAN_LINE;
}
