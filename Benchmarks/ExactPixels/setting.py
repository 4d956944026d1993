"""What `join.py`, `turn.py` and `again.py` have in common: a screen that is cast to browsers, perhaps over a link between two hosts."""

import contextlib
import statistics
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness import link as links  # noqa: E402
from harness.browser import chromium  # noqa: E402
from harness.firefox import Firefox  # noqa: E402
from harness.rtcast import Rtcast  # noqa: E402

EXACT = ("return [!!(window.rtcast && rtcast.state === 'live' && rtcast.exact && rtcast.exact.isShown && rtcast.exact.store.columns > 0 && "
         "rtcast.exact.store.drawnBlocks === rtcast.exact.store.columns * rtcast.exact.store.rows), performance.now()]")


def add_options(parser, rounds, size):
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--size", default=size)
    parser.add_argument("--bitrate", default="2500k", help="of the cast")
    parser.add_argument("--browsers", nargs="*", default=["chromium", "firefox"])
    parser.add_argument("--link", action="store_true", help="two hosts and a link between them; wants root")
    parser.add_argument("--rate", type=float, default=2.5, help="of the link, in Mbit/s")
    parser.add_argument("--delay", type=float, default=20, help="of the link, in milliseconds each way")
    parser.add_argument("--loss", type=float, default=0, help="of the link, in percent each way")


@contextlib.contextmanager
def casting(server, options, fps):
    """Yields the page's address, and the link, if there is one."""
    with contextlib.ExitStack() as stack:
        link = stack.enter_context(links.Link()) if options.link else None
        arguments = ["screen", "--fps", str(fps), "--bitrate", options.bitrate, "--no-cursor"]
        with link.near if link else contextlib.nullcontext():
            cast = Rtcast(*arguments, *(["--listen", f"{link.NEAR}:0", "--token", "s3cret"] if link else []), display=server.name)
        stack.callback(cast.stop)
        if link:
            link.set(rate=options.rate * 1e6, delay=options.delay / 1000, loss=options.loss / 100, queue=0.3)
        yield cast.url().replace("127.0.0.1", link.NEAR if link else "127.0.0.1"), link


@contextlib.contextmanager
def browsing(name, link):
    """Yields a browser, on the link's other host if there is a link."""
    if name == "firefox":
        with link.far if link else contextlib.nullcontext():
            browser = Firefox(size=(1500, 1000))
    else:
        browser = chromium(size=(1500, 1000), host=link.far if link else None)
    try:
        yield browser
    finally:
        browser.quit()


def described(options):
    return f"{options.rate:g} Mbit/s, {options.delay:g} ms, {options.loss:g} %" if options.link else "loopback"


def told(times):
    """Their median (least–most). None: there was no such time."""
    times = [time for time in times if time is not None]
    return "–" if not times else f"{statistics.median(times):.0f} ({min(times):.0f}–{max(times):.0f})"
