"""Exact pixels on the viewer page: a screenshot of the page is the X screen, bit for bit, wherever it rests."""

import concurrent.futures
import io
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from harness.pictures import coloured_page, psnr
from harness.rtcast import bearer
from harness.viewer_page import EVERYTHING, Page
from harness.xserver import XServer

pytestmark = pytest.mark.alone

HERE = Path(__file__).resolve().parent
EXACT = HERE.parents[1] / "Sources/RTCSignalingNIO/Resources/viewer/exact.js"


def test_no_order_of_damage_frames_rectangles_and_decoding_shows_a_wrong_pixel(browser):
    fuzz = (HERE / "harness/exact_fuzz.js").read_text()
    wrong = browser.execute_script(
        EXACT.read_text() + fuzz + "const wrong = []; for (let seed = 1; seed <= 60; seed++) wrong.push(...fuzzExact(exactPixels, seed, 2000)); return wrong;")
    assert wrong == []


def test_a_screen_that_rests_is_the_screen(screen, cast, any_browser):
    """60 dB of RGB is asked for; it is every bit."""
    server, _, _ = screen
    page = Page(any_browser, cast("screen", "--fps", "10", "--bitrate", "2500k", "--no-cursor", display=server.name).url())
    page.live().until(EVERYTHING)
    shown, truth = page.screenshot(), server.picture()
    assert np.array_equal(shown, truth), f"{psnr(shown, truth):.1f} dB RGB"


def test_each_word_that_is_typed_becomes_exact(screen, cast, any_browser):
    server, painter, window = screen
    page = Page(any_browser, cast("screen", "--fps", "10", "--bitrate", "2500k", "--no-cursor", display=server.name).url())
    page.live().until(EVERYTHING)
    for word in range(8):
        painter.put(window, coloured_page(60, 20, seed=word), 100 + 70 * word, 300)
        start = time.monotonic()
        while not np.array_equal(page.screenshot(), server.picture()):
            assert time.monotonic() < start + 8, "a word is not there"


def test_a_late_viewer_has_it_exact(screen, cast, any_browser):
    server, _, _ = screen
    url = cast("screen", "--fps", "10", "--bitrate", "2500k", "--no-cursor", display=server.name).url()
    Page(any_browser, url).live().until(EVERYTHING)
    page = Page(any_browser, url)
    page.live().until(EVERYTHING, timeout=12)
    # A frame that overtakes what is told of it hides everything for a moment.
    end = time.monotonic() + 8
    while not np.array_equal(page.screenshot(), server.picture()):
        assert time.monotonic() < end, "something is not exact"


def test_nothing_older_than_the_video_is_seen_while_the_screen_changes(screen, cast, any_browser):
    """Blocks count up in one colour; no screenshot shows one that counts back."""
    server, painter, window = screen
    page = Page(any_browser, cast("screen", "--fps", "30", "--bitrate", "4M", "--no-cursor", display=server.name).url())
    page.live().until(EVERYTHING)

    def shown():
        return int(np.median(page.screenshot()[260:380, 260:380]))

    def begin():
        painter.fill(window, 256, 256, 128, 128, 0)
        black_by = time.monotonic() + 5
        while shown() > 2:
            assert time.monotonic() < black_by, "the change has not come"

    begin()
    before, end, level = 0, time.monotonic() + 10, 0
    while time.monotonic() < end:
        level = min(level + 3, 250)
        painter.fill(window, 256, 256, 128, 128, level << 16 | level << 8 | level)
        seen = shown()
        assert seen >= before - 2, "an older picture came back"
        before = seen
        if level == 250:
            begin()
            level = before = 0


def test_a_new_size_is_exact_too(cast, any_browser):
    import subprocess
    server = XServer((1024, 768), resizable=True)
    try:
        painter = server.client()
        painter.put(painter.window(), coloured_page(1024, 768))
        page = Page(any_browser, cast("screen", "--fps", "5", "--no-cursor", display=server.name).url())
        page.live().until(EVERYTHING)
        subprocess.run(["xrandr", "-s", "800x600"], env={"DISPLAY": server.name, "PATH": "/usr/bin"}, check=True)
        page.until("rtcast.exact.store.width === 800 && " + EVERYTHING)
    finally:
        server.stop()


def snapshot(listening):
    request = urllib.request.Request(listening["url"].split("#")[0] + "snapshot.webp", headers=bearer(listening))
    with urllib.request.urlopen(request, timeout=10) as response:
        assert response.headers["Content-Type"] == "image/webp"
        return response.read()


def test_the_snapshot_is_the_screen_for_those_with_the_secret(screen, cast):
    server, _, _ = screen
    listening = cast("screen", "--fps", "5", "--no-cursor", display=server.name).listening()
    with concurrent.futures.ThreadPoolExecutor(20) as many:
        pictures = set(many.map(lambda _: snapshot(listening), range(200)))
    assert len(pictures) == 1, "one encode serves all"
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(pictures.pop())).convert("RGB")), server.picture())
    with pytest.raises(urllib.error.HTTPError) as refused:
        snapshot({"url": listening["url"]})
    assert refused.value.code == 401


def test_a_picture_of_another_kind_has_no_snapshot(cast):
    listening = cast("test", "--pattern", "noise", "--fps", "5", "--size", "320x240").listening()
    with pytest.raises(urllib.error.HTTPError) as refused:
        snapshot(listening)
    assert refused.value.code == 404


def test_the_page_shows_the_screen_before_it_is_connected(screen, cast, browser):
    server, _, _ = screen
    page = Page(browser, cast("screen", "--fps", "5", "--no-cursor", display=server.name).url()).live()
    first, connected = page.script("return [rtcast.firstLook, rtcast.firstPicture]")
    assert first is not None and first < connected
