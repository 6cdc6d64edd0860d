/* SPDX-License-Identifier: MIT */
#include "server/config/persona_queue.h"

#include "server/config/persona_own.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

// Where the journal is when the queue was in no file.
#define DEFAULT_DIR "/var/lib/tandem"

#define NOT_OF_TYPE "the queue type is another"
#define FAILED "Error while initializing the queue : %s"

// A type of queue whose jobs come over.
struct queue_type {
    const char *names[2];
    const char *kind; // of source
    enum gearmand_name place;
    enum gearmand_name table;
    const char *default_table;
    bool is_file; // the place is one, and the journal is beside it
};

static const struct queue_type types[] = {
    {.names = {"libsqlite3", "sqlite3"},
     .kind = "gearmand-sqlite",
     .place = GEARMAND_LIBSQLITE3_DB,
     .table = GEARMAND_LIBSQLITE3_TABLE,
     .default_table = "gearman_queue",
     .is_file = true},
    {.names = {"libpq", "postgres"},
     .kind = "gearmand-postgres",
     .place = GEARMAND_LIBPQ_CONNINFO,
     .table = GEARMAND_LIBPQ_TABLE,
     .default_table = "queue"},
};

static const struct queue_type *type_named(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strcasecmp(types[i].names[0], name) == 0 || strcasecmp(types[i].names[1], name) == 0) {
            return &types[i];
        }
    }
    return NULL;
}

// Scripts may look for the file, which gearmand makes; jobs in an empty one would be missed.
static void queue_note(struct command_line *command, const char *place)
{
    if (access(place, F_OK) != 0) {
        words_add(&command->notes,
                  "%s is not made: jobs of -q libsqlite3 are kept in %s.tandem, and the file is "
                  "only read, once",
                  place, place);
    }
}

static void queue_take(struct command_line *command, const struct gearmand_options *options,
                       const struct queue_type *type, const char *place)
{
    const char *table = options->values[type->table];
    bool other = table && strcmp(table, type->default_table) != 0;

    words_add(&command->presets, "journal.dir=%s%s", type->is_file ? place : DEFAULT_DIR,
              type->is_file ? ".tandem" : "");
    if (type->is_file) {
        queue_note(command, place);
    }
    if (command->ignore_binlog) {
        return;
    }
    words_add(&command->presets, "journal.import=%s:%s%s%s", type->kind, place,
              other ? "?table=" : "", other ? table : "");
}

enum exit_reason persona_queue_plan(struct command_line *command,
                                    const struct gearmand_options *options, struct error_text *why)
{
    const char *name = options->values[GEARMAND_QUEUE_TYPE];
    const struct queue_type *type = name ? type_named(name) : NULL;
    const char *place = type ? options->values[type->place] : NULL;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (type != &types[i]) {
            gearmand_options_note(options, types[i].place, NOT_OF_TYPE, &command->notes);
            gearmand_options_note(options, types[i].table, NOT_OF_TYPE, &command->notes);
        }
    }
    if (!name || strcasecmp(name, "builtin") == 0) {
        return EXIT_REASON_NONE;
    }
    if (!type) {
        error_set(why,
                  FAILED " (its jobs are not read from there: start with -q builtin and --set "
                         "journal.dir=DIR, then bring in a dump of them with tandemctl import)",
                  name);
    } else if (!place) {
        error_set(why, FAILED " (where it is has to be said)", name);
    } else if (!persona_can_import(type->kind)) {
        error_set(why, FAILED " (this tandemd was built without %s)", name, type->kind);
    } else {
        queue_take(command, options, type, place);
        return EXIT_REASON_NONE;
    }
    return EXIT_REASON_OTHER;
}
