/* SPDX-License-Identifier: MIT */
#include "server/config/queue_section.h"

#include "core/base/glob.h"
#include "core/submit.h"
#include "server/config/setting.h"

#include <stdlib.h>
#include <string.h>

#define JOBS_MOST INT64_C(1000000000000)
#define BYTES_MOST (INT64_C(1) << 50)
#define JOB_SIZE_MOST (INT64_C(1) << 30)
#define BURST_MOST 1000000
// The placeholder for the name of the queue in `dead_queue`.
#define OWN_NAME "{queue}"

_Static_assert(sizeof(enum backoff) == sizeof(int) && sizeof(enum on_exhausted) == sizeof(int) &&
                   sizeof(enum on_expired) == sizeof(int),
               "setting_parse() stores a choice as an int");

void queue_push_show_url(const char *url, FILE *file)
{
    const char *scheme_end = strstr(url, "://");
    const char *host = scheme_end ? scheme_end + 3 : url;
    size_t len = strcspn(host, "/?#");
    const char *rest = host + len;

    if (*url == '\0') {
        return;
    }
    if (!scheme_end || memchr(host, '@', len)) {
        (void)fputs(SETTING_HIDDEN, file);
        return;
    }
    (void)fprintf(file, "%.*s", (int)(rest - url), url);
    if (rest[0] == '/' && rest[1] == '\0') {
        (void)fputc('/', file);
    } else if (*rest) {
        (void)fputs("/" SETTING_HIDDEN, file);
    }
}

