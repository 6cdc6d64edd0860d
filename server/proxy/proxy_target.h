/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROXY_PROXY_TARGET_H
#define TANDEM_SERVER_PROXY_PROXY_TARGET_H

// The owner's places, and where their hosts are. Names are looked up in the background: at once,
// again and again as long as that fails, and once more after nobody was reached there. A place at
// which nobody was reached rests for a moment: who comes meanwhile is not taken in vain.

#include "server/proxy/lookup.h"
#include "server/proxy/owner_address.h"

#include <event2/event_struct.h>

struct proxy_host {
    const char *name;           // NULL: none
    struct event_base *base;    /* private */
    struct lookup_result found; // what is known of it so far
    struct lookup *lookup;      /* private: that is under way */
    struct event again;         /* private: looks it up again */
    bool is_numeric;            /* private: it is not looked up */
    bool complained;            /* private: since it was found last */
};

struct proxy_target {
    struct owner_place place;
    struct proxy_host *host;
    struct event rested; /* private: ends its rest */
};

struct proxy_targets {
    struct event_base *base;                    /* private */
    size_t count;                               /* private */
    struct proxy_target each[OWNER_PLACES_MAX]; /* private */
    struct proxy_host hosts[OWNER_PLACES_MAX];  /* private */
};

// Takes these places instead of those that there were. There may be no user of these.
void proxy_targets_set(struct proxy_targets *targets, struct event_base *base, const char *text);

// The one for that protocol, with at least one address; NULL: there is none now.
struct proxy_target *proxy_targets_find(const struct proxy_targets *targets, const char *protocol,
                                        bool tls);

// Nobody was reached there.
void proxy_target_rest(struct proxy_target *target);

// Leaves no event in the base. Zeroed ones are allowed.
void proxy_targets_clear(struct proxy_targets *targets);

#endif
