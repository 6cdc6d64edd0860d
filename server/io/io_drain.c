/* SPDX-License-Identifier: MIT */
#include "server/io/io_private.h"

#include <errno.h>
#include <string.h>

// The batch is about to be given back: what its connection did not take is kept.
static void side_keep_input(struct link *link)
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

// Takes note of what there is to read; returns it as events.
static unsigned side_take_input(struct link_side *side, const struct batch *batch,
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

static void io_open_link(struct io *io, struct link *link)
{
    link->side.io = io;
    link->side.thread = link->socket.thread;
    link->side.conn =
        atomic_load(&io->common.shut) ? NULL : io->host->open(io->context, link, link->service);
    if (!link->side.conn) {
        link_close(link, true);
    }
}

// Frees the link where these are the last news of it.
static void io_end_link(struct io *io, struct link *link, unsigned news)
{
    struct link_side *side = &link->side;

    // One that was closed meanwhile is still to be closed by the thread.
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

// What a thread tells of itself.
static void io_read_thread_news(const struct io *io, const struct batch *batch,
                                const struct note *note)
{
    const char *text = batch->bytes + note->at;
    const struct io_service *service;

    if (note->what & NEWS_RESTS) {
        io->host->rests(io->context, note->error);
    }
    if (note->what & NEWS_REFUSED) {
        memcpy(&service, text, sizeof service);
        text += sizeof service;
        io->host->refused(io->context, service, text, text + strlen(text) + 1);
    }
}

static void io_read_note(struct io *io, const struct batch *batch, const struct note *note)
{
    struct link *link = note->link;
    struct link_side *side;
    unsigned events;

    if (!link) {
        io_read_thread_news(io, batch, note);
        return;
    }
    side = &link->side;

    if (note->what & NEWS_OPEN) {
        io_open_link(io, link);
    }
    events = side_take_room(side, note);
    if (side->conn) {
        events |= side_take_input(side, batch, note);
        // One that begins is an event, too: so many begin in a turn.
        if (events || note->what & NEWS_OPEN) {
            io->host->event(side->conn, events);
        }
        side_keep_input(link);
        if (side->failed && side->error == ENOMEM) {
            link_call_again(link);
        }
    }
    io_end_link(io, link, note->what);
}

// Connections that asked for it, each once.
static void io_call_again(struct io *io)
{
    struct list_node calls;

    list_init(&calls);
    list_append_all(&calls, &io->again);
    while (!list_empty(&calls) && !io->host->spent(io->context)) {
        struct list_node *node = list_first(&calls);
        struct link_side *side = &list_item(node, struct link, side.again)->side;
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
    struct batch *batch = batch_of(io->unread);

    io_read_note(io, batch, &batch->notes[io->read]);
    io->read++;
    if (io->read == batch->count) {
        io->read = 0;
        io->unread = batch->mail.next;
        batch_send_home(batch);
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
