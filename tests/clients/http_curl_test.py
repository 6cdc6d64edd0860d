#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""curl, as Debian packages it, against the HTTP of tandemd."""

import json
import os
import subprocess
import tempfile

import http_parties
from http_parties import SECONDS, Case, Refused


def curl(*arguments, data=b""):
    """The output of curl, its error output, and its exit code."""
    authority = os.environ.get("TLS_CA")
    trusted = ["--cacert", authority] if authority else []
    done = subprocess.run(["curl", "--silent", "--show-error", *trusted, *arguments], input=data,
                          timeout=SECONDS, check=False, capture_output=True)
    return done.stdout, done.stderr.decode(), done.returncode


def answer(*arguments, data=b""):
    """The status, the headers with their names in lower case, and the body of an answer."""
    text, problem, code = curl("--include", *arguments, data=data)
    assert code == 0, problem
    head, _, body = text.partition(b"\r\n\r\n")
    while head.split()[1] == b"100":
        head, _, body = body.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    version, status, _ = first.split(" ", 2)
    headers = {"version": version}
    for line in lines:
        name, _, value = line.partition(": ")
        headers[name.lower()] = value
    return int(status), headers, body


class CurlTest(Case):
    def test_a_post_is_answered_with_the_result(self):
        self.worker()
        status, headers, body = answer("--data-binary", "hello", self.url)
        self.assertEqual((status, body), (200, b"HELLO"))
        self.assertEqual(headers["version"], "HTTP/1.1")
        self.assertEqual(headers["x-gearman-command"], "WORK_COMPLETE")
        self.assertRegex(headers["x-gearman-job-handle"], r"\A\S+:\d+\Z")
        self.assertEqual(headers["content-type"], "application/octet-stream")
        self.assertEqual(headers["content-length"], "5")

    def test_a_get_has_its_workload_in_the_query(self):
        self.worker(bytes)
        self.assertEqual(answer(f"{self.url}?Hello%20w%C3%B6rld%00%21")[2],
                         b"Hello w\xc3\xb6rld\0!")
        self.assertEqual(answer(self.url)[2], b"")

    def test_a_put_uploads_a_file(self):
        self.worker()
        self.assertEqual(answer("--upload-file", "-", self.url, data=b"from a file")[2],
                         b"FROM A FILE")

    def test_the_root_answers_a_head_and_a_function_does_not(self):
        self.assertEqual(answer("--head", self.root)[::2], (200, b""))
        status, headers, body = answer("--head", self.url)
        self.assertEqual((status, body), (405, b""))
        self.assertIn("POST", headers["allow"])

    def test_a_body_in_chunks_arrives_whole(self):
        self.worker()
        body = b"0123456789abcde\n" * 65536
        status, _, result = answer("--header", "Transfer-Encoding: chunked", "--data-binary", "@-",
                                   self.url, data=body)
        self.assertEqual(status, 200)
        self.assertEqual(result, body.upper())

    def test_a_client_that_expects_a_100_gets_it_and_sends_its_body(self):
        self.worker(lambda workload: str(len(workload)).encode())
        text, said, _ = curl("--verbose", "--header", "Expect: 100-continue", "--expect100-timeout",
                             str(SECONDS), "--data-binary", "@-", self.url, data=b"x" * 1000000)
        self.assertEqual(text, b"1000000")
        self.assertIn("< HTTP/1.1 100 Continue", said)

    def test_a_body_that_is_too_large_is_refused_before_it_is_sent(self):
        with tempfile.NamedTemporaryFile() as file:
            file.truncate((64 << 20) + 1)
            text, _, _ = curl("--header", "Expect: 100-continue", "--expect100-timeout",
                              str(SECONDS), "--output", os.devnull, "--write-out",
                              "%{http_code} %{size_upload}", "--upload-file", file.name, self.url)
        self.assertEqual(text, b"413 0")

    def test_http_1_0_is_answered_as_such(self):
        self.worker()
        status, headers, body = answer("--http1.0", "--data-binary", "old", self.url)
        self.assertEqual((status, headers["version"], body), (200, "HTTP/1.0", b"OLD"))
        self.assertEqual(headers["connection"], "close")

    def test_two_urls_share_a_connection(self):
        self.worker(bytes)
        text, _, _ = curl("--write-out", " %{num_connects}\n", f"{self.url}?a", f"{self.url}?b")
        self.assertEqual(text, b"a 1\nb 0\n")

    def test_a_failed_job_is_an_error_to_curl(self):
        def refuse(_):
            raise Refused
        self.worker(refuse)
        _, said, code = curl("--fail", "--data-binary", "x", self.url)
        self.assertEqual(code, 22)
        self.assertIn("500", said)
        status, headers, body = answer("--data-binary", "x", self.url)
        self.assertEqual((status, headers["x-gearman-command"]), (500, "WORK_FAIL"))
        self.assertEqual(list(json.loads(body)), ["error"])

    def test_a_background_job_is_accepted_at_once(self):
        status, headers, body = answer("--header", "X-Gearman-Background: true", "--data-binary",
                                       "x", self.url)
        self.assertEqual((status, body), (200, b""))
        self.assertEqual(headers["x-gearman-command"], "JOB_CREATED")

    def test_events_are_printed_as_they_come(self):
        self.worker()
        text, _, _ = curl("--no-buffer", "--header", "Accept: text/event-stream", "--data-binary",
                          "x", self.url)
        created, complete, end = text.decode().split("\n\n")
        self.assertIn("event: created\n", created)
        self.assertEqual(json.loads(complete.partition("data: ")[2])["data"], "X")
        self.assertEqual(end, "")

    def test_a_client_that_gives_up_takes_its_job_away(self):
        _, _, code = curl("--max-time", "0.2", "--data-binary", "x", self.url)
        self.assertEqual(code, 28)
        # Its function goes with it.
        while self.is_listed():
            pass
        worked = []

        def note(workload):
            worked.append(workload)
            return b""
        self.worker(note)
        self.assertEqual(answer("--data-binary", "y", self.url)[0], 200)
        self.assertEqual(worked, [b"y"])


if __name__ == "__main__":
    http_parties.main()
