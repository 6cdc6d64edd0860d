/* SPDX-License-Identifier: MIT */
#include "server/io/io_private.h"

#include <string.h>

static struct io *io_of(const struct link *link)
{
    return link->side.io;
}

void link_order(struct link *link, unsigned orders)
{
    struct link_side *side = &link->side;

    side->orders |= orders;
    if (!list_linked(&side->due)) {
        list_append(&io_of(link)->due, &side->due);
    }
}

void link_call_again(struct link *link)
{
    if (!list_linked(&link->side.again)) {
        list_append(&io_of(link)->again, &link->side.again);
    }
}

bool link_reads_on(const struct link *link)
{
    const struct link_side *side = &link->side;

    return side->input.len == 0 && !side->owes && !side->ended && !side->failed;
}

bool link_has_unread(const struct link *link)
{
    return atomic_load_explicit(&link->socket.has_unread, memory_order_relaxed);
}

size_t link_unread(const struct link *link)
{
    return link->side.window_used;
}

int link_fd(const struct link *link)
{
    return link->fd;
}

void link_ask_back(struct link *link)
{
    struct link_side *side = &link->side;

    // What the core has not taken would come after what it will read itself.
    if (!side->asked_back && !side->stays && side->input.len == 0 && !side->ended &&
        !side->failed) {
        side->asked_back = true;
        link_order(link, ORDER_GIVE_BACK);
    }
}

void link_close(struct link *link, bool at_once)
{
    struct link_side *side = &link->side;

    side->conn = NULL;
    side->input = SLICE("");
    backlog_drop(&side->kept, backlog_len(&side->kept));
    list_remove(&side->again);
    link_order(link, at_once ? ORDER_DROP : ORDER_CLOSE);
}

// Takes `len` bytes of what was handed over.
static void side_take(struct link *link, size_t len)
{
    struct link_side *side = &link->side;

    if (side->kept.bytes) {
        backlog_drop(&side->kept, len);
        side->input = backlog_slice(&side->kept);
    } else {
        side->input = slice_from(side->input, len);
    }
    side->owes = side->input.len == 0;
}

void link_read_on(struct link *link, size_t room)
{
    struct link_side *side = &link->side;

    if (side->owes) {
        side->owes = false;
        side->held = false;
        side->read_room = (uint32_t)room;
        link_order(link, ORDER_READ_ON);
    }
}

void link_hold(struct link *link)
{
    struct link_side *side = &link->side;

    if ((side->owes || side->input.len > 0) && !side->held) {
        side->held = true;
        link_order(link, ORDER_HOLD);
    }
}

static struct received side_receive(int fd, void *own, const struct iovec *parts, unsigned count,
                                    size_t len)
{
    struct link *link = own;
    struct link_side *side = &link->side;
    struct received received = {.result = TRANSFER_BYTES};

    (void)fd;
    (void)len;
    for (unsigned i = 0; i < count && received.len < side->input.len; i++) {
        size_t left = side->input.len - received.len;
        size_t piece = parts[i].iov_len < left ? parts[i].iov_len : left;

        memcpy(parts[i].iov_base, side->input.ptr + received.len, piece);
        received.len += piece;
    }
    if (received.len > 0) {
        side_take(link, received.len);
        received.drained = side->input.len == 0 && !side->ended && !side->failed;
        return received;
    }
    if (side->failed) {
        return (struct received){.result = TRANSFER_FAILED, .error = side->error, .drained = true};
    }
    return (struct received){.result = side->ended ? TRANSFER_END : TRANSFER_NONE, .drained = true};
}

// Copies up to `most` bytes of the parts, from `at` on, behind what is used in the batch.
static size_t side_copy(struct batch *batch, const struct iovec *parts, unsigned count, size_t at,
                        size_t most)
{
    size_t room = BATCH_BYTES - batch->used;
    size_t copied = 0;

    most = most < room ? most : room;
    for (unsigned i = 0; i < count && copied < most; i++) {
        if (at >= parts[i].iov_len) {
            at -= parts[i].iov_len;
            continue;
        }
        size_t left = parts[i].iov_len - at;
        size_t piece = left < most - copied ? left : most - copied;

        memcpy(batch->bytes + batch->used + copied, (const char *)parts[i].iov_base + at, piece);
        copied += piece;
        at = 0;
    }
    return copied;
}

// Adds a note, with what was ordered before, too.
static void side_note(struct link *link, size_t len)
{
    struct link_side *side = &link->side;

    outbox_note(&side->thread->orders_out, link, side->orders, len)->count = side->read_room;
    side->orders = 0;
    list_remove(&side->due);
}

static struct sent side_send(int fd, void *own, const struct iovec *parts, unsigned count,
                             size_t len)
{
    struct link *link = own;
    struct link_side *side = &link->side;
    struct outbox *outbox = &side->thread->orders_out;
    size_t room = side->asked_back ? 0 : LINK_WINDOW - side->window_used;
    size_t most = len < room ? len : room;
    size_t sent = 0;

    (void)fd;
    if (side->failed) {
        // The thread reads ahead. What came in front of the loss is done all the same, though
        // nobody is there to be answered; then the connection finds the loss where it reads on.
        return (struct sent){.result = TRANSFER_BYTES, .len = len};
    }
    while (sent < most && outbox_room(outbox, 1)) {
        size_t copied = side_copy(outbox->batch, parts, count, sent, most - sent);

        side_note(link, copied);
        sent += copied;
    }
    side->window_used += sent;
    if (sent < most) {
        // Without memory for a batch: it is tried again.
        side->room_wanted = true;
        link_call_again(link);
    } else if (sent < len && !side->asked_back) {
        link_order(link, ORDER_TELL_ROOM);
    }
    return (struct sent){
        .result = sent > 0 ? TRANSFER_BYTES : TRANSFER_NONE, .len = sent, .full = sent < len};
}

static int side_error(int fd, void *own)
{
    const struct link *link = own;

    (void)fd;
    return link->side.failed ? link->side.error : 0;
}

// The socket stays open until the core has closed the link.
static void side_peer(int fd, const void *own, char *text, size_t room)
{
    const struct link *link = own;

    (void)fd;
    link->transport->peer(link->fd, link->own, text, room);
}

static const struct peer_identity *side_identity(const void *own)
{
    const struct link *link = own;

    return link->transport->identity ? link->transport->identity(link->own) : NULL;
}

static const char *side_protection(const void *own)
{
    const struct link *link = own;

    return link->transport->protection ? link->transport->protection(link->own) : NULL;
}

// The socket may be the core's already: then it is told there, or when the link goes on.
static bool side_shut(int fd, void *own)
{
    struct link *link = own;

    (void)fd;
    if (link->side.asked_back) {
        return false;
    }
    link_order(link, ORDER_SHUT);
    return true;
}

const struct transport transport_link = {
    .identity = side_identity,
    .protection = side_protection,
    .receive = side_receive,
    .send = side_send,
    .error = side_error,
    .peer = side_peer,
    .shut = side_shut,
};

void io_hand_over_due(struct io *io)
{
    while (!list_empty(&io->due)) {
        struct link *link = list_item(list_first(&io->due), struct link, side.due);
        struct outbox *outbox = &link->side.thread->orders_out;

        if (!outbox_room(outbox, 0)) {
            return;
        }
        side_note(link, 0);
    }
}
