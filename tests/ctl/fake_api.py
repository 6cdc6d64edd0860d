# SPDX-License-Identifier: MIT
"""A fake of a broker's API. It checks every request, and its own answers, against the contract,
records the requests, and answers as a test tells it."""

import fnmatch
import http.server
import json
import socketserver
import sys
import threading
import urllib.parse

import contract
import samples


class Request:
    def __init__(self, handler, body):
        self.method, self.target = handler.command, handler.path
        parts = urllib.parse.urlsplit(handler.path)
        self.path = parts.path
        self.query = dict(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
        self.headers = dict(handler.headers.items())
        self.body = json.loads(body) if body else None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def address_string(self):
        return "test"

    def answer(self, status, value, kind="application/json"):
        raw = value if isinstance(value, bytes) else json.dumps(value, indent=1).encode()
        if status == 204:
            raw = b""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def serve(self):
        api = self.server.api
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        wrong = contract.request_faults(self.command, self.path, self.headers, body)
        api.faults += wrong
        if wrong:
            return self.answer(400, {"error": "; ".join(wrong)})
        request = Request(self, body)
        api.requests.append(request)
        status, value = api.reply(request)
        if callable(value):
            return value(self)
        kind = "application/json"
        if isinstance(value, bytes):
            kind = "text/plain"
        elif status < 600:
            api.faults += contract.answer_faults(self.command, self.path, status, value)
        return self.answer(status, value, kind)

    do_GET = do_POST = do_PUT = do_DELETE = serve


class Quiet:
    """Programs may close the connection before they have read everything."""
    daemon_threads = True

    def handle_error(self, *_):
        if not isinstance(sys.exc_info()[1], OSError):
            raise sys.exc_info()[1]


class TcpServer(Quiet, http.server.ThreadingHTTPServer):
    pass


class UnixServer(Quiet, socketserver.ThreadingMixIn, socketserver.UnixStreamServer):

    def get_request(self):
        request, _ = super().get_request()
        return request, ("unix", 0)


class FakeApi:
    """`queues`, `jobs` and `connections` are its state; `overrides` maps (method, path) to
    (status, value), or to a function of the request that returns them."""

    def __init__(self, unix=None, tls=None):
        self.queues = [samples.queue("mail", ready=12, buried=2, reserved=1, workers=2, waiting=1),
                       samples.queue("idle"), samples.queue("thumbs", ready=3, delayed=40)]
        self.jobs = {number: samples.job(number) for number in range(1, 6)}
        self.connections = [samples.connection(number) for number in range(1, 4)]
        self.schedules = [samples.schedule(), samples.schedule(
            "weekly", timezone=None, in_file=False, at_run_time=True, fired_at=None,
            last={"outcome": "given_up", "at": samples.NOW, "why": "the queue is full",
                  "job": None})]
        self.operations = {}
        self.policies = [samples.policy("mail*", "api", 10, rate="5/m", max_jobs=5),
                         samples.policy("*", count_releases=True)]
        self.overrides = {}
        self.requests, self.faults = [], []
        self.touches = 7  # jobs that each operation finds
        self.steps = 0  # how often an operation is said to run before it is done
        self.draining = False
        self.logged = ""
        self.cluster = samples.alone()
        if unix:
            self.server = UnixServer(unix, Handler)
            self.address = f"unix:{unix}"
        else:
            self.server = TcpServer(("127.0.0.1", 0), Handler)
            self.address = f"http{'s' * bool(tls)}://127.0.0.1:{self.server.server_address[1]}"
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.server.api = self
        self.thread = threading.Thread(target=self.server.serve_forever,
                                       kwargs={"poll_interval": 0.01})
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def asked(self, method=None):
        """The requests, as (method, target)."""
        return [(one.method, one.target) for one in self.requests
                if method in (None, one.method)]

    def reply(self, request):
        """(status, value of the answer)"""
        override = self.overrides.get((request.method, request.path))
        if override:
            return override(request) if callable(override) else override
        _, template, names = contract.find(request.method, request.path)
        name = f"{request.method.lower()}_" + "_".join(
            part.strip("{}").replace("-", "_") for part in template.removeprefix("/api/v1").split("/") if part)
        return getattr(self, name)(request, **names)

    #
    # Contents
    #

    def get_process(self, _):
        return 200, samples.process(self.queues, draining=self.draining)

    def page(self, items, request, key):
        start, limit = int(request.query.get("cursor", 0)), int(request.query.get("limit", 100))
        end = start + limit
        return {key: items[start:end], "next": str(end) if end < len(items) else None}

    def get_queues(self, request):
        found = [one for one in self.queues
                 if request.query.get("search", "") in one["name"]
                 and fnmatch.fnmatchcase(one["name"], request.query.get("name", "*"))]
        sort = request.query.get("sort", "name")
        column = sort.removeprefix("-")

        def key(one):
            return one[column] if column in one else one["jobs"].get(column,
                                                                     one["totals"].get(column))
        found.sort(key=lambda one: (key(one) is not None, key(one)), reverse=sort.startswith("-"))
        return 200, {**self.page(found, request, "queues"), "total": len(self.queues),
                     "matched": len(found)}

    def queue(self, name):
        return next((one for one in self.queues if one["name"] == name), None)

    def get_queues_name(self, _, name):
        found = self.queue(name)
        return (200, samples.detail(found)) if found else (404, {"error": f"no queue {name}"})

    def get_queues_name_jobs(self, request, name):
        jobs = [one for one in self.jobs.values()
                if one["queue"] == name and one["state"] == request.query.get("state", "ready")]
        return 200, self.page(jobs, request, "jobs")

    def get_jobs_id(self, _, id):
        found = self.jobs.get(int(id))
        return (200, samples.job_detail(found)) if found else self.no_job(id)

    def get_connections(self, request):
        return 200, {**self.page(self.connections, request, "connections"),
                     "total": len(self.connections)}

    get_workers = get_connections

    def get_connections_id(self, _, id):
        return 200, {**samples.connection(int(id)), "queues": ["mail", "thumbs"],
                     "queue_paths": ["mail", "thumbs"],
                     "jobs": [samples.job(3, state="reserved", left_seconds=12)]}

    def get_schedules(self, request):
        return 200, self.page(self.schedules, request, "schedules")

    def schedule(self, name):
        return next((one for one in self.schedules if one["name"] == name), None)

    @staticmethod
    def no_schedule(name):
        return 404, {"error": f"no schedule {name}"}

    def get_schedules_name(self, _, name):
        found = self.schedule(name)
        return (200, samples.schedule_detail(found)) if found else self.no_schedule(name)

    def put_schedules_name(self, request, name):
        asked = {"timezone": None, **request.body}
        body = asked.pop("body", "")
        return 200, samples.schedule_detail(samples.schedule(name, **asked), body)

    def delete_schedules_name(self, _, name):
        return (204, None) if self.schedule(name) else self.no_schedule(name)

    def post_schedules_name_run(self, _, name):
        return (201, {"id": 4712, "joined": False}) if self.schedule(name) else \
            self.no_schedule(name)

    def post_schedules_name_replan(self, _, name):
        found = self.schedule(name)
        return (200, samples.schedule_detail(found)) if found else self.no_schedule(name)

    def get_journal(self, _):
        return 200, samples.journal()

    def get_config(self, _):
        return 200, samples.config()

    def get_policies(self, _):
        return 200, {"policies": self.policies}

    def policy(self, glob):
        return next((one for one in self.policies if one["glob"] == glob), None)

    def get_policies_glob(self, _, glob):
        found = self.policy(glob)
        return (200, found) if found else (404, {"error": "no such thing"})

    def put_policies_glob(self, request, glob):
        settings = dict(request.body)
        position = settings.pop("position", 20)
        self.policies.insert(0, samples.policy(glob, "api", position, **settings))
        return 200, self.policies[0]

    def delete_policies_glob(self, _, glob):
        found = self.policy(glob)
        if not found:
            return 404, {"error": "no such thing"}
        self.policies.remove(found)
        return 204, None

    def get_metrics(self, _):
        return 200, b"# TYPE tandem_jobs gauge\ntandem_jobs 17\n"

    #
    # Changes
    #

    @staticmethod
    def no_job(number):
        return 404, {"error": f"there is no job {number}"}

    def post_jobs(self, request):
        number = max(self.jobs) + 1
        self.jobs[number] = samples.job(number, request.body["queue"])
        return 201, {"id": number, "joined": False}

    def delete_jobs_id(self, _, id):
        return (204, None) if self.jobs.pop(int(id), None) else self.no_job(id)

    def act(self, _request, id):
        found = self.jobs.get(int(id))
        return (200, found) if found else self.no_job(id)

    post_jobs_id_kick = post_jobs_id_bury = post_jobs_id_release = act
    post_jobs_id_touch = post_jobs_id_change = post_jobs_id_move = act

    def post_queues_name_pause(self, request, name):
        return 200, samples.detail({**self.queue(name), "paused": True,
                                    "pause_left_seconds": request.body["seconds"]})

    def post_queues_name_resume(self, _, name):
        return 200, samples.detail(self.queue(name))

    def put_queues_name(self, _, name):
        return 200, samples.detail(samples.queue(name, kept=True))

    def delete_queues_name(self, _request, name):
        return (204, None) if self.queue(name) else (404, {"error": f"no queue {name}"})

    def put_queues_name_limits(self, request, name):
        return 200, samples.detail(samples.queue(name, limits=request.body))

    def post_push_section_resume(self, _, section):
        if section != "mail.*":
            return 404, {"error": "no section of that name has an endpoint"}
        return 200, samples.endpoint(section)

    def post_drain(self, request):
        self.draining = request.body["draining"]
        return 200, {"draining": self.draining}

    def post_log_commands(self, request):
        self.logged = request.body["log_commands"]
        return 200, {"log_commands": self.logged}

    def get_cluster(self, _):
        return 200, self.cluster

    def post_reload(self, _):
        return 200, {"reloaded": True}

    #
    # Operations
    #

    def get_operations(self, _):
        return 200, {"operations": list(self.operations.values())}

    def post_operations(self, request):
        number = len(self.operations) + 1
        running = self.steps > 0
        self.operations[number] = samples.operation(
            number, request.body, "running" if running else "done", 0 if running else self.touches,
            10 * self.touches)
        return 202, self.operations[number]

    def get_operations_id(self, _, id):
        found = self.operations.get(int(id))
        if not found:
            return 404, {"error": f"there is no operation {id}"}
        if found["state"] == "running":
            found["looked_at"] += found["total"] // self.steps
            found["touched"] = found["looked_at"] // 10
            if found["looked_at"] >= found["total"]:
                found.update(state="done", touched=self.touches, finished_at=samples.NOW + 1)
        return 200, found

    def delete_operations_id(self, _, id):
        found = self.operations[int(id)]
        if found["state"] == "running":
            found.update(state="cancelled", finished_at=samples.NOW + 1)
        return 200, found
