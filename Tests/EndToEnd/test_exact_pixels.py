"""Exact pixels on the viewer page: a screenshot of the page is the X screen, bit for bit, wherever it rests."""

import concurrent.futures
import io
import re
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from harness import firefox as firefox_browser, link as links
from harness.browser import chromium, drawn
from harness.pictures import PAGE_SIZE as SIZE, coloured_page, luma, psnr
from harness.rtcast import bearer
from harness.viewer_page import ACTUAL_SIZE, EVERYTHING, IN_PLACE, Page
from harness.xserver import XServer

HERE = Path(__file__).resolve().parent
EXACT = HERE.parents[1] / "Sources/RTCSignalingNIO/Resources/viewer/exact.js"


@pytest.fixture(scope="module")
def link():
    if why := links.missing():
        pytest.skip(why)
    with links.Link() as link:
        yield link


@pytest.fixture(params=["chromium", "firefox"])
def far_browser(request, link):
    """At the other end of the link."""
    if request.param == "chromium":
        browser = chromium(size=(1500, 1000), host=link.far)
    else:
        with link.far:
            browser = firefox_browser.Firefox(size=(1500, 1000))
    yield browser
    browser.quit()
    link.clear()


def test_no_order_of_damage_frames_rectangles_and_decoding_shows_a_wrong_pixel(browser):
    fuzz = (HERE / "harness/exact_fuzz.js").read_text()
    wrong, tally = browser.execute_script(
        EXACT.read_text() + fuzz + "const wrong = [], tally = {}; for (let seed = 1; seed <= 60; seed++) wrong.push(...fuzzExact(exactPixels, seed, 2000, tally));"
        "return [wrong, tally];")
    assert wrong == [] and tally["drawn"] > 10000 and tally["missing"] > 1000, tally


def test_a_screen_that_rests_is_the_screen(screen, cast, any_browser):
    """60 dB of RGB is asked for; it is every bit."""
    server, _, _ = screen
    page = Page(any_browser, cast("screen", "--fps", "10", "--bitrate", "2500k", "--no-cursor", display=server.name).url())
    page.live().until(EVERYTHING)
    shown, truth = page.screenshot(), server.picture()
    assert np.array_equal(shown, truth), f"{psnr(shown, truth):.1f} dB RGB"
    # Whoever only reads is left alone: an animation without an end draws the page sixty times a second.
    page.until("document.getAnimations().length === 0")


@pytest.mark.quick
def test_each_word_that_is_typed_becomes_exact(screen, cast, page_browser):
    server, painter, window = screen
    page = Page(page_browser, cast("screen", "--fps", "10", "--bitrate", "2500k", "--no-cursor", display=server.name).url())
    page.live().until(EVERYTHING)
    for word in range(8):
        painter.put(window, coloured_page(60, 20, seed=word), 100 + 70 * word, 300)
        page.is_the_screen(server, timeout=8)


def test_a_late_viewer_has_it_exact(screen, cast, any_browser):
    """By the snapshot, which the page asked for before it was connected: not a pixel of it is sent again."""
    server, _, _ = screen
    process = cast("screen", "--fps", "10", "--bitrate", "2500k", "--no-cursor", display=server.name)
    url = process.url()
    Page(any_browser, url).live().until(EVERYTHING)
    page = Page(any_browser, url)
    page.live().until(EVERYTHING, timeout=12).is_the_screen(server)
    process.drain()
    told = process.wait_event("stats", where=lambda event: len(event["peers"]) == 1 and event["peers"][0]["exact"])
    exact = told["peers"][0]["exact"]
    assert exact["visible"] and exact["share"] == 1 and exact["rectangles"] == 0, exact


# Counts the bytes of the channel.
COUNT = """window.exactBytes = 0; const channel = rtcast.exact.channel, take = channel.onmessage;
  channel.onmessage = (event) => { window.exactBytes += event.data.byteLength; take.call(channel, event); };"""


