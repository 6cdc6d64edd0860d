/* SPDX-License-Identifier: MIT */
#ifndef TANDEM_SERVER_PROCESS_FACTS_H
#define TANDEM_SERVER_PROCESS_FACTS_H

// What the process knows about itself and its machine, gathered once at start for the front-ends.

#include "proto_common/frontend.h"

#include <sys/utsname.h>

struct facts {
    struct process_facts process;
    struct utsname machine; /* private: what `process` points into */
};

// Fills `facts`, which must not move afterwards. `now` is the start of the process.
void facts_gather(struct facts *facts, struct instant now);

// A random number for hashes that nobody outside may foresee. Waits for the kernel where that has
// just started.
uint64_t facts_secret(void);

// The same for the hashes of bytes.
struct siphash_key facts_key(void);

#endif
