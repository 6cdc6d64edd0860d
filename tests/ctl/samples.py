# SPDX-License-Identifier: MIT
"""Samples of objects that a broker returns, as in the contract."""

import urllib.parse

NOW = 1_700_000_000.0


def histogram(*counts):
    ends = [0.001, 0.01, 0.1, 1, None]
    counts = (list(counts) + [0] * len(ends))[:len(ends)]
    return {"count": sum(counts), "sum_seconds": 0.02 * sum(counts),
            "buckets": [{"le_seconds": end, "count": count} for end, count in zip(ends, counts)]}


def totals(**changed):
    names = ("submitted", "completed", "failed", "buried", "timeouts", "retries", "deleted",
             "released", "kicked", "expired", "dead")
    return {**dict.fromkeys(names, 0), **changed}


def queue(name, ready=0, delayed=0, reserved=0, buried=0, **changed):
    return {"name": name, "path": urllib.parse.quote(name, safe=""),
            "jobs": {"ready": ready, "delayed": delayed, "reserved": reserved, "buried": buried},
            "bands": {"high": 0, "normal": ready, "low": 0},
            "totals": totals(submitted=ready + delayed + reserved + buried),
            "oldest_ready_seconds": 75.0 if ready else None, "workers": 0, "waiting": 0,
            "paused": False, "pause_left_seconds": 0, "closed": [], "rate_left_seconds": 0,
            "bytes": 0, "kept": False,
            "limits": {"high": 0, "normal": 0, "low": 0}, **changed}


def detail(shown):
    return {"policy": None, "push": None, **shown, "wait": histogram(5, 90, 5), "run": None}


def policy(glob, origin="/etc/tandem/tandemd.conf:12", position=None, why_not=None, **settings):
    return {"glob": glob, "path": urllib.parse.quote(glob, safe=""), "origin": origin,
            "run_time": position is not None, "position": position, "why_not": why_not,
            "settings": settings}


def job(number, queue_name="mail", state="ready", **changed):
    return {"id": number, "queue": queue_name,
            "queue_path": urllib.parse.quote(queue_name, safe=""), "state": state, "priority": 5,
            "age_seconds": 3700.5, "created_at": NOW, "left_seconds": 0, "delay_seconds": 0,
            "ttr_seconds": 60.0, "attempts": 1, "max_attempts": 3,
            "counts": {"reserves": 1, "timeouts": 0, "releases": 2, "buries": 0, "kicks": 0},
            "durable": True, "watches": 0, "progress": None, "key": None, "body_bytes": 11,
            "holder": None, "past": None, **changed}


def job_detail(shown, data="hello\nworld", encoding="text", truncated=False):
    return {**shown, "on_failure": "bury", "on_loss": "front", "key_kind": "none", "reducer": None,
            "result": None,
            "body": {"encoding": encoding, "data": data, "truncated": truncated},
            "history": [{"event": "submitted", "at": NOW, "times": 1},
                        {"event": "released", "at": None, "times": 2}]}


def endpoint(section):
    outcomes = dict.fromkeys(("deferred", "unreachable", "unsent", "refused", "broken",
                              "timed_out", "too_large"), 0)
    return {"section": section, "endpoint": "https://hooks.example", "state": "open",
            "paused_seconds": 0.0, "connections": 4, "in_flight": 0,
            "outcomes": {"completed": 7, **outcomes}, "last_failure": None}


def ended_job(number, data="the result", kept="whole"):
    return {"id": number, "queue": "mail", "queue_path": "mail", "state": "ended",
            "result": {"end": "complete", "ended_at": NOW, "until": NOW + 60, "kept": kept,
                       "bytes": len(data or "")},
            "data": data and {"encoding": "text", "data": data, "truncated": False}}


def process(queues, **changed):
    jobs = {state: sum(one["jobs"][state] for one in queues)
            for state in ("ready", "delayed", "reserved", "buried")}
    return {"version": "0.1.0", "pid": 4321, "host": "box", "started_at": NOW - 93784,
            "uptime_seconds": 93784.0, "now": NOW, "draining": False,
            "cpu": {"user_seconds": 12.5, "system_seconds": 3.25}, "jobs": jobs,
            "bands": {"high": 0, "normal": jobs["ready"], "low": 0},
            "totals": totals(submitted=1234567, completed=7), "queues": len(queues), "workers": 3,
            "waiting": 1, "producers": 2,
            "protocols": [{"name": "beanstalk", "listening": ["127.0.0.1:11300"], "connections": 5,
                           "accepted": 9, "commands": 1000, "received_bytes": 2048,
                           "sent_bytes": 4096, "refusals": {"bad_format": 2, "draining": 1}}],
            "loop": {"turns": 100, "longest_seconds": 0.0021, "lag_seconds": 0.0004,
                     "slow_turns": 0, "io_threads": 2},
            "memory": {"used_bytes": 5 << 20, "limit_bytes": 1 << 30, "resident_bytes": 9 << 20,
                       "kinds": {"jobs": 5 << 20}, "short": False},
            "descriptors": {"open": 12, "limit": 1024}, "may": ["observe", "operate"], **changed}


