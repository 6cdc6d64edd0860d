/* SPDX-License-Identifier: MIT */
#include "proto_common/intake.h"

void intake_begin(struct intake *intake, size_t len)
{
    blob_builder_init(&intake->body, len);
    intake->lacks_memory = false;
}

enum intake_state intake_take(struct intake *intake, struct slice *input)
{
    size_t missing = intake_missing(intake);

    if (intake->lacks_memory && input->len > 0) {
        return INTAKE_NO_MEMORY;
    }
    intake->lacks_memory = blob_builder_take(&intake->body, *input) == (size_t)-1;
    *input = slice_from(*input, missing - intake_missing(intake));
    if (intake->lacks_memory) {
        return INTAKE_NO_MEMORY;
    }
    return intake_missing(intake) > 0 ? INTAKE_MORE : INTAKE_COMPLETE;
}

struct intake_room intake_place(struct intake *intake)
{
    struct intake_room room = {0};

    if (intake_missing(intake) >= INTAKE_DIRECT_MIN &&
        !blob_builder_room(&intake->body, &room.into, &room.len)) {
        intake->lacks_memory = true;
        return (struct intake_room){0};
    }
    return room;
}

void intake_filled(struct intake *intake, size_t len)
{
    blob_builder_filled(&intake->body, len);
}

size_t intake_len(const struct intake *intake)
{
    return intake->body.total;
}

size_t intake_missing(const struct intake *intake)
{
    return blob_builder_missing(&intake->body);
}

void intake_end(struct intake *intake)
{
    intake->body.total -= intake_missing(intake);
}

struct blob *intake_finish(struct intake *intake)
{
    return blob_builder_finish(&intake->body);
}

void intake_discard(struct intake *intake)
{
    blob_builder_discard(&intake->body);
}

void intake_set_body(struct job_spec *spec, struct slice bytes, struct blob *blob)
{
    if (blob && bytes.len > INTAKE_COPIED_MAX) {
        spec->body_blob = blob;
    } else {
        spec->body = bytes;
    }
}

bool intake_skip(uint64_t *left, struct slice *input)
{
    size_t taken = input->len < *left ? input->len : (size_t)*left;

    *input = slice_from(*input, taken);
    *left -= taken;
    return *left == 0;
}
