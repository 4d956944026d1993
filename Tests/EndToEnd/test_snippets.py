"""The examples of the library in a real browser: what an application's own source and encoder make is what a viewer sees."""

import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from harness.browser import Viewer
from harness.rtcast import BINARY


@pytest.fixture
def snippet():
    """Starts a snippet that prints "Open LINK", and returns the link."""
    started = []

    def start(name):
        # Line by line: what a program prints into a pipe is held back otherwise.
        process = subprocess.Popen(["stdbuf", "-oL", str(Path(BINARY).parent / name)], stdout=subprocess.PIPE, text=True)
        started.append(process)
        line = process.stdout.readline()
        assert line.startswith("Open http://"), line
        return line.split()[1]

    yield start
    for process in started:
        process.terminate()
        process.wait(timeout=10)


@pytest.mark.feature("S0.70", "S0.74", "S4.20", "S4.28", peer="Chromium")
def test_a_source_of_ones_own_is_seen_and_heard(snippet, browser):
    """The ground rests, the square breathes."""
    viewer = Viewer(browser, snippet("OwnSource")).wait_live()
    viewer.until("rtcast.pc.getReceivers().some((r) => r.track.kind === 'audio' && !r.track.muted)", what="sound")
    shades, deadline = set(), time.monotonic() + 20
    while len(shades) < 4:   # at the five pictures a second of a screencast, one grey level each
        picture = viewer.picture().astype(int)
        assert picture.shape[:2] == (240, 320)
        ground, square = picture[20:60, 20:60], picture[100:140, 140:180]
        assert abs(ground.mean() - 60) < 3
        assert 145 <= square.mean() <= 205
        shades.add(round(square.mean() / 3))
        assert time.monotonic() < deadline, f"the square does not breathe: {shades}"


@pytest.mark.feature("S1.17", "S4.13", peer="Chromium")
def test_an_encoder_of_ones_own_is_decoded_to_the_very_samples(snippet, browser):
    """H.264 made here; lossless, so that a plain ground has no noise at all."""
    viewer = Viewer(browser, snippet("OwnEncoder")).wait_live()
    viewer.until("document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > 20")
    stats = viewer.asynchronous("const done = arguments[0]; rtcast.stats().then(done)")
    assert stats["codec"] == "H264"
    corner = viewer.picture()[200:236, 4:60]
    assert np.ptp(corner.reshape(-1, 3), axis=0).max() == 0
