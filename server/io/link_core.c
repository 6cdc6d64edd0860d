/* SPDX-License-Identifier: MIT */

// The core's half of a link: the transport of its connection, orders, and news.

#include "server/io/io_private.h"

#include <errno.h>
#include <string.h>

void link_order(struct io_link *link, unsigned orders)
{
    struct link_side *side = &link->side;

    side->orders |= orders;
    if (!list_linked(&side->due)) {
        list_append(&link->side.io->due, &side->due);
    }
}

void link_call_again(struct io_link *link)
{
    if (!list_linked(&link->side.again)) {
        list_append(&link->side.io->again, &link->side.again);
    }
}

bool link_reads_on(const struct io_link *link)
{
    const struct link_side *side = &link->side;

    return side->input.len == 0 && !side->owes && !side->ended && !side->failed;
}

bool link_has_unread(const struct io_link *link)
{
    return atomic_load_explicit(&link->socket.has_unread, memory_order_relaxed);
}

size_t link_unread(const struct io_link *link)
{
    return link->side.window_used;
}

int link_fd(const struct io_link *link)
{
    return link->fd;
}

void link_ask_back(struct io_link *link)
{
    struct link_side *side = &link->side;

    // Input that the core has not taken would come after input that it reads itself.
    if (!side->asked_back && !side->stays && side->input.len == 0 && !side->ended &&
        !side->failed) {
        side->asked_back = true;
        link_order(link, ORDER_GIVE_BACK);
    }
}

void link_end(struct io_link *link, bool at_once)
{
    struct link_side *side = &link->side;

    side->conn = NULL;
    side->input = SLICE("");
    backlog_drop(&side->kept, backlog_len(&side->kept));
    list_remove(&side->again);
    link_order(link, at_once ? ORDER_DROP : ORDER_CLOSE);
}

// Takes `len` bytes of the input.
static void side_take(struct io_link *link, size_t len)
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

void link_read_on(struct io_link *link, size_t room)
{
    struct link_side *side = &link->side;

    if (side->owes) {
        side->owes = false;
        side->held = false;
        side->read_room = (uint32_t)room;
        link_order(link, ORDER_READ_ON);
    }
}

void link_hold(struct io_link *link)
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
    struct io_link *link = own;
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

