/* SPDX-License-Identifier: MIT */
#include "server/queue_policies.h"

#include "core/base/log.h"
#include "core/memo.h"

#include <stdlib.h>
#include <string.h>

static const struct config_sections *of_file(const struct settings *settings)
{
    return &settings->named[SETTINGS_QUEUES];
}

static bool pushes(const struct config_sections *sections)
{
    for (size_t i = 0; i < sections->count; i++) {
        if (queue_section_rule(&sections->all[i]).tell) {
            return true;
        }
    }
    return false;
}

// A policy of the run time cannot say where jobs are pushed: that of the file stays.
static size_t gather(const struct run_policies *run, const struct config_sections *sections,
                     struct policy_rule *rules)
{
    bool tell = pushes(sections);
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

static enum status copy(const struct run_policies *run, const struct settings *settings,
                        struct policy_copies **copies)
{
    const struct config_sections *sections = of_file(settings);
    struct policy_rule *rules = calloc(run->count + sections->count + 1, sizeof *rules);
    enum status status = STATUS_NO_MEMORY;

    if (rules) {
        status = policies_copy(rules, gather(run, sections, rules), copies);
    }
    free(rules);
    return status;
}

struct policy_copies *queue_policies_copy(const struct queue_policies *policies,
                                          const struct settings *settings, struct error_text *why)
{
    struct policy_copies *copies = NULL;
    enum status status = copy(&policies->run, settings, &copies);

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

// Where a policy comes that was not told.
static uint64_t position_of(const struct run_policies *run, const struct sight_new_policy *policy,
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
static struct run_policy *make(const struct run_policies *run,
                               const struct sight_new_policy *wanted, const struct run_policy *old,
                               struct error_text *why)
{
    struct run_policy *made = run_policy_new(wanted->glob, position_of(run, wanted, old), why);
    bool good = made;

    for (size_t i = 0; good && i < wanted->count; i++) {
        good = section_set(&queue_section_kind, &made->section, wanted->said[i].key,
                           wanted->said[i].value, why);
    }
    good =
        good && queue_section_kind.finish(made->section.values, why) && run_policy_check(made, why);
    if (!good) {
        run_policy_free(made);
        return NULL;
    }
    return made;
}

// All that may fail comes first.
static enum status replace(struct queue_policies *policies, struct broker *broker,
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
    status = copy(&changed, settings, &copies);
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
                               const struct sight_new_policy *policy, struct error_text *why)
{
    struct run_policy *old = run_policies_find(&policies->run, policy->glob);
    struct run_policy *fresh;
    enum status status = STATUS_BAD_NAME;
    char *text;

    if (!old && policies->run.count >= RUN_POLICIES_MAX) {
        (void)error_set(why, "%d policies were made at run time already", RUN_POLICIES_MAX);
        return STATUS_TOO_LARGE;
    }
    fresh = make(&policies->run, policy, old, why);
    text = fresh ? run_policy_write(fresh, why) : NULL;
    if (text) {
        (void)error_set(why, "there is too much of it to be kept");
        status = replace(policies, broker, settings, old, fresh, text);
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

    return old ? replace(policies, broker, settings, old, NULL, "") : STATUS_NOT_FOUND;
}

//
// What is shown of them
//

// The section of that index and, where it was made at run time, what more there is of it; NULL
// behind the last one.
static const struct config_section *find(const struct queue_policies *policies,
                                         const struct settings *settings, size_t index,
                                         const struct run_policy **run)
{
    const struct config_sections *sections = of_file(settings);

    *run = index < policies->run.count ? policies->run.all[index] : NULL;
    if (*run) {
        return &(*run)->section;
    }
    index -= policies->run.count;
    return index < sections->count ? &sections->all[index] : NULL;
}

bool queue_policies_show(const struct queue_policies *policies, const struct settings *settings,
                         size_t index, struct sight_policy *policy)
{
    const struct run_policy *run;
    const struct config_section *section = find(policies, settings, index, &run);

    if (section) {
        *policy = (struct sight_policy){
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
                             struct shown *shown, size_t index, size_t key, struct sight_key *out)
{
    const struct run_policy *run;
    const struct config_section *section = find(policies, settings, index, &run);

    return section && shown_key(shown, &queue_section_kind, section, key, out);
}

void queue_policies_clear(struct queue_policies *policies)
{
    run_policies_clear(&policies->run);
}
