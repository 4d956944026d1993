"""A bad link between two hosts, each a network namespace: rate, delay, a queue that drops, loss, bursts, jitter, late packets, outages.

`link.c` carries every packet between two TUN devices. What is started within `with link.near:` lives on the one host, at `link.NEAR`; what
is watched with `link.browser()`, on the other.
"""

import atexit
import os
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from . import netns
from .browser import chromium

SOURCE = Path(__file__).with_name("link.c")
_program = None


def missing():
    """Why there can be no link here; None when there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program, package in (("ip", "iproute2"), ("gcc", "g++")):
        if subprocess.run(["which", program], capture_output=True).returncode != 0:
            return f"no {program}: install {package}"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"/dev/net/tun: {error.strerror}"
    return None


def program():
    """The compiled link.c."""
    global _program
    if not _program:
        folder = tempfile.TemporaryDirectory()
        atexit.register(folder.cleanup)
        _program = f"{folder.name}/link"
        subprocess.run(["gcc", "-O2", "-Wall", "-o", _program, str(SOURCE)], check=True, timeout=60)
    return _program


class Link:
    NEAR, FAR = "10.98.0.1", "10.98.0.2"

    def __init__(self, seed=1):
        self.spaces = []
        self.browsers = []
        self.process = None
        self.lock = threading.Lock()
        atexit.register(self.close)
        try:
            self.near, self.far = self._space("near"), self._space("far")
            self.process = subprocess.Popen([program(), self.near.name, self.NEAR, self.far.name, self.FAR, str(seed)],
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
            assert self.process.stdout.readline() == "ready\n", "the link did not come up"
            for space in (self.near, self.far):
                # A browser without a default route has no addresses to tell.
                space.run("ip", "route", "add", "default", "dev", "link")
        except BaseException:
            self.close()
            raise

    def _space(self, name):
        name = f"rt{os.getpid()}{name}"
        self.spaces.append(name)
        return netns.Namespace(name)

    def browser(self):
        """A browser on the far host, for as long as the link is there."""
        if not self.browsers:
            self.browsers.append(chromium(size=(1500, 1000), host=self.far))
        return self.browsers[0]

    # Conditions

    def _ask(self, line):
        with self.lock:
            self.process.stdin.write(line + "\n")
            return self.process.stdout.readline().strip()

    def set(self, direction="both", **conditions):
        """From now on, `forth` (from the near host to the far one), `back` or both: see link.c. Rates in bit/s, times in seconds."""
        answer = self._ask(" ".join([direction, *(f"{name}={value}" for name, value in conditions.items())]))
        assert answer == "ok", answer

    def clear(self):
        """A perfect link."""
        self.set(rate=0, queue=0, delay=0, jitter=0, loss=0, burst_loss=0, late=0)

    def counters(self):
        """By direction: packets that came in and out, were lost, and dropped by the queue; bytes that came out, IP headers included; the
        longest queueing since last asked, in seconds."""
        numbers = list(map(int, self._ask("counters").split()))
        names = ("in", "out", "lost", "dropped", "bytes", "longest")
        return {direction: {**dict(zip(names, part)), "longest": part[5] / 1e6}
                for direction, part in (("forth", numbers[:6]), ("back", numbers[6:]))}

    def play(self, *steps):
        """Changes at their times, in seconds from now: (1.5, "forth", {"rate": 600e3}). Returns the thread that makes them."""
        begin = time.monotonic()

        def work():
            for at, direction, conditions in steps:
                time.sleep(max(0, begin + at - time.monotonic()))
                if self.process.poll() is None:
                    self.set(direction, **conditions)
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        return thread

    def close(self):
        for browser in self.browsers:
            browser.quit()
        self.browsers = []
        if self.process:
            self.process.stdin.close()
            self.process.wait(10)
            self.process = None
        for name in self.spaces:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)
        self.spaces = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def outages(length, every, until):
    """Steps for `Link.play`: nothing gets through for `length` seconds, every so many."""
    times = [every * (1 + k) for k in range(int(until / every))]
    return [step for at in times for step in ((at, "both", {"loss": 1}), (at + length, "both", {"loss": 0}))]
