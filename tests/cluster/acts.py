# SPDX-License-Identifier: MIT
"""The faults of a cluster in a round, while clients work. Each act begins with its subject, and
returns when all processes run again, or start."""

import dataclasses
import signal
import time

import link

HAND_OVER_SECONDS = 60


@dataclasses.dataclass
class Event:
    """A fault. `at` is the time when the owner was stopped; None: it may continue."""

    text: str
    at: float = None


class Acts:
    """On a trial's cluster."""

    def __init__(self, trial, rng):
        self.trial, self.rng = trial, rng

    def kinds(self):
        """One of each, in any order; what matters most comes twice."""
        kinds = [self.kill_owner, self.kill_owner, self.pause_owner, self.pause_owner,
                 self.stop_owner, self.hand_over, self.fail_over, self.cut_owner, self.cut_standby,
                 self.cut_both]
        self.rng.shuffle(kinds)
        return kinds

    def wait(self, least, most):
        for_seconds = self.rng.uniform(least, most)
        time.sleep(for_seconds)
        return for_seconds

    #
    # Brokers
    #

    def kill_owner(self, owner):
        at = time.time()
        owner.kill()
        return self.come_back(owner, Event(f"{owner.name} killed", at))

    def stop_owner(self, owner):
        at = time.time()
        owner.stop()
        return self.come_back(owner, Event(f"{owner.name} stopped", at))

    def come_back(self, owner, event):
        """Before or after the other has taken over."""
        away = self.wait(0, 2 * self.trial.ttl)
        owner.start()
        return dataclasses.replace(event, text=f"{event.text} for {away:.1f} s")

    def pause_owner(self, owner):
        at = time.time()
        owner.signal(signal.SIGSTOP)
        away = self.wait(1, min(12, 3 * self.trial.ttl))
        owner.signal(signal.SIGCONT)
        return Event(f"{owner.name} paused for {away:.1f} s", at)

    def hand_over(self, owner):
        """It refuses while it does not know of anybody who follows."""
        until = time.monotonic() + HAND_OVER_SECONDS
        while True:
            at = time.time()
            status, told = owner.ask("POST", "/api/v1/cluster/handover")
            if status == 202:
                return Event(f"{owner.name} handed over", at)
            if time.monotonic() > until:
                self.trial.complain(f"{owner.name} does not hand over: {status} {told}")
                return Event(f"{owner.name} kept what it has")
            time.sleep(0.1)

    #
    # Databases
    #

    def fail_over(self, _owner):
        pair = self.trial.pair
        pair.fail_over()
        alone = self.wait(0, 2)
        how = pair.rebuild()
        return Event(f"database failed over, alone for {alone:.1f} s, then {how}")

    #
    # Between brokers and databases
    #

    def cut_owner(self, owner):
        return self.disturb([owner])

    def cut_standby(self, owner):
        return self.disturb([member for member in self.trial.members if member is not owner])

    def cut_both(self, _owner):
        return self.disturb(self.trial.members)

    def disturb(self, members):
        kind = self.rng.choice(list(HOW))
        links = [one for member in members for one in self.trial.links[member.name]]
        at = time.time()
        for one in links:
            HOW[kind](one)
        lasted = self.wait(0.3, 3 * self.trial.ttl)
        for one in links:
            one.heal()
        names = " and ".join(member.name for member in members)
        return Event(f"{names} and database: {kind} for {lasted:.1f} s", at)


HOW = {
    "cut": link.Link.cut,
    "silent": link.Link.silence,
    "deaf": lambda one: one.silence(link.DEAF),
    "mute": lambda one: one.silence(link.MUTE),
    "slow": lambda one: one.slow(0.3),
    "half-closed": link.Link.half_close,
}
