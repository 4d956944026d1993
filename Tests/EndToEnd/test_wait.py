"""`rtcast screen --wait`: displays, windows and monitors that come and go while viewers stay."""

import contextlib
import itertools
import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import urllib.request

import numpy as np
import pytest
import Xlib.error

from harness.browser import Viewer
from harness.rtcast import bearer, run
from harness.xserver import Painter, XServer
from test_service import manager  # noqa: F401

COLOURS = [0xC00000, 0x00C000, 0x0000C0, 0xC0C000, 0x00C0C0]
# How long after X is there the page may show an old picture.
LIMIT = 5


class Place:
    """A display number of the test's own, at which X servers come and go."""

    def __init__(self):
        self.number = next(number for number in range(300 + os.getpid() % 500, 1000) if not self.is_taken(number))
        self.name = f":{self.number}"
        self.process = None

    @staticmethod
    def is_taken(number):
        return pathlib.Path(f"/tmp/.X11-unix/X{number}").exists() or pathlib.Path(f"/tmp/.X{number}-lock").exists()

    def start(self, size=(640, 360), colour=None, *options, waits=True):
        """Xvfb, with a window of one colour; returns the moment at which it took connections."""
        self.process = subprocess.Popen(
            ["Xvfb", self.name, "-screen", "0", f"{size[0]}x{size[1]}x24", "-nolisten", "tcp", "-noreset", *options],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if not waits:
            return None
        deadline = time.monotonic() + 20
        while True:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as client:
                client.connect(f"/tmp/.X11-unix/X{self.number}")
                break
            assert time.monotonic() < deadline and self.process.poll() is None, "Xvfb did not start"
            time.sleep(0.01)
        there = time.monotonic()
        if colour is not None:
            self.painter = self.connected_painter(deadline)
            self.painter.window(color=colour)
        return there

    def connected_painter(self, deadline):
        while True:
            try:
                return Painter(self.name)
            except (OSError, Xlib.error.ConnectionClosedError, Xlib.error.DisplayConnectionError):
                assert time.monotonic() < deadline, "Xvfb takes no client"  # a server that starts may drop connections

    def kill(self, number=signal.SIGKILL):
        if self.process:
            self.process.send_signal(number)
            self.process.wait(10)
            self.process = None
        for path in (f"/tmp/.X11-unix/X{self.number}", f"/tmp/.X{self.number}-lock"):
            if number == signal.SIGKILL and "lock" in path:  # the next server finds the lock of a dead one; its socket stays, as after a crash
                pathlib.Path(path).unlink(missing_ok=True)

    def close(self):
        self.kill()
        pathlib.Path(f"/tmp/.X11-unix/X{self.number}").unlink(missing_ok=True)


@pytest.fixture
def place():
    place = Place()
    yield place
    place.close()


def wait_colour(viewer, colour, since, limit):
    """Returns how long after `since` the page shows it."""
    wanted = np.array([colour >> 16, colour >> 8 & 255, colour & 255])
    while True:
        shown = None
        if viewer.script("return document.querySelector('video').videoWidth"):
            shown = np.median(viewer.picture().reshape(-1, 3), axis=0)
            if abs(shown - wanted).max() <= 12:
                return time.monotonic() - since
        assert time.monotonic() < since + limit, f"not {wanted} within {limit} s, but {shown}"
        time.sleep(0.05)


def mark(viewer):
    """Marks the page and its connection, so that a reload or another connection shows."""
    viewer.script("window.mark = 'page'; window.rtcast.pc.mark = 'connection'")


def is_marked(viewer):
    return viewer.script("return [window.mark, window.rtcast.pc.mark, window.rtcast.pc.connectionState]") == ["page", "connection", "connected"]


def state(rtcast, word, timeout=20):
    return rtcast.wait_event("source", timeout, where=lambda event: event["state"] == word)


def test_the_page_is_there_before_the_display_and_outlives_ten_of_them(cast, browser, place):
    rtcast = cast("screen", "--wait", "--fps", "10", display=place.name)
    assert "width" not in rtcast.wait_event("capture")
    viewer = Viewer(browser, rtcast.url())
    assert f"display {place.name} does not run" in state(rtcast, "stalled")["message"]
    viewer.until("document.querySelector('#status').textContent === 'Waiting'", what="the page says that it waits")
    assert "There is no picture yet" in viewer.script("return document.querySelector('#detail').textContent")
    mark(viewer)
    times = []
    for turn in range(11):
        colour = COLOURS[turn % len(COLOURS)]
        there = place.start(colour=colour)
        times.append(wait_colour(viewer, colour, there, LIMIT))
        state(rtcast, "live")
        viewer.until("document.querySelector('#status').textContent === 'Live'", what="the page is live")
        place.kill(signal.SIGKILL if turn % 2 else signal.SIGTERM)
        assert "The picture stands still" in state(rtcast, "stalled")["message"]
        viewer.until("document.querySelector('#status').textContent === 'Waiting'", what="the page waits again")
        assert is_marked(viewer)
    print("seconds from X to its picture:", [round(each, 2) for each in times])
    rtcast.interrupt()
    assert rtcast.wait() == 0
    rtcast.drain()
    assert [event["state"] for event in rtcast.seen if event["event"] == "peer"].count("joined") == 1


def test_a_display_that_comes_and_goes_quickly_is_shown_when_it_stays(cast, browser, place):
    rtcast = cast("screen", "--wait", "--fps", "10", display=place.name)
    viewer = Viewer(browser, rtcast.url())
    viewer.until("window.rtcast.pc.connectionState === 'connected'")
    mark(viewer)
    for turn in range(10):
        place.start(waits=turn % 2 == 0)
        if turn % 2:
            time.sleep(0.03 * turn)  # somewhere in its start
        place.kill()
    wait_colour(viewer, 0x00C000, place.start(colour=0x00C000), LIMIT)
    assert is_marked(viewer)
    rtcast.interrupt()
    assert rtcast.wait() == 0


def test_another_size_is_followed_and_a_recording_goes_on(cast, browser, place, tmp_path):
    rtcast = cast("screen", "--wait", "--fps", "10", "--no-cursor", "--record", str(tmp_path / "talk.mkv"), display=place.name)
    viewer = Viewer(browser, rtcast.url())
    sizes = [(640, 360), (640, 360), (800, 600)]
    for turn, size in enumerate(sizes):
        wait_colour(viewer, COLOURS[turn], place.start(size, COLOURS[turn]), LIMIT)
        assert viewer.size() == size
        time.sleep(0.5)
        place.kill()
        state(rtcast, "stalled")
    rtcast.interrupt()
    assert rtcast.wait() == 0
    told = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "frame=width,height", "-of", "json", tmp_path / "talk.mkv"],
                          capture_output=True, check=True)
    frames = [(frame["width"], frame["height"]) for frame in json.loads(told.stdout)["frames"]]
    assert [size for size, _ in itertools.groupby(frames)] == [sizes[0], sizes[2]], "the same file goes on, in the new size"


