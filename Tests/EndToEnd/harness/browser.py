"""Debian's Chromium, headless, driven by WebDriver; and what the viewer page in it shows."""

import base64
import io
import os
import subprocess
import time

import numpy as np
import psutil
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from .netns import Forwarder

DRIVER = "/usr/bin/chromedriver"
# A camera and a microphone that are always there and never ask, and a screen: the page's own tab.
FAKE_DEVICES = ("--use-fake-device-for-media-stream=fps=10", "--use-fake-ui-for-media-stream", "--auto-accept-this-tab-capture")


def chromium(size=(1400, 900), autoplay="no-user-gesture-required", flags=(), host=None, display=None, settings=None):
    """`autoplay` "document-user-activation-required" is what people have: no sound before they touch the page. `host`: one of `netns`.
    `display`: an X server on which its window is shown; headless without. `settings`: of the browser's profile, by name."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in ("--ozone-platform=x11" if display else "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
                 f"--autoplay-policy={autoplay}", "--disable-background-networking", "--no-first-run",
                 "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
                 "--disable-backgrounding-occluded-windows",
                 f"--window-size={size[0]},{size[1]}", *flags):
        options.add_argument(flag)
    if settings:
        options.add_experimental_option("prefs", settings)
    environment = {**os.environ, **({"DISPLAY": display} if display else {})}
    driver = (ChromiumOn(host, options, environment) if host
              else webdriver.Chrome(options=options, service=Service(DRIVER, env=environment)))
    driver.set_script_timeout(30)
    return driver


def family(browser):
    """The processes of a browser, without its driver."""
    return psutil.Process(browser.service.process.pid).children(recursive=True)


class ChromiumOn(webdriver.Remote):
    """Browser and driver live on a host of a test network; what is said to them is brought there."""

    def __init__(self, host, options, environment):
        with host:
            self.driver_process = subprocess.Popen([DRIVER, "--port=0"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                                                   env=environment)
        told = next((line for line in self.driver_process.stdout if "was started successfully on port" in line), None)
        assert told, f"chromedriver ended with {self.driver_process.wait()}"
        self.forwarder = Forwarder(host, int(told.rstrip(".\n").rsplit(" ", 1)[1]))
        super().__init__(f"http://127.0.0.1:{self.forwarder.port}", options=options)

    def quit(self):
        try:
            super().quit()
        finally:
            self.driver_process.terminate()
            self.driver_process.wait()
            self.driver_process.stdout.close()
            self.forwarder.close()


def drawn(script, video="video"):
    """The frame that a page's video shows now, lossless, as height x width x RGB; `script` runs JavaScript in the page."""
    url = script(f"""
        const v = document.querySelector({video!r}), c = document.createElement('canvas');
        c.width = v.videoWidth; c.height = v.videoHeight;
        c.getContext('2d').drawImage(v, 0, 0);
        return c.toDataURL('image/png');""")
    return decoded(url)


def decoded(url):
    """The picture of a data: URL, as height x width x RGB."""
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(url.split(",", 1)[1]))).convert("RGB"))


class Viewer:
    """One tab on the viewer page."""

    def __init__(self, driver, url, new_tab=False):
        self.driver = driver
        if new_tab:
            driver.switch_to.new_window("tab")
        self.handle = driver.current_window_handle
        driver.get(url)

    def select(self):
        self.driver.switch_to.window(self.handle)
        return self

    def script(self, code, *arguments):
        self.select()
        return self.driver.execute_script(code, *arguments)

    def asynchronous(self, code, *arguments):
        self.select()
        return self.driver.execute_async_script(code, *arguments)

    def until(self, code, timeout=20, what=None):
        """Polls the page until the expression is truthy, and returns it."""
        deadline = time.monotonic() + timeout
        value = None
        while time.monotonic() < deadline:
            value = self.script("return " + code)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError(f"{what or code}: not within {timeout} s; page state {self.state()}")

    def state(self):
        return self.script("return window.rtcast ? window.rtcast.state : null")

    def wait_live(self, timeout=20):
        self.until("document.querySelector('video') && document.querySelector('video').videoWidth > 0 "
                   "&& document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames > 0", timeout, "live video")
        return self

    def size(self):
        return tuple(self.script("const v = document.querySelector('video'); return [v.videoWidth, v.videoHeight]"))

    def frames(self):
        return self.script("return document.querySelector('video').getVideoPlaybackQuality().totalVideoFrames")

    def picture(self):
        """The frame the page's video has now, lossless, as height x width x RGB."""
        return drawn(self.script)

    def shown(self):
        """The picture as people see it: exact pixels are upon the video, which waits while they follow a movement."""
        return decoded(self.script("const c = document.createElement('canvas'); paintPicture(c); return c.toDataURL('image/png');"))

    def stats(self):
        """All of getStats(), as a list."""
        return self.asynchronous("""
            const done = arguments[0];
            window.rtcast.pc.getStats().then(s => done([...s.values()]));""")

    def stat(self, type_, **where):
        for entry in self.stats():
            if entry["type"] == type_ and all(entry.get(k) == v for k, v in where.items()):
                return entry
        return None

    def close(self):
        self.select()
        self.driver.close()
        self.driver.switch_to.window(self.driver.window_handles[0])
