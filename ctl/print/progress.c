/* SPDX-License-Identifier: MIT */
#include "ctl/print/progress.h"

#include "ctl/print/letters.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_MOST 30
#define BAR_LEAST 5
// The columns of "[] 100 % " around the bar.
#define FRAME 9

static size_t width_of_terminal(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

// Adds a line of at most `width` columns. `done` and `total` may be estimates.
static void progress_line(struct text *to, uint64_t done, uint64_t total, const char *words,
                          size_t width)
{
    double share = total == 0 || done >= total ? 1 : (double)done / (double)total;
    size_t bar = width > FRAME + BAR_LEAST ? (width - FRAME) / 3 : 0;
    size_t full;
    size_t left;

    bar = bar > BAR_MOST ? BAR_MOST : bar;
    full = (size_t)(share * (double)bar);
    if (bar >= BAR_LEAST) {
        text_put_char(to, '[');
        text_fill(to, '#', full);
        text_fill(to, '.', bar - full);
        text_put(to, "] ");
    }
    text_format(to, "%3d %% ", (int)(share * 100));
    left = width > bar + FRAME ? width - bar - FRAME : 0;
    text_add(to, slice_of(words, letters_fit(slice_str(words), left)));
}

void progress_draw(uint64_t done, uint64_t total, const char *words)
{
    struct text line = {0};

    // The last column stays empty, since some terminals wrap after it.
    text_put(&line, "\r");
    progress_line(&line, done, total, words, width_of_terminal() - 1);
    text_put(&line, "\033[K");
    (void)fputs(text_string(&line), stderr);
    (void)fflush(stderr);
    text_free(&line);
}

void progress_clear(void)
{
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
}
