/* SPDX-License-Identifier: MIT */
#include "admin/json/schedule_json.h"

#include "admin/json/json_values.h"

const char *const schedule_missed_names[] = {
    [SCHEDULE_MISSED_SKIP] = "skip",
    [SCHEDULE_MISSED_ONCE] = "once",
    [SCHEDULE_MISSED_ALL] = "all",
    NULL,
};

const char *const schedule_overlap_names[] = {
    [SCHEDULE_OVERLAP_ALLOW] = "allow",
    [SCHEDULE_OVERLAP_SKIP] = "skip",
    NULL,
};

static json_t *moment_json(nsec_t at)
{
    return at == 0 || at == NSEC_NEVER ? json_null() : seconds_json(at);
}

// The outcome of the last planned time.
static json_t *last_outcome_json(const struct schedule_info *info)
{
    static const char *const outcomes[] = {
        [SCHEDULE_NOTHING] = "nothing", [SCHEDULE_FIRED] = "fired",
        [SCHEDULE_MISSED] = "missed",   [SCHEDULE_OVERLAPPED] = "overlapped",
        [SCHEDULE_REFUSED] = "refused", [SCHEDULE_GIVEN_UP] = "given_up",
    };
    bool refused = info->outcome == SCHEDULE_REFUSED || info->outcome == SCHEDULE_GIVEN_UP;

    return json_pack("{s:s, s:o, s:o, s:o}", "outcome", outcomes[info->outcome], "at",
                     moment_json(info->outcome_at), "why",
                     refused ? json_string(status_text(info->status)) : json_null(), "job",
                     info->outcome == SCHEDULE_FIRED ? json_integer((json_int_t)info->job_id)
                                                     : json_null());
}

static json_t *schedule_counts_json(const struct schedule_counts *counts)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "fired", json_int_of(counts->fired), "late",
                     json_int_of(counts->late), "missed", json_int_of(counts->missed), "overlapped",
                     json_int_of(counts->overlapped), "refused", json_int_of(counts->refused),
                     "given_up", json_int_of(counts->given_up));
}

json_t *schedule_json(const struct schedule_info *info)
{
    const struct schedule_spec *spec = info->spec;

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:s, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "name",
        text_json(spec->name), "cron", text_json(spec->cron), "timezone",
        text_or_null_json(spec->timezone), "queue", text_json(spec->queue), "queue_path",
        path_json(spec->queue), "priority", (json_int_t)spec->pri, "ttr_seconds",
        seconds_json(spec->ttr_for), "missed", schedule_missed_names[spec->missed], "overlap",
        schedule_overlap_names[spec->overlap], "in_file", (int)info->in_file, "at_run_time",
        (int)info->at_run_time, "next_at", moment_json(info->next_at), "silent_until",
        moment_json(info->silent_until), "fired_at", moment_json(info->fired_at), "last",
        last_outcome_json(info), "counts", schedule_counts_json(&info->counts));
}

json_t *schedule_detail_json(const struct schedule_info *info)
{
    json_t *document = schedule_json(info);

    json_member_add(&document, "body", text_json(info->spec->body));
    return document;
}