static const struct option queue_options[] = {
    {.name = "max_attempts",
     .kind = OPTION_COUNT,
     .live = true,
     .offset = offsetof(struct queue_section, spec.max_attempts),
     .default_value = "0",
     .max = JOB_ATTEMPTS_MAX,
     .effect = "Maximum number of attempts of a job that does not set its own; 0: no limit."},
    {.name = "backoff",
     .kind = OPTION_CHOICE,
     .live = true,
     .offset = offsetof(struct queue_section, spec.backoff),
     .default_value = "none",
     .choices = "none|fixed|exponential",
     .effect = "Delay after a failed attempt: none, fixed, or longer after each attempt."},
    {.name = "backoff_min",
     .kind = OPTION_DURATION,
     .live = true,
     .offset = offsetof(struct queue_section, spec.backoff_min_for),
     .default_value = "1s",
     .min = NSEC_PER_MSEC,
     .max = QUEUE_SECTION_BACKOFF_LONGEST,
     .effect =
         "Delay after a failed attempt; exponential: the first one, which doubles each time."},
    {.name = "backoff_max",
     .kind = OPTION_DURATION,
     .live = true,
     .offset = offsetof(struct queue_section, spec.backoff_max_for),
     .default_value = "0",
     .max = QUEUE_SECTION_BACKOFF_LONGEST,
     .effect = "Maximum of an exponential delay; 0: 30 days."},
    {.name = "backoff_jitter",
     .kind = OPTION_SHARE,
     .live = true,
     .offset = offsetof(struct queue_section, spec.backoff_jitter),
     .default_value = "0",
     .effect = "Maximum share of a delay that is randomly subtracted, from 0 to 1."},
    {.name = "count_releases",
     .kind = OPTION_BOOL,
     .live = true,
     .offset = offsetof(struct queue_section, spec.count_releases),
     .default_value = "false",
     .effect = "Whether a release without a delay is a failed attempt, too."},
    {.name = "on_exhausted",
     .kind = OPTION_CHOICE,
     .live = true,
     .offset = offsetof(struct queue_section, spec.on_exhausted),
     .default_value = "contract",
     .choices = "contract|bury|drop|move",
     .effect = "What happens to a job after its last attempt; contract: as its protocol says."},
    {.name = "dead_queue",
     .kind = OPTION_TEXT,
     .live = true,
     .offset = offsetof(struct queue_section, dead_queue),
     .default_value = "",
     .effect = "Queue to which jobs are moved; " OWN_NAME " in it stands for the queue's name."},
    {.name = "max_jobs",
     .kind = OPTION_NUMBER,
     .live = true,
     .offset = offsetof(struct queue_section, spec.max_jobs),
     .default_value = "0",
     .max = JOBS_MOST,
     .effect =
         "Maximum number of jobs in the queue, above which new ones are refused; 0: no limit."},
    {.name = "max_bytes",
     .kind = OPTION_SIZE,
     .live = true,
     .offset = offsetof(struct queue_section, spec.max_bytes),
     .default_value = "0",
     .max = BYTES_MOST,
     .effect =
         "Maximum size of all bodies in the queue, above which jobs are refused; 0: no limit."},
    {.name = "max_job_size",
     .kind = OPTION_SIZE,
     .live = true,
     .offset = offsetof(struct queue_section, spec.max_job_size),
     .default_value = "0",
     .max = JOB_SIZE_MOST,
     .effect = "Maximum size of the body of a new job; 0: the limit of its protocol."},
    {.name = "max_running",
     .kind = OPTION_NUMBER,
     .live = true,
     .offset = offsetof(struct queue_section, spec.max_running),
     .default_value = "0",
     .max = JOBS_MOST,
     .effect = "Maximum number of jobs that workers hold at the same time; 0: no limit."},
    {.name = "rate",
     .kind = OPTION_RATE,
     .live = true,
     .offset = offsetof(struct queue_section, spec.rate_interval_for),
     .default_value = "0",
     .effect = "Maximum rate at which jobs are handed out, such as 100/s or 5/m; 0: no limit."},
    {.name = "burst",
     .kind = OPTION_COUNT,
     .live = true,
     .offset = offsetof(struct queue_section, spec.burst),
     .default_value = "0",
     .max = BURST_MOST,
     .effect = "Number of jobs that may be handed out at once after a time without jobs; 0: one."},
    {.name = "expire_after",
     .kind = OPTION_DURATION,
     .live = true,
     .offset = offsetof(struct queue_section, spec.expire_after_for),
     .default_value = "0",
     .max = POLICY_EXPIRE_MAX,
     .effect = "Maximum time for which a job may be ready; 0: no limit."},
    {.name = "on_expired",
     .kind = OPTION_CHOICE,
     .live = true,
     .offset = offsetof(struct queue_section, spec.on_expired),
     .default_value = "drop",
     .choices = "drop|move",
     .effect = "What happens to an expired job."},
    {.name = "weight",
     .kind = OPTION_COUNT,
     .live = true,
     .offset = offsetof(struct queue_section, spec.weight),
     .default_value = "0",
     .max = POLICY_WEIGHT_MAX,
     .effect = "Share of the queue among queues of equal priority; 0: the oldest job comes first."},
    {.name = "unique",
     .kind = OPTION_CHOICE,
     .live = true,
     .offset = offsetof(struct queue_section, unique),
     .default_value = "none",
     .choices = "none|body",
     .effect = "body: a job with the same body as an existing one joins that one."},
    {.name = "unique_for",
     .kind = OPTION_DURATION,
     .live = true,
     .offset = offsetof(struct queue_section, spec.unique_for_for),
     .default_value = "0",
     .max = QUEUE_SECTION_LONGEST,
     .effect = "How long a job joins a completed one; 0: it joins unfinished jobs only."},
    {.name = "keep_result",
     .kind = OPTION_DURATION,
     .live = true,
     .offset = offsetof(struct queue_section, spec.keep_result_for),
     .default_value = "0",
     .max = QUEUE_SECTION_LONGEST,
     .effect = "How long the result of a background job is stored; 0: not at all."},
    {.name = "push",
     .kind = OPTION_TEXT,
     .live = true,
     .file_only = true,
     .offset = offsetof(struct queue_section, push.url),
     .show = queue_push_show_url,
     .default_value = "",
     .effect =
         "URL of the http or https endpoint to which the broker posts the jobs; empty: none."},
    {.name = "push_connections",
     .kind = OPTION_COUNT,
     .live = true,
     .file_only = true,
     .offset = offsetof(struct queue_section, push.connections),
     .default_value = "8",
     .min = 1,
     .max = PUSH_CONNECTIONS_MAX,
     .effect = "Maximum number of concurrent requests to the endpoint."},
    {.name = "push_timeout",
     .kind = OPTION_DURATION,
     .live = true,
     .file_only = true,
     .offset = offsetof(struct queue_section, push.timeout_for),
     .default_value = "30s",
     .min = 10 * NSEC_PER_MSEC,
     .max = QUEUE_PUSH_LONGEST,
     .effect = "Maximum duration of a request, until its response is complete."},
    {.name = "push_max_answer",
     .kind = OPTION_SIZE,
     .live = true,
     .file_only = true,
     .offset = offsetof(struct queue_section, push.max_answer),
     .default_value = "1M",
     .max = JOB_SIZE_MOST,
     .effect = "Maximum size of a response that is stored as a result."},
    {.name = "push_secret",
     .kind = OPTION_TEXT,
     .live = true,
     .file_only = true,
     .secret = true,
     .offset = offsetof(struct queue_section, push.secret),
     .default_value = "",
     .effect = "Secrets that sign requests: whsec_ and base64; several are separated by blanks."},
    {.name = "push_secret_file",
     .kind = OPTION_TEXT,
     .is_file = true,
     .live = true,
     .file_only = true,
     .offset = offsetof(struct queue_section, push.secret_file),
     .default_value = "",
     .effect = "File with such secrets."},
    {.name = "push_ca",
     .kind = OPTION_TEXT,
     .is_file = true,
     .live = true,
     .file_only = true,
     .offset = offsetof(struct queue_section, push.ca_file),
     .default_value = "",
     .effect = "File of the authorities' certificates for the endpoint; empty: the system's."},
    {.name = "push_private",
     .kind = OPTION_BOOL,
     .live = true,
     .file_only = true,
     .offset = offsetof(struct queue_section, push.may_be_private),
     .default_value = "false",
     .effect = "Whether the endpoint may have a private, loopback or other non-public address."},
    {.name = NULL},
};