// Copies up to `most` bytes of the parts, from `at` on, behind the used bytes of the batch.
static size_t side_copy(struct io_batch *batch, const struct iovec *parts, unsigned count,
                        size_t at, size_t most)
{
    size_t room = IO_BATCH_BYTES - batch->used;
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

// Adds a note, with all orders that are due.
static void side_note(struct io_link *link, size_t len)
{
    struct link_side *side = &link->side;

    outbox_note(&side->thread->orders_out, link, side->orders, len)->count = side->read_room;
    side->orders = 0;
    list_remove(&side->due);
}

static struct sent side_send(int fd, void *own, const struct iovec *parts, unsigned count,
                             size_t len)
{
    struct io_link *link = own;
    struct link_side *side = &link->side;
    struct outbox *outbox = &side->thread->orders_out;
    size_t room = side->asked_back ? 0 : LINK_WINDOW - side->window_used;
    size_t most = len < room ? len : room;
    size_t sent = 0;

    (void)fd;
    if (side->failed) {
        // The thread reads ahead. Commands before the loss are still executed, although their
        // replies reach no client; the connection notices the loss when it reads on.
        return (struct sent){.result = TRANSFER_BYTES, .len = len};
    }
    while (sent < most && outbox_room(outbox, 1)) {
        size_t copied = side_copy(outbox->batch, parts, count, sent, most - sent);

        side_note(link, copied);
        sent += copied;
    }
    side->window_used += sent;
    if (sent < most) {
        // There was no memory for a batch: tries again in the next turn.
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
    const struct io_link *link = own;

    (void)fd;
    return link->side.failed ? link->side.error : 0;
}

// The socket is open until the core has closed the link.
static void side_peer(int fd, const void *own, char *text, size_t room)
{
    const struct io_link *link = own;

    (void)fd;
    link->transport->peer(link->fd, link->own, text, room);
}

static const struct client_address *side_client(const void *own)
{
    const struct io_link *link = own;

    return link->transport->client ? link->transport->client(link->own) : NULL;
}

static const struct peer_identity *side_identity(const void *own)
{
    const struct io_link *link = own;

    return link->transport->identity ? link->transport->identity(link->own) : NULL;
}

static const char *side_protection(const void *own)
{
    const struct io_link *link = own;

    return link->transport->protection ? link->transport->protection(link->own) : NULL;
}

// The socket may be the core's soon: then it is shut there, or when the link goes on.
static bool side_shut(int fd, void *own)
{
    struct io_link *link = own;

    (void)fd;
    if (link->side.asked_back) {
        return false;
    }
    link_order(link, ORDER_SHUT);
    return true;
}

const struct transport transport_link = {
    .client = side_client,
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
        struct io_link *link = list_item(list_first(&io->due), struct io_link, side.due);
        struct outbox *outbox = &link->side.thread->orders_out;

        if (!outbox_room(outbox, 0)) {
            return;
        }
        side_note(link, 0);
    }
}

// The batch is about to be returned: keeps input that the connection did not take.
static void side_keep_input(struct io_link *link)
{
    struct link_side *side = &link->side;

    if (side->input.len == 0 || side->kept.bytes) {
        return;
    }
    if (backlog_append(&side->kept, side->input)) {
        side->input = backlog_slice(&side->kept);
        link_hold(link);
    } else {
        side->input = SLICE("");
        side->failed = true;
        side->error = ENOMEM;
    }
}

// Notes input, its end and failures; returns them as events.
static unsigned side_take_input(struct link_side *side, const struct io_batch *batch,
                                const struct note *note)
{
    unsigned events = note->what & NEWS_CLOSED ? LINK_INPUT | LINK_CLOSED : 0;

    if (note->what & NEWS_INPUT) {
        side->input = note_bytes(batch, note);
        events |= LINK_INPUT;
    }
    if (note->what & NEWS_END) {
        side->ended = true;
        events |= LINK_INPUT;
    }
    if (note->what & NEWS_FAILED) {
        side->failed = true;
        side->error = note->error;
        events |= LINK_INPUT | (note->what & NEWS_UNREAD ? LINK_UNREAD : 0);
    }
    return events;
}

static unsigned side_take_room(struct link_side *side, const struct note *note)
{
    side->window_used -= note->count;
    side->stays = side->stays && !(note->what & (NEWS_INPUT | NEWS_ROOM));
    if (note->what & NEWS_STAYS) {
        side->asked_back = false;
        side->stays = true;
    }
    return note->what & (NEWS_ROOM | NEWS_STAYS) ? LINK_ROOM : 0;
}

static void io_begin_connection(struct io *io, struct io_link *link)
{
    link->side.io = io;
    link->side.thread = link->socket.thread;
    link->side.conn =
        atomic_load(&io->common.shut) ? NULL : io->host->open(io->context, link, link->service);
    if (!link->side.conn) {
        link_end(link, true);
    }
}

// Frees the link if these are its last news.
static void io_forget_link(struct io *io, struct io_link *link, unsigned news)
{
    struct link_side *side = &link->side;

    // A link that was closed meanwhile is still to be closed by the thread.
    if (news & NEWS_BACK && side->conn) {
        io->host->back(side->conn, link->fd, link->own);
    } else if (news & NEWS_GONE) {
        atomic_fetch_sub(io->common.open, 1);
    } else {
        return;
    }
    list_remove(&side->due);
    list_remove(&side->again);
    link_free(link);
}

// News of a thread itself.
static void io_read_thread_news(const struct io *io, const struct io_batch *batch,
                                const struct note *note)
{
    const char *text = batch->bytes + note->at;
    const struct io_service *service;

    if (note->what & NEWS_ACCEPT_FAILED) {
        io->host->accept_failed(io->context, note->error);
    }
    if (note->what & NEWS_REFUSED) {
        memcpy(&service, text, sizeof service);
        text += sizeof service;
        io->host->refused(io->context, service, text, text + strlen(text) + 1);
    }
}

static void io_read_note(struct io *io, const struct io_batch *batch, const struct note *note)
{
    struct io_link *link = note->link;
    struct link_side *side;
    unsigned events;

    if (!link) {
        io_read_thread_news(io, batch, note);
        return;
    }
    side = &link->side;
    if (note->what & NEWS_OPEN) {
        io_begin_connection(io, link);
    }
    events = side_take_room(side, note);
    if (side->conn) {
        events |= side_take_input(side, batch, note);
        // A new connection counts as an event, so that a turn begins a limited number.
        if (events || note->what & NEWS_OPEN) {
            io->host->event(side->conn, events);
        }
        side_keep_input(link);
        if (side->failed && side->error == ENOMEM) {
            link_call_again(link);
        }
    }
    io_forget_link(io, link, note->what);
}

// Calls connections that have asked for that, each once.
static void io_call_again(struct io *io)
{
    struct list_node calls;

    list_init(&calls);
    list_append_all(&calls, &io->again);
    while (!list_empty(&calls) && !io->host->spent(io->context)) {
        struct list_node *node = list_first(&calls);
        struct link_side *side = &list_item(node, struct io_link, side.again)->side;
        unsigned events = LINK_INPUT | (side->room_wanted ? LINK_ROOM : 0);

        list_remove(node);
        side->room_wanted = false;
        io->host->event(side->conn, events);
    }
    list_append_all(&calls, &io->again);
    list_append_all(&io->again, &calls);
}

static void io_take_news(struct io *io)
{
    struct mail **end = &io->unread;

    while (*end) {
        end = &(*end)->next;
    }
    *end = mailbox_take(&io->news);
}

static void io_read_next(struct io *io)
{
    struct io_batch *batch = io_batch_of(io->unread);

    io_read_note(io, batch, &batch->notes[io->read]);
    io->read++;
    if (io->read == batch->count) {
        io->read = 0;
        io->unread = batch->mail.next;
        io_batch_return(batch);
    }
}

void io_drain(struct io *io)
{
    io_call_again(io);
    io_take_news(io);
    while (io->unread && !io->host->spent(io->context)) {
        io_read_next(io);
    }
}

bool io_is_behind(const struct io *io)
{
    return io->unread || !list_empty(&io->again);
}

void io_read_last_news(struct io *io)
{
    io_take_news(io);
    while (io->unread) {
        io_read_next(io);
    }
}
