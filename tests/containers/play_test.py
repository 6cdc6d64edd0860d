# SPDX-License-Identifier: MIT
"""The manifests of conf/ for containers do what they are for: tandemd runs with their arguments,
environment, mounts and probes, under other paths and ports. INITDB is PostgreSQL's."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).parents[1] / "support"))
import manifests
import playing
import postgres

BACKGROUND = {"X-Gearman-Background": "true"}


class Played(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def started(self, container):
        self.addCleanup(container.stop)
        return container.start()

    def ready(self, container, probe, names):
        playing.until(lambda: container.probe(probe, names))


class Image(Played):
    def test_its_configuration_is_valid_and_its_health_check_succeeds(self):
        said = (playing.ROOT / "Containerfile").read_text()
        check = re.search(r"^HEALTHCHECK .*CMD (\[.*\])$", said, re.M)[1]
        exposed = re.search(r"^EXPOSE (.*)$", said, re.M)[1].split()
        self.assertEqual(set(map(int, exposed)), set(playing.PROTOCOLS) - {playing.ADMIN})
        container = playing.Container(self.folder, {"/var/lib/tandem": self.folder / "journal"}, [])
        self.assertEqual(container.execute([*container.words, "--check-config"])[0], 0)
        # As for a Service called tandem.
        container.environment.update(TANDEM_SERVICE_HOST="10.0.0.1", TANDEM_PORT="tcp://10.0.0.1:1",
                                     TANDEM_SERVICE_PORT_HTTP="8080", TANDEM_PORT_1_TCP_PORT="1")
        self.started(container)
        self.assertEqual(container.execute(manifests.yaml.safe_load(check)), (0, b""))
        self.assertEqual(container.stop(), 0)


class Kubernetes(Played):
    def pod(self, name):
        """The Secret's files and the pod of that manifest."""
        documents = manifests.load(playing.ROOT / f"conf/kubernetes/{name}.yaml")
        secret, = manifests.of_kind(documents, "Secret")
        stateful, = manifests.of_kind(documents, "StatefulSet")
        self.secrets = self.folder / "secrets"
        self.secrets.mkdir()
        for key, text in secret["stringData"].items():
            (self.secrets / key).write_text(text)
        return stateful["spec"]["template"]["spec"]

    def container(self, said, name):
        """`name` is the pod's."""
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        places = {"secrets": self.secrets, "journal": folder / "journal"}
        paths = {mount["mountPath"]: places[mount["name"]] for mount in said["volumeMounts"]}
        fields = {"status.podIP": "127.0.0.1", "metadata.name": name}
        variables = {each["name"]: each["value"] if "value" in each else
                     fields[each["valueFrom"]["fieldRef"]["fieldPath"]]
                     for each in said.get("env", ())}
        words = [re.sub(r"\$\((\w+)\)", lambda found: variables[found[1]], word)
                 for word in said.get("args", ())]
        return playing.Container(folder, paths, words, variables)

    def test_one_broker_keeps_its_jobs_on_the_volume_and_drains_before_it_stops(self):
        said, = self.pod("single")["containers"]
        names = {each["name"]: each["containerPort"] for each in said["ports"]}
        container = self.started(self.container(said, "tandem-0"))
        self.ready(container, said["readinessProbe"], names)
        self.assertTrue(container.probe(said["livenessProbe"], names))
        # By each name of the Service that the arguments have.
        for host in ("tandem", "tandem.default", "tandem.default.svc",
                     "tandem.default.svc.cluster.local"):
            self.assertEqual(playing.http(container.url("http", "/mail"), b"x", Host=host,
                                          **BACKGROUND)[0], 200)
        self.assertEqual(playing.http(container.url("http", "/mail"), b"x", Host="evil.example",
                                      **BACKGROUND)[0], 403)
        self.assertIn(b"tandem_jobs", playing.http(container.url("admin", "/metrics"))[1])
        code, output = container.execute(said["lifecycle"]["preStop"]["exec"]["command"])
        self.assertEqual(code, 0, output)
        self.assertFalse(container.probe(said["readinessProbe"], names))
        self.assertTrue(container.probe(said["livenessProbe"], names))
        self.assertEqual(container.stop(), 0)
        self.ready(container.start(), said["readinessProbe"], names)
        self.assertIn(b"4 ready", container.execute(["tandemctl", "status"])[1])
        self.assertEqual(container.stop(), 0)

    @unittest.skipUnless(postgres.INITDB, "PostgreSQL is not installed")
    def test_two_brokers_share_a_database_and_hand_over_before_they_stop(self):
        pod = self.pod("cluster")
        database = postgres.Cluster()
        self.addCleanup(database.close)
        database.make().start()
        (self.secrets / "postgres").write_text(database.place() + "\n")
        said, = pod["containers"]
        names = {each["name"]: each["containerPort"] for each in said["ports"]}
        pods = []
        for name in ("tandem-0", "tandem-1"):
            # The tables are there for the second one.
            store, = pod["initContainers"]
            self.assertEqual(self.container(store, name).run(), 0)
            pods.append(self.started(self.container(said, name)))
            self.ready(pods[-1], said["readinessProbe"], names)
            if len(pods) == 1:
                self.serves(pods[0])
        first, second = pods
        # The standby forwards it.
        self.assertEqual(playing.until(lambda: self.submits(second)), 200)
        command = said["lifecycle"]["preStop"]["exec"]["command"]
        self.assertEqual(second.execute(command)[0], 0)
        self.serves(first)
        # As soon as the owner knows of the standby.
        playing.until(lambda: b" owns the journal now" in first.execute(command)[1])
        self.serves(second)
        # Without the database, a pod can serve and forward nothing.
        database.stop()
        for each in pods:
            playing.until(lambda: not each.probe(said["readinessProbe"], names))
            self.assertTrue(each.probe(said["livenessProbe"], names))
        database.start()
        for each in pods:
            self.ready(each, said["readinessProbe"], names)
        self.assertEqual(first.stop(), 0)
        # If it had taken over meanwhile, this takes over from it.
        self.serves(second)
        self.assertIn(b"1 ready", second.execute(["tandemctl", "status"])[1])
        self.assertEqual(second.stop(), 0)

    @staticmethod
    def serves(container):
        playing.until(lambda: container.execute(["tandemctl", "health", "--ready"])[0] == 0)

    @staticmethod
    def submits(container):
        """200, or None while the standby does not know the owner."""
        try:
            status, _ = playing.http(container.url("http", "/mail"), b"x", Host="tandem",
                                     **BACKGROUND)
        except OSError:
            return None
        return status if status == 200 else None


