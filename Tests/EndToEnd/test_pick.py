"""`rtcast screen --pick`: the caster picks on a page of their own what viewers see, and changes it while they stay connected."""

import os
import time
import urllib.error
import urllib.request

import numpy as np
import pytest

from harness.browser import Viewer
from harness.rtcast import run
from harness.terminal import Terminal
from harness.xserver import XServer

RED, BLUE = (200, 30, 30), (30, 60, 200)


class PickPage:
    def __init__(self, driver, url):
        self.driver = driver
        driver.switch_to.new_window("tab")
        self.handle = driver.current_window_handle
        driver.get(url)

    def script(self, code, *arguments):
        self.driver.switch_to.window(self.handle)
        return self.driver.execute_script(code, *arguments)

    def until(self, expression, timeout=20, what=None):
        deadline = time.monotonic() + timeout
        while not (value := self.script(f"return {expression}")):
            assert time.monotonic() < deadline, f"{what or expression} does not hold within {timeout} s: {self.words()!r}"
            time.sleep(0.05)
        return value

    def words(self):
        return self.script("return document.body.innerText")

    def tile(self, name):
        return f"[...document.querySelectorAll('.tile')].find((tile) => tile.querySelector('.name').textContent === {name!r})"

    def pick(self, name):
        self.until(self.tile(name), what=f"a tile of {name}")
        self.script(f"{self.tile(name)}.click()")
        self.until(f"{self.tile(name)}?.getAttribute('aria-pressed') === 'true'", what=f"{name} is cast")
        return self

    def color(self, name):
        """The middle of a tile's picture."""
        return self.script(f"""
            const image = {self.tile(name)}?.querySelector("img");
            if (!image?.naturalWidth) return null;
            const canvas = document.createElement("canvas"), context = canvas.getContext("2d");
            [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
            context.drawImage(image, 0, 0);
            return [...context.getImageData(canvas.width / 2, canvas.height / 2, 1, 1).data].slice(0, 3);""")

    def wait_color(self, name, expected, timeout=20):
        deadline = time.monotonic() + timeout
        while not ((color := self.color(name)) and np.abs(np.subtract(color, expected)).max() <= 16):
            assert time.monotonic() < deadline, f"the picture of {name} is {color}, not {expected}"
            time.sleep(0.1)


@pytest.fixture
def desktop():
    """A screen with a red and a blue window; the blue one is covered by a green one without a title."""
    server = XServer((1000, 700))
    painter = server.client()
    windows = {
        "Red notes": painter.window(x=20, y=20, width=400, height=300, title="Red notes", color=0xC81E1E),
        "Blue plan": painter.window(x=500, y=300, width=440, height=320, title="Blue plan", color=0x1E3CC8),
    }
    yield server, painter, windows
    painter.close()
    server.stop()


def started(cast, server, *options):
    rtcast = cast("screen", "--pick", *options, display=server.name)
    listening = rtcast.listening()
    return rtcast, listening["url"], rtcast.wait_event("pick")["url"]


