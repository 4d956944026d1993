"""What casting a screen costs by X11, by wlr-screencopy and by Mutter with PipeWire, with one viewer in Chromium.

    python Benchmarks/Wayland/compare.py [--seconds 20] [--rounds 3] [--size 1920x1080] [--ways x11,wlr,mutter,gstreamer]

Each round casts a terminal at rest, one in which five letters a second are typed, and one that prints ten lines a second, at 5 and 30 frames
a second. Told are medians of the processor time of rtcast and of the display server by the second, the memory of rtcast (PSS), the time from
a typed letter to the next frame that the page presents, and that from the program's start to the page's first picture. (In a scroll the page
draws exact pixels, and the video waits.) The terminals are xterm and foot. `gstreamer` is pipewiresrc with vp8enc from the same Mutter,
without network or viewer; its processor time is told in rtcast's place.
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


# Prints the node of a recorded monitor, and records until it ends. It is for the system's Python, which has Gio.
RECORDING = """
from gi.repository import Gio, GLib
bus, name = Gio.bus_get_sync(Gio.BusType.SESSION), "org.gnome.Mutter.ScreenCast"
def call(path, interface, method, arguments=None):
    return bus.call_sync(name, path, interface, method, arguments, None, 0, -1, None).unpack()
session, = call("/org/gnome/Mutter/ScreenCast", name, "CreateSession", GLib.Variant("(a{sv})", ({},)))
stream, = call(session, name + ".Session", "RecordMonitor", GLib.Variant("(sa{sv})", ("Meta-0", {})))
bus.signal_subscribe(name, name + ".Stream", "PipeWireStreamAdded", stream, None, 0, lambda *signal: print(*signal[5].unpack(), flush=True))
call(session, name + ".Session", "Start")
GLib.MainLoop().run()
"""


class Pipeline:
    """GStreamer in the place of rtcast and its viewer."""

    def __init__(self, desktop, rate):
        environment = {**os.environ, **desktop.env}
        self.recording = subprocess.Popen(["/usr/bin/python3", "-c", RECORDING], env=environment, stdout=subprocess.PIPE, text=True)
        node = self.recording.stdout.readline().strip()
        self.process = subprocess.Popen(
            ["gst-launch-1.0", "-q", "pipewiresrc", f"path={node}", "do-timestamp=true", "!", f"video/x-raw,max-framerate={rate}/1",
             "!", "videoconvert", "!", "vp8enc", "deadline=1", "cpu-used=8",
             "target-bitrate=2500000", "error-resilient=1", "!", "fakesink"], env=environment, stdout=subprocess.DEVNULL)

    def stop(self):
        for process in (self.process, self.recording):
            process.terminate()
            process.wait()


class GnomePipeline(GnomeDesktop):
    """A desktop that GStreamer captures."""


WAYS = {"x11": XDesktop, "wlr": SwayDesktop, "mutter": GnomeDesktop, "gstreamer": GnomePipeline}
RATES = {"rest": 0, "typing": 5, "scroll": 10}  # writes a second
# The times, in milliseconds since 1970, at which the page presented frames.
PRESENTED = """
const video = document.querySelector("video"), presented = window.presented = [];
const note = (now, frame) => { presented.push(performance.timeOrigin + frame.presentationTime); video.requestVideoFrameCallback(note); };
video.requestVideoFrameCallback(note);
"""


def used(process):
    times = process.cpu_times()
    return times.user + times.system


def write(terminal, content, seconds):
    """Writes for so long; the times of the writes, in milliseconds since 1970."""
    begin, times = time.monotonic(), []
    while (now := time.monotonic()) < begin + seconds:
        if RATES[content]:
            times.append(time.time() * 1000)
            terminal.write("x" if content == "typing" else f"line {len(times)} of a program that says what it does\r\n")
        time.sleep(min(1 / (RATES[content] or 1), max(0, begin + seconds - now)))
    return times


def delay(writes, presented):
    found = [min((frame for frame in presented if frame > write), default=write + 1000) - write for write in writes]
    return statistics.median(found) if found else 0


def measure(desktop, terminal, browser, rate, content, seconds):
    """Processor time by the second of rtcast and of the display server, memory in MiB, and delay and start in milliseconds."""
    begin = time.monotonic()
    if isinstance(desktop, GnomePipeline):
        cast, viewer = Pipeline(desktop, rate), None
    else:
        cast = Rtcast("screen", *desktop.options, "--fps", str(rate), display=desktop.display, env=desktop.env)
        viewer = Viewer(browser, cast.url()).wait_live()
    start = (time.monotonic() - begin) * 1000
    try:
        number = desktop.process if isinstance(desktop, XDesktop) else desktop.server
        program, server = psutil.Process(cast.process.pid), psutil.Process(number)
        time.sleep(min(3, seconds))
        if viewer:
            viewer.script(PRESENTED)
        begin, first = time.monotonic(), (used(program), used(server))
        times = write(terminal, content, seconds)
        passed = time.monotonic() - begin
        return ((used(program) - first[0]) / passed, (used(server) - first[1]) / passed, program.memory_full_info().pss / 2**20,
                delay(times, viewer.script("return presented")) if viewer and content == "typing" else 0, start if viewer else 0)
    finally:
        cast.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--ways", default="x11,wlr,mutter")
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
                        for content in RATES:
                            figures = measure(desktop, terminal, browser, rate, content, options.seconds)
                            found.setdefault((content, rate, way), []).append(figures)
                finally:
                    browser.get("about:blank")
                    desktop.stop()
    finally:
        browser.quit()
    print("| content | fps | way | rtcast, cores | display server, cores | MiB | delay, ms | start, ms |\n|---|---:|---|---:|---:|---:|---:|---:|")
    for (content, rate, way), rows in sorted(found.items()):
        program, server, memory, waited, start = (statistics.median(column) for column in zip(*rows))
        print(f"| {content} | {rate} | {way} | {program:.4f} | {server:.4f} | {memory:.0f} | {waited:.0f} | {start:.0f} |")


if __name__ == "__main__":
    main()
