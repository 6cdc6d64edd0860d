/* SPDX-License-Identifier: MIT */
#include "admin/metrics_series.h"

#include "core/base/memory.h"

#include "admin/metrics_label.h"

#include <string.h>

static struct metric_name *name_new(struct slice text)
{
    char label[METRICS_LABEL_MAX];
    size_t label_len = metrics_label(label, text);
    struct metric_name *name = memory_alloc(sizeof *name + text.len + label_len);

    if (name) {
        name->refs = 1;
        name->len = (uint16_t)text.len;
        name->label_len = (uint16_t)label_len;
        memcpy(name->text, text.ptr, text.len);
        memcpy(name->text + text.len, label, label_len);
    }
    return name;
}

void metric_name_unref(struct metric_name *name)
{
    if (name && --name->refs == 0) {
        memory_free(name, sizeof *name + name->len + name->label_len);
    }
}

void metric_named_free(struct metric_named *named)
{
    for (size_t i = 0; i < named->count; i++) {
        metric_name_unref(named->all[i].name);
        memory_free(named->all[i].base, sizeof *named->all[i].base);
    }
    memory_free(named->all, named->room * sizeof *named->all);
    memset(named, 0, sizeof *named);
}

bool metric_named_begin(struct metric_named *named, size_t room)
{
    memset(named, 0, sizeof *named);
    named->all = room ? memory_alloc(room * sizeof *named->all) : NULL;
    named->room = named->all ? room : 0;
    return named->all || room == 0;
}

bool metric_named_has(const struct metric_named *named, size_t *at, uint32_t place)
{
    while (*at < named->count && named->all[*at].place < place) {
        ++*at;
    }
    return *at < named->count && named->all[*at].place == place;
}

// Whether a base was taken of this queue. If it has less of anything, another queue has come in its
// place, under the same name.
static bool is_base_of(const struct metric_numbers *base, const struct metric_numbers *numbers)
{
    for (size_t i = NUMBER_COUNTERS; i < NUMBER_COUNT; i++) {
        if (numbers->of[i] < base->of[i]) {
            return false;
        }
    }
    return true;
}

// The series that goes on with that of before.
static void go_on(struct metric_series *series, struct metric_series *before,
                  struct metric_numbers *numbers)
{
    *series = *before;
    series->name->refs++;
    before->base = NULL;
    if (series->base && !is_base_of(series->base, numbers)) {
        memory_free(series->base, sizeof *series->base);
        series->base = NULL;
    }
}

static bool begin(struct metric_series *series, struct slice name, uint32_t place,
                  const struct metric_numbers *base)
{
    *series = (struct metric_series){.name = name_new(name), .place = place};
    if (series->name && base) {
        series->base = memory_alloc(sizeof *series->base);
    }
    if (!series->name || (base && !series->base)) {
        metric_name_unref(series->name);
        return false;
    }
    if (base) {
        // Jobs that there are now are no counters: nothing of them is kept back.
        *series->base = *base;
        memset(series->base->of, 0, NUMBER_COUNTERS * sizeof *series->base->of);
    }
    return true;
}

bool metric_named_add(struct metric_named *named, struct metric_named *before, size_t *at,
                      struct slice name, uint32_t place, struct metric_numbers *numbers)
{
    struct metric_series *series = &named->all[named->count];
    bool is_new = !before->told || before->complete;

    ENSURE(named->count < named->room);
    if (metric_named_has(before, at, place) &&
        slice_equal(name, metric_name_text(before->all[*at].name))) {
        go_on(series, &before->all[*at], numbers);
    } else if (!begin(series, name, place, is_new ? NULL : numbers)) {
        return false;
    }
    if (series->base) {
        metric_numbers_subtract(numbers, series->base);
    }
    named->count++;
    return true;
}
