#!/usr/bin/env python3
"""What a hub's page `/wall` costs with streams at rest: bit rate between page and hub, and processor time of hub and page.

    Benchmarks/Wall/measure.py [--streams 30] [--seconds 30] [--out FILE] [--screenshot FILE]

Each stream is a whole screen with text, cast by a program of its own (`rtcast screen --to`), all of one Xvfb. The page is in a Chromium
of 1920 x 1080, behind a proxy that counts the bytes of both directions, headers included; TCP and IP are not in it. Ends with status 1
if the page at rest takes more than 300 kbit/s, or the hub and the processes that decode for it take more than 3 % of a core more than
without the page.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness.browser import chromium, family  # noqa: E402
from harness.pictures import coloured_page  # noqa: E402
from harness.xserver import XServer  # noqa: E402

SIZE = (1920, 1080)
BUDGET_KBIT, BUDGET_PERCENT = 300, 3


class Counter:
    """Passes the bytes of connections on, and counts them."""

    def __init__(self, port):
        self.target, self.bytes = port, 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one, other):
        try:
            while part := one.recv(65_536):
                self.bytes += len(part)
                other.sendall(part)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def program(*arguments, display=None):
    environment = {key: value for key, value in os.environ.items() if key != "RTCAST_TOKEN"}
    if display:
        environment["DISPLAY"] = display
    process = subprocess.Popen([options.binary, *arguments, "--json"], stdout=subprocess.PIPE, text=True, env=environment)
    return process


def wait(process, wanted):
    for line in process.stdout:
        event = json.loads(line)
        if wanted(event):
            threading.Thread(target=lambda: [None for _ in process.stdout], daemon=True).start()
            return event
    sys.exit("a program ended before it was ready")


def seconds_of(processes):
    """The processor time of each process that there is, by its identifier."""
    spent = {}
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        spent[process.pid] = times.user + times.system
    return spent


def more(before, after):
    """The time that was spent meanwhile. A process that has ended counts until the first measurement, and one that is new from there."""
    return sum(seconds - before.get(pid, 0) for pid, seconds in after.items())


def tree(pid):
    """The process and all that it has started, and those that its launcher has."""
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def measure(hub, seconds, counter=None, browser=None):
    """Share of a core of the hub and of the page, and kbit/s."""
    def pages():
        return family(browser) if browser else []

    before, page_before, bytes_before = seconds_of(tree(hub.pid)), seconds_of(pages()), counter.bytes if counter else 0
    start = time.monotonic()
    time.sleep(seconds)
    passed = time.monotonic() - start
    return (100 * more(before, seconds_of(tree(hub.pid))) / passed, 100 * more(page_before, seconds_of(pages())) / passed,
            8 * ((counter.bytes if counter else 0) - bytes_before) / passed / 1000)


def memory(hub):
    return sum(process.memory_full_info().pss for process in tree(hub.pid)) / (1 << 20)


def main():
    server = XServer(SIZE)
    painter = server.client()
    painter.put(painter.window(), coloured_page(*SIZE).astype(np.uint8))
    hub = program("serve", "--listen", "127.0.0.1:0")
    url = wait(hub, lambda event: event["event"] == "listening")["url"]
    publishers, browser = [], None
    try:
        for number in range(options.streams):
            publishers.append(program("screen", "--to", f"{url}whip/desk-{number:02}", "--fps", "5", display=server.name))
            wait(publishers[-1], lambda event: event["event"] == "peer" and event["state"] == "published")
        time.sleep(options.settle)
        alone = measure(hub, options.seconds)
        quiet = memory(hub)
        counter = Counter(int(url.rsplit(":", 1)[1].strip("/")))
        browser = chromium(size=SIZE)
        start = time.monotonic()
        browser.get(f"http://127.0.0.1:{counter.port}/wall")
        while (shown := browser.execute_script("return document.querySelectorAll('.tile[data-picture]').length")) < options.streams:
            if time.monotonic() - start > 60:
                sys.exit(f"{shown} of {options.streams} streams have a picture after a minute")
            time.sleep(0.05)
        filled, loaded = time.monotonic() - start, counter.bytes
        time.sleep(options.settle)
        watched = measure(hub, options.seconds, counter, browser)
        busy = memory(hub)
        if options.screenshot:
            browser.save_screenshot(options.screenshot)
    finally:
        if browser:
            browser.quit()
        for process in [*publishers, hub]:
            process.terminate()
        for process in [*publishers, hub]:
            process.wait(20)
        painter.close()
        server.stop()
    added = watched[0] - alone[0]
    lines = [
        "| streams | first pictures | for them | at rest | hub without page | with page | page | hub's memory, without and with |",
        "|---|---|---|---|---|---|---|---|",
        f"| {options.streams} | {filled:.1f} s | {loaded / 1000:.0f} kB | {watched[2]:.1f} kbit/s | {alone[0]:.2f} % | {watched[0]:.2f} % "
        f"| {watched[1]:.1f} % | {quiet:.0f} and {busy:.0f} MiB |",
    ]
    print("\n".join(lines), flush=True)
    if options.out:
        Path(options.out).write_text("\n".join(lines) + "\n")
    if watched[2] > BUDGET_KBIT or added > BUDGET_PERCENT:
        sys.exit(f"the page takes {watched[2]:.0f} kbit/s and {added:.2f} % of a core; the goals are {BUDGET_KBIT} and {BUDGET_PERCENT}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default=str(ROOT / ".build/release/rtcast"))
    parser.add_argument("--streams", type=int, default=30)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--settle", type=float, default=25, help="seconds before a measurement, until all pictures are at rest")
    parser.add_argument("--out", help="write the table here")
    parser.add_argument("--screenshot", help="write a picture of the page here")
    options = parser.parse_args()
    main()
