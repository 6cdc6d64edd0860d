# SPDX-License-Identifier: MIT
"""Compares requests and answers with admin/openapi.json; each difference is a text. Keywords of
JSON Schema that the document does not use are an error."""

import json
import pathlib
import re
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = json.loads((ROOT / "admin/openapi.json").read_text())

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
SAYS_NOTHING = {"description", "default", "format", "contentEncoding"}


def resolve(node):
    while "$ref" in node:
        found = DOCUMENT
        for key in node["$ref"].removeprefix("#/").split("/"):
            found = found[key]
        node = found
    return node


def is_of_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def object_faults(value, schema, where):
    for key in schema.get("required", ()):
        if key not in value:
            yield f"{where}: {key} is missing"
    known = schema.get("properties", {})
    for key, item in value.items():
        rest = schema.get("additionalProperties", True)
        if key in known:
            yield from faults(item, known[key], f"{where}.{key}")
        elif rest is False:
            yield f"{where}: {key} is not known"
        elif isinstance(rest, dict):
            yield from faults(item, rest, f"{where}.{key}")


def number_faults(value, schema, where):
    if value < schema.get("minimum", value) or value > schema.get("maximum", value):
        yield f"{where}: {value} is out of range"


def choice_faults(value, choices, where):
    found = [list(faults(value, choice, where)) for choice in choices]
    if sum(not wrong for wrong in found) != 1:
        yield f"{where}: not exactly one fits: {found}"


def faults(value, schema, where="value"):
    """The differences of the value from the schema."""
    schema = resolve(schema)
    unknown = set(schema) - SAYS_NOTHING - {
        "type", "properties", "required", "additionalProperties", "items", "enum", "minimum",
        "maximum", "pattern", "minLength", "maxLength", "oneOf", "anyOf"}
    assert not unknown, unknown
    if "oneOf" in schema or "anyOf" in schema:
        yield from choice_faults(value, schema.get("oneOf") or schema["anyOf"], where)
    names = schema.get("type", ())
    names = [names] if isinstance(names, str) else names
    if names and not any(is_of_type(value, name) for name in names):
        yield f"{where}: {value!r} is not {names}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is not one of {schema['enum']}"
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        yield f"{where}: {value!r} is not like {schema['pattern']}"
    if isinstance(value, dict):
        yield from object_faults(value, schema, where)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from faults(item, schema.get("items", {}), f"{where}[{index}]")
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield from number_faults(value, schema, where)


def find(method, path):
    """(operation of the document, its path template, parameters in the path)"""
    for template, methods in DOCUMENT["paths"].items():
        pattern = re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template)
        match = re.fullmatch(pattern, path)
        if match and method.lower() in methods:
            names = {key: urllib.parse.unquote(text) for key, text in match.groupdict().items()}
            return methods[method.lower()], template, names
    return None, None, {}


def query_faults(entry, query):
    known = {}
    for parameter in map(resolve, entry.get("parameters", ())):
        if parameter["in"] == "query":
            known[parameter["name"]] = parameter["schema"]
    for key, text in query:
        if key not in known:
            yield f"the parameter {key} is not known"
            continue
        schema = resolve(known[key])
        value = int(text) if schema["type"] == "integer" and text.isdigit() else text
        yield from faults(value, schema, f"parameter {key}")


def request_faults(method, target, headers, body):
    """The differences of a request from the document; `body` is bytes."""
    parts = urllib.parse.urlsplit(target)
    entry, template, _ = find(method, parts.path)
    if not entry:
        return [f"there is no {method} {parts.path}"]
    wrong = list(query_faults(entry, urllib.parse.parse_qsl(parts.query, keep_blank_values=True)))
    if method != "GET" and not headers.get("X-Tandem-Request"):
        wrong.append("X-Tandem-Request is missing")
    if "requestBody" in entry:
        if headers.get("Content-Type") != "application/json":
            wrong.append("the body is not said to be JSON")
        schema = entry["requestBody"]["content"]["application/json"]["schema"]
        wrong += faults(json.loads(body or b"null"), schema, f"body of {template}")
    elif body:
        wrong.append("there is a body")
    return wrong


def answer_faults(method, path, status, value):
    """The differences of an answer; `value` is its parsed JSON, None if there is no body."""
    entry, template, _ = find(method, urllib.parse.urlsplit(path).path)
    if not entry:
        return []
    response = entry["responses"].get(str(status))
    if response is None:
        return [f"{template} does not answer {status}"]
    content = resolve(response).get("content")
    if not content:
        return [] if value is None else ["there is a body"]
    if "application/json" not in content:
        return []
    return list(faults(value, content["application/json"]["schema"], f"answer of {template}"))