def at_once(painter, window, *pictures):
    """Functions that show each picture, as a whole: by one copy within the X server."""
    gc = window.create_gc()

    def store(picture):
        pixmap = window.create_pixmap(*SIZE, painter.screen.root_depth)
        painter.put(pixmap, picture)

        def show():
            window.copy_area(gc, pixmap, 0, 0, *SIZE, 0, 0)
            painter.display.sync()
        return show
    return [store(picture) for picture in pictures]


def cells(*pictures):
    """How many different cells of 128 x 64 pixels there are."""
    return len({picture[y:y + 64, x:x + 128].tobytes() for picture in pictures for y in range(0, SIZE[1], 64) for x in range(0, SIZE[0], 128)})


def test_what_was_seen_before_is_exact_again_for_few_bytes(screen, cast, any_browser):
    """A page that returns, and a menu that closes."""
    server, painter, window = screen
    first, second = coloured_page(*SIZE), coloured_page(*SIZE, seed=2)
    menu = first.copy()
    menu[40:300, 200:420] = coloured_page(220, 260, seed=9)
    show_first, show_second, show_menu = at_once(painter, window, first, second, menu)
    page = Page(any_browser, cast("screen", "--fps", "30", "--bitrate", "2500k", "--no-cursor", display=server.name).url())
    page.live().until(EVERYTHING).until(f"rtcast.exact.store.kept.size === {cells(first)}")
    show_second()
    page.until(f"rtcast.exact.store.kept.size === {cells(first, second)}").is_the_screen(server)
    page.script(COUNT)
    for show in (show_first, show_second, show_first):
        before = page.script("return exactBytes")
        show()
        page.is_the_screen(server)
        assert 0 < page.script("return exactBytes") - before < 2000
    show_menu()
    page.is_the_screen(server)
    page.until(f"rtcast.exact.store.kept.size === {cells(first, second, menu)}")
    before = page.script("return exactBytes")
    show_first()
    page.is_the_screen(server)
    assert 0 < page.script("return exactBytes") - before < 500


def test_a_page_whose_memory_is_taken_away_is_exact_all_the_same(screen, cast, page_browser):
    server, painter, window = screen
    first, second = coloured_page(*SIZE), coloured_page(*SIZE, seed=2)
    page = Page(page_browser, cast("screen", "--fps", "30", "--bitrate", "4M", "--no-cursor", display=server.name).url())
    page.live().until(EVERYTHING).until(f"rtcast.exact.store.kept.size === {cells(first)}")
    painter.put(window, second)
    page.is_the_screen(server)
    page.script("rtcast.exact.sheets.isLost = true")
    for picture in (first, second):
        painter.put(window, picture)
        page.is_the_screen(server)
    page.until("rtcast.exact.store.kept.size === 0")


def scroll(painter, window, steps):
    """Goes down a long page, 15 times a second."""
    tall = coloured_page(SIZE[0], 3 * SIZE[1], seed=4)
    for step in range(steps):
        painter.put(window, tall[20 * step:20 * step + SIZE[1]])
        time.sleep(1 / 15)


def test_what_has_scrolled_is_exact_when_it_rests(screen, cast, page_browser):
    server, painter, window = screen
    page = Page(page_browser, cast("screen", "--fps", "20", "--bitrate", "8M", "--no-cursor", display=server.name).url())
    page.live().until(EVERYTHING)
    scroll(painter, window, 20)
    page.is_the_screen(server, timeout=15)


