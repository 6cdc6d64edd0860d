# SPDX-License-Identifier: MIT
"""The manifests of conf/ for containers fit their schema, and the names in them refer to something."""

import copy
import json
import os
import subprocess
import tempfile
import unittest

import manifests

PROMTOOL = os.environ.get("PROMTOOL", "promtool")


def pod_of(documents):
    stateful, = manifests.of_kind(documents, "StatefulSet")
    return stateful["spec"]["template"]["spec"]


class Kubernetes(unittest.TestCase):
    def test_every_manifest_is_valid(self):
        self.assertEqual([path.stem for path in manifests.KUBERNETES], ["cluster", "single"])
        for path in manifests.KUBERNETES:
            with self.subTest(path=path.name):
                self.assertEqual(list(manifests.kubernetes_faults(manifests.load(path))), [])

    def test_no_container_has_more_rights_than_it_needs(self):
        for path in manifests.KUBERNETES:
            pod = pod_of(manifests.load(path))
            self.assertEqual((pod["securityContext"]["runAsUser"], pod["enableServiceLinks"],
                              pod["automountServiceAccountToken"]), (10001, False, False))
            for container in (*pod.get("initContainers", ()), *pod["containers"]):
                with self.subTest(path=path.name, container=container["name"]):
                    self.assertEqual(container["securityContext"], {
                        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                        "capabilities": {"drop": ["ALL"]}})

    def test_workers_reach_a_broker_that_drains_and_is_not_ready(self):
        documents = manifests.load(next(path for path in manifests.KUBERNETES
                                        if path.stem == "single"))
        container, = pod_of(documents)["containers"]
        self.assertEqual(container["readinessProbe"]["httpGet"]["path"], "/readyz")
        for each in manifests.of_kind(documents, "Service"):
            self.assertTrue(each["spec"].get("publishNotReadyAddresses"), each["metadata"]["name"])

    def test_a_wrong_name_type_or_reference_is_found(self):
        sound = manifests.load(manifests.KUBERNETES[0])

        def wrong(change):
            documents = copy.deepcopy(sound)
            change(documents, pod_of(documents))
            return list(manifests.kubernetes_faults(documents))

        for change in (
                lambda all, pod: pod.update(terminationGracePeriod=60),
                lambda all, pod: pod["containers"][0].update(readynessProbe={}),
                lambda all, pod: pod["containers"][0].update(args=[1]),
                lambda all, pod: pod["containers"][0]["livenessProbe"]["httpGet"].update(port="x"),
                lambda all, pod: pod["containers"][0]["volumeMounts"].append(
                    {"name": "journal", "mountPath": "/var/lib/tandem"}),
                lambda all, pod: pod["volumes"][0]["secret"].update(secretName="other"),
                lambda all, pod: all[1]["spec"]["selector"].update(tier="front"),
                lambda all, pod: all[0].update(kind="Secrets"),
                lambda all, pod: all.append({"apiVersion": "v1", "kind": "Pod", "metadata": {}})):
            self.assertNotEqual(wrong(change), [])


class Ignored(unittest.TestCase):
    def test_every_engine_leaves_out_the_same_files(self):
        first, second = ((manifests.ROOT / name).read_text()
                         for name in (".containerignore", ".dockerignore"))
        self.assertEqual(first, second)


class Compose(unittest.TestCase):
    def setUp(self):
        self.document, = manifests.load(manifests.COMPOSE)

    def test_it_is_valid(self):
        self.assertEqual(list(manifests.compose_faults(self.document)), [])

    def test_a_broker_that_reads_its_journal_is_not_given_up(self):
        for name, service in self.document["services"].items():
            check = service.get("healthcheck", {})
            with self.subTest(service=name):
                self.assertEqual("--ready" in check.get("test", ()), "start_period" in check)

    def test_a_wrong_name_or_reference_is_found(self):
        for change in (lambda all: all["services"]["tandem"].update(volume=[]),
                       lambda all: all["services"]["tandem"]["volumes"].append("other:/other"),
                       lambda all: all["services"]["grafana"]["volumes"].append("./x.json:/x.json"),
                       lambda all: all["configs"].pop("worker"),
                       lambda all: all["services"]["worker"].update(read_only=True),
                       lambda all: all["services"]["tandem"].update(ports=["0.0.0.0:1:1"])):
            document = copy.deepcopy(self.document)
            change(document)
            self.assertNotEqual(list(manifests.compose_faults(document)), [])

    @unittest.skipUnless(os.path.exists(PROMTOOL), "promtool is not installed")
    def test_prometheus_accepts_its_configuration(self):
        prometheus = self.document["services"]["prometheus"]
        each, = prometheus["configs"]
        rules, = [volume.split(":")[:2] for volume in prometheus["volumes"]
                  if volume.startswith(".")]
        text = self.document["configs"][each["source"]]["content"]
        self.assertIn(rules[1], text)
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write(text.replace(rules[1], str(manifests.COMPOSE.parent / rules[0])))
            file.flush()
            done = subprocess.run([PROMTOOL, "check", "config", file.name], capture_output=True,
                                  text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_grafana_finds_the_dashboard_and_its_source(self):
        grafana = self.document["services"]["grafana"]
        provided = {each["source"]: manifests.yaml.safe_load(
            self.document["configs"][each["source"]]["content"]) for each in grafana["configs"]}
        folder = provided["grafana-dashboards"]["providers"][0]["options"]["path"]
        self.assertIn(f"./grafana-tandem.json:{folder}/tandem.json:ro", grafana["volumes"])
        source, = provided["grafana-source"]["datasources"]
        dashboard = json.loads((manifests.COMPOSE.parent / "grafana-tandem.json").read_text())
        variable, = [each for each in dashboard["templating"]["list"]
                     if each["type"] == "datasource"]
        self.assertEqual((source["type"], source["isDefault"]), (variable["query"], True))


if __name__ == "__main__":
    unittest.main(verbosity=2)
