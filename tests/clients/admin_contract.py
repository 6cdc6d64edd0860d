# SPDX-License-Identifier: MIT
"""The API of operators as a document promises it: each answer is compared with what openapi.json
says of its path, method and status."""

import http.client
import json
import pathlib
import urllib.parse

import jsonschema

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "admin" / "openapi.json"
JSON = "application/json"
CHANGES = "post", "put", "delete"
SECONDS = 60  # only what hangs takes so long


class Contract:
    """`visited` has the statuses that were answered, by (path, method)."""

    def __init__(self, document):
        self.document = document
        self.visited = {(path, method): set() for path, item in document["paths"].items()
                        for method in item}

    def resolve(self, part):
        """The target of a reference in the document."""
        while "$ref" in part:
            found = self.document
            for step in part["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            part = found
        return part

    def check_value(self, schema, value):
        # References are looked up from the root of what is given.
        rooted = {"components": self.document["components"], **schema}
        jsonschema.Draft202012Validator(rooted).validate(value)

    def check_component(self, name, value):
        self.check_value({"$ref": f"#/components/schemas/{name}"}, value)

    def check(self, path, method, status, kind, body):
        """Returns the document of the answer, or its bytes where it is none."""
        responses = self.document["paths"][path][method]["responses"]
        where = f"{method} {path}: {status} {body[:300]!r}"
        assert str(status) in responses, f"{where} is not in the document"
        self.visited[path, method].add(status)
        content = self.resolve(responses[str(status)]).get("content")
        if not content:
            assert not body, f"{where} has a body"
            return None
        kind = kind.split(";")[0]
        assert kind in content, f"{where} is {kind}"
        if kind != JSON:
            return body
        value = json.loads(body)
        self.check_value(content[kind]["schema"], value)
        return value


class Operator:
    """Asks, and has each answer checked."""

    def __init__(self, contract, address, headers=()):
        self.contract = contract
        self.address = address
        self.headers = dict(headers)
        host, port = address.rsplit(":", 1)
        self.connection = http.client.HTTPConnection(host, int(port), timeout=SECONDS)

    def close(self):
        self.connection.close()

    def ask(self, method, path, expected, args=(), query=None, document=None, body=None,
            headers=()):
        """`path` is as in the document, `args` stand for its braces. Of a document, `body` is the
        text. Returns what was answered, by that status."""
        target = path
        for arg in args:
            start, _, rest = target.partition("{")
            quoted = urllib.parse.quote(str(arg), safe="")
            target = start + quoted + rest.partition("}")[2]
        if query:
            target += "?" + urllib.parse.urlencode(query)
        sent = {**self.headers, **dict(headers)}
        if method in CHANGES:
            sent.setdefault("X-Tandem-Request", "1")
        sent = {name: value for name, value in sent.items() if value is not None}
        if document is not None:
            body = json.dumps(document)
        self.connection.request(method.upper(), target, body, sent)
        answer = self.connection.getresponse()
        said = answer.read()
        assert answer.status == expected, \
            f"{method} {target}: {answer.status}, not {expected}: {said[:300]!r}"
        return self.contract.check(path, method, answer.status,
                                   answer.getheader("Content-Type", ""), said)


def read_document():
    return json.loads(DOCUMENT.read_text())


def objects_in(part, place="#"):
    """Each schema of an object in the document, and where it stands."""
    if isinstance(part, dict):
        kind = part.get("type")
        if kind == "object" or (isinstance(kind, list) and "object" in kind):
            yield place, part
        for name, inner in part.items():
            yield from objects_in(inner, f"{place}/{name}")
    elif isinstance(part, list):
        for number, inner in enumerate(part):
            yield from objects_in(inner, f"{place}/{number}")
