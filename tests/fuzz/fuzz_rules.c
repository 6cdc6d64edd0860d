/* SPDX-License-Identifier: MIT */
#include "tests/fuzz/fuzz_rules.h"

#include "tests/proto_common/wire_callers.h"

void fuzz_change_rules(struct peer *peer, unsigned *changes)
{
    if (peer_closed(peer) || peer_dropped(peer)) {
        return;
    }
    switch ((*changes)++ % 3) {
    case 0:
        (void)peer_may(peer, {MAY_SUBMIT | MAY_OBSERVE, "*"}, {MAY_WORK, "f"});
        break;
    case 1:
        (void)peer_may(peer, {MAY_EVERYTHING, "default"});
        break;
    default:
        (void)peer_grant(peer, NULL);
        break;
    }
}

void fuzz_set_tokens(struct rig *rig)
{
    struct wire_callers *callers = rig_callers(rig);

    knows_token(rig, "s3cret", {MAY_EVERYTHING, "f"}, {MAY_WORK, "default"});
    callers->wrong_max = 3;
    callers->again_at = SECONDS(1010);
}
