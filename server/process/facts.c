/* SPDX-License-Identifier: MIT */
#include "server/process/facts.h"

#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

static nsec_t nsec_of(struct timeval t)
{
    return (nsec_t)t.tv_sec * NSEC_PER_SEC + (nsec_t)t.tv_usec * (NSEC_PER_SEC / 1000000);
}

static void facts_cpu_time(nsec_t *user_for, nsec_t *system_for)
{
    struct rusage usage;

    memset(&usage, 0, sizeof usage);
    (void)getrusage(RUSAGE_SELF, &usage);
    *user_for = nsec_of(usage.ru_utime);
    *system_for = nsec_of(usage.ru_stime);
}

static void facts_random(void *into, size_t len)
{
    while (getrandom(into, len, 0) != (ssize_t)len) {
        // Such a short read fails only if a signal interrupts it.
    }
}

uint64_t facts_secret(void)
{
    uint64_t secret = 0;

    facts_random(&secret, sizeof secret);
    return secret;
}

struct siphash_key facts_key(void)
{
    struct siphash_key key;

    facts_random(&key, sizeof key);
    return key;
}

void facts_gather(struct facts *facts, struct instant now)
{
    uint64_t instance;

    // The instance distinguishes this process from its predecessor. It is not a secret, so the
    // clock is good enough while the kernel has no random bytes.
    if (getrandom(&instance, sizeof instance, GRND_NONBLOCK) != (ssize_t)sizeof instance) {
        instance = (uint64_t)now.wall ^ ((uint64_t)getpid() << 48);
    }
    memset(&facts->machine, 0, sizeof facts->machine);
    (void)uname(&facts->machine);
    facts->process = (struct process_facts){
        .pid = getpid(),
        .started_at = now.mono,
        .version = TANDEM_VERSION,
        .hostname = facts->machine.nodename,
        .os = facts->machine.version,
        .platform = facts->machine.machine,
        .instance = instance,
        .cpu_time = facts_cpu_time,
    };
}