def test_what_was_lost_on_the_way_is_exact_all_the_same(link, screen, cast, far_browser):
    """One packet in twenty, both ways."""
    server, painter, window = screen
    link.set(rate=6e6, delay=0.02, queue=0.3, loss=0.05)
    with link.near:
        process = cast("screen", "--fps", "10", "--bitrate", "4M", "--no-cursor", "--listen", f"{link.NEAR}:0", "--token", "s3cret",
                       display=server.name)
    page = Page(far_browser, process.url().replace("127.0.0.1", link.NEAR))
    page.live().until(EVERYTHING, timeout=30).is_the_screen(server)
    for word in range(3):
        painter.put(window, coloured_page(60, 20, seed=word), 100 + 70 * word, 300)
        page.is_the_screen(server)
    scroll(painter, window, 10)
    page.is_the_screen(server, timeout=20)


def test_a_page_that_is_zoomed_is_exact_at_actual_size(screen, cast, any_browser):
    server, painter, window = screen
    page = Page(any_browser, cast("screen", "--fps", "10", "--bitrate", "2500k", "--no-cursor", display=server.name).url())
    page.live().until(EVERYTHING)
    try:
        page.script(ACTUAL_SIZE)   # as large as the window again
        page.zoom(1.25)
        painter.put(window, coloured_page(200, 60, seed=3), 300, 200)
        page.until(EVERYTHING)
        page.script(ACTUAL_SIZE)
        page.is_the_screen(server)
    finally:
        page.zoom(1)
    page.is_the_screen(server)


def test_who_ends_the_channel_has_the_video(screen, cast, page_browser):
    server, painter, window = screen
    process = cast("screen", "--fps", "10", "--bitrate", "4M", "--no-cursor", display=server.name)
    page = Page(page_browser, process.url())
    page.live().until(EVERYTHING)
    page.script("rtcast.exact.channel.close()")
    page.until("rtcast.exact.channel.readyState === 'closed' && getComputedStyle(document.getElementById('exact')).visibility === 'hidden'")
    process.wait_event("stats", where=lambda event: event["peers"] and event["peers"][0]["exact"] is None)
    painter.put(window, coloured_page(*SIZE, seed=7))
    deadline = time.monotonic() + 10
    while (quality := psnr(luma(drawn(page.script)), luma(server.picture()))) < 30:
        assert time.monotonic() < deadline, f"the video is not the screen: luma {quality:.1f} dB"
        time.sleep(0.1)


def test_a_viewer_that_acknowledges_what_it_never_got_harms_nobody(screen, cast, page_browser):
    server, painter, window = screen
    page = Page(page_browser, cast("screen", "--fps", "10", "--bitrate", "4M", "--no-cursor", display=server.name).url())
    page.live().until(EVERYTHING)
    for number in range(0, 1000, 7):
        page.script(f"rtcast.exact.channel.send(new Uint8Array([2, 255, {number % 256}, 0, {number // 256}]))")
    painter.put(window, coloured_page(400, 200, seed=7), 100, 100)
    page.is_the_screen(server)


def test_nothing_older_than_the_video_is_seen_while_the_screen_changes(screen, cast, page_browser):
    """Blocks count up in one colour; no screenshot shows one that counts back."""
    server, painter, window = screen
    page = Page(page_browser, cast("screen", "--fps", "30", "--bitrate", "4M", "--no-cursor", display=server.name).url())
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


def test_a_new_size_is_exact_too(cast, page_browser):
    server = XServer((1024, 768), resizable=True)
    try:
        painter = server.client()
        painter.put(painter.window(), coloured_page(1024, 768))
        page = Page(page_browser, cast("screen", "--fps", "5", "--no-cursor", display=server.name).url())
        page.live().until(EVERYTHING).until(IN_PLACE).is_the_screen(server)
        subprocess.run(["xrandr", "-s", "800x600"], env={"DISPLAY": server.name, "PATH": "/usr/bin"}, check=True)
        page.until("document.getElementById('video').videoWidth === 800 && " + EVERYTHING).until(IN_PLACE)
        assert server.picture().shape == (600, 800, 3)
        page.is_the_screen(server)
    finally:
        server.stop()


