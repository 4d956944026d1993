"""The window of `rtcast watch` and `rtcast call` on a screen of its own."""

import subprocess
import time

import numpy as np

import pytest

from harness.pictures import luma, psnr
from harness.xserver import XServer

COLORS = [(0xD0, 0x40, 0x30), (0x30, 0xA0, 0x50), (0x30, 0x50, 0xC0), (0xF0, 0xF0, 0xF0)]


def shown(screen):
    """What is not black: the picture between the bars that keep its shape."""
    lit = np.argwhere(screen.max(axis=2) > 24)
    if not len(lit):
        return None
    (top, left), (bottom, right) = lit.min(axis=0), lit.max(axis=0)
    return screen[top:bottom + 1, left:right + 1]


def drawn_on(server):
    """Four fields of colour over the whole screen."""
    painter = server.client()
    window = painter.window()
    for number, (red, green, blue) in enumerate(COLORS):
        painter.fill(window, number % 2 * 320, number // 2 * 180, 320, 180, red << 16 | green << 8 | blue)
    return painter


@pytest.mark.quick
@pytest.mark.feature("S0.69", "S1.30", peer="X server")
def test_the_window_shows_what_the_far_side_draws_in_its_shape(cast, xserver):
    """Compared by a screenshot."""
    far = XServer((640, 360))
    painter = drawn_on(far)
    try:
        viewer = cast("watch", cast("screen", "--fps", "5", display=far.name).url(), display=xserver.name)
        viewer.wait_event("track", where=lambda e: e["kind"] == "video")
        deadline = time.monotonic() + 20
        picture = None
        while time.monotonic() < deadline:
            try:
                picture = shown(xserver.picture())
            except subprocess.CalledProcessError:
                continue  # the window came or changed while the screen was read
            if picture is None or abs(picture.shape[1] / picture.shape[0] - 640 / 360) > 0.02:
                continue
            rows = np.arange(360) * picture.shape[0] // 360
            columns = np.arange(640) * picture.shape[1] // 640
            # The far pointer is cast and is in no screenshot: it alone costs some decibels.
            if psnr(luma(picture[rows][:, columns]), luma(far.picture())) > 33:
                break
        else:
            raise AssertionError(f"the window shows something else: {None if picture is None else picture.shape}")
        for number, color in enumerate(COLORS):
            height, width = picture.shape[:2]
            middle = picture[height * (1 + 2 * (number // 2)) // 4, width * (1 + 2 * (number % 2)) // 4]
            assert np.abs(middle.astype(int) - color).max() <= 6, (color, middle)
    finally:
        painter.close()
        far.stop()