class Compose(Played):
    def container(self, service):
        """The files of its mounts are those that the manifest has."""
        paths = {"/var/lib/tandem": self.folder / "journal"}
        for each in service["configs"]:
            path = self.folder / each["source"]
            path.write_text(self.document["configs"][each["source"]]["content"].replace("$$", "$"))
            paths[each["target"]] = path
        return playing.Container(self.folder, paths, service.get("command", []),
                                 service.get("environment"))

    def test_the_worker_answers_a_client_of_the_broker(self):
        self.document, = manifests.load(manifests.COMPOSE)
        said = self.document["services"]["tandem"]
        container = self.started(self.container(said))
        how, *check = said["healthcheck"]["test"]
        self.assertEqual(how, "CMD")
        playing.until(lambda: container.execute(check)[0] == 0)
        worker = self.document["services"]["worker"]
        script = self.container(worker).paths[worker["configs"][0]["target"]]
        url = container.url("http", "")
        # urllib sends the name of the Service in Host.
        running = subprocess.Popen([sys.executable, "-B", "-u", script],
                                   env={**os.environ, "TANDEM_HTTP": url})
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        self.assertEqual(playing.http(f"{url}/reverse", b"hello", Host="tandem:8080"),
                         (200, b"olleh"))
        # Prometheus' request.
        target, = manifests.yaml.safe_load(self.document["configs"]["prometheus"]["content"])[
            "scrape_configs"][0]["static_configs"][0]["targets"]
        status, body = playing.http(container.url("admin", "/metrics"), Host=target)
        self.assertEqual((status, b"tandem_jobs" in body), (200, True))
        self.assertEqual(container.stop(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
