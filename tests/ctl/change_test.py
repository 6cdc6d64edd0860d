# SPDX-License-Identifier: MIT
"""Commands of tandemctl that change a broker, and their confirmations."""

import base64
import json
import unittest

import program
import samples

OPERATIONS = "/api/v1/operations"


class SingleJobs(program.WithApi):
    def test_each_act_is_asked_of_each_job(self):
        for act, arguments, body in (
                ("kick", [], None), ("touch", [], None), ("bury", ["--new-priority", "7"],
                                                          {"priority": 7}),
                ("release", ["--delay", "1m"], {"delay_seconds": 60}),
                ("change", ["--new-priority=1", "--delay", "1.5"],
                 {"priority": 1, "delay_seconds": 1.5}),
                ("move", ["--to", "other"], {"queue": "other"}),
                ("move", ["--back"], {"back": True})):
            with self.subTest(act=act):
                self.api.requests.clear()
                self.assertRegex(self.good(act, "1", "3", *arguments), r"^2 jobs \w+ed\.\n$|buried")
                self.assertEqual([(one.method, one.path, one.body) for one in self.api.requests],
                                 [("POST", f"/api/v1/jobs/{number}/{act}", body or
                                   ({} if act in ("bury", "release") else None))
                                  for number in (1, 3)])

    def test_what_is_to_change_must_be_said(self):
        self.assertIn("change needs --new-priority or --delay",
                      self.bad(program.USAGE, "change", "1"))
        self.assertIn("move needs --to or --back", self.bad(program.USAGE, "move", "1"))
        self.assertIn("either --to or --back",
                      self.bad(program.USAGE, "move", "1", "--to", "a", "--back"))
        self.assertIn("needs job ids, or a queue", self.bad(program.USAGE, "kick"))
        self.assertIn("is not a job id", self.bad(program.USAGE, "kick", "mail"))
        self.assertIn("not both", self.bad(program.USAGE, "kick", "1", "--queue", "mail"))
        self.assertEqual(self.api.requests, [])

    def test_deleting_needs_a_yes(self):
        self.assertIn('"Delete 2 jobs?" needs a confirmation',
                      self.bad(program.UNCONFIRMED, "delete", "1", "2"))
        self.assertEqual(self.api.requests, [])
        self.assertEqual(self.good("delete", "1", "2", "--yes"), "2 jobs deleted.\n")
        self.assertEqual(set(self.api.jobs), {3, 4, 5})

    def test_it_goes_on_after_a_job_that_is_not_there(self):
        done = self.run_ctl("kick", "1", "77", "3")
        self.assertEqual(done.returncode, program.NOT_FOUND)
        self.assertEqual(done.stdout, b"2 jobs kicked.\n")
        self.assertEqual(done.stderr, b"tandemctl: job 77: there is no job 77\n")

    def test_json_of_one_job_is_its_answer_and_of_several_a_list(self):
        self.assertEqual(json.loads(self.good("kick", "1", "--json")), self.api.jobs[1])
        self.assertEqual(json.loads(self.good("kick", "1", "3", "--json")),
                         [self.api.jobs[1], self.api.jobs[3]])
        self.assertEqual(json.loads(self.good("delete", "1", "3", "--json", "--yes")),
                         [{"id": 1}, {"id": 3}])

    def test_a_job_that_is_not_to_be_seen_is_changed_all_the_same(self):
        self.api.overrides["POST", "/api/v1/jobs/1/kick"] = (204, None)
        self.assertEqual(self.good("kick", "1"), "1 job kicked.\n")
        self.assertEqual(self.good("kick", "1", "--json"), "")
        self.assertEqual(json.loads(self.good("kick", "1", "3", "--json")),
                         [{"id": 1}, self.api.jobs[3]])


