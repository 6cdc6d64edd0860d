/* SPDX-License-Identifier: MIT */
#include "server/store/store.h"

#include "core/base/log.h"
#include "server/config/settings.h"
#include "server/store/journal_store.h"

bool store_make(struct store **store, const struct settings *settings,
                const struct store_options *options, const char *host, struct error_text *why)
{
    *store = NULL;
    if (settings->journal.store == STORE_POSTGRES) {
        *store = store_postgres_make(&settings->journal, options, host, why);
        return *store != NULL;
    }
    if (*settings->journal.dir == '\0') {
        return true;
    }
    *store = store_files_make(&settings->journal, options, host, why);
    return *store != NULL;
}

void store_record(struct store *store, struct broker_options *options)
{
    if (store) {
        store->ops->record(store, options);
    }
}

bool store_open_begin(struct store *store, struct event_base *base, struct broker *broker,
                      struct error_text *why)
{
    if (!store) {
        log_info("no_journal", log_string("note", "jobs are in memory only: journal.dir is empty"));
        return true;
    }
    return store->ops->open_begin(store, base, broker, why);
}

bool store_is_opening(const struct store *store)
{
    return store && store->ops->is_opening(store);
}

void store_progress(const struct store *store, struct restore_progress *progress)
{
    *progress = (struct restore_progress){0};
    if (store) {
        store->ops->progress(store, progress);
    }
}

void store_stop_opening(struct store *store)
{
    if (store) {
        store->ops->stop_opening(store);
    }
}

bool store_open_end(struct store *store, struct error_text *why)
{
    return !store || store->ops->open_end(store, why);
}

const char *store_host(const struct store *store)
{
    return store ? store->ops->host(store) : "";
}

enum store_standing store_standing(const struct store *store)
{
    return store && store->shared ? store->shared->standing(store) : STORE_ALONE;
}

bool store_close(struct store *store)
{
    return !store || store->ops->close(store);
}
