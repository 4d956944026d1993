"""What casting a screen costs by X11, by wlr-screencopy and by Mutter with PipeWire, with one viewer in Chromium.

    python Benchmarks/Wayland/compare.py [--seconds 20] [--rounds 3] [--size 1920x1080] [--ways x11,wlr,mutter]

Each round casts a terminal at rest, and one in which five letters a second are typed, at 5 and 30 frames a second. Told are medians of
the processor time of rtcast and of the display server by the second, and the memory of rtcast (PSS). The terminals are xterm and foot.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/EndToEnd"))

from harness.browser import Viewer, chromium  # noqa: E402
from harness.pipewire_session import Gnome  # noqa: E402
from harness.rtcast import Rtcast  # noqa: E402
from harness.sway import Sway  # noqa: E402
from harness.xserver import XServer  # noqa: E402


class XDesktop:
    """Xvfb with an xterm that fills the screen."""

    options = ()
    env = {}

    def __init__(self, size):
        self.server = XServer(size)
        self.folder = tempfile.TemporaryDirectory()
        self.fifo = f"{self.folder.name}/fifo"
        os.mkfifo(self.fifo)
        self.terminal_process = subprocess.Popen(
            ["xterm", "-fa", "DejaVu Sans Mono", "-fs", "9", "-geometry", "200x60+0+0", "-e", "cat", self.fifo],
            env={**os.environ, "DISPLAY": self.server.name}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pipe = open(self.fifo, "wb", buffering=0)
        self.display, self.process = self.server.name, self.server.process.pid

    def terminal(self):
        return self

    def write(self, text):
        self.pipe.write(text.encode())

    def stop(self):
        self.pipe.close()
        self.terminal_process.terminate()
        self.terminal_process.wait()
        self.server.stop()
        self.folder.cleanup()


class SwayDesktop(Sway):
    options, display = ("--wayland-backend", "wlr"), None

    def __init__(self, size):
        super().__init__(size)
        self.server = self.process.pid


class GnomeDesktop(Gnome):
    options, display = ("--wayland-backend", "mutter"), None

    def __init__(self, size):
        super().__init__(size)
        self.server = int(Path(self.path, "mutter.pid").read_text())


WAYS = {"x11": XDesktop, "wlr": SwayDesktop, "mutter": GnomeDesktop}


def used(process):
    times = process.cpu_times()
    return times.user + times.system


def measure(desktop, terminal, browser, rate, types, seconds):
    """Processor time by the second of rtcast and of the display server, and the memory of rtcast in MiB."""
    cast = Rtcast("screen", *desktop.options, "--fps", str(rate), display=desktop.display, env=desktop.env)
    try:
        Viewer(browser, cast.url()).wait_live()
        number = desktop.process if isinstance(desktop, XDesktop) else desktop.server
        rtcast, server = psutil.Process(cast.process.pid), psutil.Process(number)
        time.sleep(min(3, seconds))
        begin, first = time.monotonic(), (used(rtcast), used(server))
        while (now := time.monotonic()) < begin + seconds:
            if types:
                terminal.write("x")
            time.sleep(min(0.2, max(0, begin + seconds - now)))
        passed = time.monotonic() - begin
        return (used(rtcast) - first[0]) / passed, (used(server) - first[1]) / passed, rtcast.memory_full_info().pss / 2**20
    finally:
        cast.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--ways", default=",".join(WAYS))
    options = parser.parse_args()
    size = tuple(map(int, options.size.split("x")))
    found = {}
    browser = chromium(size=(1500, 1000))
    try:
        for _ in range(options.rounds):
            for way in options.ways.split(","):
                desktop = WAYS[way](size)
                try:
                    terminal = desktop.terminal()
                    for rate in (5, 30):
                        for content in ("rest", "typing"):
                            figures = measure(desktop, terminal, browser, rate, content == "typing", options.seconds)
                            found.setdefault((content, rate, way), []).append(figures)
                finally:
                    browser.get("about:blank")
                    desktop.stop()
    finally:
        browser.quit()
    print("| content | fps | way | rtcast, cores | display server, cores | MiB |\n|---|---|---|---|---|---|")
    for (content, rate, way), rows in sorted(found.items()):
        rtcast, server, memory = (statistics.median(column) for column in zip(*rows))
        print(f"| {content} | {rate} | {way} | {rtcast:.4f} | {server:.4f} | {memory:.0f} |")


if __name__ == "__main__":
    main()
