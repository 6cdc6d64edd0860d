/* SPDX-License-Identifier: MIT */
#include "admin/shown_section.h"

#include "admin/shown.h"
#include "admin/shown_counts.h"

#include <stdlib.h>
#include <string.h>

typedef bool next_key(void *host, size_t index, size_t key, struct sight_key *shown);

static struct slice slice_from_text(const char *text)
{
    return slice_str(text);
}

// What is a number or a flag to everybody is one here; everything else is as in the file.
static json_t *shown_value(const struct sight_key *key)
{
    switch (key->option->kind) {
    case OPTION_NUMBER:
    case OPTION_COUNT:
        return json_integer(strtoll(key->value, NULL, 10));
    case OPTION_BOOL:
        return json_boolean(strcmp(key->value, "true") == 0);
    case OPTION_SIZE:
    case OPTION_TEXT:
    case OPTION_CHOICE:
    case OPTION_DURATION:
    case OPTION_RATE:
    case OPTION_SHARE:
        break;
    }
    return shown_text(slice_from_text(key->value));
}

// The keys that say something; not those of push, which name addresses that are secret in part, and
// which are shown by themselves (shown_push.h).
static json_t *shown_keys(const struct sight *sight, next_key *next, size_t index)
{
    json_t *object = json_object();
    struct sight_key key;

    for (size_t i = 0; object && next(sight->host, index, i, &key); i++) {
        if (!key.preset && !key.option->file_only &&
            json_object_set_new(object, key.option->name, shown_value(&key)) != 0) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

json_t *shown_section(const struct sight *sight, size_t index, const struct sight_section *section)
{
    return json_pack("{s:s, s:o, s:o, s:o}", "kind", section->kind, "name",
                     shown_text(slice_from_text(section->name)), "origin",
                     shown_text(slice_from_text(section->origin)), "settings",
                     shown_keys(sight, sight->policies->section_key, index));
}

json_t *shown_policy(const struct sight *sight, size_t index, const struct sight_policy *policy)
{
    const struct slice glob = slice_from_text(policy->glob);

    return json_pack(
        "{s:o, s:o, s:o, s:b, s:o, s:o, s:o}", "glob", shown_text(glob), "path", shown_path(glob),
        "origin", shown_text(slice_from_text(policy->origin)), "run_time", (int)policy->is_run_time,
        "position",
        policy->is_run_time ? json_integer(shown_number(policy->position)) : json_null(), "why_not",
        policy->why_not ? shown_text(slice_from_text(policy->why_not)) : json_null(), "settings",
        shown_keys(sight, sight->policies->key, index));
}

json_t *shown_policy_of(const struct sight *sight, const struct policy_rule *rule)
{
    struct sight_policy policy;

    for (size_t i = 0; sight && rule && sight->policies->at(sight->host, i, &policy); i++) {
        if (!policy.why_not && slice_equal(slice_from_text(policy.glob), rule->glob)) {
            return shown_policy(sight, i, &policy);
        }
    }
    return json_null();
}
