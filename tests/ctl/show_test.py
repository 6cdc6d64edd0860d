# SPDX-License-Identifier: MIT
"""Commands of tandemctl that show a broker."""

import base64
import json
import re
import unittest

import program
import samples


def rows(table):
    """The rows of a table, split at two or more blanks."""
    return [re.split(r" {2,}", line.strip()) for line in table.splitlines()]


class Lists(program.WithApi):
    def test_status_says_what_the_process_does(self):
        text = self.good("status")
        self.assertIn("tandem 0.1.0 on box, process 4321, up for 1d 2h\n", text)
        self.assertIn("15 ready, 40 delayed, 1 reserved, 2 buried, in 3 queues", text)
        self.assertIn("1,234,567 submitted", text)
        self.assertIn("5.0 MiB of 1.0 GiB", text)
        self.assertIn("5 connections at 127.0.0.1:11300", text)
        self.assertIn("3 refused", text)
        self.assertNotIn("draining", text)

    def test_status_says_what_wants_attention(self):
        self.api.draining = True
        text = self.good("status")
        self.assertIn("draining: new jobs are refused", text)
        self.assertIn("2 buried jobs wait to be examined", text)

    def test_queues_stand_in_a_table_with_numbers_at_the_right(self):
        lines = self.good("queues").splitlines()
        self.assertEqual(lines[0].split()[:5], ["QUEUE", "READY", "DELAYED", "RESERVED", "BURIED"])
        ends = [re.match(r"\S+ +\S+", line).end() for line in lines]
        self.assertEqual(len(set(ends)), 1, lines)
        self.assertEqual(rows("\n".join(lines))[2][:6], ["mail", "12", "0", "1", "2", "1m 15s"])
        self.assertTrue(lines[3].endswith("unworked"))

    def test_queues_are_asked_for_as_options_say(self):
        self.good("queues", "--sort", "-ready", "--search=a", "--name", "m*", "--with",
                  "ready,buried", "--limit", "5")
        self.assertEqual(self.api.requests[0].query,
                         {"sort": "-ready", "search": "a", "name": "m*", "with": "ready,buried",
                          "limit": "5"})

    def test_all_pages_of_a_list_are_shown(self):
        self.api.queues = [samples.queue(f"q{number:04}", ready=number) for number in range(2500)]
        lines = self.good("queues").splitlines()
        self.assertEqual(len(lines), 2501)
        self.assertTrue(lines[-1].startswith("q2499  2,499"))
        self.assertEqual([one.query.get("cursor") for one in self.api.requests],
                         [None, "1000", "2000"])

    def test_a_limit_ends_a_list_and_says_that_there_is_more(self):
        self.api.queues = [samples.queue(f"q{number:04}") for number in range(2500)]
        done = self.run_ctl("queues", "--limit", "1200")
        self.assertEqual(len(done.stdout.splitlines()), 1201)
        self.assertIn(b"There are more", done.stderr)
        self.assertEqual([one.query["limit"] for one in self.api.requests], ["1000", "200"])

    def test_an_empty_list_says_so(self):
        done = self.run_ctl("queues", "--search", "nothing")
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertIn(b"No queues match", done.stderr)

    def test_jobs_are_listed_by_state(self):
        self.api.jobs[9] = samples.job(9, state="buried", key="k", attempts=3)
        found = rows(self.good("jobs", "mail", "--state", "buried"))
        self.assertEqual(found[1][:7], ["9", "buried", "5", "1h 1m", "-", "3/3", "2"])
        self.assertEqual(self.api.asked(),
                         [("GET", "/api/v1/queues/mail/jobs?state=buried&limit=100")])

    def test_connections_and_workers_are_listed(self):
        for command in ("connections", "workers"):
            with self.subTest(command=command):
                found = rows(self.good(command))
                self.assertEqual(len(found), 4)
                self.assertEqual(found[1][:6], ["1", "gearman", "10.0.0.1:4001", "resize", "1m 2s",
                                                "worker, waiting"])
        self.good("workers", "mail")
        self.assertEqual(self.api.requests[-1].query["queue"], "mail")

    def test_schedules_are_listed_with_why_not(self):
        found = rows(self.good("schedules"))
        self.assertEqual(found[1][:4], ["nightly", "30 2 * * *", "Europe/Berlin", "reports"])
        self.assertEqual(found[1][6:], ["7", "0"])
        self.assertEqual((found[2][2], found[2][-1]), ("local", "refused"))

    def test_operations_are_listed(self):
        self.api.operations[1] = samples.operation(1, {"action": "kick", "queue": "mail"},
                                                   touched=5, total=9)
        self.assertEqual(rows(self.good("operations"))[1][:7],
                         ["1", "kick", "mail", "done", "5", "0", "9"])