static bool queue_glob_check(const char *name, struct error_text *why)
{
    size_t len = strlen(name);

    if (len == 0) {
        error_set(why, "the glob of queue names is missing");
    } else if (len > QUEUE_NAME_MAX) {
        error_set(why, "the glob is longer than %d bytes", QUEUE_NAME_MAX);
    } else if (!glob_valid(slice_of(name, len))) {
        error_set(why, "the glob is malformed");
    } else {
        return true;
    }
    return false;
}

// Checks `dead_queue`. With the name of the queue, the result may still be too long: the jobs of
// such a queue are buried.
static bool queue_option_check(const struct option *option, const char *text,
                               struct error_text *why)
{
    size_t len = strlen(text);

    if (strcmp(option->name, "dead_queue") != 0) {
        return true;
    }
    for (const char *brace = strchr(text, '{'); brace; brace = strchr(brace + 1, '{')) {
        if (strncmp(brace, OWN_NAME, sizeof OWN_NAME - 1) != 0) {
            return error_set(why, "`%s`: only " OWN_NAME " may be in braces", text);
        }
        len -= sizeof OWN_NAME - 1;
    }
    if (len > QUEUE_NAME_MAX) {
        return error_set(why, "the name of a queue is longer than %d bytes", QUEUE_NAME_MAX);
    }
    return true;
}

// How the keys of the policy contradict each other, or NULL.
static const char *policy_contradiction(const struct policy_spec *spec)
{
    bool moves = spec->on_exhausted == ON_EXHAUSTED_MOVE || spec->on_expired == ON_EXPIRED_MOVE;

    if (moves && spec->dead_queue.len == 0) {
        return spec->on_exhausted == ON_EXHAUSTED_MOVE ? "on_exhausted = move needs a dead_queue"
                                                       : "on_expired = move needs a dead_queue";
    }
    if (!moves && spec->dead_queue.len > 0) {
        return "dead_queue needs on_exhausted = move, or on_expired = move";
    }
    if (spec->on_expired == ON_EXPIRED_MOVE && spec->expire_after_for == 0) {
        return "on_expired = move needs expire_after";
    }
    if (spec->backoff_max_for > 0 && spec->backoff_max_for < spec->backoff_min_for) {
        return "backoff_max is less than backoff_min";
    }
    if (spec->backoff_max_for > 0 && spec->backoff != BACKOFF_EXPONENTIAL) {
        return "backoff_max needs backoff = exponential";
    }
    if (spec->backoff_jitter > 0 && spec->backoff == BACKOFF_NONE) {
        return "backoff_jitter needs a backoff";
    }
    if (spec->burst > 0 && spec->rate_interval_for == 0) {
        return "burst needs a rate";
    }
    if (spec->max_bytes > 0 && spec->max_job_size > spec->max_bytes) {
        return "max_job_size is more than max_bytes";
    }
    return NULL;
}

