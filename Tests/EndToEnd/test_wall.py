"""The hub's page `/wall`: all streams as still pictures, in a real browser, and what asking for them costs."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.common.action_chains import ActionChains

from harness.browser import Viewer, chromium
from harness.rtcast import run
from harness.xserver import XServer

LIVE = lambda event: event["state"] == "published"  # noqa: E731


class WallPage:
    def __init__(self, driver, url):
        self.driver = driver
        driver.get("about:blank")
        address, _, fragment = url.partition("#")
        driver.get(address + "wall" + ("#" + fragment if fragment else ""))

    def script(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def until(self, expression, timeout=20, what=None):
        deadline = time.monotonic() + timeout
        while not (value := self.script(f"return {expression}")):
            assert time.monotonic() < deadline, f"{what or expression} does not hold within {timeout} s: {self.tiles()}"
            time.sleep(0.05)
        return value

    def tiles(self):
        return self.script("return [...document.querySelectorAll('.tile')].map((tile) => ({...tile.dataset}))")

    def wait_pictures(self, *names):
        """Each of the names has a tile with a picture."""
        for name in names:
            self.until(f"document.querySelector('.tile[data-name=\"{name}\"][data-picture][data-state=live]')", what=f"a picture of {name}")
        return self

    def colors(self, name):
        """The middle of each quarter of a stream's picture, as lists of red, green and blue."""
        return self.script("""
            const image = document.querySelector(`.tile[data-name="${arguments[0]}"] img`), canvas = document.createElement("canvas");
            [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
            const context = canvas.getContext("2d");
            context.drawImage(image, 0, 0);
            return [[1, 1], [3, 1], [1, 3], [3, 3]].map(([x, y]) =>
              [...context.getImageData(canvas.width * x / 4, canvas.height * y / 4, 1, 1).data].slice(0, 3));""", name)


def near(colors, expected, tolerance=24):
    return all(abs(a - b) <= tolerance for color, wanted in zip(colors, expected) for a, b in zip(color, wanted))


def published(cast, hub, url, name, *arguments, **options):
    address, _, token = url.partition("#token=")
    publisher = cast(*arguments, "--to", address + "whip/" + name, *(("--token", token) if token else ()), **options)
    publisher.wait_event("peer", where=LIVE)
    return publisher


def painted(server, colors):
    painter = server.client()
    window = painter.window()
    width, height = painter.screen.width_in_pixels, painter.screen.height_in_pixels
    paint(painter, window, colors, width, height)
    return painter, window


