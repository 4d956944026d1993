"""How long a call takes to show something: from the offer to the first picture of the far side decoded, over a hub on loopback.

    scripts/setup --bench
    python Benchmarks/Calls/set_up.py [--runs 30] [--budget 300]

Wants the Python environment of the end-to-end tests, and RTCAST or a release build. Hub, caller and callee are processes of their own; each
run is a call anew by a caller anew, both sides send a test picture and show what comes in a window. Nobody's clock is compared with
another's: each process tells how long after the first description it sent or took its first picture was decoded.

    rtcast → rtcast, at the caller     offer sent → first picture of the callee decoded
    rtcast → rtcast, at the callee     offer taken → first picture of the caller decoded
    rtcast → Chromium, at the caller   offer sent → first picture of the browser decoded
    rtcast → Chromium, in the page     offer taken → first picture of the caller decoded

Ends with status 1 when the median of the first takes longer than the budget, in milliseconds (0: none).
"""

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness.browser import FAKE_DEVICES, chromium  # noqa: E402
from harness.hub_page import HubPage  # noqa: E402
from harness.rtcast import BINARY, Rtcast  # noqa: E402
from harness.xserver import XServer  # noqa: E402

PICTURE = ["--test", "--fps", "30", "--audio", "none"]

# Notes when the page takes an offer and when the first picture of its connection has been decoded.
WATCH = """
window.setUp = {};
const take = RTCPeerConnection.prototype.setRemoteDescription;
RTCPeerConnection.prototype.setRemoteDescription = function (description) {
  if (description.type === "offer" && !this.noted) {
    this.noted = true;
    window.setUp = { offer: performance.now() };
    this.addEventListener("track", async ({ track }) => {
      if (track.kind !== "video") return;
      const { value } = await new MediaStreamTrackProcessor({ track }).readable.getReader().read();
      window.setUp.picture ??= performance.now() - window.setUp.offer;
      value?.close();
    });
  }
  return take.apply(this, arguments);
};
"""


def first_picture(process):
    """Milliseconds, as the statistics of a call have it."""
    return process.wait_event("stats", where=lambda event: event.get("first_picture_ms") is not None)["first_picture_ms"]


def call(hub, screen, callee):
    return Rtcast("call", callee, "--server", hub, "--name", "caller", *PICTURE, display=screen.name)


def to_rtcast(hub, screens, runs, results):
    callee = Rtcast("call", "--server", hub, "--name", "callee", "--answer", "auto", *PICTURE, display=screens[1].name)
    try:
        callee.wait_event("registered")
        for run in range(runs):
            caller = call(hub, screens[0], "callee")
            try:
                results["rtcast → rtcast, at the caller"].append(first_picture(caller))
                results["rtcast → rtcast, at the callee"].append(first_picture(callee))
            finally:
                caller.stop()
            callee.wait_event("peer", where=lambda event: event["state"] == "ended")
    finally:
        callee.stop()


def to_chromium(hub, screens, runs, results):
    driver = chromium(size=(1000, 700), flags=FAKE_DEVICES)
    try:
        page = HubPage(driver, hub, "callee")
        page.script(WATCH)
        page.join()
        for run in range(runs):
            page.wait(state="lobby")
            caller = call(hub, screens[0], "callee")
            try:
                page.accept()
                results["rtcast → Chromium, in the page"].append(page.until("window.setUp.picture"))
                results["rtcast → Chromium, at the caller"].append(first_picture(caller))
            finally:
                caller.stop()
    finally:
        driver.quit()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--budget", type=int, default=300)
    options = parser.parse_args()
    print(f"{BINARY}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    results = {f"rtcast → {peer}, {where}": [] for peer, where in (
        ("rtcast", "at the caller"), ("rtcast", "at the callee"), ("Chromium", "at the caller"), ("Chromium", "in the page"))}
    screens = [XServer(), XServer()]
    hub = Rtcast("serve", "--listen", "127.0.0.1:0")
    try:
        url = hub.url()
        for way in (to_rtcast, to_chromium):
            start = time.monotonic()
            way(url, screens, options.runs, results)
            print(f"{way.__name__}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    finally:
        hub.stop()
        for screen in screens:
            screen.stop()
    print("| call | runs | shortest | median | 90 % within | longest |\n|---|---|---|---|---|---|")
    for name, times in results.items():
        times.sort()
        ninth = times[min(len(times) - 1, len(times) * 9 // 10)]
        print(f"| {name} | {len(times)} | {times[0]:.0f} | {statistics.median(times):.0f} | {ninth:.0f} | {times[-1]:.0f} |")
    middle = statistics.median(results["rtcast → rtcast, at the caller"])
    if options.budget and middle > options.budget:
        sys.exit(f"half of the calls take more than {middle:.0f} ms; the budget is {options.budget}")


main()