// How the keys of the endpoint contradict each other, or NULL.
static const char *queue_push_contradiction(const struct queue_push *push)
{
    if (*push->url) {
        return NULL;
    }
    if (*push->secret || *push->secret_file) {
        return "push_secret needs push";
    }
    return *push->ca_file ? "push_ca needs push" : NULL;
}

static bool queue_section_finish(void *values, struct error_text *why)
{
    struct queue_section *section = values;
    const char *wrong;

    section->spec.dead_queue = slice_str(section->dead_queue);
    section->spec.unique_body = section->unique == QUEUE_UNIQUE_BODY;
    wrong = policy_contradiction(&section->spec);
    if (!wrong) {
        wrong = queue_push_contradiction(&section->push);
    }
    return !wrong || error_set(why, "%s", wrong);
}

const struct config_kind queue_section_kind = {
    .word = "queue",
    .options = queue_options,
    .size = sizeof(struct queue_section),
    .most = QUEUE_SECTIONS_MAX,
    .check_name = queue_glob_check,
    .check = queue_option_check,
    .finish = queue_section_finish,
};

struct policy_rule queue_section_rule(const struct config_section *section)
{
    const struct queue_section *values = section->values;

    return (struct policy_rule){
        .glob = slice_str(section->name),
        .origin = slice_str(section->origin),
        .tell = *values->push.url != '\0',
        .spec = values->spec,
    };
}

static struct push_settings queue_push_settings(const struct config_section *section)
{
    const struct queue_push *push = &((const struct queue_section *)section->values)->push;

    return (struct push_settings){
        .name = section->name,
        .url = push->url,
        .secret = push->secret,
        .secret_file = push->secret_file,
        .ca_file = push->ca_file,
        .timeout_for = push->timeout_for,
        .max_answer = push->max_answer,
        .connections = push->connections,
        .may_be_private = push->may_be_private,
    };
}

struct push_settings *queue_push_list(const struct config_sections *sections, size_t *count,
                                      struct error_text *why)
{
    struct push_settings *list = calloc(sections->count + 1, sizeof *list);

    if (!list) {
        error_set(why, "out of memory");
        return NULL;
    }
    *count = 0;
    for (size_t i = 0; i < sections->count; i++) {
        list[*count] = queue_push_settings(&sections->all[i]);
        *count += *list[*count].url ? 1 : 0;
    }
    return list;
}

uint64_t queue_push_descriptors(const struct config_sections *sections)
{
    uint64_t count = 0;

    for (size_t i = 0; i < sections->count; i++) {
        const struct push_settings settings = queue_push_settings(&sections->all[i]);

        count += *settings.url ? 2 + 2 * (uint64_t)settings.connections : 0;
    }
    return count;
}

bool queue_push_check(const struct config_sections *sections, struct error_text *why)
{
    for (size_t i = 0; i < sections->count; i++) {
        struct push_settings settings = queue_push_settings(&sections->all[i]);

        if (*settings.url && !push_settings_check(&settings, why)) {
            return error_prefix(why, "[queue %s] ", settings.name);
        }
    }
    return true;
}

static bool queue_section_matches(const struct config_section *section, struct slice name)
{
    return glob_matches(slice_str(section->name), name);
}

// The first section whose glob matches the name of the queue, or NULL.
static const struct config_section *queue_section_for(const struct config_sections *sections,
                                                      struct slice name)
{
    for (size_t i = 0; i < sections->count; i++) {
        if (queue_section_matches(&sections->all[i], name)) {
            return &sections->all[i];
        }
    }
    return NULL;
}

void queue_section_explain(const struct config_sections *sections, const char *name, FILE *file)
{
    const struct slice queue = slice_str(name);
    const struct config_section *section = queue_section_for(sections, queue);

    if (!section) {
        (void)fprintf(file, "# No section [queue GLOB] matches %s.\n", name);
        return;
    }
    (void)fprintf(file, "# This is the first section whose glob matches %s.\n", name);
    section_print(sections->kind, section, file);
    for (section++; section < sections->all + sections->count; section++) {
        if (queue_section_matches(section, queue)) {
            (void)fprintf(file, "# [queue %s], at %s, also matches, but comes later.\n",
                          section->name, section->origin);
        }
    }
}
