/* SPDX-License-Identifier: MIT */
#include "server/config/beanstalkd_flags.h"

#include "core/base/macros.h"
#include "server/config/fsync.h"
#include "server/config/persona_own.h"
#include "server/config/settings.h"

#include <inttypes.h>
#include <string.h>

// beanstalkd's own defaults and limits.
#define DEFAULT_PORT "11300"
static const uint64_t DEFAULT_SYNC_MS = 50;
static const uint64_t JOB_SIZE_MAX = UINT64_C(1) << 30;

static const char NOTE_C[] = "-c is ignored, as by beanstalkd: the journal is always compacted";
static const char NOTE_N[] = "-n is ignored, as by beanstalkd: the journal is always compacted";
static const char NOTE_Z[] = "-z: the maximum job size was set to 1073741824, the largest there is";

bool flags_know(int letter)
{
    return letter != ':' && letter > 0 && strchr(FLAGS_LETTERS "vh", letter) != NULL;
}

bool flags_listen(const struct flags *flags)
{
    return flags->host || flags->port;
}

static void flags_note(struct flags *flags, const char *note)
{
    for (size_t i = 0; i < flags->note_count; i++) {
        if (flags->notes[i] == note) {
            return;
        }
    }
    ENSURE(flags->note_count < FLAGS_NOTES_MAX);
    flags->notes[flags->note_count++] = note;
}

// Digits. What is too large for the type, and what is below zero, counts as the largest number:
// that is what beanstalkd's own parser makes of it.
static bool parse_count(int letter, const char *text, uint64_t *count, struct error_text *why)
{
    const char *digits = *text == '-' ? text + 1 : text;
    bool huge = *text == '-';
    uint64_t sum = 0;

    if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0') {
        return error_set(why, "-%c: `%s` is not a whole number", letter, text);
    }
    for (; *digits; digits++) {
        huge = huge || __builtin_mul_overflow(sum, 10, &sum) ||
               __builtin_add_overflow(sum, (uint64_t)(*digits - '0'), &sum);
    }
    *count = huge ? UINT64_MAX : sum;
    return true;
}

static bool flags_limit(struct flags *flags, const char *value, struct error_text *why)
{
    if (!parse_count('z', value, &flags->max_job_size, why)) {
        return false;
    }
    flags->limited = true;
    if (flags->max_job_size > JOB_SIZE_MAX) {
        flags->max_job_size = JOB_SIZE_MAX;
        flags_note(flags, NOTE_Z);
    }
    return true;
}

static bool flags_period(struct flags *flags, const char *value, struct error_text *why)
{
    if (!parse_count('f', value, &flags->sync_ms, why)) {
        return false;
    }
    if (flags->sync_ms > FSYNC_MOST_MS) {
        flags->sync_ms = FSYNC_MOST_MS;
    }
    flags->timed = true;
    flags->never = false;
    return true;
}

// There, any size will do.
static bool flags_segment(struct flags *flags, const char *value, struct error_text *why)
{
    uint64_t size;

    if (!parse_count('s', value, &size, why)) {
        return false;
    }
    size = size < SETTINGS_SEGMENT_LEAST ? SETTINGS_SEGMENT_LEAST : size;
    flags->segment_size = size > SETTINGS_SEGMENT_MOST ? SETTINGS_SEGMENT_MOST : size;
    flags->sized = true;
    return true;
}

static bool flags_word(const char **word, int letter, const char *value, struct error_text *why)
{
    *word = value;
    if (*value == '\0') {
        return error_set(why, "-%c: the value is empty", letter);
    }
    return true;
}

bool flags_take(struct flags *flags, int letter, const char *value, struct error_text *why)
{
    switch (letter) {
    case 'l':
        return flags_word(&flags->host, letter, value, why);
    case 'p':
        return flags_word(&flags->port, letter, value, why);
    case 'u':
        return flags_word(&flags->user, letter, value, why);
    case 'b':
        return flags_word(&flags->dir, letter, value, why);
    case 'z':
        return flags_limit(flags, value, why);
    case 'f':
        return flags_period(flags, value, why);
    case 's':
        return flags_segment(flags, value, why);
    case 'F':
        flags->timed = true;
        flags->never = true;
        return true;
    case 'V':
        flags->verbose = true;
        return true;
    case 'c':
        flags_note(flags, NOTE_C);
        return true;
    case 'n':
        flags_note(flags, NOTE_N);
        return true;
    default:
        UNREACHABLE();
    }
}

// A number or, as in beanstalkd, the name of a service.
static bool find_port(const char *text, unsigned *port, struct error_text *why)
{
    if (persona_find_port(text, port)) {
        return true;
    }
    return error_set(why,
                     text[strspn(text, "0123456789")] == '\0'
                         ? "-p: `%s` is not between 0 and 65535"
                         : "-p: `%s` is neither a port nor the name of a service",
                     text);
}

// -l and -p together are one key of ours. beanstalkd takes :: for every address, IPv4 as well.
static enum exit_reason add_listen(const struct flags *flags, struct words *settings,
                                   struct error_text *why)
{
    const char *host = flags->host ? flags->host : "0.0.0.0";
    unsigned port;

    if (host[strcspn(host, " \t,")] != '\0') {
        error_set(why, "-l: `%s` is not an address", host);
        return EXIT_REASON_ADDRESS;
    }
    if (strncmp(host, "unix:", 5) == 0) {
        words_add(settings, "beanstalk.listen=%s", host);
    } else if (!find_port(flags->port ? flags->port : DEFAULT_PORT, &port, why)) {
        return EXIT_REASON_ADDRESS;
    } else {
        persona_add_listen(settings, "beanstalk.listen", "", strcmp(host, "::") == 0 ? "*" : host,
                           port);
    }
    return EXIT_REASON_NONE;
}

// With a journal and no word on syncing, it is as in beanstalkd.
static void add_journal(const struct flags *flags, struct words *settings)
{
    if (flags->dir) {
        words_add(settings, "journal.dir=%s", flags->dir);
    }
    if (flags->sized) {
        words_add(settings, "journal.segment_size=%" PRIu64, flags->segment_size);
    }
    if (flags->timed && flags->never) {
        words_add(settings, "journal.fsync=never");
    } else if (flags->timed && flags->sync_ms == 0) {
        words_add(settings, "journal.fsync=always");
    } else if (flags->timed || flags->dir) {
        words_add(settings, "journal.fsync=%" PRIu64,
                  flags->timed ? flags->sync_ms : DEFAULT_SYNC_MS);
    }
}

enum exit_reason flags_settings(const struct flags *flags, struct words *settings,
                                struct error_text *why)
{
    enum exit_reason result = EXIT_REASON_NONE;

    if (flags_listen(flags)) {
        result = add_listen(flags, settings, why);
    }
    if (result != EXIT_REASON_NONE) {
        return result;
    }
    if (flags->user) {
        words_add(settings, "server.user=%s", flags->user);
    }
    if (flags->verbose) {
        words_add(settings, "server.log_level=debug");
    }
    if (flags->limited) {
        words_add(settings, "beanstalk.max_job_size=%" PRIu64, flags->max_job_size);
    }
    add_journal(flags, settings);
    return EXIT_REASON_NONE;
}

void flags_import(const struct flags *flags, struct words *presets)
{
    if (flags->dir && persona_can_import("beanstalkd")) {
        words_add(presets, "journal.import=beanstalkd:%s", flags->dir);
    }
}

void flags_tell(const struct flags *flags, struct words *notes)
{
    for (size_t i = 0; i < flags->note_count; i++) {
        words_add(notes, "%s", flags->notes[i]);
    }
}
