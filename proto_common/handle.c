/* SPDX-License-Identifier: MIT */
#include "proto_common/handle.h"

#include "core/base/log.h"
#include "core/base/macros.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static bool is_word(const char *text)
{
    while (*text && !iscntrl((unsigned char)*text) && *text != ' ') {
        text++;
    }
    return *text == '\0';
}

bool handle_prefix_is_valid(const char *prefix)
{
    return is_word(prefix);
}

bool handles_set_prefix(struct handles *handles, const char *prefix, const char *hostname)
{
    // One byte more than the maximum shows that the name was cut.
    char text[HANDLE_PREFIX_MAX + 2];
    int wanted = *prefix ? snprintf(text, sizeof text, "%s", prefix)
                         : snprintf(text, sizeof text, "H:%s", hostname);
    size_t len = strnlen(text, HANDLE_PREFIX_MAX);

    if (!is_word(text)) {
        log_error("handle_prefix_bad", log_string("prefix", text),
                  log_string("why", "a handle must not contain blanks or control bytes"));
        return false;
    }
    if (wanted > HANDLE_PREFIX_MAX) {
        log_warn("handle_prefix_cut", log_text("prefix", slice_of(text, len)));
    }
    memcpy(handles->prefix, text, len);
    handles->prefix[len] = ':';
    handles->prefix_len = len + 1;
    return true;
}

void handles_set_host(struct handles *handles, const char *prefix, const char *hostname)
{
    if (*prefix == '\0' && is_word(hostname)) {
        ENSURE(handles_set_prefix(handles, prefix, hostname));
    }
}

char *handle_write(const struct handles *handles, uint64_t id, char *at)
{
    memcpy(at, handles->prefix, handles->prefix_len);
    return digits_write(at + handles->prefix_len, id);
}

bool handle_read(const struct handles *handles, struct slice text, uint64_t *id)
{
    size_t len = handles->prefix_len;

    return text.len > len && memcmp(text.ptr, handles->prefix, len) == 0 && text.ptr[len] != '0' &&
           digits_read(slice_from(text, len), id);
}
