# SPDX-License-Identifier: MIT
"""The waits of a quick client while others do expensive things. Times are printed and not judged:
the machine may have other things to do."""

import multiprocessing
import os
import statistics

import attacks
from case import JOBS, BoundsCase
from quick import Quick

# Of a measurement.
SECONDS = float(os.environ["BOUNDS_SECONDS"])
# Each is measured so often; then it is also measured what the machine makes of it.
ROUNDS = int(os.environ["BOUNDS_ROUNDS"])
BEGIN_SECONDS = 120
PROTOCOLS = ("beanstalk", "gearman", "http")


class Attack:
    """An attack in a process of its own."""

    def __init__(self, broker, attack, protocols=PROTOCOLS):
        fork = multiprocessing.get_context("fork")
        self.begun = fork.Value("i", 0)
        ports = {name: broker.port_of(name) for name in protocols}
        self.process = fork.Process(target=self.run, args=[attack, ports], daemon=True)
        self.process.start()

    def run(self, attack, ports):
        # Its own processor time is not measured.
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        os.nice(10)
        attack(ports, JOBS, self.begin)

    def begin(self):
        self.begun.value += 1

    def has_begun(self, times=1):
        return self.begun.value >= times or not self.process.is_alive()

    def stop(self):
        self.process.kill()
        self.process.join()


class Latency(BoundsCase):
    def broker(self):
        return self.start("gearman.listen=127.0.0.1:0", "http.listen=127.0.0.1:0")

    def compare(self, attack):
        broker = self.broker()
        quick = Quick(broker)
        self.addCleanup(quick.close)
        found = []
        for _ in range(ROUNDS):
            found.append({"alone": quick.measure(SECONDS)})
            if ROUNDS > 1:
                found[-1]["elsewhere"] = self.measure_beside(quick, attack, self.broker())
            found[-1]["beside"] = self.measure_beside(quick, attack, broker)
        self.tell(attack.__doc__)
        for kind in Quick.KINDS:
            self.tell_of(kind, [{where: waits[kind] for where, waits in one.items()}
                                for one in found])
        self.assert_served(self.connect(broker))

    def measure_beside(self, quick, name, broker):
        attack = Attack(broker, name)
        try:
            self.until(attack.has_begun, BEGIN_SECONDS, "the attack begins")
            found = quick.measure(SECONDS, lambda: attack.has_begun(2))
            self.assertTrue(attack.process.is_alive(), "the attack has failed")
            return found
        finally:
            attack.stop()

    def tell_of(self, kind, found):
        """The median of all rounds of each."""
        alone = None
        for where in found[0]:
            p50, p99, most = (statistics.median(getattr(waits[where], share) for waits in found)
                              for share in ("p50", "p99", "most"))
            alone = alone or p99
            self.tell(f"  {kind:16}{where:10} p50 {p50:6.0f}  p99 {p99:7.0f}  most {most:7.0f} us"
                      f"  p99 {p99 / alone:5.1f} times")

    def test_a_million_watches_of_one_job(self):
        self.compare(attacks.watches)

    def test_cancelling_a_job_with_a_million_watches(self):
        self.compare(attacks.cancels)

    def test_reserves_that_wait_on_thousands_of_tubes(self):
        self.compare(attacks.waits)

    def test_event_streams_with_long_events(self):
        self.compare(attacks.streams)

    def test_pipelined_lists_of_thousands_of_tubes(self):
        self.compare(attacks.lists)

    def test_a_kick_of_a_million(self):
        self.compare(attacks.kicks)

    def test_sessions_with_very_many_subscriptions_that_come_and_go(self):
        self.compare(attacks.subscribers)
