"""Synthetic sources in a real Chromium."""

import time

import numpy as np
import pytest

from harness import barcode
from harness.browser import Viewer
from harness.pictures import luma


def cast_of(pattern, cast, browser):
    rtcast = cast("test", "--pattern", pattern, "--fps", "10", "--size", "640x360", "--bitrate", "6M")
    viewer = Viewer(browser, rtcast.url()).wait_live()
    assert viewer.size() == (640, 360)
    return viewer


def two_pictures(viewer):
    """Half a second apart, once the picture has had time to become sharp."""
    time.sleep(2)
    first = viewer.shown().astype(int)
    time.sleep(0.5)
    return first, viewer.shown().astype(int)


def roughness(picture):
    """How far neighbours are apart."""
    return np.abs(np.diff(luma(picture), axis=1)).mean()


@pytest.mark.quiet("the pace of frames")
def test_the_clock_plays_in_order_at_its_pace(cast, browser):
    viewer = cast_of("clock", cast, browser)
    seen = barcode.watch(viewer, 4)
    barcode.assert_in_order(seen)
    assert abs(barcode.slope(seen) / 10 - 1) < 0.1


def test_bars_have_the_colours_of_bars_and_move(cast, browser):
    first, second = two_pictures(cast_of("bars", cast, browser))
    bars = [first[60, 40 + 80 * bar] for bar in range(8)]
    wanted = [(255, 255, 255), (255, 255, 0), (0, 255, 255), (0, 255, 0), (255, 0, 255), (255, 0, 0), (0, 0, 255), (0, 0, 0)]
    assert np.abs(np.array(bars) - wanted).max() <= 4, bars
    assert roughness(first) < 1 and 0.1 < np.abs(first - second).mean() < 2


@pytest.mark.quiet("the detail of a picture that is new")
def test_noise_is_noise_everywhere_in_every_picture(cast, browser):
    first, second = two_pictures(cast_of("noise", cast, browser))
    for part in (first[:180, :320], first[180:, :320], first[:180, 320:], first[180:, 320:]):
        assert roughness(part) > 30
    assert np.abs(first - second).mean() > 30


def test_a_gradient_is_smooth_and_moves(cast, browser):
    first, second = two_pictures(cast_of("gradient", cast, browser))
    assert roughness(first) < 1 and np.ptp(luma(first)) > 150
    assert 1 < np.abs(first - second).mean() < 20


def test_text_scrolls(cast, browser):
    """Lines of text on white, and the second picture is the first, moved up."""
    first, second = (luma(picture) for picture in two_pictures(cast_of("scroll-text", cast, browser)))
    assert np.median(first) > 200 and roughness(first[..., None] * np.ones(3)) > 20
    unlike = {rows: np.abs(first[rows:] - second[:360 - rows]).mean() for rows in range(0, 180)}
    rows = min(unlike, key=unlike.get)
    assert rows > 0 and unlike[rows] < unlike[0] / 3, (rows, unlike[rows], unlike[0])


def test_odd_sizes_play(cast, browser):
    viewer = Viewer(browser, cast("test", "--pattern", "clock", "--fps", "10", "--size", "321x241").url()).wait_live()
    assert viewer.size() == (321, 241)
    barcode.assert_in_order(barcode.watch(viewer, 2))
