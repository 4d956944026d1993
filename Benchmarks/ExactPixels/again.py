"""How soon a page that the viewer has seen before is exact again, and for how many bytes: `rtcast screen` and its page.

    python Benchmarks/ExactPixels/again.py [--rounds 5] [--size 1920x1080] [--link] [--bitrate 2500k] [--fps 30] [--pages 2] [--word]

As `join.py`. The pages are shown in turn, three seconds each, by one copy within the X server. With `--word`, a word of each page is
another one each time. Times are in milliseconds: from the copy until the page knows of the change, and until every block is exact; bytes
are those of the data channel until then. Medians of the rounds (least–most).
"""

import argparse
import contextlib
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from join import EXACT, coloured_page, told  # noqa: E402

from harness import link as links  # noqa: E402
from harness.browser import chromium  # noqa: E402
from harness.firefox import Firefox  # noqa: E402
from harness.rtcast import Rtcast  # noqa: E402
from harness.xserver import XServer  # noqa: E402

# Notes when the picture becomes exact, and when it no longer is; and the bytes that came before.
WATCH = """
const exact = rtcast.exact, log = window.exactLog = []; let bytes = 0, was = null;
const note = () => {
  const is = exact.isShown && exact.store.columns > 0 && exact.store.drawnBlocks === exact.store.columns * exact.store.rows;
  if (is !== was) log.push([performance.timeOrigin + performance.now(), was = is, bytes]);
};
const take = exact.channel.onmessage;
exact.channel.onmessage = (event) => { bytes += event.data.byteLength; take.call(exact.channel, event); note(); };
for (const name of ['land', 'show']) {
  const before = exact[name].bind(exact);
  exact[name] = (...given) => { before(...given); note(); };
}
note();
"""


def until_exact(driver):
    deadline = time.monotonic() + 30
    while not driver.execute_script(EXACT)[0]:
        if time.monotonic() > deadline:
            raise SystemExit("not exact within 30 s")
        time.sleep(0.05)


def turn(driver, paint):
    """Milliseconds until the change is known, and until the page is exact again; and bytes."""
    before = driver.execute_script("return window.exactLog.length")
    begin = driver.execute_script("return window.exactLog.at(-1)[2]")
    start = time.time() * 1000
    paint()
    deadline = time.monotonic() + 30
    while True:
        log = driver.execute_script("return window.exactLog")[before:]
        if any(not is_exact for _, is_exact, _ in log) and log[-1][1]:
            time.sleep(0.5)   # it stays so
            log = driver.execute_script("return window.exactLog")[before:]
            if log[-1][1]:
                return log[0][0] - start, log[-1][0] - start, log[-1][2] - begin
        if time.monotonic() > deadline:
            raise SystemExit("not exact within 30 s")
        time.sleep(0.02)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", default="1920x1080")
    parser.add_argument("--bitrate", default="2500k")
    parser.add_argument("--fps", default="30")
    parser.add_argument("--pages", type=int, default=2)
    parser.add_argument("--link", action="store_true")
    parser.add_argument("--word", action="store_true")
    parser.add_argument("--browsers", nargs="*", default=["chromium", "firefox"])
    options = parser.parse_args()
    size = tuple(map(int, options.size.split("x")))
    pages = [coloured_page(*size, seed=seed) for seed in range(2, 2 + options.pages)]
    server = XServer(size)
    painter = server.client()
    window = painter.window()
    gc = window.create_gc()
    stored = []
    for page in pages:
        stored.append(window.create_pixmap(*size, painter.screen.root_depth))
        painter.put(stored[-1], page)

    def show(number):
        window.copy_area(gc, stored[number % len(pages)], 0, 0, *size, 0, 0)
        painter.display.sync()

    show(0)
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        link = stack.enter_context(links.Link()) if options.link else None
        arguments = ["screen", "--fps", options.fps, "--bitrate", options.bitrate, "--no-cursor"]
        with link.near if link else contextlib.nullcontext():
            cast = Rtcast(*arguments, *(["--listen", f"{link.NEAR}:0", "--token", "s3cret"] if link else []), display=server.name)
        stack.callback(cast.stop)
        url = cast.url().replace("127.0.0.1", link.NEAR if link else "127.0.0.1")
        if link:
            link.set(rate=2.5e6, delay=0.02, queue=0.3)
        for name in options.browsers:
            with link.far if link else contextlib.nullcontext():
                browser = Firefox(size=(1500, 1000)) if name == "firefox" else None
            browser = browser or chromium(size=(1500, 1000), host=link.far if link else None)
            try:
                browser.get(url)
                until_exact(browser)
                browser.execute_script(WATCH)
                rounds = []
                # Each page is seen once before it counts.
                for number in range(1, options.pages + 1 + options.rounds):
                    time.sleep(3)
                    if options.word:
                        painter.put(stored[number % len(pages)], coloured_page(80, 20, seed=100 + number), 300, 400)
                    rounds.append(turn(browser, lambda: show(number)))
                print(name, options.size, options.bitrate, "link" if link else "loopback", f"{options.pages} pages",
                      *(told(values) for values in zip(*rounds[options.pages:])), sep=" | ", flush=True)
            finally:
                browser.quit()


if __name__ == "__main__":
    main()