class Adding(program.WithApi):
    def added(self, *arguments, **more):
        self.assertEqual(self.good("add", *arguments, **more), f"{max(self.api.jobs)}\n")
        return self.api.requests[-1].body

    def test_a_job_is_added_with_its_contract(self):
        self.assertEqual(
            self.added("mail", "hello ü", "--priority", "9", "--delay", "2m", "--ttr=0",
                       "--unique", "k", "--attempts", "4", "--on-failure", "drop"),
            {"queue": "mail", "body": "hello ü", "priority": 9, "delay_seconds": 120,
             "ttr_seconds": 0, "key": "k", "max_attempts": 4, "on_failure": "drop"})

    def test_a_body_comes_from_standard_input_byte_for_byte(self):
        self.assertEqual(self.added("mail", stdin=b"line\n"), {"queue": "mail", "body": "line\n"})
        data = bytes(range(256)) * 300
        body = self.added("mail", "-", stdin=data)
        self.assertEqual(base64.b64decode(body["body_base64"], validate=True), data)
        self.assertNotIn("body", body)

    def test_an_empty_body_is_a_body(self):
        self.assertEqual(self.added("mail", ""), {"queue": "mail", "body": ""})

    def test_a_job_that_joins_another_says_so(self):
        self.api.overrides["POST", "/api/v1/jobs"] = (201, {"id": 4, "joined": True})
        done = self.run_ctl("add", "mail", "x", "--unique", "k")
        self.assertEqual((done.returncode, done.stdout), (0, b"4\n"))
        self.assertIn(b"live job has that key", done.stderr)

    def test_two_priorities_are_none(self):
        self.assertIn("one --priority", self.bad(program.USAGE, "add", "m", "x", "-p", "1-2"))


class ManyJobs(program.WithApi):
    def asked(self):
        return [one.body for one in self.api.requests if one.path == OPERATIONS]

    def test_a_filter_is_sent_as_options_say(self):
        self.assertEqual(self.good(
            "kick", "--queue", "mail", "--state", "buried,delayed", "--older-than", "1h",
            "--younger-than=2d", "--priority", "10-20", "--contains", "ü", "--larger-than", "1k",
            "--smaller-than", "2000", "--max", "50"), "7 jobs kicked.\n")
        self.assertEqual(self.asked(), [{
            "action": "kick", "queue": "mail", "max": 50, "filter": {
                "states": ["buried", "delayed"], "min_age_seconds": 3600,
                "max_age_seconds": 172800, "min_priority": 10, "max_priority": 20,
                "contains": "ü", "min_bytes": 1025, "max_bytes": 1999}}])

    def test_bytes_that_are_no_text_are_looked_for_too(self):
        self.good("kick", "--queues", "m*", b"--contains=\xff\x01")
        self.assertEqual(self.asked()[0]["filter"], {"contains_base64": "/wE="})
        self.assertEqual(self.asked()[0]["queues"], "m*")

    def test_a_dry_run_only_counts(self):
        self.assertEqual(self.good("delete", "--queue", "mail", "--dry-run"),
                         "7 jobs would be deleted.\n")
        self.assertEqual([body["dry_run"] for body in self.asked()], [True])

    def test_destruction_is_counted_first_and_needs_a_yes(self):
        for arguments in (["delete", "--queue", "mail"], ["clear", "mail"],
                          ["bury", "--queue", "mail"], ["move", "--queue", "mail", "--to", "b"],
                          ["move", "--queue", "mail", "--back"],
                          ["change", "--queue", "mail", "--new-priority", "1"]):
            with self.subTest(command=arguments[0]):
                self.api.requests.clear()
                self.assertRegex(self.bad(program.UNCONFIRMED, *arguments),
                                 r'"\w+ 7 jobs of mail( to b| back)?\?" needs a confirmation')
                self.assertEqual([body.get("dry_run") for body in self.asked()], [True])
                self.api.requests.clear()
                self.good(*arguments, "--yes")
                self.assertEqual([body.get("dry_run", False) for body in self.asked()], [False])

    def test_dead_letters_are_asked_to_go_back(self):
        self.good("move", "--queue", "mail.dead", "--back", "--yes")
        self.assertEqual(self.asked(), [{"action": "move", "queue": "mail.dead", "back": True,
                                         "filter": {}}])

    def test_without_a_match_it_does_not_ask(self):
        self.api.touches = 0
        self.assertEqual(self.good("clear", "mail"), "0 jobs would be deleted.\n")

    def test_clear_is_a_deletion_of_all_that_fits(self):
        self.good("clear", "mail", "--state", "ready", "--yes")
        self.assertEqual(self.asked(), [{"action": "delete", "queue": "mail",
                                         "filter": {"states": ["ready"]}}])

    def test_what_is_left_is_said(self):
        self.api.overrides["POST", OPERATIONS] = lambda request: (202, samples.operation(
            1, request.body, touched=1, skipped={"held": 3, "forbidden": 2, "refused": 1}))
        self.assertEqual(self.good("delete", "--queue", "mail", "--yes"),
                         "1 job deleted; 3 skipped: held by a worker; 2 skipped: access denied; "
                         "1 skipped: the target has no room.\n")

    def test_an_operation_is_followed_to_its_end(self):
        self.api.steps = 4
        self.assertEqual(self.good("kick", "--queue", "mail"), "7 jobs kicked.\n")
        self.assertGreaterEqual(len(self.api.asked("GET")), 4)
        self.assertEqual(json.loads(self.good("kick", "--queue", "mail", "--json"))["state"],
                         "done")

    def test_an_operation_that_fails_is_a_failure(self):
        self.api.overrides["POST", OPERATIONS] = lambda request: (202, samples.operation(
            1, request.body, "failed", touched=3, error="no memory"))
        self.assertIn("failed after 3 jobs: no memory",
                      self.bad(program.FAILED, "kick", "--queue", "mail"))

    def test_either_one_queue_or_several(self):
        self.assertIn("either --queue or --queues",
                      self.bad(program.USAGE, "kick", "--queue", "a", "--queues", "b"))

    def test_an_operation_is_cancelled(self):
        self.api.operations[1] = samples.operation(1, {"action": "kick", "queue": "mail"},
                                                   "running", touched=4)
        self.assertEqual(self.good("cancel", "1"),
                         "Operation 1 is cancelled: 4 jobs changed.\n")


