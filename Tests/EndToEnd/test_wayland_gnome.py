"""The screen of a GNOME session where nobody sits, by Mutter's own interface and PipeWire."""

import time

import numpy as np
import pytest

from harness.browser import Viewer
from harness.pipewire_session import Gnome
from harness.rtcast import run
from harness.viewer_page import EVERYTHING, Page


@pytest.fixture
def gnome():
    session = Gnome()
    yield session
    session.stop()


MUTTER = ("screen", "--wayland-backend", "mutter")
COLOURS = [(17, 34, 51), (200, 30, 90), (3, 141, 59), (250, 251, 7)]


def bars(colours):
    """Text of a terminal: a bar of each colour, two lines high."""
    return "\x1b[H" + "".join(f"\x1b[48;2;{r};{g};{b}m{' ' * 40}\x1b[0m\r\n" * 2 for r, g, b in colours)


def shows(page, colours, size=(800, 600)):
    """Whether the page shows a bar of each colour, to the last bit."""
    shown = page.screenshot(size).reshape(-1, 3)
    return all(np.count_nonzero((shown == colour).all(axis=1)) > 3000 for colour in colours)


def until(condition, what, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what


def test_the_screen_is_cast_without_a_dialog(gnome, cast, page_browser):
    terminal = gnome.terminal()
    process = cast(*MUTTER, "--fps", "10", env=gnome.env)
    page = Page(page_browser, process.url())
    page.live().until(EVERYTHING)

    def shown():
        terminal.write(bars(COLOURS))  # a window that gets its size late arranges its text anew
        return shows(page, COLOURS)

    until(shown, "the terminal's colours are not on the page")
    other = [(r ^ 90, g ^ 60, b) for r, g, b in COLOURS]
    terminal.write(bars(other))
    until(lambda: shows(page, other), "the new colours are not on the page")
    process.drain()
    rest = process.wait_event("stats", where=lambda event: event["fps_captured"] == 0)
    assert rest["cpu_pct"] < 10 and rest["raw_copies"] == 0, rest


def test_a_part_of_the_screen(gnome, cast, browser):
    for options, size in ((("--monitor", "Meta-0"), (800, 600)), (("--region", "320x200+40+30"), (320, 200))):
        viewer = Viewer(browser, cast(*MUTTER, *options, env=gnome.env).url()).wait_live()
        assert viewer.size() == size
    code, out, err = run(*MUTTER, "--monitor", "DP-9", "--duration", "3", env=gnome.env)
    assert (code, out) == (66, "") and "Meta-0" in err, (code, out, err)


def test_a_monitor_is_made_for_the_cast(cast, page_browser):
    """Without any other: windows are on it. It is gone with the cast."""
    desktop = Gnome(size=None)
    try:
        process = cast(*MUTTER, "--virtual", "640x360", "--fps", "10", env=desktop.env)
        page = Page(page_browser, process.url())
        page.live().until(EVERYTHING)
        assert page.script("return [rtcast.exact.store.width, rtcast.exact.store.height]") == [640, 360]
        terminal = desktop.terminal()

        def shown():
            terminal.write(bars(COLOURS))
            return shows(page, COLOURS, (640, 360))

        until(shown, "the terminal's colours are not on the page")
        code, out, err = run("list", "monitors", env=desktop.env, timeout=40)
        assert code == 0 and "640x360" in out, (code, out, err)
        process.interrupt()
        assert process.wait() == 0
        until(lambda: "640x360" not in run("list", "monitors", env=desktop.env, timeout=40)[1], "the monitor is still there")
    finally:
        desktop.stop()


def test_pictures_continue_when_pipewire_is_back(gnome, cast, browser):
    process = cast(*MUTTER, env=gnome.env)
    Viewer(browser, process.url()).wait_live()
    gnome.session.end("pipewire")
    stalled = process.wait_event("source", where=lambda event: event["state"] == "stalled")
    assert "PipeWire" in stalled["message"], stalled
    process.wait_event("source", where=lambda event: event["state"] == "live", timeout=30)


def test_a_session_that_ends_is_reported(gnome, cast, browser):
    process = cast(*MUTTER, env=gnome.env)
    Viewer(browser, process.url()).wait_live()
    gnome.session.end("mutter")
    ended = process.wait_event("error", timeout=30)
    # Whichever is noticed first: that the bus goes, or that the sharing ends.
    assert "session" in ended["message"] or "ended the sharing" in ended["message"], ended
    assert process.wait() == 69


def test_without_a_session_bus_the_way_there_is_said(tmp_path):
    environment = {"WAYLAND_DISPLAY": "wayland-9", "XDG_RUNTIME_DIR": str(tmp_path), "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere/bus"}
    for backend in ("mutter", "portal"):
        code, out, err = run("screen", "--wayland-backend", backend, "--duration", "3", env=environment)
        assert (code, out) == (69, "") and "DBUS_SESSION_BUS_ADDRESS" in err and len(err.splitlines()) == 1, (code, out, err)


def test_list_and_doctor_know_the_session(gnome):
    code, out, err = run("list", "monitors", env=gnome.env, timeout=40)
    assert code == 0 and "Meta-0" in out, (code, out, err)
    code, out, err = run("doctor", env=gnome.env, timeout=40)
    assert code == 0 and "mutter" in out and "PipeWire" in out and "Mutter without a dialog" in out, (code, out, err)