def snapshot(listening):
    request = urllib.request.Request(listening["url"].split("#")[0] + "snapshot.webp", headers=bearer(listening))
    with urllib.request.urlopen(request, timeout=10) as response:
        assert response.headers["Content-Type"] == "image/webp"
        return response.read(), response.headers["ETag"]


def test_a_page_out_of_sight_is_sent_nothing_and_exact_when_it_is_back(screen, cast, browser):
    server, painter, window = screen
    process = cast("screen", "--fps", "10", "--bitrate", "2500k", "--no-cursor", display=server.name)
    browser.set_window_size(1500, 1000)
    page = Page(browser, process.url())
    page.live().until(EVERYTHING)
    here = browser.current_window_handle
    browser.switch_to.new_window("tab")
    there = browser.current_window_handle
    browser.switch_to.window(here)
    browser.execute_cdp_cmd("Target.activateTarget", {"targetId": there})  # some drivers bring to the front what they talk to
    page.until("document.hidden")

    def told(visible):
        process.drain()
        event = process.wait_event("stats", where=lambda event: event["peers"][0]["exact"]["visible"] == visible)
        return event["peers"][0]

    before = told(visible=False)
    for word in range(30):
        painter.put(window, coloured_page(60, 20, seed=word), 100 + 70 * (word % 8), 300)
        time.sleep(0.15)
    after = told(visible=False)
    assert after["exact"]["rectangles"] == before["exact"]["rectangles"] and after["exact"]["unacknowledged_bytes"] == 0
    page.until("rtcast.exact.store.drawnBlocks === 0")
    browser.execute_cdp_cmd("Page.bringToFront", {})
    page.until(EVERYTHING).is_the_screen(server)
    assert told(visible=True)["exact"]["share"] == 1
    browser.switch_to.window(there)


def test_what_is_on_its_way_while_a_page_is_hidden_is_not_drawn(screen, cast, browser):
    """The caster's answer to a page that was seen for a moment arrives when the page is hidden again."""
    server, _, _ = screen
    page = Page(browser, cast("screen", "--fps", "5", "--no-cursor", display=server.name).url()).live().until(EVERYTHING)
    page.script("""
        window.isHidden = false;
        Object.defineProperty(document, "hidden", { configurable: true, get: () => window.isHidden });
        const { exact } = rtcast, take = exact.channel.onmessage;
        window.underway = [];
        window.arrive = () => { exact.channel.onmessage = take; for (const event of window.underway) take(event); };
        exact.channel.onmessage = (event) => window.underway.push(event);
        exact.ready();""")
    page.until("window.underway.some(({ data }) => new Uint8Array(data)[0] === 1)")
    page.script("window.isHidden = true; rtcast.exact.ready(); window.arrive();")
    assert page.script("return [rtcast.exact.store.hasBegun, rtcast.exact.store.drawnBlocks]") == [False, 0]
    page.script("delete document.hidden; rtcast.exact.ready();")
    page.until(EVERYTHING).is_the_screen(server)


def test_the_snapshot_is_the_screen_for_those_with_the_secret(screen, cast):
    server, _, _ = screen
    listening = cast("screen", "--fps", "5", "--no-cursor", display=server.name).listening()
    with concurrent.futures.ThreadPoolExecutor(20) as many:
        pictures = set(many.map(lambda _: snapshot(listening), range(200)))
    assert len(pictures) == 1, "one encode serves all"
    picture, number = pictures.pop()
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(picture)).convert("RGB")), server.picture())
    assert re.fullmatch(r'"[0-9a-f]{8}"', number), "the caster knows it by that"
    with pytest.raises(urllib.error.HTTPError) as refused:
        snapshot({"url": listening["url"]})
    assert refused.value.code == 401


def test_a_picture_of_another_kind_has_no_snapshot(cast):
    listening = cast("test", "--pattern", "noise", "--fps", "5", "--size", "320x240").listening()
    with pytest.raises(urllib.error.HTTPError) as refused:
        snapshot(listening)
    assert refused.value.code == 404


