/* SPDX-License-Identifier: MIT */
#include "server/queue_policies.h"

#include "core/base/digits.h"
#include "core/base/log.h"
#include "core/memo.h"
#include "proto_common/introspect_queues.h"
#include "server/config/sections.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

// The first line of a memo begins with this; the lines of a section follow.
#define POSITION "position = "

// NULL is allowed.
static void run_policy_free(struct run_policy *policy)
{
    if (policy) {
        section_clear(&queue_section_kind, &policy->section);
        free(policy->why_not);
        free(policy);
    }
}

// Does not check the glob.
static struct run_policy *run_policy_alloc(struct slice glob, uint64_t position)
{
    struct run_policy *policy = calloc(1, sizeof *policy);
    char *name = strndup(glob.ptr, glob.len);
    struct error_text unused;

    if (!policy || !name ||
        !section_init(&queue_section_kind, &policy->section, name, INTROSPECT_RUN_TIME, &unused)) {
        run_policy_free(policy);
        policy = NULL;
    } else {
        policy->position = position;
    }
    free(name);
    return policy;
}

static struct run_policy *run_policy_new(struct slice glob, uint64_t position,
                                         struct error_text *why)
{
    struct run_policy *policy = run_policy_alloc(glob, position);

    if (!policy) {
        error_set(why, "out of memory");
    } else if (strlen(policy->section.name) != glob.len) {
        error_set(why, "a glob must not contain NUL");
    } else if (queue_section_kind.check_name(policy->section.name, why)) {
        return policy;
    }
    run_policy_free(policy);
    return NULL;
}

// Reads and removes the first line.
static bool run_policy_read_position(struct slice *text, uint64_t *position)
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

// A policy without effect has a position, but no values. False without memory.
static bool run_policy_disable(struct run_policy *policy, const struct error_text *why)
{
    policy->why_not = strdup(why->text);
    log_warn("policy_not_understood", log_string("glob", policy->section.name),
             log_string("why", why->text), log_string("note", "it is kept, but has no effect"));
    return policy->why_not;
}

static bool run_policy_check(const struct run_policy *policy, struct error_text *why)
{
    for (const struct option *option = queue_section_kind.options; option->name; option++) {
        if (option->file_only && !section_is_preset(option, &policy->section)) {
            error_set(why, "%s: only the configuration file may set this", option->name);
            return false;
        }
    }
    return true;
}

// The policy in a memo; without effect if it cannot be read. NULL without memory.
static struct run_policy *run_policy_read(const struct memo *memo)
{
    struct run_policy *policy = run_policy_alloc(memo->key, 0);
    struct slice text = memo->value;
    struct error_text why;
    bool good = policy;

    if (good && !run_policy_read_position(&text, &policy->position)) {
        error_set(&why, "its first line is not a position");
        good = run_policy_disable(policy, &why);
    } else if (good && (!queue_section_kind.check_name(policy->section.name, &why) ||
                        !section_read(&queue_section_kind, &policy->section, text, &why) ||
                        !run_policy_check(policy, &why))) {
        good = run_policy_disable(policy, &why);
    }
    if (!good) {
        run_policy_free(policy);
        return NULL;
    }
    return policy;
}

// The value of the policy's memo, for free(). NULL with the reason in `why`.
static char *run_policy_write(const struct run_policy *policy, struct error_text *why)
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

static int run_policy_compare(const void *left, const void *right)
{
    const struct run_policy *a = *(const struct run_policy *const *)left;
    const struct run_policy *b = *(const struct run_policy *const *)right;

    if (a->position != b->position) {
        return a->position < b->position ? -1 : 1;
    }
    return strcmp(a->section.name, b->section.name);
}

static void run_policies_sort(struct run_policies *policies)
{
    qsort(policies->all, policies->count, sizeof *policies->all, run_policy_compare);
}

// Reads all memos. False without memory.
static bool run_policies_load(struct run_policies *policies, const struct broker *broker)
{
    struct memo_usage usage;
    const struct memo *memo;
    uint64_t cursor = 0;
    struct error_text why;
    bool good = true;

    broker_memo_usage(broker, MEMO_POLICY, &usage);
    policies->all = calloc(usage.count + 1, sizeof(struct run_policy *));
    if (!policies->all) {
        return false;
    }
    while (policies->count < usage.count &&
           (memo = broker_memo_next(broker, MEMO_POLICY, &cursor))) {
        policies->all[policies->count] = run_policy_read(memo);
        if (!policies->all[policies->count]) {
            return false;
        }
        policies->count++;
    }
    run_policies_sort(policies);
    // Another version may have accepted more.
    error_set(&why, "there are more than %d", RUN_POLICIES_MAX);
    for (size_t i = RUN_POLICIES_MAX; i < policies->count; i++) {
        good = good && (policies->all[i]->why_not || run_policy_disable(policies->all[i], &why));
    }
    return good;
}

