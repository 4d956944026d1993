"""The screen of a Wayland desktop by ext-image-copy-capture. The compositor writes changed pixels only, and the damage of the buffer."""

import numpy as np
import pytest

from harness.browser import Viewer
from harness.image_compositor import ARGB8888, RGB565, XBGR8888, XRGB8888, ImageCompositor, Turned
from harness.rtcast import run
from harness.viewer_page import EVERYTHING, Page

SCREEN = ("screen", "--fps", "10")


@pytest.fixture
def compositor(image_compositor):
    started = []

    def start(**choices):
        started.append(ImageCompositor(image_compositor, **choices))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def shown(compositor, cast, browser, *options):
    """A page that shows the screen, and its cast."""
    compositor.fill(0x204060)
    process = cast(*SCREEN, *options, env=compositor.env)
    page = Page(browser, process.url())
    page.live().until(EVERYTHING).is_the_screen(compositor)
    return process, page


def test_it_is_used_before_screencopy(compositor, cast, page_browser):
    desktop = compositor()
    shown(desktop, cast, page_browser)
    assert "session, with cursor" in desktop.said() and "wlr-screencopy is used" not in desktop.said()
    code, out, _ = run("doctor", env=desktop.env)
    assert code == 0 and "ext-image-copy-capture 1" in out, out
    code, out, _ = run("list", "monitors", env=desktop.env)
    assert code == 0 and "IMAGE-1" in out and "320x200" in out, out


def test_changes_come_rectangle_by_rectangle(compositor, cast, page_browser):
    """Each buffer gets what was changed while another one was written."""
    desktop = compositor()
    process, page = shown(desktop, cast, page_browser, "--no-cursor")
    assert "session, without cursor" in desktop.said()
    for step in range(12):
        desktop.fill(0x102030 * (step + 1) & 0xFFFFFF, 7 + 23 * step, 3 + 15 * step, 31, 17)
        if step % 3 == 0:
            desktop.fill(0xF0E0D0 - step, 300 - 20 * step, 5, 9, 11)
        page.is_the_screen(desktop)
    process.drain()
    rest = process.wait_event("stats", where=lambda event: event["fps_captured"] == 0)
    assert rest["cpu_pct"] < 10, rest


@pytest.mark.parametrize("command", ["size", "quick"])
def test_the_picture_follows_the_size(compositor, cast, page_browser, command):
    """Whether the monitor or the session hears of it first. The copy under way fails, because its buffer does not fit."""
    desktop = compositor()
    _, page = shown(desktop, cast, page_browser)
    for size in ((400, 300), (160, 120)):
        desktop.resize(*size, command)
        desktop.fill(0x804020, 10, 10, 50, 40)
        page.is_the_screen(desktop, timeout=20)
    assert "failed 1" in desktop.said()


def test_another_form_of_pixels_needs_other_buffers(compositor, cast, page_browser):
    desktop = compositor()
    _, page = shown(desktop, cast, page_browser)
    desktop.tell("format", ARGB8888)
    for colour in (0x804020, 0x108070):
        desktop.fill(colour, 10, 10, 50, 40)
        page.is_the_screen(desktop)
    assert desktop.said().count("failed 1") == 1


def test_a_copy_that_fails_is_made_again(compositor, cast, page_browser):
    desktop = compositor()
    _, page = shown(desktop, cast, page_browser)
    desktop.tell("fail", 3)
    desktop.fill(0x804020, 10, 10, 50, 40)
    desktop.until_said("failed 0", times=3)
    page.is_the_screen(desktop)


def test_copies_that_fail_for_long_are_reported(compositor, cast, page_browser):
    desktop = compositor()
    process, page = shown(desktop, cast, page_browser)
    desktop.tell("fail", 7)
    desktop.fill(0x804020, 10, 10, 50, 40)
    told = process.wait_event("source", where=lambda event: event["state"] == "stalled")
    assert "IMAGE-1" in told["message"], told
    process.wait_event("source", where=lambda event: event["state"] == "live")
    page.is_the_screen(desktop)


@pytest.mark.parametrize("command", ["stop", "halt"])
def test_a_session_that_is_stopped_is_begun_again(compositor, cast, page_browser, command):
    """Whether the session says so or the copy that fails."""
    desktop = compositor()
    _, page = shown(desktop, cast, page_browser)
    for count in (2, 3):
        desktop.tell(command)
        desktop.until_said("session, with cursor", times=count)
        desktop.fill(0x804020 * count & 0xFFFFFF, 10, 10, 50, 40)
        page.is_the_screen(desktop)
    assert "failed 2" in desktop.said()


@pytest.mark.parametrize("transform, turn", [
    (1, lambda picture: np.rot90(picture, -1)), (2, lambda picture: np.rot90(picture, 2)), (4, lambda picture: picture[:, ::-1])])
def test_a_turned_monitor_is_upright(compositor, cast, page_browser, transform, turn):
    desktop = compositor()
    _, page = shown(desktop, cast, page_browser)
    desktop.tell("transform", transform)
    desktop.pixels[:] = 0
    for colour in (0x804020, 0x20C0F0):
        desktop.fill(colour, 10, 20, 50, 40)
        page.is_the_screen(Turned(desktop, turn), timeout=20)


def test_the_usual_order_of_bytes_is_chosen(compositor, cast, page_browser):
    shown(compositor(formats=(RGB565, XBGR8888, XRGB8888)), cast, page_browser)


def test_the_other_order_of_bytes(compositor, cast, browser):
    """Its pixels are not exact on the page."""
    desktop = compositor(formats=(XBGR8888,))
    desktop.fill(0x2040F0)
    viewer = Viewer(browser, cast(*SCREEN, env=desktop.env).url()).wait_live()
    viewer.until(RED, what="the colour of the screen")


# 0x2040F0 in XBGR8888.
RED = """(() => {
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [320, 200];
  const context = canvas.getContext('2d');
  context.drawImage(document.querySelector('video'), 0, 0);
  const [red, green, blue] = context.getImageData(160, 100, 1, 1).data;
  return Math.abs(red - 240) < 12 && Math.abs(green - 64) < 12 && Math.abs(blue - 32) < 12;
})()"""


@pytest.mark.parametrize("forms, words", [((RGB565,), "0x36314752"), ((), "graphics cards alone")])
def test_forms_of_pixels_that_are_not_read_are_refused(compositor, forms, words):
    code, out, err = run(*SCREEN, "--duration", "10", env=compositor(formats=forms).env)
    assert (code, out) == (69, "") and words in err and "IMAGE-1" in err, (code, out, err)
