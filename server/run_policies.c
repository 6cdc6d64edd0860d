/* SPDX-License-Identifier: MIT */
#include "server/run_policies.h"

#include "core/base/digits.h"
#include "core/base/log.h"
#include "core/memo.h"
#include "proto_common/sight_policies.h"
#include "server/config/section_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The first line of a memo; lines of keys follow.
#define POSITION "position = "

void run_policy_free(struct run_policy *policy)
{
    if (policy) {
        section_clear(&queue_section_kind, &policy->section);
        free(policy->why_not);
        free(policy);
    }
}

// Without a check of the glob.
static struct run_policy *make(struct slice glob, uint64_t position)
{
    struct run_policy *policy = calloc(1, sizeof *policy);
    char *name = strndup(glob.ptr, glob.len);
    struct error_text unused;

    if (!policy || !name ||
        !section_init(&queue_section_kind, &policy->section, name, SIGHT_RUN_TIME, &unused)) {
        run_policy_free(policy);
        policy = NULL;
    } else {
        policy->position = position;
    }
    free(name);
    return policy;
}

struct run_policy *run_policy_new(struct slice glob, uint64_t position, struct error_text *why)
{
    struct run_policy *policy = make(glob, position);

    if (!policy) {
        error_set(why, "out of memory");
    } else if (strlen(policy->section.name) != glob.len) {
        error_set(why, "a glob has no NUL");
    } else if (queue_section_kind.check_name(policy->section.name, why)) {
        return policy;
    }
    run_policy_free(policy);
    return NULL;
}

// Takes the first line off.
static bool read_position(struct slice *text, uint64_t *position)
{
    const size_t len = sizeof POSITION - 1;
    const char *end = text->len > len ? memchr(text->ptr, '\n', text->len) : NULL;

    if (!end || memcmp(text->ptr, POSITION, len) != 0 ||
        !digits_read(slice_of(text->ptr + len, (size_t)(end - text->ptr) - len), position)) {
        return false;
    }
    *text = slice_from(*text, (size_t)(end - text->ptr) + 1);
    return true;
}

// One that does not hold says nothing of itself, but where it stands.
static bool set_aside(struct run_policy *policy, const struct error_text *why)
{
    policy->why_not = strdup(why->text);
    log_warn("policy_not_understood", log_string("glob", policy->section.name),
             log_string("why", why->text), log_string("note", "it is kept, and does not hold"));
    return policy->why_not;
}

bool run_policy_check(const struct run_policy *policy, struct error_text *why)
{
    for (const struct option *option = queue_section_kind.options; option->name; option++) {
        if (option->file_only && !section_is_preset(option, &policy->section)) {
            return error_set(why, "%s: only a section of the file may say that", option->name);
        }
    }
    return true;
}

struct run_policy *run_policy_read(const struct memo *memo)
{
    struct run_policy *policy = make(memo->key, 0);
    struct slice text = memo->value;
    struct error_text why;
    bool good = policy;

    if (good && !read_position(&text, &policy->position)) {
        error_set(&why, "its first line does not say its position");
        good = set_aside(policy, &why);
    } else if (good && (!queue_section_kind.check_name(policy->section.name, &why) ||
                        !section_read(&queue_section_kind, &policy->section, text, &why) ||
                        !run_policy_check(policy, &why))) {
        good = set_aside(policy, &why);
    }
    if (!good) {
        run_policy_free(policy);
        return NULL;
    }
    return policy;
}

char *run_policy_write(const struct run_policy *policy, struct error_text *why)
{
    // Room for the longest number.
    const size_t room = sizeof POSITION + 21;
    char *keys = section_write(&queue_section_kind, &policy->section, why);
    char *text = keys ? malloc(room + strlen(keys)) : NULL;

    if (text) {
        (void)snprintf(text, room + strlen(keys), POSITION "%" PRIu64 "\n%s", policy->position,
                       keys);
    } else if (keys) {
        error_set(why, "out of memory");
    }
    free(keys);
    return text;
}

static int compare(const void *left, const void *right)
{
    const struct run_policy *a = *(const struct run_policy *const *)left;
    const struct run_policy *b = *(const struct run_policy *const *)right;

    if (a->position != b->position) {
        return a->position < b->position ? -1 : 1;
    }
    return strcmp(a->section.name, b->section.name);
}

static void sort(struct run_policies *policies)
{
    qsort(policies->all, policies->count, sizeof *policies->all, compare);
}

// Another version may have taken more.
static bool set_aside_rest(const struct run_policies *policies)
{
    struct error_text why;
    bool good = true;

    error_set(&why, "there are more than %d", RUN_POLICIES_MAX);
    for (size_t i = RUN_POLICIES_MAX; i < policies->count; i++) {
        good = good && (policies->all[i]->why_not || set_aside(policies->all[i], &why));
    }
    return good;
}

static size_t count_memos(const struct broker *broker)
{
    struct memo_usage usage;

    broker_memo_usage(broker, MEMO_POLICY, &usage);
    return usage.count;
}

bool run_policies_load(struct run_policies *policies, const struct broker *broker)
{
    size_t room = count_memos(broker);
    const struct memo *memo;
    uint64_t cursor = 0;

    policies->all = calloc(room + 1, sizeof(struct run_policy *));
    if (!policies->all) {
        return false;
    }
    while (policies->count < room && (memo = broker_memo_next(broker, MEMO_POLICY, &cursor))) {
        policies->all[policies->count] = run_policy_read(memo);
        if (!policies->all[policies->count]) {
            return false;
        }
        policies->count++;
    }
    sort(policies);
    return set_aside_rest(policies);
}

struct run_policy *run_policies_find(const struct run_policies *policies, struct slice glob)
{
    for (size_t i = 0; i < policies->count; i++) {
        const char *name = policies->all[i]->section.name;

        if (slice_equal(slice_str(name), glob)) {
            return policies->all[i];
        }
    }
    return NULL;
}

bool run_policies_with(const struct run_policies *policies, const struct run_policy *old,
                       struct run_policy *fresh, struct run_policies *changed)
{
    *changed = (struct run_policies){
        .all = calloc(policies->count + 1, sizeof(struct run_policy *)),
    };
    if (!changed->all) {
        return false;
    }
    for (size_t i = 0; i < policies->count; i++) {
        if (policies->all[i] != old) {
            changed->all[changed->count++] = policies->all[i];
        }
    }
    if (fresh) {
        changed->all[changed->count++] = fresh;
    }
    sort(changed);
    return true;
}

void run_policies_clear(struct run_policies *policies)
{
    for (size_t i = 0; i < policies->count; i++) {
        run_policy_free(policies->all[i]);
    }
    free(policies->all);
    *policies = (struct run_policies){0};
}
