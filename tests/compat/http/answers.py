# SPDX-License-Identifier: MIT
"""Requests and answers. Text is latin-1, so that any byte can be written."""

import dataclasses
from typing import Optional

COMMAND = "x-gearman-command"
HANDLE = "x-gearman-job-handle"


@dataclasses.dataclass
class Answer:
    """The parts that scripts compare: the status, the fields about the job, and the body."""

    status: str
    command: Optional[str] = None
    handle: Optional[str] = None
    body: str = ""
    version: str = dataclasses.field(default="", compare=False, repr=False)
    headers: dict = dataclasses.field(default_factory=dict, compare=False, repr=False)

    @staticmethod
    def read(head):
        """An answer without its body."""
        line, *fields = head[:-4].split("\r\n")
        version, _, status = line.partition(" ")
        headers = {}
        for field in fields:
            name, _, value = field.partition(":")
            headers[name.lower()] = value.strip()
        return Answer(status, headers.get(COMMAND), headers.get(HANDLE), "", version, headers)

    def length(self):
        """None where the answer does not say how long its body is."""
        if self.status.startswith("204"):
            return 0
        length = self.headers.get("content-length")
        return None if length is None else int(length)


def complete(job, body=""):
    return Answer("200 OK", "WORK_COMPLETE", job, body)


def created(job):
    return Answer("200 OK", "JOB_CREATED", job)


def failed(status, job, why):
    return Answer(status, "WORK_FAIL", job, error(why))


def refused(status, why):
    """Of a submission."""
    return Answer(status, "ERROR", None, error(why))


def wrong(status, why):
    """Of a request that is wrong by itself."""
    return Answer(status, None, None, error(why))


def error(why):
    return f'{{"error": "{why}"}}\n'


def request(method, target, *fields, body=None, version="1.1"):
    """The bytes of a request; a length is said where there is a body."""
    lines = [f"{method} {target} HTTP/{version}", "Host: localhost", *fields]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines) + "\r\n\r\n" + (body or "")


def post(target, body, *fields):
    return request("POST", target, *fields, body=body)


def post_bg(target, body, *fields):
    return post(target, body, "X-Gearman-Background: true", *fields)