# The page has the cast's answer, and does nothing with it until it may.
NOT_YET = """{
    const held = new Promise((resolve) => { window.mayConnect = resolve; }), apply = RTCPeerConnection.prototype.setRemoteDescription;
    RTCPeerConnection.prototype.setRemoteDescription = async function (...given) { await held; return apply.apply(this, given); };
  }"""


def test_the_page_shows_the_screen_before_it_is_connected(screen, cast, browser):
    """As a screenshot sees it, while there is no connection; then the video takes its place."""
    server, _, _ = screen
    url = cast("screen", "--fps", "5", "--no-cursor", display=server.name).url()
    browser.set_window_size(1500, 1000)
    script = browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NOT_YET})
    try:
        page = Page(browser, url)
        page.until("document.getElementById('snapshot').width === 1280").bare()
        page.script("document.getElementById('snapshot').style = 'width: 1280px; height: 720px; place-self: start'")
        assert np.array_equal(page.screenshot(element="snapshot"), server.picture())
        assert page.script("return [rtcast.state, rtcast.pc.iceConnectionState, document.getElementById('video').videoWidth]") == ["connecting", "new", 0]
        page.script("mayConnect()")
        page.live().until(EVERYTHING).is_the_screen(server)
    finally:
        browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


# A part of each pane and of what is beside it: reading a canvas is slow.
BANDS = [(304, 64), (640, 96), (1152, 64)]

# Each time the browser draws: a sum of pixels if all are exact, or null while some are not.
SEEN = f"""const bands = {[list(band) for band in BANDS]};""" + """window.seen = []; {
    const weights = Uint32Array.from({ length: 96 * 720 }, (_, i) => Math.imul(i, 2654435761) | 1), { exact } = rtcast;
    const look = () => {
      let sum = null;
      if (exact.isShown && exact.store.drawnBlocks === exact.store.columns * exact.store.rows) {
        sum = 0;
        for (const [x, width] of bands) {
          const pixels = new Uint32Array(exact.pen.getImageData(x, 0, width, 720).data.buffer);
          for (let i = 0; i < pixels.length; i++) sum = (sum + Math.imul(pixels[i] & 0xffffff, weights[i])) | 0;
        }
      }
      window.seen.push(sum === null ? (exact.isShown ? -2 : -1) : sum >>> 0);
      if (!window.seenEnough) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }"""


def pixel_sum(picture):
    """As the page's script sums it."""
    total = 0
    for x, width in BANDS:
        words = picture[:, x:x + width].astype(np.uint64).reshape(-1, 3) @ np.array([1, 1 << 8, 1 << 16], dtype=np.uint64)
        weights = np.arange(words.size, dtype=np.uint64) * 2654435761 & 0xFFFFFFFF | 1
        total += int((words * weights & 0xFFFFFFFF).sum())
    return total & 0xFFFFFFFF


def told(process):
    """What the cast says of the exact pixels of its viewer now."""
    process.drain()
    return process.wait_event("stats", where=lambda event: event["peers"] and event["peers"][0]["exact"])["peers"][0]["exact"]


def video_bytes(page):
    return page.driver.execute_async_script(
        "const done = arguments[0]; rtcast.pc.getStats().then((all) => done([...all.values()].find(({ type, kind }) => type === 'inbound-rtp' && kind === 'video').bytesReceived))")


# By how much two panes go on, 120 times.
STEPS = {
    "evenly": [(6, 0)] * 120,
    "by a wheel": [(53, 0) if step % 4 == 0 else (0, 0) for step in range(120)],
    "smoothly, two panes": [(round(20 - 19 * np.cos(step / 10)), 7 if step > 60 else 0) for step in range(120)],
    "evenly, a clock beside it": [(6, 0)] * 120,
    "by a wheel, a clock beside it": [(53, 0) if step % 4 == 0 else (0, 0) for step in range(120)],
}
CLOCK = 1160, 12   # in one of the bands


