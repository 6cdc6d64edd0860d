/* SPDX-License-Identifier: MIT */
#include "admin/shown_schedule.h"

#include "admin/shown.h"
#include "admin/shown_counts.h"

const char *const shown_missed[] = {
    [SCHEDULE_MISSED_SKIP] = "skip",
    [SCHEDULE_MISSED_ONCE] = "once",
    [SCHEDULE_MISSED_ALL] = "all",
    NULL,
};

const char *const shown_overlap[] = {
    [SCHEDULE_OVERLAP_ALLOW] = "allow",
    [SCHEDULE_OVERLAP_SKIP] = "skip",
    NULL,
};

static const char *const outcomes[] = {
    [SCHEDULE_NOTHING] = "nothing", [SCHEDULE_FIRED] = "fired",
    [SCHEDULE_MISSED] = "missed",   [SCHEDULE_OVERLAPPED] = "overlapped",
    [SCHEDULE_REFUSED] = "refused", [SCHEDULE_GIVEN_UP] = "given_up",
};

static json_t *moment(nsec_t at)
{
    return at == 0 || at == NSEC_NEVER ? json_null() : shown_seconds(at);
}

// What came of the last moment, and why not.
static json_t *shown_last(const struct schedule_info *info)
{
    bool refused = info->outcome == SCHEDULE_REFUSED || info->outcome == SCHEDULE_GIVEN_UP;

    return json_pack(
        "{s:s, s:o, s:o, s:o}", "outcome", outcomes[info->outcome], "at", moment(info->outcome_at),
        "why", refused ? json_string(status_text(info->status)) : json_null(), "job",
        info->outcome == SCHEDULE_FIRED ? json_integer((json_int_t)info->job_id) : json_null());
}

static json_t *shown_schedule_counts(const struct schedule_counts *counts)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "fired", shown_number(counts->fired), "late",
                     shown_number(counts->late), "missed", shown_number(counts->missed),
                     "overlapped", shown_number(counts->overlapped), "refused",
                     shown_number(counts->refused), "given_up", shown_number(counts->given_up));
}

json_t *shown_schedule(const struct schedule_info *info)
{
    const struct schedule_spec *spec = info->spec;

    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:s, s:s, s:b, s:b, s:o, s:o, s:o, s:o, s:o}", "name",
        shown_text(spec->name), "cron", shown_text(spec->cron), "timezone",
        shown_text_or_null(spec->timezone), "queue", shown_text(spec->queue), "queue_path",
        shown_path(spec->queue), "priority", (json_int_t)spec->pri, "ttr_seconds",
        shown_seconds(spec->ttr_for), "missed", shown_missed[spec->missed], "overlap",
        shown_overlap[spec->overlap], "in_file", (int)info->in_file, "at_run_time",
        (int)info->at_run_time, "next_at", moment(info->next_at), "silent_until",
        moment(info->silent_until), "fired_at", moment(info->fired_at), "last", shown_last(info),
        "counts", shown_schedule_counts(&info->counts));
}

json_t *shown_schedule_detail(const struct schedule_info *info)
{
    json_t *document = shown_schedule(info);

    if (document && json_object_set_new(document, "body", shown_text(info->spec->body)) != 0) {
        json_decref(document);
        document = NULL;
    }
    return document;
}
