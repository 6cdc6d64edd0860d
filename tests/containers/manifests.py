# SPDX-License-Identifier: MIT
"""The manifests of conf/ for containers, and what is wrong with one."""

import pathlib
import re

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
KUBERNETES = sorted((ROOT / "conf/kubernetes").glob("*.yaml"))
COMPOSE = ROOT / "conf/compose.yaml"
APP = "app.kubernetes.io/name"


def load(path):
    """The documents of the file."""
    with open(path, encoding="utf-8") as file:
        return list(yaml.safe_load_all(file))


def validator(name):
    schema, = load(pathlib.Path(__file__).with_name(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


SCHEMAS = {"kubernetes": validator("kubernetes.schema.yaml"),
           "compose": validator("compose.schema.yaml")}


def schema_faults(document, name):
    """Of the branches of oneOf, only the one of the document's kind counts."""
    for error in SCHEMAS[name].iter_errors(document):
        branches = {}
        for each in error.context:
            branches.setdefault(each.schema_path[0], []).append(each)
        kinds = [found for found in branches.values()
                 if not any(list(each.path) == ["kind"] for each in found)]
        for each in kinds[0] if kinds else [error]:
            yield f"{'.'.join(map(str, each.absolute_path))}: {each.message}"


def of_kind(documents, kind):
    return [each for each in documents if each["kind"] == kind]


def kubernetes_faults(documents):
    """Faults that the schema cannot find: names that refer to nothing."""
    for document in documents:
        yield from schema_faults(document, "kubernetes")
    stateful, = of_kind(documents, "StatefulSet")
    spec = stateful["spec"]
    pod = spec["template"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    ports = {port["name"] for port in pod["containers"][0]["ports"]}
    services = {each["metadata"]["name"]: each["spec"] for each in of_kind(documents, "Service")}
    if spec["serviceName"] not in services:
        yield f"no Service {spec['serviceName']}"
    selectors = [spec["selector"]["matchLabels"], *(each["selector"] for each in services.values()),
                 *(each["spec"]["podSelector"]["matchLabels"]
                   for each in of_kind(documents, "NetworkPolicy")),
                 *(each["spec"]["selector"]["matchLabels"]
                   for each in of_kind(documents, "PodDisruptionBudget"))]
    for selector in selectors:
        if not selector.items() <= labels.items():
            yield f"{selector} selects no pod"
    used = [port["targetPort"] for each in services.values() for port in each["ports"]]
    used += [port["port"] for each in of_kind(documents, "NetworkPolicy")
             for rule in each["spec"]["ingress"] for port in rule["ports"]]
    used += [pod["containers"][0][probe]["httpGet"]["port"]
             for probe in ("livenessProbe", "readinessProbe")
             if "httpGet" in pod["containers"][0][probe]]
    yield from (f"no port {port}" for port in set(used) - ports)
    yield from volume_faults(documents, spec)


def volume_faults(documents, spec):
    pod = spec["template"]["spec"]
    volumes = {each["name"] for each in pod["volumes"]}
    volumes |= {each["metadata"]["name"] for each in spec.get("volumeClaimTemplates", ())}
    secrets = {each["metadata"]["name"] for each in of_kind(documents, "Secret")}
    mounted = set()
    for container in (*pod.get("initContainers", ()), *pod["containers"]):
        mounted |= {mount["name"] for mount in container["volumeMounts"]}
    if mounted != volumes:
        yield f"mounted are {mounted}, but there are {volumes}"
    for volume in pod["volumes"]:
        if volume["secret"]["secretName"] not in secrets:
            yield f"no Secret {volume['secret']['secretName']}"


def compose_faults(document):
    yield from schema_faults(document, "compose")
    for name, service in document["services"].items():
        # Compose copies files with a content into the container, and cannot if its root is read-only.
        if service.get("configs") and service.get("read_only"):
            yield f"{name}: configs and read_only"
        for each in service.get("configs", ()):
            if each["source"] not in document["configs"]:
                yield f"{name}: no config {each['source']}"
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            if source.startswith("."):
                if not (COMPOSE.parent / source).exists():
                    yield f"{name}: no file {source}"
            elif source not in document["volumes"]:
                yield f"{name}: no volume {source}"
        for other in service.get("depends_on", ()):
            if "healthcheck" not in document["services"].get(other, ()):
                yield f"{name}: {other} has no health check"
    # Compose itself would replace these.
    if re.search(r"(?<!\$)\$(?!\$)", COMPOSE.read_text(encoding="utf-8")):
        yield "a $ is not doubled"
