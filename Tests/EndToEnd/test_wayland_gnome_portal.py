"""The screen of a GNOME session by GNOME's own portal: its dialog is answered, refused, and not shown again."""

import stat
import time
import urllib.request

import numpy as np
import pytest
from PIL import Image

from harness.gnome_portal import GnomePortal
from harness.viewer_page import EVERYTHING, Page
from test_wayland_gnome import COLOURS, MUTTER, bars, shows, until

PORTAL = ("screen", "--wayland-backend", "portal", "--fps", "10", "--no-cursor")
# Places in the dialog, which is in the middle of 800x600 pixels: the first monitor of the list, and two buttons.
MONITOR, SHARE, CANCEL = (400, 326), (613, 173), (190, 173)
BLUE = (53, 132, 228)


@pytest.fixture
def gnome():
    session = GnomePortal()
    yield session
    session.stop()


@pytest.fixture
def watched(gnome, cast):
    """The screen as it is now, height x width x RGB, by another cast that asks nobody."""
    listening = cast(*MUTTER, env=gnome.env).listening()

    def picture():
        request = urllib.request.Request(listening["url"].split("#")[0] + "snapshot.webp", headers={"Authorization": f"Bearer {listening['token']}"})
        with urllib.request.urlopen(request) as answer:
            return np.asarray(Image.open(answer).convert("RGB"))

    return picture


def shows_dialog(picture):
    """The dialog is light and in the middle; the desktop is dark blue."""
    return (picture[200:400, 200:600] > 200).mean() > 0.6


@pytest.fixture
def press(gnome, watched):
    def click(place, has_effect):
        """Clicks until the screen shows the effect: a window that has just come hears nothing yet."""
        for _ in range(5):
            gnome.click(*place)
            deadline = time.monotonic() + 3
            while time.monotonic() < deadline:
                if has_effect(watched()):
                    return
        raise AssertionError(f"nothing happens at {place}")
    return click


@pytest.fixture
def share(press):
    def click():
        press(MONITOR, lambda picture: tuple(picture[SHARE[1] - 12, SHARE[0]]) == BLUE)
        press(SHARE, lambda picture: not shows_dialog(picture))
    return click


@pytest.fixture
def asked(gnome, cast, watched):
    """A cast and its URL, when its dialog is on the screen."""
    def start():
        process = cast(*PORTAL, env=gnome.env)
        url = process.url()
        told = process.wait_event("source", where=lambda event: event["state"] == "stalled")
        assert "dialog" in told["message"], told
        until(lambda: shows_dialog(watched()), "there is no dialog")
        return process, url
    return start


def is_on(page, terminal):
    def shown():
        terminal.write(bars(COLOURS))  # a window that gets its size late arranges its text anew
        return shows(page, COLOURS)
    until(shown, "the terminal's colours are not on the page")


def test_the_dialog_is_shown_once(gnome, asked, share, cast, watched, page_browser):
    process, url = asked()
    share()
    page = Page(page_browser, url)
    page.live().until(EVERYTHING)
    terminal = gnome.terminal()
    is_on(page, terminal)
    token = gnome.session.path / "state/rtcast/portal-token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600 and token.read_text().strip()
    process.interrupt()
    assert process.wait() == 0
    for _ in range(2):
        process = cast(*PORTAL, env=gnome.env)
        page = Page(page_browser, process.url())
        page.live().until(EVERYTHING)
        is_on(page, terminal)
        assert not shows_dialog(watched())
        process.interrupt()
        assert process.wait() == 0


def test_a_refused_dialog_ends_the_cast_with_its_reason(press, asked):
    process, _ = asked()
    press(CANCEL, lambda picture: not shows_dialog(picture))
    assert "refused in the desktop’s dialog" in process.wait_event("error")["message"]
    assert process.wait() == 77


def test_a_dialog_goes_with_the_cast_that_asked(asked, watched):
    process, _ = asked()
    process.interrupt()
    assert process.wait() == 0
    until(lambda: not shows_dialog(watched()), "the dialog is still there")


def test_a_portal_that_crashes_is_asked_again(gnome, asked, share, page_browser):
    """It starts again, and restores the choice."""
    process, url = asked()
    share()
    page = Page(page_browser, url)
    page.live().until(EVERYTHING)
    gnome.session.end("xdg-desktop-portal-gnome")
    stalled = process.wait_event("source", where=lambda event: event["state"] == "stalled")
    assert "took the pictures" in stalled["message"], stalled
    process.wait_event("source", where=lambda event: event["state"] == "live", timeout=30)
    is_on(page, gnome.terminal())