class Things(program.WithApi):
    def test_a_queue_says_how_long_its_jobs_wait(self):
        text = self.good("queue", "mail")
        self.assertIn("12 ready, 0 delayed, 1 reserved, 2 buried", text)
        self.assertIn("20 ms on average, half within 10 ms, 95 % within 10 ms, 99 % within 100 ms",
                      text)

    def test_a_queue_says_why_its_policy_closes_it(self):
        self.api.queues.append(samples.queue("slow", closed=["rate", "running"],
                                             rate_left_seconds=90))
        text = self.good("queue", "slow")
        self.assertIn("by its rate, for 1m 30s more", text)
        self.assertIn("the maximum number of jobs is running", text)

    def test_a_name_of_any_bytes_is_one_part_of_the_path(self):
        self.api.queues.append(samples.queue("a/b ?%&ü.."))
        self.assertIn("a/b ?%&ü..", self.good("queue", "a/b ?%&ü.."))
        self.assertEqual(self.api.requests[0].target,
                         "/api/v1/queues/a%2Fb%20%3F%25%26%C3%BC%2E%2E")

    def test_a_dead_letter_says_where_it_was(self):
        self.assertNotIn("dead letter", self.good("show", "3"))
        self.api.jobs[3] = samples.job(3, queue_name="mail.dead", past={
            "queue": "mail", "queue_path": "mail", "why": "failed", "attempts": 4,
            "at": samples.NOW})
        self.assertIn("dead letter   from mail at 2023-11-14 22:13:20, after 4 attempts: failed\n",
                      self.good("show", "3"))

    def test_a_job_is_shown_with_its_contract_its_past_and_its_body(self):
        text = self.good("show", "3")
        for part in ("job 3 of mail\n", "time to run   1m\n",
                     "1h 1m, submitted at 2023-11-14 22:13:20",
                     "1 of 3, then it is buried", "released 2 times", "hello\nworld\n"):
            self.assertIn(part, text)

    def test_a_body_that_is_no_text_is_shown_in_hexadecimal(self):
        data = bytes(range(20))
        self.show_body(data)
        text = self.good("show", "3")
        self.assertIn("00000000  00 01 02 03 04 05 06 07  08 09", text)
        self.assertIn("00000010  10 11 12 13" + " " * 39 + "|....|\n", text)
        self.assertIn(r"\x00\x01", self.good("show", "3", "--text"))

    def test_a_body_in_hexadecimal_where_it_is_wanted(self):
        self.assertIn("68 65 6c 6c 6f 0a", self.good("show", "3", "--hex"))

    def test_a_job_that_has_gone_says_what_it_ended_with(self):
        path = "/api/v1/jobs/7"
        self.api.overrides["GET", path] = (200, samples.ended_job(7))
        for words in ("show", "7"), ("result", "7"), ("result", "H:host:7"):
            text = self.good(*words)
            self.assertIn("job 7 of mail\n", text)
            self.assertIn("complete", text)
            self.assertTrue(text.endswith("\nthe result\n"), text)
        self.api.overrides["GET", path] = (200, samples.ended_job(7, None, kept="too_large"))
        self.assertIn("without its data, which is too large", self.good("result", "7"))
        self.api.overrides["GET", f"{path}/result"] = (200, b"\0ok")
        self.assertEqual(self.run_ctl("result", "7", "--raw").stdout, b"\0ok")
        self.assertEqual(self.run_ctl("result", "H:host:x").returncode, program.USAGE)

    def test_a_raw_body_is_all_of_it_byte_for_byte(self):
        data = bytes(range(256)) * 4096
        self.api.overrides["GET", "/api/v1/jobs/3/body"] = (200, data)
        done = self.run_ctl("show", "3", "--raw")
        self.assertEqual((done.returncode, done.stdout), (0, data))

    def test_a_large_body_is_shown_in_part_and_says_so(self):
        self.show_body(b"part", truncated=True)
        self.assertIn("(the first 4 B; --raw writes all of it)", self.good("show", "3"))

    def show_body(self, data, truncated=False):
        self.api.overrides["GET", "/api/v1/jobs/3"] = (200, samples.job_detail(
            self.api.jobs[3], base64.b64encode(data).decode(), "base64", truncated))

    def test_a_connection_says_what_it_holds(self):
        text = self.good("connections", "2")
        self.assertIn("connection 2, gearman, from 10.0.0.1:4002", text)
        self.assertIn("3 of mail, for 12.0 s more", text)

    def test_a_schedule_says_what_came_of_its_last_moment(self):
        text = self.good("schedule", "nightly")
        for words in ("30 2 * * *", "Europe/Berlin", "fired, job 4711", "build them",
                      "in the configuration", "7 fired, 1 of them late; 2 missed"):
            self.assertIn(words, text)
        text = self.good("schedule", "weekly")
        for words in ("local time of the broker", "given_up, the queue is full", "at run time"):
            self.assertIn(words, text)
        self.assertIn("no schedule none", self.bad(program.NOT_FOUND, "schedule", "none"))

    def test_the_journal_says_what_it_keeps(self):
        text = self.good("journal")
        self.assertIn("64.0 MiB on disk, 5.0 MiB of live jobs", text)
        self.api.overrides["GET", "/api/v1/journal"] = (200, samples.journal(enabled=False))
        self.assertEqual(self.good("journal"),
                         "There is no journal: jobs are kept in memory only.\n")

    def test_policies_say_what_holds_and_where_it_stands(self):
        self.api.policies.append(samples.policy("new", "api", 5, "there is no key `x`"))
        self.assertEqual(rows(self.good("policies")),
                         [["GLOB", "POSITION", "ORIGIN", "SETTINGS"],
                          ["mail*", "10", "api", "rate = 5/m, max_jobs = 5"],
                          ["*", "-", "/etc/tandem/tandemd.conf:12", "count_releases = true"],
                          ["new", "5", "api", "does not apply: there is no key `x`"]])
        self.api.policies.clear()
        self.assertEqual(self.good("policies"), "There are no policies.\n")

    def test_a_policy_is_shown_by_itself_and_with_its_queue(self):
        said = self.good("policy", "show", "mail*")
        self.assertRegex(said, r"policy +\[queue mail\*\] of api\n +rate = 5/m, max_jobs = 5\n")
        self.bad(program.NOT_FOUND, "policy", "show", "other")
        self.assertNotIn("policy", self.good("queue", "mail"))
        self.api.queues[0]["policy"] = self.api.policies[0]
        self.assertIn("[queue mail*] of api", self.good("queue", "mail"))

    def test_the_configuration_says_what_is_other_than_usual(self):
        self.assertEqual(rows(self.good("config"))[2:],
                         [["journal.fsync", "50", "always"], ["admin.listen", "127.0.0.1:9180",
                                                              "yes"]])
        self.assertNotIn("admin", self.good("config", "journal"))
        self.assertIn("unknown setting", self.bad(program.NOT_FOUND, "config", "jour"))

    def test_metrics_come_as_they_are(self):
        self.assertEqual(self.good("metrics"), "# TYPE tandem_jobs gauge\ntandem_jobs 17\n")


