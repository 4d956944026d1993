"""The viewer page with exact pixels, as a screenshot sees it, in either browser."""

import io
import time

import numpy as np
from PIL import Image

from . import firefox
from .browser import chromium
from .pictures import PAGE_SIZE as SIZE, psnr

EVERYTHING = ("rtcast.exact && rtcast.exact.isShown && rtcast.exact.store.columns * rtcast.exact.store.rows > 0"
              " && rtcast.exact.store.drawnBlocks === rtcast.exact.store.columns * rtcast.exact.store.rows")


ACTUAL_SIZE = "document.querySelector(\"#bar [data-do='1']\").click();"

# At actual size, on whole pixels of the device.
IN_PLACE = ("!document.body.classList.contains('actual') || ['x', 'y'].every((side) => {"
            " const place = document.getElementById('video').getBoundingClientRect()[side] * devicePixelRatio;"
            " return Math.abs(place - Math.round(place)) < 0.02; })")


class Page:
    """The viewer page at actual size, in either browser, with nothing over the picture. Without a URL: the page that is open."""

    def __init__(self, driver, url=None):
        self.driver = driver
        if url:
            driver.get("about:blank")  # of the same page only what stands behind the # would change
            driver.get(url)
        self.script = driver.execute_script

    def until(self, condition, timeout=20):
        deadline = time.monotonic() + timeout
        while not self.script("return !!(" + condition + ")"):
            if time.monotonic() > deadline:
                state = self.script("return JSON.stringify([rtcast.state, rtcast.exact && [rtcast.exact.channel.readyState, "
                                    "rtcast.exact.isShown, rtcast.exact.store.drawnBlocks, rtcast.exact.frame, rtcast.exact.store.told]])")
                raise AssertionError(f"{condition}: not within {timeout} s; {state}")
            time.sleep(0.02)
        return self

    def live(self):
        self.until("window.rtcast && rtcast.state === 'live'").bare()
        self.script("if (!document.body.classList.contains('actual')) " + ACTUAL_SIZE)
        return self

    def bare(self):
        """Nothing is over the picture."""
        self.script("for (const id of ['pill', 'bar', 'stats', 'tap']) document.getElementById(id).style.display = 'none'")
        return self

    def screenshot(self, size=SIZE, element="video"):
        """The picture as the browser's compositor shows it, where the element begins."""
        place = self.script("const { x, y } = document.getElementById(arguments[0]).getBoundingClientRect(); return [x * devicePixelRatio, y * devicePixelRatio]",
                            element)
        left, top = map(round, place)
        assert abs(place[0] - left) < 0.02 and abs(place[1] - top) < 0.02, place
        picture = np.asarray(Image.open(io.BytesIO(self.driver.get_screenshot_as_png())).convert("RGB"))
        part = picture[top:top + size[1], left:left + size[0]]
        assert part.shape[:2] == size[::-1], "the window is too small"
        return part

    def is_the_screen(self, server, timeout=10):
        """Waits until it is, bit for bit: a frame that overtakes what is told of it hides everything for a moment."""
        deadline = time.monotonic() + timeout
        while not np.array_equal(shown := self.screenshot((truth := server.picture()).shape[1::-1]), truth):
            assert time.monotonic() < deadline, f"not the screen: {psnr(shown, truth):.1f} dB RGB"

    def zoom(self, factor):
        """As people zoom a page."""
        if isinstance(self.driver, firefox.Firefox):
            self.driver.zoom(factor)
        elif factor == 1:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        else:
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": round(1500 / factor), "height": round(1000 / factor), "deviceScaleFactor": factor, "mobile": False})
        self.until(f"Math.abs(devicePixelRatio - {factor}) < 0.02")
        self.until(IN_PLACE)  # of the new size the page hears a moment later


def start(name):
    return chromium(size=(1500, 1000)) if name == "chromium" else firefox.Firefox(size=(1500, 1000))
