#!/usr/bin/env python3
"""Delays of several hubs that share names by Redis: of registrations, and of signals between peers of different hubs.

    python Benchmarks/Cluster/measure.py [--hubs 3] [--peers 5000] [--rate 200] [--signals 4000]

Starts redis-server and the hubs on this machine, connects the peers to the hubs in turn, and registers each under a name of its own,
so many per second (`--rate`). Then pairs of peers of different hubs signal at the same rate. The delay of a registration is from the
message `register` on an open WebSocket to `registered`; that of a signal is from one peer's socket to the other's. Both have the
client's own part in them: `--hubs 1` shows it, as one hub asks nobody. Ends with status 1 if a goal is missed: p99 of registrations
20 ms, of signals across hubs 10 ms.
Wants the Python environment of the end-to-end tests, redis-server, and RTCAST or a release build."""

import argparse
import asyncio
import os
import random
import resource
import sys
import time
from pathlib import Path

import aiohttp
import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness.redis import Redis  # noqa: E402
from harness.rtcast import Rtcast  # noqa: E402

GOALS = {"registration": 20, "signal across hubs": 10}
# New names wait that long after Redis has lost its data; here it is new.
GRACE = 3.5


class Peer:
    """One registered client. `heard` takes the numbers of the signals that arrive."""

    def __init__(self, name, hub):
        self.name, self.hub = name, hub
        self.heard = asyncio.Queue()
        self.socket = self.reader = None

    async def enter(self, session, url):
        """Connects, registers, and returns the seconds that the registration took."""
        self.socket = await session.ws_connect(url + "hub", heartbeat=None)
        began = time.perf_counter()
        await self.socket.send_json({"type": "register", "id": self.name, "secret": f"secret-of-{self.name:_<16}"})
        answer = await self.socket.receive_json()
        took = time.perf_counter() - began
        assert answer["type"] == "registered", answer
        self.reader = asyncio.create_task(self._read())
        return took

    async def _read(self):
        async for frame in self.socket:
            message = frame.json()
            if message["type"] == "signal":
                self.heard.put_nowait((message["data"], time.perf_counter()))


async def paced(rate, works):
    """Starts the works at the rate, and returns their results."""
    began, tasks = time.perf_counter(), []
    for number, work in enumerate(works):
        await asyncio.sleep(max(0, began + number / rate - time.perf_counter()))
        tasks.append(asyncio.create_task(work))
    return await asyncio.gather(*tasks)


async def signal(number, sender, receiver):
    began = time.perf_counter()
    await sender.socket.send_json({"type": "signal", "to": receiver.name, "data": number})
    async with asyncio.timeout(30):
        heard, arrived = await receiver.heard.get()
    # Each receiver gets one signal at a time.
    assert heard == number, (heard, number)
    return arrived - began


def percentiles(label, seconds):
    values = sorted(1000 * each for each in seconds)
    at = lambda share: values[min(len(values) - 1, int(share * len(values)))]  # noqa: E731
    print(f"| {label} | {len(values)} | {at(0.5):.1f} | {at(0.95):.1f} | {at(0.99):.1f} | {values[-1]:.1f} |", flush=True)
    return at(0.99) <= GOALS[label]


async def measure(urls, options):
    peers = [Peer(f"peer-{number}", number % len(urls)) for number in range(options.peers)]
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        entered = await paced(options.rate, [peer.enter(session, urls[peer.hub]) for peer in peers])
        print("| | number | p50 ms | p95 ms | p99 ms | longest ms |\n|---|---|---|---|---|---|")
        isReached = percentiles("registration", entered)
        random.seed(1)
        receivers = [peers[number % len(peers)] for number in range(options.signals)]
        pairs = [(random.choice([peer for peer in random.sample(peers, 8 * len(urls)) if len(urls) == 1 or peer.hub != receiver.hub]), receiver)
                 for receiver in receivers]
        taken = await paced(options.rate, [signal(number, *pair) for number, pair in enumerate(pairs)])
        isReached = percentiles("signal across hubs", taken) and isReached
        for peer in peers:
            peer.reader.cancel()
    return isReached


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hubs", type=int, default=3)
    parser.add_argument("--peers", type=int, default=5000)
    parser.add_argument("--rate", type=float, default=200, help="registrations and signals per second")
    parser.add_argument("--signals", type=int, default=4000, help="at most as many as peers")
    options = parser.parse_args()
    options.signals = min(options.signals, options.peers)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    redis, hubs = Redis(), []
    try:
        limits = ["--max-peers", str(options.peers + 10), "--max-connections", str(options.peers + 10)]
        for _ in range(options.hubs):
            hubs.append(Rtcast("serve", "--listen", "127.0.0.1:0", "--cluster", redis.url, *limits))
        urls = [hub.url() for hub in hubs]
        time.sleep(GRACE)
        print(f"{options.hubs} hubs, {options.peers} peers, {options.rate:.0f} per second, load {os.getloadavg()[0]:.1f}", flush=True)
        before = [sum(psutil.Process(hub.process.pid).cpu_times()[:2]) for hub in hubs]
        isReached = asyncio.run(measure(urls, options))
        used = [sum(psutil.Process(hub.process.pid).cpu_times()[:2]) - each for hub, each in zip(hubs, before)]
        memory = [psutil.Process(hub.process.pid).memory_info().rss / (1 << 20) for hub in hubs]
        print(f"each hub: {max(used):.1f} s of processor time, {max(memory):.0f} MiB; "
              f"Redis: {sum(psutil.Process(redis.process.pid).cpu_times()[:2]):.1f} s")
    finally:
        for hub in hubs:
            hub.stop()
        redis.stop()
    return 0 if isReached else 1


if __name__ == "__main__":
    sys.exit(main())