class Json(program.WithApi):
    def test_json_is_the_answer_as_it_came(self):
        for arguments in (["status"], ["queues"], ["queue", "mail"], ["jobs", "mail"],
                          ["show", "3"], ["connections"], ["connections", "2"], ["workers"],
                          ["journal"], ["config"], ["operations"], ["schedules"],
                          ["schedule", "nightly"]):
            with self.subTest(command=arguments[0]):
                text = self.good(*arguments, "--json")
                asked = self.api.requests[-1]
                self.assertEqual(json.loads(text), self.api.reply(asked)[1])
                self.assertIn("\n ", text)  # spaces and all

    def test_json_of_several_pages_is_one_document(self):
        self.api.queues = [samples.queue(f"q{number:04}") for number in range(2100)]
        found = json.loads(self.good("queues", "--json"))
        self.assertEqual([one["name"] for one in found["queues"]],
                         [one["name"] for one in self.api.queues])
        self.assertEqual((found["total"], found["matched"], found["next"]), (2100, 2100, None))

    def test_json_of_a_limited_list_has_the_cursor_of_the_rest(self):
        found = json.loads(self.good("queues", "--json", "--limit=2"))
        self.assertEqual((len(found["queues"]), found["next"]), (2, "2"))


class Hostile(program.WithApi):
    EVIL = "a\x1b[31m\x07\r\n\u202eb\u200b\x9b1m"

    def test_control_characters_of_names_never_reach_the_terminal(self):
        self.api.queues = [samples.queue(self.EVIL, ready=1)]
        self.api.jobs = {1: samples.job(1, key=self.EVIL)}
        self.api.connections = [samples.connection(1, client_id=self.EVIL)]
        self.api.operations[1] = samples.operation(1, {"action": "kick", "queue": self.EVIL})
        self.api.overrides["GET", "/api/v1/jobs/1"] = (200, samples.job_detail(
            samples.job(1, self.EVIL), self.EVIL))
        for arguments in (["queues"], ["jobs", "mail"], ["connections"], ["operations"],
                          ["show", "1"], ["show", "1", "--text"], ["queue", self.EVIL]):
            with self.subTest(command=arguments):
                text = self.good(*arguments)
                self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e]")
                self.assertTrue(r"\x1b[31m\x07\r" in text or "1b 5b 33 31" in text, text)

    def test_words_that_only_a_server_chooses_are_escaped_too(self):
        self.api.overrides["DELETE", "/api/v1/operations/1"] = (
            200, samples.operation(1, {"action": "kick", "queue": "mail"}, self.EVIL))
        text = self.good("cancel", "1")
        self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202e]")
        self.assertIn(r"\x1b[31m\x07\r", text)
        # No broker answers like this.
        self.api.faults.clear()

    def test_a_refusal_is_escaped_too(self):
        self.api.overrides["GET", "/api/v1/jobs/3"] = (404, {"error": self.EVIL})
        self.assertIn(r"\x1b[31m", self.bad(program.NOT_FOUND, "show", "3"))

    def test_wide_letters_are_aligned_by_their_width(self):
        self.api.queues = [samples.queue("日本", ready=1), samples.queue("e\u0301te", ready=2),
                           samples.queue("plain", ready=3)]
        lines = {line.split()[0]: line for line in self.good("queues").splitlines()}
        start = lines["plain"].index(" 3 ")
        self.assertEqual(lines["日本"].index(" 1 "), start - 2)
        self.assertEqual(lines["e\u0301te"].index(" 2 "), start + 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
