"""What a desktop tells with its pictures by PipeWire: changes, the part that is meant, its turning, the pointer; and how it ends them."""

import os
import signal
import time

import numpy as np
import pytest

from harness.rtcast import run
from harness.viewer_page import EVERYTHING, Page

PORTAL = ("screen", "--wayland-backend", "portal", "--fps", "10")
FIRST, SECOND, THIRD = 0x3366CC, 0x12FE80, 0xE01050


@pytest.fixture
def watched(portal, cast, page_browser):
    """A desktop, a cast of it, and the page that shows all of its first picture."""
    def start(*options, told=(), memory="file"):
        desktop = portal(memory)
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


@pytest.fixture
def copied(watched):
    """A desktop of whose memory only changes are copied, and its cast and page, which have shown its first picture for a while."""
    desktop, process, page = watched("--no-cursor", memory="pointer")
    desktop.fill(FIRST)
    page.is_the_screen(desktop)
    desktop.tell("damage 160 0 160 200")
    process.drain()
    for _ in range(2):
        process.wait_event("stats")  # by the second one, no other change waits
    return desktop, process, page


def stays(process, page, picture):
    """The page shows the picture again and again, by its video at least: each time, the cast uses other memory for its copies."""
    process.drain()
    for _ in range(4):
        process.wait_event("stats")
        assert np.abs(page.screenshot(picture.shape[1::-1]).astype(int) - picture).max() < 32


def test_changes_of_a_picture_that_is_left_out_are_kept(copied):
    """The picture that follows it tells only what has changed since."""
    desktop, process, page = copied
    desktop.tell("damage 0 0 160 200")
    desktop.fill(SECOND, "false")
    desktop.until_said(f"shown {SECOND:06x}")
    desktop.tell("damage 160 0 160 200")
    desktop.fill(SECOND)
    page.is_the_screen(desktop)
    stays(process, page, desktop.picture())


@pytest.mark.parametrize("command", ["lose", "break"])
def test_after_a_picture_that_was_lost_all_may_have_changed(copied, command):
    desktop, process, page = copied
    desktop.fill(SECOND, command)
    page.is_the_screen(desktop)
    stays(process, page, desktop.picture())


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


def test_the_pointer_is_in_the_part_that_comes_with_it(watched):
    desktop, _, page = watched(told=["cursor 40 30 ff8800"])
    place = "rtcast.cursor && rtcast.cursor.store.position && rtcast.cursor.store.position.{} === {}"
    page.until(place.format("x", 40)).until(place.format("y", 30))
    for words in ("quiet", "cursor 140 90 ff8800", "crop 100 20 120 160"):
        desktop.tell(words)
    desktop.fill(SECOND)
    page.until(place.format("x", 40)).until(place.format("y", 70))


def test_who_stops_the_sharing_ends_the_cast(watched):
    """Desktops close the session, and take the stream away before or after that."""
    for order in (("close", "remove"), ("remove", "close"), ("close",)):
        desktop, process, _ = watched("--no-cursor")
        for words in order:
            desktop.tell(words)
        assert "ended the sharing" in process.wait_event("error", timeout=20)["message"]
        assert process.wait() == 69


def test_who_stopped_the_sharing_is_not_asked_again(watched):
    """The session is closed a moment before it would be."""
    desktop, process, _ = watched("--no-cursor")
    desktop.tell("leave")
    assert "ended the sharing" in process.wait_event("error")["message"]
    assert process.wait() == 69
    said = desktop.said()
    assert "asked" not in said[said.index("closed"):], said


@pytest.mark.parametrize("command", ["refuse", "disconnect"])
def test_a_desktop_that_cannot_share_again_yet_is_asked_once_more(watched, command):
    """As while PipeWire starts."""
    desktop, process, page = watched("--no-cursor")
    desktop.tell(f"{command} 2")
    desktop.tell("remove")
    process.wait_event("source", where=lambda event: event["state"] == "live")
    assert desktop.said().count("refused") == 2
    desktop.fill(SECOND)
    page.is_the_screen(desktop)


def test_a_stream_that_is_taken_away_time_and_again_ends_the_cast(watched):
    desktop, process, _ = watched("--no-cursor")
    desktop.tell("vanish")
    assert "before one came" in process.wait_event("error")["message"]
    assert process.wait() == 69 and desktop.said().count("removed") == 4


def test_a_stream_that_is_taken_away_before_its_first_picture_ends_the_cast(portal):
    desktop = portal()
    desktop.tell("vanish")
    code, out, err = run(*PORTAL, "--duration", "20", env=desktop.env, timeout=60)
    assert (code, out) == (69, "") and "before one came" in err, (code, out, err)
    assert desktop.said().count("asked") == 1


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
