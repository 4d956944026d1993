"""How soon a page of coloured text that is turned is exact again: `rtcast screen` and its page in both browsers.

    python Benchmarks/ExactPixels/turn.py [--rounds 5] [--size 1280x720] [--link] [--bitrate 2500k] [--browsers chromium firefox]

As `join.py`. Times are in milliseconds from when the page was drawn until every block is exact again, medians of the rounds (least–most).
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


def is_exact(driver):
    return driver.execute_script(EXACT)[0]


def until(driver, wanted):
    deadline = time.monotonic() + 30
    while is_exact(driver) != wanted:
        if time.monotonic() > deadline:
            raise SystemExit(f"not {'exact' if wanted else 'changed'} within 30 s")
        time.sleep(0.005)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--bitrate", default="2500k")
    parser.add_argument("--link", action="store_true")
    parser.add_argument("--browsers", nargs="*", default=["chromium", "firefox"])
    options = parser.parse_args()
    size = tuple(map(int, options.size.split("x")))
    pages = [coloured_page(*size, seed=seed) for seed in range(2, 6)]
    server = XServer(size)
    painter = server.client()
    window = painter.window()
    painter.put(window, pages[0])
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        link = stack.enter_context(links.Link()) if options.link else None
        arguments = ["screen", "--fps", "10", "--bitrate", options.bitrate, "--no-cursor"]
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
                times = []
                for turn in range(options.rounds + 1):
                    until(browser, True)
                    time.sleep(5)   # the video is refined, and the estimate of the network has settled
                    start = time.monotonic()
                    painter.put(window, pages[(turn + 1) % len(pages)])
                    until(browser, False)
                    until(browser, True)
                    times.append((time.monotonic() - start) * 1000)
                # The first is the browser's own warming up.
                print(name, options.size, options.bitrate, "link" if link else "loopback", told(times[1:]), sep=" | ", flush=True)
            finally:
                browser.quit()


if __name__ == "__main__":
    main()
