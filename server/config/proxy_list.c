/* SPDX-License-Identifier: MIT */
#include "server/config/proxy_list.h"

#include <string.h>

#define PROXY_LIST_SEPARATORS " \t,"

static bool proxy_list_add(struct proxy_list *list, struct slice word, struct error_text *why)
{
    const char *wrong;

    if (slice_equal(word, SLICE("unix"))) {
        list->local = true;
        return true;
    }
    if (list->count == PROXY_LIST_MOST) {
        return error_set(why, "more than %d addresses and networks", PROXY_LIST_MOST);
    }
    wrong = net_read(word, &list->nets[list->count]);
    if (wrong) {
        return error_set(why, "`%.*s`: %s", (int)word.len, word.ptr, wrong);
    }
    list->count++;
    return true;
}

bool proxy_list_read(struct proxy_list *list, const char *text, struct error_text *why)
{
    size_t len;

    list->count = 0;
    list->local = false;
    for (text += strspn(text, PROXY_LIST_SEPARATORS); *text;
         text += len, text += strspn(text, PROXY_LIST_SEPARATORS)) {
        len = strcspn(text, PROXY_LIST_SEPARATORS);
        if (!proxy_list_add(list, slice_of(text, len), why)) {
            return false;
        }
    }
    return true;
}

bool proxy_list_has(const struct proxy_list *list, const struct origin *origin)
{
    if (origin->has_user) {
        return list->local;
    }
    for (size_t i = 0; origin->has_address && i < list->count; i++) {
        if (net_has(&list->nets[i], &origin->address)) {
            return true;
        }
    }
    return false;
}
