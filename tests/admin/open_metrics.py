# SPDX-License-Identifier: MIT
"""Strict parser of OpenMetrics 1.0 by its specification, and, for comparison, of the Prometheus
format 0.0.4. Malformed text raises Malformed."""

import math
import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
META = re.compile(rf"# (HELP|TYPE|UNIT) ({NAME}) (.*)")
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
SUFFIXES = {"gauge": {""}, "counter": {"_total"}, "histogram": {"_bucket", "_sum", "_count"}}
ESCAPED = {"\\\\": "\\", '\\"': '"', "\\n": "\n"}


class Malformed(Exception):
    pass


def check(good, what, line=""):
    if not good:
        raise Malformed(f"{what}: {line}")


class Family:
    def __init__(self, name):
        self.name, self.type, self.help, self.unit = name, None, None, None
        self.samples = {}  # (name, labels as a sorted tuple) -> value


def labels_of(text, line):
    """Name -> value, for the text in braces."""
    labels, at = {}, 0
    while at < len(text):
        found = LABEL.match(text, at)
        check(found, "no label", line)
        check(found[1] not in labels and not found[1].startswith("__"), "label", line)
        labels[found[1]] = re.sub(r'\\[\\"n]', lambda escape: ESCAPED[escape[0]], found[2])
        at = found.end()
        check(at == len(text) or text[at] == ",", "no comma", line)
        at += 1
    check(not text.endswith(","), "a comma at the end", line)
    return labels


def value_of(text, line):
    check(re.fullmatch(r"-?\d+(\.\d+)?", text), "no plain number", line)
    return float(text) if "." in text else int(text)


class Reader:
    """Reads one text; `families` is by name."""

    def __init__(self, text, open_metrics):
        self.open = open_metrics
        self.families, self.family, self.names = {}, None, {}
        text = text.decode("utf-8")
        check(text.endswith("\n"), "no line break at the end")
        lines = text[:-1].split("\n")
        if open_metrics:
            check(lines.pop() == "# EOF", "no end")
        for line in lines:
            check(line and line != "# EOF", "an empty line, or an end before the end", line)
            (self.meta if line.startswith("#") else self.sample)(line)
        for family in self.families.values():
            self.end_family(family)

    def meta(self, line):
        found = META.fullmatch(line)
        check(found, "no comment is allowed", line)
        word, name, text = found.groups()
        if not self.family or self.family.name != name:
            check(name not in self.families, "a family occurs twice", line)
            self.family = self.families[name] = Family(name)
        check(not self.family.samples, "what a family is comes behind its samples", line)
        check(getattr(self.family, word.lower()) is None, "occurs twice", line)
        setattr(self.family, word.lower(), text)
        if word == "TYPE":
            check(text in SUFFIXES, "no type that we know", line)
        if word == "UNIT":
            check(self.open and name.endswith("_" + text), "the name does not end with the unit", line)

    def suffixes(self, family):
        return SUFFIXES[family.type] if self.open or family.type != "counter" else {""}

    def sample(self, line):
        found = SAMPLE.fullmatch(line)
        check(found and self.family, "no sample", line)
        name, labels, value = found.groups()
        check(labels != "", "empty braces", line)
        family = self.family
        check(name.startswith(family.name) and name[len(family.name):] in self.suffixes(family),
              "a sample of another family", line)
        check(self.names.setdefault(name, family) is family, "a name of two families", line)
        labels = labels_of(labels or "", line)
        key = name, tuple(sorted(labels.items()))
        check(key not in family.samples, "a series occurs twice", line)
        check(("le" in labels) == name.endswith("_bucket"), "le", line)
        if "le" in labels and labels["le"] != "+Inf":
            check(re.fullmatch(r"\d+\.\d+" if self.open else r"\d+(\.\d+)?", labels["le"]),
                  "a bound that is spelt otherwise", line)
        family.samples[key] = value_of(value, line)
        check(family.samples[key] >= 0, "a value below 0", line)

    def end_family(self, family):
        check(family.type and family.help, "no type, or no help", family.name)
        if family.type == "histogram":
            check_histogram(family)


def check_histogram(family):
    series = {}
    for (name, labels), value in family.samples.items():
        others = tuple(pair for pair in labels if pair[0] != "le")
        parts = series.setdefault(others, {"buckets": []})
        if name.endswith("_bucket"):
            parts["buckets"].append((float(dict(labels)["le"]), value))
        else:
            parts[name.rpartition("_")[2]] = value
    for others, parts in series.items():
        buckets = parts["buckets"]
        check(set(parts) == {"buckets", "sum", "count"}, "a part is missing", others)
        check(buckets == sorted(buckets) and len({end for end, _ in buckets}) == len(buckets),
              "bounds do not rise", others)
        counts = [count for _, count in buckets]
        check(counts == sorted(counts), "buckets fall", others)
        check(buckets[-1] == (math.inf, parts["count"]), "+Inf is not all", others)


def read(text, open_metrics):
    """Families by name; those of counters end with _total in both formats."""
    families = {}
    for name, family in Reader(text, open_metrics).families.items():
        if open_metrics and family.type == "counter":
            name += "_total"
        families[name] = family
    return families


def samples(families):
    """(name, labels as a sorted tuple) -> value."""
    return {key: value for family in families.values() for key, value in family.samples.items()}