static struct run_policy *run_policies_find(const struct run_policies *policies, struct slice glob)
{
    for (size_t i = 0; i < policies->count; i++) {
        const char *name = policies->all[i]->section.name;

        if (slice_equal(slice_str(name), glob)) {
            return policies->all[i];
        }
    }
    return NULL;
}

static bool run_policies_with(const struct run_policies *policies, const struct run_policy *old,
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
    run_policies_sort(changed);
    return true;
}

static const struct config_sections *queue_sections_of(const struct settings *settings)
{
    return &settings->named[SETTINGS_QUEUES];
}

static bool queue_sections_push(const struct config_sections *sections)
{
    for (size_t i = 0; i < sections->count; i++) {
        if (queue_section_rule(&sections->all[i]).tell) {
            return true;
        }
    }
    return false;
}

// A policy made at run time cannot set an endpoint for push: that of the file stays.
static size_t queue_policies_gather(const struct run_policies *run,
                                    const struct config_sections *sections,
                                    struct policy_rule *rules)
{
    bool tell = queue_sections_push(sections);
    size_t count = 0;

    for (size_t i = 0; i < run->count; i++) {
        if (!run->all[i]->why_not) {
            rules[count] = queue_section_rule(&run->all[i]->section);
            rules[count].falls_through = true;
            rules[count++].tell = tell;
        }
    }
    for (size_t i = 0; i < sections->count; i++) {
        rules[count++] = queue_section_rule(&sections->all[i]);
    }
    return count;
}

static enum status queue_policies_copy_rules(const struct run_policies *run,
                                             const struct settings *settings,
                                             struct policy_copies **copies)
{
    const struct config_sections *sections = queue_sections_of(settings);
    struct policy_rule *rules = calloc(run->count + sections->count + 1, sizeof *rules);
    enum status status = STATUS_NO_MEMORY;

    if (rules) {
        status = policies_copy(rules, queue_policies_gather(run, sections, rules), copies);
    }
    free(rules);
    return status;
}

struct policy_copies *queue_policies_copy(const struct queue_policies *policies,
                                          const struct settings *settings, struct error_text *why)
{
    struct policy_copies *copies = NULL;
    enum status status = queue_policies_copy_rules(&policies->run, settings, &copies);

    if (status != STATUS_OK) {
        error_set(why, "policies: %s", status_text(status));
    }
    return copies;
}

bool queue_policies_apply(const struct queue_policies *policies, struct broker *broker,
                          const struct settings *settings, struct error_text *why)
{
    struct policy_copies *copies = queue_policies_copy(policies, settings, why);

    if (copies) {
        broker_use_policies(broker, copies);
    }
    return copies;
}

bool queue_policies_load(struct queue_policies *policies, struct broker *broker,
                         const struct settings *settings, struct error_text *why)
{
    error_set(why, "policies: %s", status_text(STATUS_NO_MEMORY));
    return run_policies_load(&policies->run, broker) &&
           queue_policies_apply(policies, broker, settings, why);
}

//
// Changes at run time
//

// The position of a policy that was set without one.
static uint64_t queue_policies_position(const struct run_policies *run,
                                        const struct introspect_new_policy *policy,
                                        const struct run_policy *old)
{
    uint64_t last = run->count > 0 ? run->all[run->count - 1]->position : 0;

    if (policy->has_position) {
        return policy->position;
    }
    if (old && !old->why_not) {
        return old->position;
    }
    return last < RUN_POLICY_POSITION_MAX - RUN_POLICY_STEP ? last + RUN_POLICY_STEP
                                                            : RUN_POLICY_POSITION_MAX;
}

// NULL with the reason in `why`.
static struct run_policy *queue_policies_make(const struct run_policies *run,
                                              const struct introspect_new_policy *wanted,
                                              const struct run_policy *old, struct error_text *why)
{
    struct run_policy *made =
        run_policy_new(wanted->glob, queue_policies_position(run, wanted, old), why);
    bool good = made;

    for (size_t i = 0; good && i < wanted->count; i++) {
        good = section_set(&queue_section_kind, &made->section, wanted->assignments[i].key,
                           wanted->assignments[i].value, why);
    }
    good =
        good && queue_section_kind.finish(made->section.values, why) && run_policy_check(made, why);
    if (!good) {
        run_policy_free(made);
        return NULL;
    }
    return made;
}

