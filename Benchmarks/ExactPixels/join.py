"""How soon whoever joins a resting page of coloured text reads it, and has it exact: `rtcast screen` and its page in both browsers.

    python Benchmarks/ExactPixels/join.py [--rounds 3] [--size 1280x720] [--link]

Wants the Python environment of the end-to-end tests, and RTCAST or a release build; `--link` also root: then cast and browser are on two
hosts, with a link of 2.5 Mbit/s, 20 ms each way and 300 ms of queue, in the place of loopback (see `--help`). Times are in milliseconds since the
page was asked for, medians of the rounds (least–most): the snapshot is drawn; the first frame of video is shown; every block is exact.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from setting import EXACT, add_options, browsing, casting, described, told  # noqa: E402

from harness.pictures import coloured_page  # noqa: E402
from harness.xserver import XServer  # noqa: E402


def visit(driver, url):
    driver.get("about:blank")
    driver.get(url)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        done, now = driver.execute_script(EXACT)
        if done:
            return [*driver.execute_script("return [rtcast.firstLook, rtcast.firstPicture]"), now]
        time.sleep(0.01)
    raise SystemExit("not exact within 30 s")


def main():
    parser = argparse.ArgumentParser()
    add_options(parser, rounds=3, size="1280x720")
    options = parser.parse_args()
    size = tuple(map(int, options.size.split("x")))
    server = XServer(size)
    try:
        painter = server.client()
        painter.put(painter.window(), coloured_page(*size))
        with casting(server, options, fps=10) as (url, link):
            for name in options.browsers:
                with browsing(name, link) as browser:
                    visit(browser, url)   # the first is the browser's own warming up
                    rounds = []
                    for _ in range(options.rounds):
                        time.sleep(3)   # the encoder rests
                        rounds.append(visit(browser, url))
                    print(name, options.size, described(options), *(told(times) for times in zip(*rounds)), sep=" | ", flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
