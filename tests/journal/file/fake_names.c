/* SPDX-License-Identifier: MIT */
#include "tests/journal/file/fake_names.h"

#include "core/base/macros.h"

#include <stdio.h>
#include <string.h>

static const struct fake_state *state_now(const struct fake_names *names)
{
    return &names->states[names->youngest];
}

void fake_names_copy(struct fake_names *to, const struct fake_names *from)
{
    // The others were never touched, and take no memory.
    memcpy(to->states, from->states, (size_t)(from->youngest + 1) * sizeof *from->states);
    to->youngest = from->youngest;
}

static int place_of(const struct fake_state *state, const char *text)
{
    for (int i = 0; i < state->count; i++) {
        if (strcmp(state->list[i].text, text) == 0) {
            return i;
        }
    }
    return -1;
}

int fake_names_find(const struct fake_names *names, const char *text)
{
    const struct fake_state *state = state_now(names);
    int place = place_of(state, text);

    return place < 0 ? -1 : state->list[place].file;
}

const char *fake_names_of(const struct fake_names *names, int file)
{
    const struct fake_state *state = state_now(names);

    for (int i = 0; i < state->count; i++) {
        if (state->list[i].file == file) {
            return state->list[i].text;
        }
    }
    return NULL;
}

const char *fake_names_at(const struct fake_names *names, int place)
{
    return place < state_now(names)->count ? state_now(names)->list[place].text : NULL;
}

static struct fake_state *state_new(struct fake_names *names)
{
    ENSURE(names->youngest + 1 < FAKE_STATES_MAX);
    names->states[names->youngest + 1] = names->states[names->youngest];
    return &names->states[++names->youngest];
}

static void state_put(struct fake_state *state, const char *text, int file)
{
    int place = place_of(state, text);

    if (place < 0) {
        place = state->count++;
    }
    ENSURE(state->count <= FAKE_NAMES_MAX && strlen(text) <= FAKE_NAME_LEN);
    (void)snprintf(state->list[place].text, sizeof state->list[place].text, "%s", text);
    state->list[place].file = file;
}

static void state_remove(struct fake_state *state, const char *text)
{
    int place = place_of(state, text);

    ENSURE(place >= 0);
    state->list[place] = state->list[--state->count];
}

void fake_names_put(struct fake_names *names, const char *text, int file)
{
    state_put(state_new(names), text, file);
}

void fake_names_remove(struct fake_names *names, const char *text)
{
    state_remove(state_new(names), text);
}

void fake_names_move(struct fake_names *names, const char *from, const char *to)
{
    int file = fake_names_find(names, from);
    struct fake_state *state = state_new(names);

    state_remove(state, from);
    state_put(state, to, file);
}

void fake_names_settle(struct fake_names *names, int state)
{
    names->states[0] = names->states[state];
    names->youngest = 0;
}
