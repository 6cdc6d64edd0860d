/* SPDX-License-Identifier: MIT */
#include "ctl/print/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

// Switches to the alternate screen without a cursor, and back.
#define ENTER "\033[?1049h\033[?25l\033[2J"
#define LEAVE "\033[0m\033[?25h\033[?1049l"

static struct termios before;
static bool entered;
static bool registered;

static void terminal_write(const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t put = write(STDOUT_FILENO, bytes, len);

        // A signal interrupted the write, or the terminal is closed; the next draw writes all lines
        // again.
        if (put <= 0) {
            return;
        }
        bytes += put;
        len -= (size_t)put;
    }
}

bool terminal_enter(void)
{
    struct termios raw;

    if (entered) {
        return true;
    }
    if (isatty(STDOUT_FILENO) != 1 || tcgetattr(STDIN_FILENO, &before) != 0) {
        return false;
    }
    raw = before;
    // ISIG stays set, so that Ctrl-C and Ctrl-Z send signals.
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSANOW, &raw) != 0) {
        return false;
    }
    entered = true;
    if (!registered) {
        registered = atexit(terminal_leave) == 0;
    }
    terminal_write(ENTER, sizeof ENTER - 1);
    return true;
}

void terminal_leave(void)
{
    if (entered) {
        entered = false;
        terminal_write(LEAVE, sizeof LEAVE - 1);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    }
}

void terminal_size(size_t *width, size_t *height)
{
    struct winsize size;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;

    *width = known && size.ws_col > 0 ? size.ws_col : 80;
    *height = known && size.ws_row > 0 ? size.ws_row : 24;
}

void terminal_draw(const struct text *lines)
{
    struct text all = {0};
    struct slice left = text_slice(lines);

    text_put(&all, "\033[H");
    while (left.len > 0) {
        const char *end = memchr(left.ptr, '\n', left.len);
        size_t len = end ? (size_t)(end - left.ptr) : left.len;

        text_add(&all, slice_of(left.ptr, len));
        // Clears the rest of the line. A line feed after the last line would scroll.
        text_put(&all, "\033[K");
        left = slice_from(left, end ? len + 1 : len);
        if (left.len > 0) {
            text_put(&all, "\r\n");
        }
    }
    text_put(&all, "\033[J");
    terminal_write(all.data, all.len);
    text_free(&all);
}

//
// Keys
//

// Sequences after ESC [ or ESC O, by parameters and final byte.
static const struct {
    struct slice bytes;
    int key;
} sequences[] = {
    {{"A", 1}, TERMINAL_KEY_UP},       {{"B", 1}, TERMINAL_KEY_DOWN},
    {{"C", 1}, TERMINAL_KEY_RIGHT},    {{"D", 1}, TERMINAL_KEY_LEFT},
    {{"H", 1}, TERMINAL_KEY_HOME},     {{"F", 1}, TERMINAL_KEY_END},
    {{"5~", 2}, TERMINAL_KEY_PAGE_UP}, {{"6~", 2}, TERMINAL_KEY_PAGE_DOWN},
    {{"1~", 2}, TERMINAL_KEY_HOME},    {{"4~", 2}, TERMINAL_KEY_END},
};

int terminal_key(struct slice bytes, size_t *len)
{
    size_t end = 2;

    *len = 1;
    if (*bytes.ptr != '\033') {
        return (unsigned char)*bytes.ptr;
    }
    if (bytes.len < 3 || (bytes.ptr[1] != '[' && bytes.ptr[1] != 'O')) {
        return TERMINAL_KEY_ESCAPE;
    }
    // Parameter bytes, then a final byte.
    while (end < bytes.len && bytes.ptr[end] >= '0' && bytes.ptr[end] <= '?') {
        end++;
    }
    if (end == bytes.len) {
        return TERMINAL_KEY_ESCAPE;
    }
    *len = end + 1;
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        if (slice_equal(slice_of(bytes.ptr + 2, end - 1), sequences[i].bytes)) {
            return sequences[i].key;
        }
    }
    return TERMINAL_KEY_NONE;
}
