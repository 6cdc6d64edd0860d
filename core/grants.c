/* SPDX-License-Identifier: MIT */
#include "core/grants.h"

#include "core/base/glob.h"

#include <stdlib.h>
#include <string.h>

struct grants {
    size_t refs;
    size_t count;
    struct grant list[]; // and behind it the bytes of the globs
};

struct grants *grants_new(const struct grant *list, size_t count)
{
    size_t size = sizeof(struct grants) + count * sizeof *list;
    struct grants *grants;
    char *bytes;

    for (size_t i = 0; i < count; i++) {
        size += list[i].queues.len;
    }
    grants = malloc(size);
    if (!grants) {
        return NULL;
    }
    grants->refs = 1;
    grants->count = count;
    bytes = (char *)&grants->list[count];
    for (size_t i = 0; i < count; i++) {
        struct slice glob = list[i].queues;

        if (glob.len > 0) {
            memcpy(bytes, glob.ptr, glob.len);
        }
        grants->list[i] = (struct grant){
            .rights = list[i].rights | (list[i].rights & MAY_OPERATE ? MAY_CANCEL : 0),
            .queues = slice_of(bytes, glob.len),
        };
        bytes += glob.len;
    }
    return grants;
}

struct grants *grants_ref(struct grants *grants)
{
    if (grants) {
        grants->refs++;
    }
    return grants;
}

void grants_unref(struct grants *grants)
{
    if (grants && --grants->refs == 0) {
        free(grants);
    }
}

bool grants_shared(const struct grants *grants)
{
    return grants->refs > 1;
}

bool grants_same(const struct grants *a, const struct grants *b)
{
    if (a == b || !a || !b || a->count != b->count) {
        return a == b;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (a->list[i].rights != b->list[i].rights ||
            !slice_equal(a->list[i].queues, b->list[i].queues)) {
            return false;
        }
    }
    return true;
}

unsigned grants_on(const struct grants *grants, struct slice name)
{
    unsigned rights = 0;

    for (size_t i = 0; i < grants->count; i++) {
        const struct grant *grant = &grants->list[i];

        if ((grant->rights & ~rights) && glob_matches(grant->queues, name)) {
            rights |= grant->rights;
        }
    }
    return rights;
}

bool grants_have(const struct grants *grants, enum right right, struct slice name, size_t *looked)
{
    *looked = 0;
    for (size_t i = 0; i < grants->count; i++) {
        const struct grant *grant = &grants->list[i];

        if (grant->rights & right) {
            ++*looked;
            if (glob_matches(grant->queues, name)) {
                return true;
            }
        }
    }
    return false;
}

unsigned grants_somewhere(const struct grants *grants)
{
    unsigned rights = 0;

    for (size_t i = 0; i < grants->count; i++) {
        rights |= grants->list[i].rights;
    }
    return rights;
}

unsigned grants_everywhere(const struct grants *grants)
{
    unsigned rights = 0;

    for (size_t i = 0; i < grants->count; i++) {
        const struct slice glob = grants->list[i].queues;
        bool all = glob.len > 0;

        for (size_t j = 0; j < glob.len; j++) {
            all = all && glob.ptr[j] == '*';
        }
        rights |= all ? grants->list[i].rights : 0;
    }
    return rights;
}