// What may fail comes first.
static enum status queue_policies_replace(struct queue_policies *policies, struct broker *broker,
                                          const struct settings *settings, struct run_policy *old,
                                          struct run_policy *fresh, const char *text)
{
    const char *glob = fresh ? fresh->section.name : old->section.name;
    const struct slice key = slice_str(glob);
    struct policy_copies *copies = NULL;
    struct run_policies changed;
    enum status status;

    if (!run_policies_with(&policies->run, old, fresh, &changed)) {
        return STATUS_NO_MEMORY;
    }
    status = queue_policies_copy_rules(&changed, settings, &copies);
    if (status == STATUS_OK && fresh) {
        status = broker_memo_set(broker, &(struct memo){.kind = MEMO_POLICY,
                                                        .key = key,
                                                        .value = slice_str(text),
                                                        .until_at = NSEC_NEVER});
    } else if (status == STATUS_OK) {
        status = broker_memo_drop(broker, MEMO_POLICY, key);
    }
    if (status != STATUS_OK) {
        policies_discard(copies);
        free(changed.all);
        return status;
    }
    log_info(fresh ? "policy_set" : "policy_deleted", log_string("glob", glob),
             log_string("text", text));
    broker_use_policies(broker, copies);
    free(policies->run.all);
    policies->run = changed;
    run_policy_free(old);
    return STATUS_OK;
}

enum status queue_policies_set(struct queue_policies *policies, struct broker *broker,
                               const struct settings *settings,
                               const struct introspect_new_policy *policy, struct error_text *why)
{
    struct run_policy *old = run_policies_find(&policies->run, policy->glob);
    struct run_policy *fresh;
    enum status status = STATUS_BAD_NAME;
    char *text;

    if (!old && policies->run.count >= RUN_POLICIES_MAX) {
        (void)error_set(why, "there are %d policies made at run time already", RUN_POLICIES_MAX);
        return STATUS_TOO_LARGE;
    }
    fresh = queue_policies_make(&policies->run, policy, old, why);
    text = fresh ? run_policy_write(fresh, why) : NULL;
    if (text) {
        (void)error_set(why, "the policy is too large to be kept");
        status = queue_policies_replace(policies, broker, settings, old, fresh, text);
    }
    if (status != STATUS_OK) {
        run_policy_free(fresh);
    }
    free(text);
    return status;
}

enum status queue_policies_drop(struct queue_policies *policies, struct broker *broker,
                                const struct settings *settings, struct slice glob)
{
    struct run_policy *old = run_policies_find(&policies->run, glob);

    return old ? queue_policies_replace(policies, broker, settings, old, NULL, "")
               : STATUS_NOT_FOUND;
}

//
// Introspection
//

// The section with that index, and its run-time policy if it is one; NULL: there are fewer.
static const struct config_section *queue_policies_find(const struct queue_policies *policies,
                                                        const struct settings *settings,
                                                        size_t index, const struct run_policy **run)
{
    const struct config_sections *sections = queue_sections_of(settings);

    *run = index < policies->run.count ? policies->run.all[index] : NULL;
    if (*run) {
        return &(*run)->section;
    }
    index -= policies->run.count;
    return index < sections->count ? &sections->all[index] : NULL;
}

bool queue_policies_show(const struct queue_policies *policies, const struct settings *settings,
                         size_t index, struct introspect_policy *policy)
{
    const struct run_policy *run;
    const struct config_section *section = queue_policies_find(policies, settings, index, &run);

    if (section) {
        *policy = (struct introspect_policy){
            .glob = section->name,
            .origin = section->origin,
            .is_run_time = run,
            .position = run ? run->position : 0,
            .why_not = run ? run->why_not : NULL,
        };
    }
    return section;
}

bool queue_policies_show_key(const struct queue_policies *policies, const struct settings *settings,
                             struct config_introspection *introspection, size_t index, size_t key,
                             struct introspect_key *out)
{
    const struct run_policy *run;
    const struct config_section *section = queue_policies_find(policies, settings, index, &run);

    return section && config_introspect_key(introspection, &queue_section_kind, section, key, out);
}

void queue_policies_clear(struct queue_policies *policies)
{
    for (size_t i = 0; i < policies->run.count; i++) {
        run_policy_free(policies->run.all[i]);
    }
    free(policies->run.all);
    policies->run = (struct run_policies){0};
}
