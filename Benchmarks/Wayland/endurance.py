"""What the cast of a Wayland screen costs while nothing happens, and what is left behind by sessions that were opened and closed.

    python Benchmarks/Wayland/endurance.py [--minutes 60] [--sessions 200] [--ways wlr,mutter,portal]

All ways are cast at the same time, each with a terminal on it and one viewer in Chromium. Told of the rest are the processor time of rtcast
by the second and the frames of video, and descriptors, threads and memory (PSS) at its begin and end, from a minute on; then descriptors,
threads and memory after 10 sessions with the desktop and after all of them, opened by `source screen` and closed by `source test`.
"""

import argparse
import contextlib
import subprocess
import sys
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "Tests/EndToEnd"))

from harness.browser import Viewer, chromium  # noqa: E402
from harness.pipewire_session import Gnome, WlrPortal  # noqa: E402
from harness.rtcast import Rtcast  # noqa: E402
from harness.sway import Sway  # noqa: E402

WAYS = {"wlr": Sway, "mutter": Gnome, "portal": WlrPortal}


def kept(process):
    return f"{process.num_fds()} descriptors, {process.num_threads()} threads, {process.memory_full_info().pss / 2**20:.1f} MiB"


class Watched:
    def __init__(self, way, stack, browser):
        self.way = way
        desktop = WAYS[way]()
        stack.callback(desktop.stop)
        terminal = getattr(desktop, "sway", desktop).terminal()
        terminal.write("The quick brown fox jumps over the lazy dog.\r\n")
        # The token of a portal's session is used again by the next one.
        self.cast = Rtcast("screen", "--wayland-backend", way, "--fps", "30", "--control", "-", env=desktop.env, stdin=subprocess.PIPE)
        stack.callback(self.cast.stop)
        self.process = psutil.Process(self.cast.process.pid)
        self.viewer = Viewer(browser, self.cast.url(), new_tab=True).wait_live()

    def reading(self):
        used = self.process.cpu_times()
        return time.monotonic(), used.user + used.system, self.viewer.stat("inbound-rtp", kind="video")["framesDecoded"], kept(self.process)

    def sessions(self, count):
        for index in range(count):
            # The portal of wlroots shows a screen that rests to its first session alone, so pictures are not waited for.
            for words in (("test", "--fps", "1"), ("screen", "--wayland-backend", self.way)):
                self.cast.drain()
                self.cast.command("source", *words)
                self.cast.wait_event("control", where=lambda event: event["command"] == "source" and event["ok"])
            if index == 9:
                print(f"{self.way}: after 10 sessions {kept(self.process)}", flush=True)
        print(f"{self.way}: after {count} sessions {kept(self.process)}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--ways", default=",".join(WAYS))
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        browser = chromium(size=(1500, 1000))
        stack.callback(browser.quit)
        all_watched = [Watched(way, stack, browser) for way in options.ways.split(",")]
        time.sleep(60 * min(1, options.minutes))
        first = [watched.reading() for watched in all_watched]
        time.sleep(options.minutes * 60)
        for watched, (begin, used, frames, before) in zip(all_watched, first):
            end, used_then, frames_then, after = watched.reading()
            print(f"{watched.way}: {end - begin:.0f} s at rest: {(used_then - used) / (end - begin):.5f} of a core, "
                  f"{frames_then - frames} frames of video; {before}, then {after}", flush=True)
        for watched in all_watched:
            watched.sessions(options.sessions)


if __name__ == "__main__":
    main()
