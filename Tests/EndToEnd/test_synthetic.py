"""Synthetic sources in a real Chromium."""

import pytest

from harness.browser import Viewer


@pytest.mark.parametrize("pattern", ["bars", "clock", "noise", "gradient", "scroll-text"])
def test_every_pattern_plays(pattern, cast, browser):
    rtcast = cast("test", "--pattern", pattern, "--fps", "10", "--size", "640x360")
    viewer = Viewer(browser, rtcast.url()).wait_live()
    assert viewer.size() == (640, 360)


def test_odd_sizes_play(cast, browser):
    rtcast = cast("test", "--pattern", "clock", "--fps", "10", "--size", "321x241")
    assert Viewer(browser, rtcast.url()).wait_live().size() == (321, 241)
