"""How soon whoever joins a resting page of coloured text reads it, and has it exact: `rtcast screen` and its page in both browsers.

    python Benchmarks/ExactPixels/join.py [--rounds 3] [--size 1280x720] [--link]

Wants the Python environment of the end-to-end tests, and RTCAST or a release build; `--link` also root: then cast and browser are on two
hosts, with 2.5 Mbit/s, 20 ms each way and 300 ms of queue between them, in the place of loopback. Times are in milliseconds since the
page was asked for, medians of the rounds (least–most): the snapshot is drawn; the first frame of video is shown; every block is exact.
"""

import argparse
import contextlib
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness import link as links  # noqa: E402
from harness.browser import chromium  # noqa: E402
from harness.firefox import Firefox  # noqa: E402
from harness.pictures import coloured_page  # noqa: E402
from harness.rtcast import Rtcast  # noqa: E402
from harness.xserver import XServer  # noqa: E402

EXACT = ("return [!!(window.rtcast && rtcast.state === 'live' && rtcast.exact && rtcast.exact.isShown && rtcast.exact.store.columns > 0 && "
         "rtcast.exact.store.drawnBlocks === rtcast.exact.store.columns * rtcast.exact.store.rows), performance.now()]")


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


def told(times):
    """None: the picture was there first."""
    times = [time for time in times if time is not None]
    return "–" if not times else f"{statistics.median(times):.0f} ({min(times):.0f}–{max(times):.0f})"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", default="1280x720")
    parser.add_argument("--link", action="store_true")
    parser.add_argument("--browsers", nargs="*", default=["chromium", "firefox"])
    options = parser.parse_args()
    size = tuple(map(int, options.size.split("x")))
    server = XServer(size)
    painter = server.client()
    painter.put(painter.window(), coloured_page(*size))
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        link = stack.enter_context(links.Link()) if options.link else None
        arguments = ["screen", "--fps", "10", "--bitrate", "2500k", "--no-cursor"]
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
                visit(browser, url)   # the first is the browser's own warming up
                rounds = []
                for _ in range(options.rounds):
                    time.sleep(3)   # the encoder rests
                    rounds.append(visit(browser, url))
                print(name, options.size, "link" if link else "loopback", *(told(times) for times in zip(*rounds)), sep=" | ", flush=True)
            finally:
                browser.quit()


if __name__ == "__main__":
    main()
