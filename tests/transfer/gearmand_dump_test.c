/* SPDX-License-Identifier: MIT */

// Rows of gearmand's table out of dumps, as mysqldump and mariadb-dump write them with one option
// and another.

#include "transfer/gearmand/dump_read.h"
#include "tests/support/with_cmocka.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The contents of a dump: each row and each damage as a line of text.
struct dump {
    struct dump_read read;
    char text[4096];
};

static void add(struct dump *dump, struct slice bytes)
{
    size_t len = strlen(dump->text);

    for (size_t i = 0; i < bytes.len && len < sizeof dump->text - 8; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];

        if (byte > ' ' && byte < 127) {
            dump->text[len++] = (char)byte;
        } else {
            len += (size_t)snprintf(dump->text + len, 8, "<%02x>", byte);
        }
    }
    dump->text[len] = '\0';
}

static void add_text(struct dump *dump, const char *text)
{
    size_t len = strlen(dump->text);

    (void)snprintf(dump->text + len, sizeof dump->text - len, "%s", text);
}

static void add_row(struct dump *dump, const struct row *row)
{
    char numbers[80];

    add(dump, row->unique);
    add_text(dump, "|");
    add(dump, row->function);
    (void)snprintf(numbers, sizeof numbers, "|%d|", (int)row->priority);
    add_text(dump, numbers);
    add(dump, row->data);
    (void)snprintf(numbers, sizeof numbers, "|%d\n", (int)row->when_to_run);
    add_text(dump, numbers);
}

static void read_dump(struct dump *dump, const char *sql, size_t len)
{
    FILE *file = fmemopen((void *)(uintptr_t)sql, len, "r");
    enum source_answer answer = SOURCE_MORE;
    struct source_news news;
    struct row row;

    assert_non_null(file);
    memset(dump, 0, sizeof *dump);
    dump_read_begin(&dump->read, file, "gearman_queue");
    while (answer != SOURCE_END) {
        answer = dump_read_next(&dump->read, &row, &news);
        if (answer == SOURCE_JOB) {
            add_row(dump, &row);
        } else if (answer == SOURCE_DAMAGE) {
            char said[320];

            (void)snprintf(said, sizeof said, "%d: %s\n", (int)news.offset, news.what);
            add_text(dump, said);
        }
    }
    dump_read_end(&dump->read);
    (void)fclose(file);
}

#define DUMP_IS(sql, wanted)                                                                       \
    do {                                                                                           \
        struct dump dump_;                                                                         \
        read_dump(&dump_, (sql), sizeof(sql) - 1);                                                 \
        assert_string_equal(dump_.text, (wanted));                                                 \
    } while (0)

static void a_dump_gives_its_rows_in_their_order(void **state)
{
    (void)state;
    DUMP_IS("-- MariaDB dump 10.19  Distrib 10.11.6-MariaDB, for debian-linux-gnu (x86_64)\n"
            "/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;\n"
            "DROP TABLE IF EXISTS `gearman_queue`;\n"
            "CREATE TABLE `gearman_queue` (\n"
            "  `unique_key` varchar(64) DEFAULT NULL,\n"
            "  `function_name` varchar(255) DEFAULT NULL,\n"
            "  `priority` int(11) DEFAULT NULL,\n"
            "  `data` longblob DEFAULT NULL,\n"
            "  `when_to_run` int(11) DEFAULT NULL,\n"
            "  UNIQUE KEY `unique_key` (`unique_key`,`function_name`)\n"
            ") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;\n"
            "LOCK TABLES `gearman_queue` WRITE;\n"
            "/*!40000 ALTER TABLE `gearman_queue` DISABLE KEYS */;\n"
            "INSERT INTO `gearman_queue` VALUES ('u1','mail',1,'body',0),('u2','mail',0,'',17),\n"
            "('','x',2,NULL,NULL);\n"
            "INSERT INTO `gearman_queue` VALUES ('u4','mail',1,'more',0);\n"
            "UNLOCK TABLES;\n"
            "-- Dump completed on 2026-11-23 15:51:58\n",
            "u1|mail|1|body|0\nu2|mail|0||17\n|x|2||0\nu4|mail|1|more|0\n");
}

static void bytes_come_as_they_were_however_they_are_written(void **state)
{
    (void)state;
    DUMP_IS(
        "INSERT INTO gearman_queue VALUES ('it''s','f',1,'\\0\\n\\r\\t\\b\\Z\\\\\\'\\\"\\%',0);",
        "it's|f|1|<00><0a><0d><09><08><1a>\\'\"%|0\n");
    DUMP_IS("INSERT INTO gearman_queue VALUES ('u','f',1,0x00Ff41,0),(x'6b','f',1,X'',0),"
            "(_binary 'b','f',1,_binary '\xff;,)(',0),(\"d\",\"f\",1,\"it's \"\"q\"\"\",0);",
            "u|f|1|<00><ff>A|0\nk|f|1||0\nb|f|1|<ff>;,)(|0\nd|f|1|it's<20>\"q\"|0\n");
}

