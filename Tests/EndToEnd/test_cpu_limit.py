"""`--cpu-limit`: no exact pixels are encoded while the program takes more than that of a core."""

import threading
import time

import numpy as np
import pytest

from harness.browser import Viewer
from harness.pictures import PAGE_SIZE, coloured_page

# Of a core, in per cent; a cast of the screen below takes several times as much.
LIMIT = 1


class RestlessScreen:
    """A page of text with a corner that changes all the time, so that a cast of it always has something to encode."""

    def __init__(self, server, painter, window):
        self.server = server
        self.pages = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._paint, args=(painter, window), daemon=True)
        self.thread.start()

    def _paint(self, painter, window):
        generator = np.random.default_rng(1)
        while not self.ended.wait(0.05):
            if self.pages:
                painter.put(window, self.pages.pop())
            painter.put(window, generator.integers(0, 256, (96, 160, 3), np.uint8))

    def turn(self, seed):
        self.pages.append(coloured_page(*PAGE_SIZE, seed=seed))

    def close(self):
        self.ended.set()
        self.thread.join(10)


@pytest.fixture
def restless_screen(screen):
    restless = RestlessScreen(*screen)
    yield restless
    restless.close()


def shares(rtcast, count):
    """What the viewer has exactly of the picture, in so many statistics in which the cast took more than the limit."""
    found = []
    while len(found) < count:
        told = rtcast.wait_event("stats", where=lambda event: event["peers"] and event["peers"][0]["exact"])
        if told["cpu_pct"] > 2 * LIMIT:
            found.append(told["peers"][0]["exact"]["share"])
    return found


def turned(restless_screen, cast, browser, *options):
    """A cast whose page was turned while somebody watched it exactly."""
    rtcast = cast("screen", "--fps", "20", "--no-cursor", *options, display=restless_screen.server.name)
    Viewer(browser, rtcast.url()).wait_live()
    shares(rtcast, 2)
    restless_screen.turn(seed=2)
    # The statistics of the second in which the page was turned may be of before.
    shares(rtcast, 2)
    return rtcast


def test_a_page_that_is_turned_becomes_exact(restless_screen, cast, browser):
    """Without a limit, so that the test below says something of the limit."""
    rtcast = turned(restless_screen, cast, browser)
    deadline = time.monotonic() + 40
    while shares(rtcast, 1)[0] < 0.7:
        assert time.monotonic() < deadline, "never exact"


def test_nothing_more_becomes_exact_while_the_program_takes_more_than_its_limit(restless_screen, cast, browser):
    rtcast = turned(restless_screen, cast, browser, "--cpu-limit", str(LIMIT))
    # A slow machine tells of the time before the page was turned for some seconds more.
    assert any(shares(rtcast, 1)[0] < 0.3 for _ in range(20)), "the page was never turned"
    found = shares(rtcast, 6)
    assert max(found) < 0.3, found