def connection(number, **changed):
    return {"id": number, "protocol": "gearman", "peer": f"10.0.0.1:{4000 + number}", "tls": False,
            "caller": None, "client_id": "resize", "connected_seconds": 62.0, "worker": True,
            "producer": False, "waiting": True, "subscriptions": 2, "jobs_held": 1, "watches": 0,
            "received_bytes": 100, "sent_bytes": 2048, "unread_bytes": 0, "kept_bytes": 700,
            **changed}


def schedule(name="nightly", **changed):
    return {"name": name, "cron": "30 2 * * *", "timezone": "Europe/Berlin", "queue": "reports",
            "queue_path": "reports", "priority": 65536, "ttr_seconds": 60.0, "missed": "once",
            "overlap": "skip", "in_file": True, "at_run_time": False, "next_at": NOW + 3600,
            "silent_until": None,
            "fired_at": NOW - 82800,
            "last": {"outcome": "fired", "at": NOW - 82800, "why": None, "job": 4711},
            "counts": {"fired": 7, "late": 1, "missed": 2, "overlapped": 0, "refused": 5,
                       "given_up": 0}, **changed}


def schedule_detail(shown, body="build them"):
    return {**shown, "body": body}


def journal(**changed):
    return {"enabled": True, "directory": "/var/lib/tandem", "fsync": "always", "bytes": 64 << 20,
            "live_bytes": 5 << 20, "segment_bytes": 32 << 20, "segments": 2, "oldest": 7,
            "current": 8, "records": 12345, "migrated": 17, "batches": 99,
            "syncs": histogram(10, 5), "errors": 0, "failing": False, "free_bytes": 1 << 40,
            **changed}


def config():
    return {"file": "/etc/tandem/tandemd.conf", "settings": [
        {"section": "journal", "key": "fsync", "value": "50", "default": "always", "live": False,
         "effect": "When it is synced."},
        {"section": "admin", "key": "listen", "value": "127.0.0.1:9180",
         "default": "127.0.0.1:9180", "live": True, "effect": "Where operators connect."}],
            "sections": []}


def operation(number, body, state="done", touched=0, total=0, looked_at=0, **changed):
    return {"id": number, "action": body["action"],
            "target": body.get("queue", body.get("queues", "")), "to": body.get("to"),
            "dry_run": body.get("dry_run", False), "state": state, "looked_at": looked_at,
            "total": total, "touched": touched,
            "skipped": {"held": 0, "forbidden": 0, "refused": 0}, "started_at": NOW,
            "finished_at": None if state == "running" else NOW + 1, "error": None, **changed}


def alone():
    return {"role": "alone", "shard": "", "node": "", "owner": None, "owner_address": None,
            "epoch": 0, "since": None, "lease_left_seconds": 0, "rows": 0, "behind": 0,
            "takeovers": 0, "members": [],
            "database": {"connected": False, "why": None, "durable": False, "replicated": False,
                         "trusted": False, "settings": "", "syncs": histogram()},
            "proxied": {"connections": 0, "total": 0}}


def member(node, **changed):
    return {"node": node, "address": f"beanstalk={node}:11300", "owner": False,
            "takes_over": True, "self": False, "epoch": 7, "behind": 0, "seen_seconds": 0.5, **changed}


def cluster(role="owner", owner="one", **changed):
    """The cluster as `one` shows it, which shares the journal with `two`."""
    return {**alone(), "role": role, "shard": "main", "node": "one", "owner": owner,
            "owner_address": owner and f"beanstalk={owner}:11300", "epoch": 7, "since": NOW,
            "lease_left_seconds": 4.5, "rows": 12345, "takeovers": 1,
            "members": [member("one", owner=owner == "one", self=True),
                        member("two", owner=owner == "two", behind=1200)],
            "database": {"connected": True, "why": None, "durable": True, "replicated": True,
                         "trusted": False, "settings": "synchronous_commit = on", "syncs": histogram(5, 4)},
            "proxied": {"connections": 3, "total": 70}, **changed}