class Policies(program.WithApi):
    def test_a_policy_is_set_with_all_that_it_says(self):
        self.assertEqual(self.good("policy", "set", "a/*", "max_jobs=5", "dead_queue=x=y",
                                   "position=3"), "a/* has the new policy.\n")
        asked = self.api.requests[-1]
        self.assertEqual((asked.method, asked.target), ("PUT", "/api/v1/policies/a%2F%2A"))
        self.assertEqual(asked.body, {"max_jobs": "5", "dead_queue": "x=y", "position": 3})
        self.good("policy", "set", "b")
        self.assertEqual(self.api.requests[-1].body, {})

    def test_words_that_say_nothing_are_told(self):
        for words, told in ((["set", "a", "max_jobs"], "is not KEY=VALUE"),
                            (["set", "a", "=5"], "is not KEY=VALUE"),
                            (["set", "a", "position=first"], "is not a number from 0"),
                            (["set", "a", "position=1000000001"], "is not a number from 0"),
                            (["delete", "a", "b"], "takes only a glob"),
                            (["put", "a"], "give show, set or delete")):
            with self.subTest(words=words):
                self.assertIn(told, self.bad(program.USAGE, "policy", *words))
        self.bad(program.USAGE, "policy", "set")
        self.assertEqual(self.api.requests, [])

    def test_what_the_broker_refuses_is_told(self):
        self.api.overrides["PUT", "/api/v1/policies/a"] = (400, {"error": "burst needs a rate"})
        self.assertIn("burst needs a rate",
                      self.bad(program.FAILED, "policy", "set", "a", "burst=2"))

    def test_a_policy_is_deleted(self):
        self.assertEqual(self.good("policy", "delete", "mail*"),
                         "mail* has no run-time policy.\n")
        self.bad(program.NOT_FOUND, "policy", "delete", "mail*")


