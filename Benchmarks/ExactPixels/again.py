"""How soon a page that the viewer has seen before is exact again, and for how many bytes: `rtcast screen` and its page.

    python Benchmarks/ExactPixels/again.py [--rounds 5] [--size 1920x1080] [--link] [--bitrate 2500k] [--fps 30] [--pages 2] [--word]

As `join.py`. The pages are shown in turn, three seconds each, by one copy within the X server. With `--word`, a word of each page is
another one each time. Times are in milliseconds: from the copy until the page knows of the change, and until every block is exact; bytes
are those of the data channel until then. Medians of the rounds (least–most).
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from setting import EXACT, add_options, browsing, casting, described, told  # noqa: E402

from harness.pictures import coloured_page  # noqa: E402
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


def rounds_of(browser, options, show, change):
    """What `turn` gives for each round, after every page was seen once."""
    rounds = []
    for number in range(1, options.pages + 1 + options.rounds):
        time.sleep(3)
        if options.word:
            change(number)
        rounds.append(turn(browser, lambda: show(number)))
    return rounds[options.pages:]


def main():
    parser = argparse.ArgumentParser()
    add_options(parser, rounds=5, size="1920x1080")
    parser.add_argument("--fps", default="30")
    parser.add_argument("--pages", type=int, default=2)
    parser.add_argument("--word", action="store_true")
    options = parser.parse_args()
    size = tuple(map(int, options.size.split("x")))
    server = XServer(size)
    painter = server.client()
    window = painter.window()
    gc = window.create_gc()
    stored = [window.create_pixmap(*size, painter.screen.root_depth) for _ in range(options.pages)]
    for number, pixmap in enumerate(stored):
        painter.put(pixmap, coloured_page(*size, seed=2 + number))

    def show(number):
        window.copy_area(gc, stored[number % len(stored)], 0, 0, *size, 0, 0)
        painter.display.sync()

    def change(number):
        painter.put(stored[number % len(stored)], coloured_page(80, 20, seed=100 + number), 300, 400)

    show(0)
    try:
        with casting(server, options, options.fps) as (url, link):
            for name in options.browsers:
                with browsing(name, link) as browser:
                    browser.get(url)
                    until_exact(browser)
                    browser.execute_script(WATCH)
                    rounds = rounds_of(browser, options, show, change)
                    print(name, options.size, options.bitrate, described(options), f"{options.pages} pages",
                          *(told(values) for values in zip(*rounds)), sep=" | ", flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
