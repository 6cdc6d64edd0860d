/* SPDX-License-Identifier: MIT */
#include "proto_beanstalk/work.h"

#include "proto_beanstalk/batch.h"
#include "proto_beanstalk/body.h"
#include "proto_beanstalk/clear.h"
#include "proto_beanstalk/listing.h"

static const struct {
    size_t (*holds)(const struct bean_conn *conn); // NULL: nothing is allocated in this state
    void (*discard)(struct bean_conn *conn);
} works[BEAN_STATES] = {
    [BEAN_BODY] = {bean_body_holds, bean_body_discard},
    [BEAN_BATCH_BLOCKED] = {bean_batch_holds, bean_batch_discard},
    [BEAN_BATCHING] = {bean_batch_holds, bean_batch_discard},
    [BEAN_CLEARING] = {bean_clear_holds, bean_clear_discard},
    [BEAN_LISTING] = {bean_listing_holds, bean_listing_discard},
};

size_t bean_work_holds(const struct bean_conn *conn)
{
    return works[conn->state].holds ? works[conn->state].holds(conn) : 0;
}

void bean_work_discard(struct bean_conn *conn)
{
    if (works[conn->state].discard) {
        works[conn->state].discard(conn);
    }
}