def test_each_login_may_have_other_keys(cast, browser, place, tmp_path):
    """The file is replaced by another one of its name, which the confined program may not open itself."""
    keys = tmp_path / "keys"

    def login(cookie):
        new = tmp_path / "new"
        new.unlink(missing_ok=True)
        subprocess.run(["xauth", "-f", new, "add", place.name, "MIT-MAGIC-COOKIE-1", cookie * 16], check=True, capture_output=True)
        new.rename(keys)

    rtcast = cast("screen", "--wait", "--fps", "10", display=place.name, env={"XAUTHORITY": str(keys)})
    viewer = Viewer(browser, rtcast.url())
    for turn, cookie in enumerate(("a1", "b2")):
        login(cookie)
        os.environ["XAUTHORITY"] = str(keys)
        try:
            there = place.start((640, 360), COLOURS[turn], "-auth", str(keys))
        finally:
            del os.environ["XAUTHORITY"]
        wait_colour(viewer, COLOURS[turn], there, LIMIT)
        place.kill()
        state(rtcast, "stalled")


def test_a_display_that_refuses_is_named_and_waited_for(cast, place, tmp_path):
    """The keys are wrong at first: the display is there, and lets nobody in."""
    subprocess.run(["xauth", "-f", tmp_path / "keys", "add", place.name, "MIT-MAGIC-COOKIE-1", "c3" * 16], check=True, capture_output=True)
    place.start((640, 360), None, "-auth", str(tmp_path / "keys"))
    rtcast = cast("screen", "--wait", display=place.name, env={"XAUTHORITY": str(tmp_path / "mine")})
    assert "cannot be reached" in state(rtcast, "stalled")["message"]
    (tmp_path / "keys").rename(tmp_path / "mine")
    state(rtcast, "live")


