/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_FACTS_H
#define TANDEM_SERVER_PROCESS_FACTS_H

// The facts about the process and its machine that front-ends report, gathered once at the start;
// and random secrets.

#include "proto_common/frontend.h"

#include <sys/utsname.h>

struct facts {
    struct process_facts process;
    struct utsname machine; /* private: `process` points into it */
};

// Fills `facts`, which must not move afterwards. `now` is the start of the process.
void facts_gather(struct facts *facts, struct instant now);

// A random number that peers cannot predict. Blocks until the kernel's random generator is
// initialized, which matters only just after boot.
uint64_t facts_secret(void);

// The same as the key of a keyed hash.
struct siphash_key facts_key(void);

#endif