static void statements_come_in_all_forms(void **state)
{
    (void)state;
    DUMP_IS("insert ignore into `db`.`gearman_queue` (`data`,`priority`,`function_name`,"
            "`unique_key`) values ('d',1,'f','u')\n;REPLACE  INTO gearman_queue VALUES "
            "('u','f',2,'r',3) ON DUPLICATE KEY UPDATE x='y;';INSERT DELAYED gearman_queue VALUE "
            "('v','f',0,'s',4);",
            "u|f|1|d|0\nu|f|2|r|3\nv|f|0|s|4\n");
    DUMP_IS("CREATE TABLE IF NOT EXISTS `gearman_queue` (`id` int, `data` longblob COMMENT 'a,b', "
            "PRIMARY KEY (`id`), `priority` decimal(10,2), `unique_key` text, `function_name` "
            "text);INSERT INTO `gearman_queue` VALUES (7,'d',1,'u','f');",
            "u|f|1|d|0\n");
}

static void other_tables_and_comments_are_passed_over(void **state)
{
    (void)state;
    DUMP_IS("CREATE TABLE `other` (`data` int);\n"
            "INSERT INTO `other` VALUES ('INSERT INTO gearman_queue VALUES (1)');\n"
            "# INSERT INTO gearman_queue VALUES ('u','f',1,'d',0);\n"
            "-- INSERT INTO gearman_queue VALUES ('u','f',1,'d',0);\n"
            "/* INSERT INTO gearman_queue VALUES ('u','f',1,'d',0); */;\n"
            "INSERT INTO `gearman_queue` VALUES ('u','f', -- why\n 1,'/* d */',/**/0);\n",
            "u|f|1|/*<20>d<20>*/|0\n");
}

static void damage_is_named_by_its_line_and_the_rest_is_read(void **state)
{
    (void)state;
    DUMP_IS("INSERT INTO `gearman_queue` VALUES ('a','f',1,'d',0),('b','f',1);\n"
            "INSERT INTO `gearman_queue` VALUES ('c','f',1,'d',0);\n",
            "a|f|1|d|0\n1: this is not a row of the table\nc|f|1|d|0\n");
    DUMP_IS("\nINSERT INTO `gearman_queue` VALUES ('a','f',1,0xabc,0);\n"
            "INSERT INTO `gearman_queue` SELECT 1;\nINSERT INTO `gearman_queue` VALUES\n"
            "('b','f','one','d',0),('c','f',1,'d','never'),('d','f',1,'d',0);\n",
            "2: a hexadecimal value has an odd number of digits\n3: this is not a valid INSERT\n"
            "5: the priority is not a number\n5: when_to_run is not a number\nd|f|1|d|0\n");
    DUMP_IS("INSERT INTO `gearman_queue` VALUES ('a','f',99999999999999999999,'d',0);\n",
            "1: the priority is not a number\n");
}

static void a_number_of_any_length_is_a_number_or_none(void **state)
{
    (void)state;
    DUMP_IS(
        "INSERT INTO `gearman_queue` VALUES ('a','f',2,'d',-9999999999),\n"
        "('b','f',1,'d',99999999999999999999999999999999),\n"
        "('c','f',-99999999999999999999999999999999,'d',0);\n",
        "a|f|2|d|-1410065407\n2: when_to_run is not a number\n3: the priority is not a number\n");
}

static void a_dump_that_was_cut_off_is_said_to_be(void **state)
{
    static const char sql[] =
        "INSERT INTO `gearman_queue` VALUES ('a','f',1,'d',0),('b','f',1,'e',1);";

    (void)state;
    for (size_t len = 1; len < sizeof sql - 1; len++) {
        size_t behind_a = (size_t)(strstr(sql, "),") + 1 - sql);
        struct dump dump;

        read_dump(&dump, sql, len);
        assert_non_null(strstr(dump.text, "1: "));
        assert_int_equal(strstr(dump.text, "a|f|1|d|0\n") != NULL, len >= behind_a);
    }
    DUMP_IS("INSERT INTO `gearman_queue` VALUES ('a','f',1,'d",
            "1: the dump ends within a value\n");
    DUMP_IS("INSERT INTO `gearman_queue` VALUES ('a','f',1,'d',0);\n/* of a se",
            "a|f|1|d|0\n2: the dump ends within a comment\n");
    DUMP_IS("", "");
    DUMP_IS("SET NAMES utf8mb4", "1: the dump ends within a statement\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_gives_its_rows_in_their_order),
        cmocka_unit_test(bytes_come_as_they_were_however_they_are_written),
        cmocka_unit_test(statements_come_in_all_forms),
        cmocka_unit_test(other_tables_and_comments_are_passed_over),
        cmocka_unit_test(damage_is_named_by_its_line_and_the_rest_is_read),
        cmocka_unit_test(a_number_of_any_length_is_a_number_or_none),
        cmocka_unit_test(a_dump_that_was_cut_off_is_said_to_be),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