@pytest.mark.alone("measures the share of drawn frames that are exact")
@pytest.mark.parametrize("kind", STEPS)
def test_text_is_exact_while_it_scrolls(screen, cast, any_browser, kind):
    """The page copies what moved, and gets new lines in the same message: what it shows was on the screen, to the bit."""
    server, painter, window = screen
    tall = [coloured_page(width, 4000, seed=seed) for width, seed in ((630, 11), (500, 12))]
    pixmaps = []
    for picture in tall:
        pixmaps.append(window.create_pixmap(picture.shape[1], 4000, painter.screen.root_depth))
        painter.put(pixmaps[-1], picture)
    gc = window.create_gc()
    # The places in the two pages, and the time of the clock, which changes between the steps of a wheel.
    places = [(left, right, (step + 2) // 7 if "clock" in kind else 0)
              for step, (left, right) in enumerate([(0, 0), *np.cumsum(STEPS[kind], axis=0).tolist()])]
    clocks = [coloured_page(200, 120, seed=20 + time)[40:70, 50:100] for time in range(places[-1][2] + 1)]
    screens = [server.picture()]

    def show(left, right, time):
        window.copy_area(gc, pixmaps[0], 0, left, 630, 600, 20, 61)
        window.copy_area(gc, pixmaps[1], 0, right, 500, 600, 700, 61)
        painter.put(window, clocks[time], *CLOCK)
        painter.display.sync()

    def drawn_at(left, right, time):
        picture = screens[0].copy()
        picture[61:661, 20:650] = tall[0][left:left + 600]
        picture[61:661, 700:1200] = tall[1][right:right + 600]
        picture[CLOCK[1]:CLOCK[1] + 30, CLOCK[0]:CLOCK[0] + 50] = clocks[time]
        return picture

    show(*places[0])
    process = cast("screen", "--fps", "30", "--bitrate", "2500k", "--no-cursor", display=server.name)
    page = Page(any_browser, process.url()).live().until(EVERYTHING)
    page.is_the_screen(server)
    # The clock is drawn a moment after the pages.
    known = {pixel_sum(drawn_at(*pages[:2], clock[2])) for pages, clock in [*zip(places, places), *zip(places, places[1:]), *zip(places[1:], places)]
             if pages == clock or pages[2] != clock[2]}
    page.script(COUNT)

    def scroll(places):
        """The share of drawn frames that are exact, and the figures."""
        before = told(process)["moves"]
        page.script("window.exactBytes = 0; window.seenEnough = false;" + SEEN)
        received, begun = video_bytes(page), time.monotonic()
        for step, place in enumerate(places):
            show(*place)
            time.sleep(max(0, begun + (step + 1) / 30 - time.monotonic()))
        page.script("window.seenEnough = true")
        seconds = time.monotonic() - begun
        seen, size = page.script("return [window.seen, window.exactBytes]")
        video = video_bytes(page) - received
        page.is_the_screen(server)
        share = sum(value in known for value in seen) / len(seen)
        wrong = sum(value >= 0 and value not in known for value in seen)
        moves = told(process)["moves"] - before
        measured = (f"{share:.1%} of {len(seen)} drawn frames exact, {seen.count(-1)} hidden, {seen.count(-2)} incomplete, {wrong} wrong; "
                    f"{len(set(seen))} states; {moves} moves, {size * 8 / seconds / 1000:.0f} kbit/s exact, "
                    f"{video * 8 / seconds / 1000:.0f} kbit/s video")
        print(f"{kind}: {measured}")
        assert wrong == 0 and moves > 20, measured
        return share, measured

    # Steps that a busy machine leaves out leave parts to the video until the end of the scroll.
    measured = []
    for order in places[1:], places[-2::-1], places[1:]:
        measured.append(scroll(order))
        if measured[-1][0] > 0.8:
            return
    pytest.fail(str(measured))
