/* SPDX-License-Identifier: MIT */
#include "push/parcel.h"

#include "core/base/digits.h"
#include "proto_common/field_name.h"

#include <curl/curl.h>
#include <stdio.h>

// The name of a field, and what divides it from its value.
#define FIELD_NAME_MAX 32
#define FIELD_MAX (FIELD_NAME_MAX + 3 * QUEUE_NAME_MAX)

void parcel_name(struct parcel *parcel, const struct handles *handles, uint64_t id,
                 nsec_t created_at, struct slice queue)
{
    char *end = handle_write(handles, id, parcel->handle);
    char *mark = parcel->mark;

    parcel->id = id;
    *end = '\0';
    // What is signed is divided by dots.
    for (const char *at = parcel->handle; at < end; at++) {
        *mark++ = (char)(*at == '.' ? '-' : *at);
    }
    *mark++ = '-';
    mark = digits_write(mark, (uint64_t)(created_at / NSEC_PER_MSEC));
    *mark = '\0';
    *field_name_write(queue, parcel->queue) = '\0';
}

bool parcel_add_field(struct curl_slist **fields, const char *name, const char *value)
{
    char field[FIELD_MAX];
    struct curl_slist *more;

    (void)snprintf(field, sizeof field, "%s: %s", name, value);
    more = curl_slist_append(*fields, field);
    if (more) {
        *fields = more;
    }
    return more != NULL;
}

static bool add_number(struct curl_slist **fields, const char *name, int64_t number)
{
    char text[DIGITS_MAX + 1];

    *digits_write(text, (uint64_t)number) = '\0';
    return parcel_add_field(fields, name, text);
}

struct curl_slist *parcel_fields(const struct parcel *parcel)
{
    struct curl_slist *fields = NULL;

    if (parcel_add_field(&fields, "Content-Type", "application/octet-stream") &&
        parcel_add_field(&fields, "X-Gearman-Job-Handle", parcel->handle) &&
        parcel_add_field(&fields, "X-Tandem-Queue", parcel->queue) &&
        add_number(&fields, "X-Tandem-Attempt", parcel->attempt) &&
        add_number(&fields, "X-Tandem-Deadline", parcel->deadline_at / NSEC_PER_MSEC) &&
        parcel_add_field(&fields, "webhook-id", parcel->mark) &&
        add_number(&fields, "webhook-timestamp", parcel->sent_at / NSEC_PER_SEC) &&
        // Without a value: libcurl would wait a second for "100 Continue" before a large body.
        parcel_add_field(&fields, "Expect", "")) {
        return fields;
    }
    curl_slist_free_all(fields);
    return NULL;
}
