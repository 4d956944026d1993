"""What a desktop tells with its pictures by PipeWire: changes, the part that is meant, its turning, the pointer; and how it ends them."""

import os
import signal
import time

import numpy as np
import pytest

from harness.pipewire_session import StandInPortal
from harness.rtcast import run
from harness.viewer_page import EVERYTHING, Page

PORTAL = ("screen", "--wayland-backend", "portal", "--fps", "10")
FIRST, SECOND, THIRD = 0x3366CC, 0x12FE80, 0xE01050


@pytest.fixture
def portal():
    started = []

    def start(**choices):
        started.append(StandInPortal(**choices))
        return started[-1]

    yield start
    for each in started:
        each.stop()


@pytest.fixture
def watched(portal, cast, page_browser):
    """A desktop, a cast of it, and the page that shows all of its first picture."""
    def start(*options, told=()):
        desktop = portal()
        for words in told:
            desktop.tell(words)
        process = cast(*PORTAL, *options, env=desktop.env)
        page = Page(page_browser, process.url())
        page.live().until(EVERYTHING)
        process.drain()
        return desktop, process, page
    return start


def becomes(page, picture, seconds=10):
    """Waits until the page shows the picture, bit for bit."""
    deadline = time.monotonic() + seconds
    while not np.array_equal(shown := page.screenshot(picture.shape[1::-1]), picture):
        assert time.monotonic() < deadline, f"{np.count_nonzero((shown != picture).any(axis=2))} wrong pixels"


def test_changes_of_pictures_that_were_skipped_are_kept(watched):
    """The newest picture replaces one that nobody has seen; the changes of both are shown."""
    desktop, process, page = watched("--no-cursor")
    desktop.fill(FIRST)
    page.is_the_screen(desktop)
    os.kill(process.process.pid, signal.SIGSTOP)
    desktop.tell("damage 0 0 160 200")
    desktop.fill(SECOND)
    desktop.until_said(f"shown {SECOND:06x}")
    desktop.tell("damage 160 0 160 200")
    desktop.fill(THIRD)
    desktop.until_said(f"shown {THIRD:06x}")
    os.kill(process.process.pid, signal.SIGCONT)
    page.is_the_screen(desktop)


def test_a_picture_that_is_said_to_be_broken_is_not_shown(watched):
    desktop, process, page = watched("--no-cursor")
    desktop.fill(FIRST)
    page.is_the_screen(desktop)
    desktop.fill(SECOND, "false")
    desktop.until_said(f"shown {SECOND:06x}")
    process.drain()
    for _ in range(2):
        process.wait_event("stats")  # by the second one, the page would show it
    becomes(page, desktop.halves(FIRST, ~FIRST))


def test_the_part_that_is_meant_is_the_picture(watched):
    desktop, _, page = watched("--no-cursor", told=["crop 100 20 120 160"])
    desktop.fill(FIRST)
    becomes(page, desktop.halves(FIRST, ~FIRST)[20:180, 100:220])
    # A part outside, or none at all, is no part.
    for words in ("crop 80 0 160 100", "crop -40 -30 200 130", "crop 100 20 120 160"):
        desktop.tell(words)
        x, y, width, height = (int(word) for word in words.split()[1:])
        desktop.fill(SECOND)
        becomes(page, desktop.halves(SECOND, ~SECOND)[max(0, y):y + height, max(0, x):x + width])
    desktop.tell("crop")
    desktop.fill(THIRD)
    page.is_the_screen(desktop)


@pytest.mark.parametrize("transform", range(8))
def test_a_turned_picture_is_upright(watched, transform):
    """The desktop mirrored it from 4 on, then turned it counterclockwise by so many quarters: the numbers are those of wl_output."""
    desktop, _, page = watched("--no-cursor", told=[f"transform {transform}", "crop 120 30 120 100"])
    desktop.fill(FIRST)
    seen = desktop.halves(FIRST, ~FIRST)[30:130, 120:240]
    upright = np.rot90(seen, -(transform % 4))
    becomes(page, upright[:, ::-1] if transform >= 4 else upright)


def test_the_pointer_is_drawn_by_the_page(watched):
    desktop, process, page = watched(told=["cursor 40 30 ff8800"])
    desktop.fill(FIRST)
    place = "rtcast.cursor && rtcast.cursor.isShown && rtcast.cursor.store.position && rtcast.cursor.store.position.{} === {}"
    page.until(place.format("x", 40)).until(place.format("y", 30))
    assert page.script("return [rtcast.cursor.store.image.width, rtcast.cursor.store.image.height]") == [8, 8]
    process.drain()
    desktop.tell("cursor 200 100 ff8800")
    desktop.fill(FIRST)
    page.until(place.format("x", 200)).until(place.format("y", 100))
    desktop.tell("cursor hidden")
    desktop.fill(FIRST)
    page.until("!rtcast.cursor.isShown")


def test_who_stops_the_sharing_ends_the_cast(watched):
    """Desktops close the session, and take the stream away before or after that."""
    for order in (("close", "remove"), ("remove", "close"), ("close",)):
        desktop, process, _ = watched("--no-cursor")
        for words in order:
            desktop.tell(words)
        assert "ended the sharing" in process.wait_event("error", timeout=20)["message"]
        assert process.wait() == 69


def test_a_stream_that_is_taken_away_is_asked_for_again(watched):
    desktop, process, page = watched("--no-cursor")
    desktop.tell("remove")
    stalled = process.wait_event("source", where=lambda event: event["state"] == "stalled")
    assert "took the pictures" in stalled["message"], stalled
    process.wait_event("source", where=lambda event: event["state"] == "live")
    desktop.fill(SECOND)
    page.is_the_screen(desktop)


def test_deep_colours_are_not_taken(portal):
    """The form is not offered, so that a desktop converts; one that cannot is named."""
    desktop = portal(formats=("deep", "plain"))
    code, out, err = run(*PORTAL, "--duration", "3", env=desktop.env)
    assert code == 0 and "format 320x200 plain" in desktop.said(), (code, out, err, desktop.said())
    _, out, err = run(*PORTAL, "--duration", "10", env=portal(formats=("deep",)).env, timeout=40)
    assert "does not connect the stream" in err, (out, err)