class Broker(program.WithApi):
    def test_a_queue_is_paused_and_goes_on(self):
        self.assertEqual(self.good("pause", "mail", "--for", "10m"), "mail is paused for 10m.\n")
        self.assertEqual(self.good("pause", "mail"), "mail is paused for 1d.\n")
        self.assertEqual(self.good("resume", "mail"), "mail is not paused.\n")
        self.assertEqual([one.body for one in self.api.requests],
                         [{"seconds": 600}, {"seconds": 86400}, None])

    def test_a_queue_that_has_gone_by_that_is_named_all_the_same(self):
        for act in ("pause", "resume"):
            self.api.overrides["POST", f"/api/v1/queues/mail/{act}"] = (204, None)
            self.assertEqual(self.good(act, "mail", "--json"), "")
        self.assertEqual(self.good("pause", "mail"), "mail is paused.\n")
        self.assertEqual(self.good("resume", "mail"), "mail is not paused.\n")

    def test_several_queues_are_paused_at_once(self):
        self.assertEqual(self.good("pause", "--queues", "m*", "--for=1h"), "7 queues paused.\n")
        self.assertEqual(self.api.requests[0].body,
                         {"action": "pause", "queues": "m*", "pause_seconds": 3600})
        self.assertEqual(self.good("resume", "--queues", "*"), "7 queues resumed.\n")
        self.assertIn("must be more than 0", self.bad(program.USAGE, "pause", "mail", "--for=0"))
        self.assertIn("give either one queue", self.bad(program.USAGE, "pause"))

    def test_a_queue_is_kept_and_limited(self):
        self.assertIn("is kept even", self.good("keep", "new one"))
        self.assertIn("is deleted when", self.good("forget", "mail"))
        self.bad(program.NOT_FOUND, "forget", "none")
        self.good("limit", "mail", "--high", "9", "--low=7")
        self.assertEqual([(one.method, one.path, one.body) for one in self.api.requests],
                         [("PUT", "/api/v1/queues/new%20one", None),
                          ("DELETE", "/api/v1/queues/mail", None),
                          ("DELETE", "/api/v1/queues/none", None),
                          ("PUT", "/api/v1/queues/mail/limits",
                           {"high": 9, "normal": 0, "low": 7})])

    def test_a_schedule_is_made_run_and_dropped(self):
        self.assertRegex(self.good("schedule-put", "daily", "@daily", "reports"),
                         r"^daily runs next at 20\d\d-")
        self.good("schedule-put", "s", "5 * * * *", "q", "body", "--timezone", "UTC", "--missed=once",
                  "--overlap", "skip", "--new-priority", "7", "--ttr", "60")
        self.assertEqual([(one.method, one.path, one.body) for one in self.api.requests],
                         [("PUT", "/api/v1/schedules/daily", {"cron": "@daily", "queue": "reports"}),
                          ("PUT", "/api/v1/schedules/s",
                           {"cron": "5 * * * *", "queue": "q", "body": "body", "timezone": "UTC",
                            "missed": "once", "overlap": "skip", "priority": 7, "ttr_seconds": 60})])
        self.assertEqual(self.good("schedule-run", "nightly"), "4712\n")
        self.assertIn("nightly runs next at", self.good("schedule-replan", "nightly"))
        self.bad(program.NOT_FOUND, "schedule-replan", "none")
        self.assertIn("nightly is deleted",
                      self.good("schedule-drop", "nightly"))
        self.bad(program.NOT_FOUND, "schedule-run", "none")
        self.bad(program.NOT_FOUND, "schedule-drop", "none")
        self.bad(program.USAGE, "schedule-put", "s", "@daily")
        self.bad(program.USAGE, "schedule-put", "s", "@daily", "q", "--missed", "never")

    def test_the_broker_drains_and_ends_that(self):
        for word, draining in (("on", True), ("off", False), ("", True)):
            self.good("drain", *([word] if word else []))
            self.assertEqual(self.api.draining, draining)
        self.assertIn("on or off", self.bad(program.USAGE, "drain", "maybe"))

    def test_commands_of_a_client_are_logged_and_no_longer(self):
        self.assertIn("logs the commands of this client", self.good("log-commands", "10.0.0.7"))
        self.assertEqual(self.api.logged, "10.0.0.7")
        self.assertEqual(json.loads(self.good("log-commands", "17", "--json")),
                         {"log_commands": "17"})
        self.assertIn("No commands", self.good("log-commands", "off"))
        self.assertEqual(self.api.logged, "")
        self.bad(program.USAGE, "log-commands")
        self.bad(program.USAGE, "log-commands", "1", "2")
        self.assertIn("is not valid UTF-8", self.bad(program.USAGE, "log-commands", b"\xff"))

    def test_the_pause_of_an_endpoint_is_ended(self):
        self.assertIn("tries the endpoint again", self.good("push-resume", "mail.*"))
        self.assertEqual(json.loads(self.good("push-resume", "mail.*", "--json"))["section"],
                         "mail.*")
        self.bad(program.NOT_FOUND, "push-resume", "other")
        self.bad(program.USAGE, "push-resume")

    def test_a_configuration_that_is_wrong_is_a_failure(self):
        self.assertIn("read again", self.good("reload"))
        self.api.overrides["POST", "/api/v1/reload"] = (200, {"reloaded": False})
        self.assertIn("see the broker's log", self.bad(program.FAILED, "reload"))
        self.api.overrides["POST", "/api/v1/reload"] = (
            200, {"reloaded": False, "why": "/etc/t.conf:3: there is no key \x1b[1m"})
        self.assertIn("was changed: /etc/t.conf:3: there is no key \\x1b[1m",
                      self.bad(program.FAILED, "reload"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