def wait_shown(viewer, expected, timeout=20):
    deadline = time.monotonic() + timeout
    while True:
        picture = viewer.picture()
        middle = picture[picture.shape[0] // 2, picture.shape[1] // 2].astype(int)
        if np.abs(middle - expected).max() <= 24:
            return picture
        assert time.monotonic() < deadline, f"the viewer sees {middle}, not {expected}"
        time.sleep(0.1)


@pytest.mark.quick
def test_the_caster_picks_and_changes_what_viewers_see(cast, desktop, browser):
    server, painter, windows = desktop
    rtcast, watch, pick = started(cast, server)
    viewer = Viewer(browser, watch).wait_live()
    page = PickPage(browser, pick)
    page.until("document.documentElement.dataset.state === 'waiting'")
    page.wait_color("Red notes", RED)
    page.wait_color("Blue plan", BLUE)
    page.until(page.tile("Whole screen") + "?.dataset.picture", what="a picture of the whole screen")
    assert page.script("return document.getElementById('share').hidden"), "before a choice there is nothing to share"

    page.pick("Red notes")
    assert page.script("return document.getElementById('link').value") == watch
    viewer.select()
    wait_shown(viewer, RED)
    page.pick("Blue plan")
    viewer.select()
    wait_shown(viewer, BLUE)
    assert viewer.state() == "live"

    # The window that is cast is closed: viewers stay, and another one is picked.
    windows["Blue plan"].destroy()
    painter.display.sync()
    page.until("document.documentElement.dataset.state === 'waiting'", what="nothing is cast")
    page.pick("Whole screen")
    viewer.select()
    # What is shown while nothing is cast is as dark.
    viewer.until("document.querySelector('video').videoWidth === 1000", what="the whole screen")
    picture = wait_shown(viewer, (0, 0, 0))
    assert picture.shape[:2] == (700, 1000)
    rtcast.stop()


def test_a_picture_follows_its_window_and_only_while_the_page_is_open(cast, desktop, browser):
    server, painter, windows = desktop
    rtcast, _, pick = started(cast, server)
    page = PickPage(browser, pick)
    page.wait_color("Red notes", RED)
    painter.fill(windows["Red notes"], 0, 0, 400, 300, 0x1E3CC8)
    page.wait_color("Red notes", BLUE, timeout=10)
    windows["Red notes"].unmap()
    painter.display.sync()
    page.until(page.tile("Red notes") + ".disabled", what="a minimised window cannot be picked")
    browser.close()
    browser.switch_to.window(browser.window_handles[0])
    # Nothing asks any more: the program rests.
    def spent():
        with open(f"/proc/{rtcast.process.pid}/stat") as file:
            return sum(map(int, file.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    time.sleep(2)  # the page's last requests
    before, start = spent(), time.monotonic()
    time.sleep(3)
    assert (spent() - before) / (time.monotonic() - start) < 0.03
    rtcast.stop()


@pytest.mark.quick
def test_a_viewers_link_opens_no_pick_page(cast, desktop, browser):
    """Neither the cast's server nor the page's shows a picture of anything to a holder of the link for viewers."""
    server, _, _ = desktop
    _, watch, pick = started(cast, server)
    address, _, secret = pick.partition("#token=")
    viewers, _, theirs = watch.partition("#token=")
    assert secret and theirs and secret != theirs
    assert address.startswith("http://127.0.0.1:")

    def status(base, path, token, **options):
        request = urllib.request.Request(base + path, headers={"Authorization": f"Bearer {token}"} if token else {}, **options)
        try:
            return urllib.request.urlopen(request, timeout=10).status
        except urllib.error.HTTPError as refusal:
            return refusal.code

    assert status(address, "pick/state", secret) == 200
    assert status(address, "pick/picture/screen", secret) == 200
    for path in ("pick/state", "pick/picture/screen"):
        assert status(address, path, theirs) == 401
        assert status(address, path, None) == 401
        assert status(viewers, path, theirs) == 404, "the viewers' server has no such page"
        assert status(viewers, path, secret) in (401, 404)
    assert status(address, "pick/choice", theirs, data=b"screen") == 401
    # A link that is signed with the page's own secret gives a right to watch or publish, and not to pick.
    for role in ("watch", "publish"):
        code, output, error = run("link", "--role", role, "-", stdin=pick.encode())
        assert code == 0, error
        signed = output.split("#token=")[1].split()[0]
        assert status(address, "pick/state", signed) in (401, 403), role

    page = PickPage(browser, address + "#token=" + theirs)
    page.until("!document.getElementById('ask').hidden", what="a page that asks for its own link")
    assert not page.script("return document.querySelectorAll('.tile').length")


def test_a_choice_that_cannot_be_cast_changes_nothing(cast, desktop, browser):
    server, painter, windows = desktop
    _, watch, pick = started(cast, server)
    address, _, secret = pick.partition("#token=")

    def choose(body):
        request = urllib.request.Request(address + "pick/choice", data=body, headers={"Authorization": f"Bearer {secret}"})
        try:
            return urllib.request.urlopen(request, timeout=10).status, ""
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read().decode()

    assert choose(b"screen")[0] == 204
    status, sentence = choose(b"window-7fffffff")
    assert status == 409 and "no window" in sentence, (status, sentence)
    for body in (b"", b"window", b"window-zz", b"monitor-99999999999999999999", b"x" * 65, b"--display\nfile", b"\xff\xfe"):
        assert choose(body)[0] in (400, 409), body
    viewer = Viewer(browser, watch).wait_live()
    assert viewer.size() == (1000, 700)


def test_options_that_do_not_go_with_it(cast):
    for options in (["--window", "x"], ["--monitor", "0"], ["--region", "100x100+0+0"], ["--to", "alice", "--server", "ws://127.0.0.1:1"]):
        status, _, error = run("screen", "--pick", *options)
        assert status == 64 and "--pick" in error, (options, error)
    status, _, error = run("screen", "--pick")
    assert status == 69 and "DISPLAY" in error


def test_a_person_at_a_terminal_sees_both_links(desktop):
    server, _, _ = desktop
    terminal = Terminal("screen", "--pick", "--no-qr", display=server.name)
    try:
        terminal.wait(r"Pick what to cast at http://127\.0\.0\.1:\d+/#token=\S+")
        terminal.wait(r"Watch at http://127\.0\.0\.1:\d+/#token=\S+")
    finally:
        terminal.stop()
