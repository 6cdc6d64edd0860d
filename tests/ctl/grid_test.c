/* SPDX-License-Identifier: MIT */
#include "ctl/print/grid.h"
#include "ctl/print/text.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>

static const struct grid_column columns[] = {
    {"NAME", false, true},
    {"JOBS", true, false},
    {"NOTE", false, false},
    {NULL, false, false},
};

static void add_row(struct grid *grid, const char *name, uint64_t jobs, const char *note)
{
    grid_string(grid, STYLE_PLAIN, name);
    grid_count(grid, STYLE_PLAIN, jobs);
    grid_string(grid, STYLE_PLAIN, note);
}

static void assert_written(struct grid *grid, const char *expected)
{
    struct text text = {0};

    grid_write(grid, &text);
    assert_string_equal(text_string(&text), expected);
    text_free(&text);
}

static void columns_are_as_wide_as_what_stands_in_them(void **state)
{
    struct grid *grid = grid_new(columns, 0, false);

    (void)state;
    add_row(grid, "mail", 1234, "paused");
    add_row(grid, "thumbnails", 5, "");
    assert_written(grid, "NAME         JOBS  NOTE\n"
                         "mail        1,234  paused\n"
                         "thumbnails      5\n");
    grid_free(grid);
}

static void letters_take_the_columns_that_they_take(void **state)
{
    struct grid *grid = grid_new(columns, 0, false);

    (void)state;
    add_row(grid, "日本", 1, "x");
    add_row(grid, "e\u0301", 2, "x");
    add_row(grid, "abcde", 3, "x");
    assert_written(grid, "NAME   JOBS  NOTE\n"
                         "日本      1  x\n"
                         "e\u0301         2  x\n"
                         "abcde     3  x\n");
    grid_free(grid);
}

static void a_later_piece_has_no_titles_and_columns_never_shrink(void **state)
{
    struct grid *grid = grid_new(columns, 0, false);

    (void)state;
    add_row(grid, "abcdef", 1, "x");
    assert_written(grid, "NAME    JOBS  NOTE\nabcdef     1  x\n");
    add_row(grid, "a", 2, "y");
    assert_written(grid, "a          2  y\n");
    assert_written(grid, "");
    grid_free(grid);
}

static void what_does_not_fit_the_terminal_is_cut_with_a_mark(void **state)
{
    struct grid *grid = grid_new(columns, 24, false);

    (void)state;
    add_row(grid, "a-name-that-is-far-too-long", 1, "note");
    add_row(grid, "日本日本日本日本", 2, "note");
    assert_written(grid, "NAME          JOBS  NOTE\n"
                         "a-name-that~     1  note\n"
                         "日本日本日~      2  note\n");
    grid_free(grid);
}

static void on_the_narrowest_terminal_a_name_keeps_eight_columns(void **state)
{
    struct grid *grid = grid_new(columns, 5, false);

    (void)state;
    add_row(grid, "a-long-name", 1, "n");
    assert_written(grid, "NAME      JOBS  NOTE\na-long-~     1  n\n");
    grid_free(grid);
}

static void control_characters_are_escaped(void **state)
{
    struct grid *grid = grid_new(columns, 0, false);

    (void)state;
    grid_cell(grid, STYLE_PLAIN, slice_of("a\0\033[1m\xff", 7));
    grid_format(grid, STYLE_PLAIN, "%d\n", 7);
    grid_string(grid, STYLE_PLAIN, "\u202eb\u2028\xc2\x9b");
    assert_written(grid, "NAME              JOBS  NOTE\n"
                         "a\\x00\\x1b[1m\\xff   7\\n  \\u{202e}b\\u{2028}\\u{9b}\n");
    grid_free(grid);
}

static void colours_do_not_move_what_stands_behind_them(void **state)
{
    struct grid *grid = grid_new(columns, 0, true);

    (void)state;
    grid_string(grid, STYLE_BAD, "a");
    grid_count(grid, STYLE_PLAIN, 0);
    grid_string(grid, STYLE_PLAIN, "");
    assert_written(grid, "\033[1mNAME\033[0m  \033[1mJOBS\033[0m  \033[1mNOTE\033[0m\n"
                         "\033[31ma\033[0m        \033[2m0\033[0m\n");
    grid_free(grid);
}

static int set_up(void **state)
{
    (void)state;
    text_set_locale();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_what_stands_in_them),
        cmocka_unit_test(letters_take_the_columns_that_they_take),
        cmocka_unit_test(a_later_piece_has_no_titles_and_columns_never_shrink),
        cmocka_unit_test(what_does_not_fit_the_terminal_is_cut_with_a_mark),
        cmocka_unit_test(on_the_narrowest_terminal_a_name_keeps_eight_columns),
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(colours_do_not_move_what_stands_behind_them),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
