"""What a screen that rests for an hour costs, and how soon who joins then has it: `rtcast screen` of 1080p and its page in Chromium.

    python Benchmarks/ExactPixels/rest.py [--minutes 60] [--size 1920x1080]

As `join.py`. Told are the processor time of rtcast by the second, the packets of video that came and were sent again, and the memory, from
a minute after the page became exact on; then the times of `join.py` for two who join.
"""

import argparse
import contextlib
import sys
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent))

from join import visit  # noqa: E402
from setting import EXACT, told  # noqa: E402

from harness.browser import Viewer, chromium  # noqa: E402
from harness.pictures import coloured_page  # noqa: E402
from harness.rtcast import Rtcast  # noqa: E402
from harness.xserver import XServer  # noqa: E402


def reading(process, viewer):
    inbound = next(entry for entry in viewer.stats() if entry["type"] == "inbound-rtp" and entry["kind"] == "video")
    used = process.cpu_times()
    return {"time": time.monotonic(), "processor": used.user + used.system, "packets": inbound["packetsReceived"],
            "frames": inbound["framesDecoded"], "memory": process.memory_full_info().pss / 2**20, "threads": process.num_threads()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--size", default="1920x1080")
    options = parser.parse_args()
    size = tuple(map(int, options.size.split("x")))
    server = XServer(size)
    painter = server.client()
    painter.put(painter.window(), coloured_page(*size))
    with contextlib.ExitStack() as stack:
        stack.callback(server.stop)
        cast = Rtcast("screen", "--fps", "30", "--bitrate", "2500k", "--no-cursor", display=server.name)
        stack.callback(cast.stop)
        browser = chromium(size=(1500, 1000))
        stack.callback(browser.quit)
        url = cast.url()
        process, viewer = psutil.Process(cast.process.pid), Viewer(browser, url)
        while not viewer.script(EXACT)[0]:
            time.sleep(0.1)
        time.sleep(60 * min(1, options.minutes))
        first = reading(process, viewer)
        time.sleep(options.minutes * 60)
        last = reading(process, viewer)
        seconds = last["time"] - first["time"]
        print(f"{seconds:.0f} s: {(last['processor'] - first['processor']) / seconds:.5f} of a core, "
              f"{last['packets'] - first['packets']} packets and {last['frames'] - first['frames']} frames of video, "
              f"{first['memory']:.0f} and {last['memory']:.0f} MiB, {first['threads']} and {last['threads']} threads", flush=True)
        other = chromium(size=(1500, 1000))
        stack.callback(other.quit)
        visit(other, url)   # the browser's own warming up
        print("joined:", *(told(times) for times in zip(*(visit(other, url) for _ in range(3)))), sep=" | ", flush=True)


if __name__ == "__main__":
    main()