def paint(painter, window, colors, width=640, height=360):
    for number, (red, green, blue) in enumerate(colors):
        painter.fill(window, number % 2 * width // 2, number // 2 * height // 2, width // 2, height // 2, red << 16 | green << 8 | blue)


FIRST = [(208, 64, 48), (48, 160, 80), (48, 80, 192), (240, 240, 240)]
SECOND = [(240, 200, 40), (20, 20, 20), (200, 60, 200), (60, 200, 200)]


def get(url, path, known=None, token=None, client=None):
    """Status, headers and body of a request of the wall."""
    address, _, own = url.partition("#token=")
    headers = {}
    if token or own:
        headers["Authorization"] = f"Bearer {token or own}"
    if known:
        headers["If-None-Match"] = known
    if client:
        headers["RTCast-Client"] = client
    try:
        with urllib.request.urlopen(urllib.request.Request(address + path, headers=headers), timeout=10) as reply:
            return reply.status, reply.headers, reply.read()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.headers, refusal.read()


def picture(url, path, timeout=20, **options):
    """Headers and body of a still picture, once there is one: a stream that has just begun has none."""
    deadline = time.monotonic() + timeout
    while (reply := get(url, path, **options))[0] != 200:
        assert reply[0] == 404, reply
        assert time.monotonic() < deadline, f"no picture within {timeout} s"
        time.sleep(0.1)
    return reply[1:]


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0")


@pytest.mark.quick
def test_streams_appear_change_end_and_come_back(cast, hub, browser):
    """Of a screen by each codec that browsers publish and rtcast encodes."""
    url = hub.url()
    server = XServer((640, 360))
    painter, window = painted(server, FIRST)
    try:
        wall = WallPage(browser, url)
        wall.until("!document.getElementById('empty').hidden", what="a page without streams that says so")
        vp8 = published(cast, hub, url, "vp8", "screen", display=server.name)
        published(cast, hub, url, "vp9", "screen", "--codec", "VP9", display=server.name)
        wall.wait_pictures("vp8", "vp9")
        assert wall.script("return document.getElementById('note').textContent") == "2 streams"
        for name in ("vp8", "vp9"):
            assert near(wall.colors(name), FIRST), (name, wall.colors(name))

        paint(painter, window, SECOND)
        deadline = time.monotonic() + 20
        while not all(near(wall.colors(name), SECOND) for name in ("vp8", "vp9")):
            assert time.monotonic() < deadline, [wall.colors(name) for name in ("vp8", "vp9")]
            time.sleep(0.1)

        vp8.stop()
        wall.until("document.querySelector('.tile[data-name=vp8][data-state=ended]')")
        published(cast, hub, url, "vp8", "test", "--pattern", "bars", "--size", "640x360")
        wall.wait_pictures("vp8")
        deadline = time.monotonic() + 20
        while near(wall.colors("vp8"), SECOND):
            assert time.monotonic() < deadline, "the picture of the stream that came back is the old one"
            time.sleep(0.1)
    finally:
        painter.close()
        server.stop()


@pytest.mark.quick
def test_a_click_watches_the_stream_and_back_is_the_wall(cast, hub, browser):
    url = hub.url()
    for name in ("one", "two & more"):
        published(cast, hub, url, urllib.parse.quote(name), "test", "--pattern", "clock", "--size", "640x360")
    wall = WallPage(browser, url).wait_pictures("one", "two & more")
    wall.script("document.querySelector('.tile').focus()")
    ActionChains(browser).send_keys(Keys.ARROW_RIGHT).perform()
    assert wall.script("return document.activeElement.dataset.name") == "two & more"
    ActionChains(browser).send_keys(Keys.ENTER).perform()
    wall.until("location.pathname === '/watch'")
    viewer = Viewer.__new__(Viewer)
    viewer.driver, viewer.handle = browser, browser.current_window_handle
    viewer.wait_live()
    assert viewer.size() == (640, 360)
    browser.back()
    WallPage.until(wall, "location.pathname === '/wall'")
    wall.wait_pictures("one", "two & more")


def test_a_phone_shows_all_streams_without_sideways_scrolling(cast, hub):
    url = hub.url()
    for number in range(3):
        published(cast, hub, url, f"s{number}", "test", "--pattern", "bars", "--size", "320x180")
    phone = chromium(size=(390, 780))
    try:
        wall = WallPage(phone, url).wait_pictures("s0", "s1", "s2")
        assert wall.script("return document.documentElement.scrollWidth <= innerWidth")
        assert wall.script("return Math.min(...[...document.querySelectorAll('.tile')].map((tile) => tile.clientWidth))") >= 140
    finally:
        phone.quit()


def test_a_wall_needs_the_right_to_watch_and_shows_no_other_stream(cast, browser, tmp_path):
    hub = cast("serve", "--listen", "127.0.0.1:0", "--token", "a-secret-of-the-hub")
    url = hub.url()
    for name in ("mine", "yours"):
        published(cast, hub, url, name, "test", "--pattern", "bars", "--size", "320x180")
    address = url.split("#")[0]

    def token(*options):
        status, output, error = run("link", address, "--token", "a-secret-of-the-hub", "--json", *options)
        assert status == 0, error
        return json.loads(output)["token"]

    assert get(address, "streams")[0] == 401
    assert get(address, "snapshot/mine")[0] == 401
    assert get(address, "streams", token=token("--role", "publish"))[0] == 403
    both = json.loads(get(url, "streams")[2])["streams"]
    assert [each["name"] for each in both] == ["mine", "yours"]

    one = token("--role", "watch", "--stream", "mine")
    assert [each["name"] for each in json.loads(get(address, "streams", token=one)[2])["streams"]] == ["mine"]
    assert get(address, "snapshot/yours", token=one)[0] == 403
    wall = WallPage(browser, address + "#token=" + one).wait_pictures("mine")
    assert [tile["name"] for tile in wall.tiles()] == ["mine"]
    assert "token" not in browser.current_url

    browser.execute_script("sessionStorage.clear()")
    wall = WallPage(browser, address)
    wall.until("!document.getElementById('ask').hidden", what="a page without the secret that asks for it")
    wall.script("document.getElementById('secret').value = arguments[0]", url)
    wall.script("document.getElementById('ask').requestSubmit()")
    wall.wait_pictures("mine", "yours")


def test_a_link_for_one_person_is_used_once_by_wall_and_viewer_page(cast, tmp_path):
    hub = cast("serve", "--listen", "127.0.0.1:0", "--token", "a-secret-of-the-hub")
    url = hub.url()
    published(cast, hub, url, "talk", "test", "--pattern", "bars", "--size", "320x180")
    address = url.split("#")[0]
    status, output, _ = run("link", address, "--token", "a-secret-of-the-hub", "--json", "--role", "watch", "--uses", "1")
    link = json.loads(output)["token"]
    ada, bob = "a" * 32, "b" * 32
    assert get(address, "streams", token=link, client=ada)[0] == 200
    picture(address, "snapshot/talk?width=300", token=link, client=ada)
    assert get(address, "snapshot/talk?width=300", token=link, client=ada)[0] == 200
    assert get(address, "snapshot/talk?width=300", token=link, client=bob)[0] == 401


@pytest.mark.quick
def test_asking_again_for_a_stream_at_rest_costs_a_header(cast, hub):
    url = hub.url()
    server = XServer((640, 360))
    painter, window = painted(server, FIRST)
    try:
        published(cast, hub, url, "still", "screen", "--no-cursor", display=server.name)

        def settled():
            """The list, once it has been the same for three seconds: refinement of the picture is over."""
            last, since = None, time.monotonic()
            while time.monotonic() - since < 3:
                status, headers, body = get(url, "streams")
                assert status == 200
                if body != last:
                    last, since = body, time.monotonic()
                time.sleep(0.2)
            return headers["ETag"], json.loads(body)["streams"][0]

        picture(url, "snapshot/still?width=320")
        tag, entry = settled()
        assert get(url, "streams", known=tag)[0] == 304
        status, headers, body = get(url, "snapshot/still?width=320")
        assert status == 200 and headers["Content-Type"] == "image/webp" and body[:4] == b"RIFF"
        assert headers["ETag"].strip('"').rsplit("-", 1)[0] == entry["newest"]
        status, _, nothing = get(url, "snapshot/still?width=320", known=headers["ETag"])
        assert status == 304 and nothing == b""
        # A larger tile gets a larger picture.
        larger = get(url, "snapshot/still?width=600")
        assert larger[0] == 200 and larger[1]["ETag"].endswith('-640"')
        # A change of the screen changes the list.
        paint(painter, window, SECOND)
        deadline = time.monotonic() + 10
        while get(url, "streams", known=tag)[0] == 304:
            assert time.monotonic() < deadline, "the list does not tell that the stream has changed"
            time.sleep(0.1)
    finally:
        painter.close()
        server.stop()


def test_a_stream_without_pictures_and_one_that_is_not_there(cast, hub):
    url = hub.url()
    published(cast, hub, url, "talk", "test", "--pattern", "bars", "--size", "320x180")
    status, _, sentence = get(url, "snapshot/other")
    assert status == 404 and b"no picture" in sentence
    for path in ("snapshot/", "snapshot/%00", "snapshot/a%2fb", "snapshot/" + "x" * 200):
        assert get(url, path)[0] == 404, path
    for width in ("0", "-1", "99999999999999999999", "x"):
        assert get(url, "snapshot/talk?width=" + width)[0] in (200, 404), width


def test_a_cast_has_no_wall(cast):
    url = cast("test", "--pattern", "bars").url()
    for path in ("wall", "streams", "snapshot/main"):
        assert get(url, path)[0] == 404, path
