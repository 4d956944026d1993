#!/usr/bin/env python3
"""What goes through one ordered, reliable data channel on loopback: rtcast, Chromium and aiortc, one after the other in each round.

    RTCAST_BENCHMARKS=1 swift build -c release --product DataChannelBenchmark
    python Benchmarks/DataChannels/compare.py [--rounds 3] [--megabytes 50] [--message 65536]

Both ends of each are in one process (Chromium: one page), so the figures are of both ends together. Prints medians in MB/s. link.py has the same
over a link that loses packets.
"""

import argparse
import asyncio
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness.browser import chromium  # noqa: E402

PAGE = """
const [bytes, size, done] = arguments, a = new RTCPeerConnection(), b = new RTCPeerConnection();
a.onicecandidate = (e) => b.addIceCandidate(e.candidate);
b.onicecandidate = (e) => a.addIceCandidate(e.candidate);
(async () => {
  const channel = a.createDataChannel("bulk"), message = new Uint8Array(size).fill(7);
  let sent = 0, received = 0, start = 0;
  const fill = () => { while (sent < bytes && channel.bufferedAmount < 8 << 20) { channel.send(message); sent += size; } };
  channel.bufferedAmountLowThreshold = 1 << 20;
  channel.onbufferedamountlow = fill;
  channel.onopen = fill;
  b.ondatachannel = ({ channel: far }) => {
    far.binaryType = "arraybuffer";
    far.onmessage = ({ data }) => {
      start ||= performance.now();
      received += data.byteLength;
      if (received >= bytes) { done(received / (performance.now() - start) / 1e3); a.close(); b.close(); }
    };
  };
  await a.setLocalDescription(); await b.setRemoteDescription(a.localDescription);
  await b.setLocalDescription(); await a.setRemoteDescription(b.localDescription);
})().catch((error) => done(String(error)));
"""


def of_rtcast(options):
    program = ROOT / ".build/release/DataChannelBenchmark"
    said = subprocess.run([options.program or program, str(options.megabytes), str(options.message)], capture_output=True,
                          text=True, timeout=120, check=True).stdout
    return float(re.search(r"([\d.]+) MB/s", said).group(1))


def of_chromium(options):
    driver = chromium()
    try:
        driver.set_script_timeout(120)
        driver.get("data:text/html,<title>bulk</title>")
        rate = driver.execute_async_script(PAGE, options.megabytes * 1_000_000, options.message)
        assert isinstance(rate, float), rate
        return rate
    finally:
        driver.quit()


async def of_aiortc(options):
    from aiortc import RTCPeerConnection

    near, far = RTCPeerConnection(), RTCPeerConnection()
    total, message = options.megabytes * 100_000, bytes(options.message)  # a tenth: it takes as long
    done, times = asyncio.get_running_loop().create_future(), []

    @far.on("datachannel")
    def opened(channel):
        received = 0

        @channel.on("message")
        def taken(data):
            nonlocal received
            if not times:
                times.append(time.perf_counter())
            received += len(data)
            if received >= total and not done.done():
                done.set_result(received / (time.perf_counter() - times[0]) / 1e6)

    channel = near.createDataChannel("bulk")
    channel.bufferedAmountLowThreshold = 1 << 20
    sent = 0

    def fill():
        nonlocal sent
        while sent < total and channel.bufferedAmount < 8 << 20:
            channel.send(message)
            sent += len(message)

    channel.on("open", fill)
    channel.on("bufferedamountlow", fill)
    await near.setLocalDescription(await near.createOffer())
    await far.setRemoteDescription(near.localDescription)
    await far.setLocalDescription(await far.createAnswer())
    await near.setRemoteDescription(far.localDescription)
    rate = await asyncio.wait_for(done, 120)
    await near.close()
    await far.close()
    return rate


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--megabytes", type=int, default=50)
    parser.add_argument("--message", type=int, default=65_536)
    parser.add_argument("--program", help="DataChannelBenchmark, where it is not in .build/release")
    options = parser.parse_args()
    ways = {"rtcast": of_rtcast, "chromium": of_chromium, "aiortc": lambda o: asyncio.run(of_aiortc(o))}
    rates = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, measure in ways.items():
            rates[name].append(measure(options))
            print(f"{name:>9} {rates[name][-1]:8.1f} MB/s", flush=True)
    print("medians:", ", ".join(f"{name} {statistics.median(found):.1f}" for name, found in rates.items()))


if __name__ == "__main__":
    main()
