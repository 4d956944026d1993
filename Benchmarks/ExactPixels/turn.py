"""How soon a page of coloured text that is turned is exact again: `rtcast screen` and its page in both browsers.

    python Benchmarks/ExactPixels/turn.py [--rounds 5] [--size 1280x720] [--bitrate 2500k] [--link] [--loss 2]

As `join.py`. Times are in milliseconds from when the page was drawn until every block is exact again, medians of the rounds (least–most).
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from setting import EXACT, add_options, browsing, casting, described, told  # noqa: E402

from harness.pictures import coloured_page  # noqa: E402
from harness.xserver import XServer  # noqa: E402


def is_exact(driver):
    return driver.execute_script(EXACT)[0]


def until(driver, wanted):
    deadline = time.monotonic() + 30
    while is_exact(driver) != wanted:
        if time.monotonic() > deadline:
            raise SystemExit(f"not {'exact' if wanted else 'changed'} within 30 s")
        time.sleep(0.005)


def turns(browser, painter, window, pages, rounds):
    """The times of so many turns, after one in which the browser warms up."""
    times = []
    for turn in range(rounds + 1):
        until(browser, True)
        time.sleep(5)   # the video is refined, and the estimate of the network has settled
        start = time.monotonic()
        painter.put(window, pages[turn + 1])
        until(browser, False)
        until(browser, True)
        times.append((time.monotonic() - start) * 1000)
    return times[1:]


def main():
    parser = argparse.ArgumentParser()
    add_options(parser, rounds=5, size="1280x720")
    options = parser.parse_args()
    size = tuple(map(int, options.size.split("x")))
    # None is seen twice.
    pages = [coloured_page(*size, seed=seed) for seed in range(2, 4 + options.rounds)]
    server = XServer(size)
    try:
        painter = server.client()
        window = painter.window()
        painter.put(window, pages[0])
        with casting(server, options, fps=10) as (url, link):
            for name in options.browsers:
                with browsing(name, link) as browser:
                    browser.get(url)
                    print(name, options.size, options.bitrate, described(options), told(turns(browser, painter, window, pages, options.rounds)),
                          sep=" | ", flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