def test_a_window_is_waited_for_too(cast, browser, xserver):
    rtcast = cast("screen", "--wait", "--window", "Watched", "--fps", "10", "--no-cursor", display=xserver.name)
    viewer = Viewer(browser, rtcast.url())
    assert "No window" in state(rtcast, "stalled")["message"]
    viewer.until("window.rtcast.pc.connectionState === 'connected'")
    mark(viewer)
    for turn in range(3):
        painter = xserver.client()
        painter.window(10, 10, 320, 200, "Watched", COLOURS[turn])
        wait_colour(viewer, COLOURS[turn], time.monotonic(), LIMIT + 1)
        painter.close()
        state(rtcast, "stalled")
    assert is_marked(viewer)


def test_viewers_stay_while_all_outputs_are_gone(cast, browser):
    server = XServer((800, 600), resizable=True)
    try:
        painter = server.client()
        window = painter.window(color=COLOURS[0])
        rtcast = cast("screen", "--wait", "--fps", "10", display=server.name)
        viewer = Viewer(browser, rtcast.url())
        wait_colour(viewer, COLOURS[0], time.monotonic(), 20)
        mark(viewer)

        def xrandr(*words):
            return subprocess.run(["xrandr", "-d", server.name, *words], capture_output=True, text=True, check=True).stdout

        output = next(line.split()[0] for line in xrandr().splitlines() if " connected" in line)
        for turn in range(1, 4):
            xrandr("--output", output, "--off")
            xrandr("--output", output, "--mode", "800x600")
            painter.fill(window, 0, 0, 800, 600, COLOURS[turn])
            wait_colour(viewer, COLOURS[turn], time.monotonic(), LIMIT + 1)
        assert is_marked(viewer)
        painter.close()
    finally:
        server.stop()


@pytest.mark.parametrize("display", [":4711", "no.such.host.example:0"])
def test_a_unit_before_the_login_serves_and_says_what_it_waits_for(cast, manager, display):  # noqa: F811
    """As systemd starts it: no XDG_RUNTIME_DIR, no home, a wrong DISPLAY."""
    rtcast = cast("screen", "--wait", display=display, env=manager.env(), without=("XDG_RUNTIME_DIR", "HOME", "XAUTHORITY"))
    manager.wait("READY=1")
    listening = rtcast.listening()
    message = state(rtcast, "stalled", 40)["message"]
    assert message.startswith("There is no picture yet. ") and display in message
    request = urllib.request.Request(listening["url"].split("#")[0] + "health", headers=bearer(listening))
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert json.loads(answer.read())["status"] == "live"
    rtcast.process.send_signal(signal.SIGTERM)
    assert rtcast.wait() == 0


@pytest.mark.quick
def test_without_waiting_or_with_a_name_that_is_none_the_message_stays():
    status, _, err = run("screen", "--display", ":4711")
    assert status == 69 and "The X display :4711 cannot be reached" in err
    status, _, err = run("screen", "--wait", "--display", "nonsense")
    assert status == 69 and "is not the name of an X display" in err
