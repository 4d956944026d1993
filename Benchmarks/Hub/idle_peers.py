#!/usr/bin/env python3
"""What peers that only wait cost the hub: memory and processor time of `rtcast serve` with 0, 100 and 1000 of them.

    Benchmarks/Hub/idle_peers.py [--binary .build/release/rtcast] [--seconds 10]

Each peer is registered by WebSocket, half of them are in a room of ten, and all answer the hub's pings. Ends with status 1 when a
hundred take more than 50 MiB.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path

import aiohttp
import psutil

BUDGET_MIB = 50


async def enter(session, url, number):
    socket = await session.ws_connect(url + "hub")
    await socket.send_json({"type": "register", "id": f"peer-{number}"})
    assert (await socket.receive_json())["type"] == "registered"
    if number % 2:
        await socket.send_json({"type": "join", "room": f"room-{number // 20}"})
    return socket


async def listen(socket):
    async for _ in socket:
        pass


async def measure(process, url, seconds):
    print(f"{'peers':>6} {'RSS MiB':>8} {'PSS MiB':>8} {'KiB each':>9} {'CPU %':>6}")
    sockets, tasks, base, hundred = [], [], None, None
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        for count in (0, 100, 1000):
            while len(sockets) < count:
                socket = await enter(session, url, len(sockets))
                sockets.append(socket)
                tasks.append(asyncio.create_task(listen(socket)))
            await asyncio.sleep(1)
            before = process.cpu_times()
            await asyncio.sleep(seconds)
            after = process.cpu_times()
            used = after.user + after.system - before.user - before.system
            memory = process.memory_full_info()
            rss, pss = memory.rss / (1 << 20), memory.pss / (1 << 20)
            base = base if base is not None else rss
            hundred = rss if count == 100 else hundred
            each = (rss - base) * 1024 / count if count else 0
            print(f"{count:>6} {rss:>8.1f} {pss:>8.1f} {each:>9.1f} {100 * used / seconds:>6.2f}", flush=True)
        for task in tasks:
            task.cancel()
    return hundred


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--binary", default=str(Path(__file__).resolve().parents[2] / ".build/release/rtcast"))
    arguments.add_argument("--seconds", type=float, default=10)
    options = arguments.parse_args()
    hub = subprocess.Popen([options.binary, "serve", "--listen", "127.0.0.1:0", "--json"], stdout=subprocess.PIPE, text=True)
    try:
        url = json.loads(hub.stdout.readline())["url"]
        # Its further lines are not of interest, but somebody must take them.
        threading.Thread(target=lambda: [None for _ in hub.stdout], daemon=True).start()
        hundred = asyncio.run(measure(psutil.Process(hub.pid), url, options.seconds))
    finally:
        hub.terminate()
        hub.wait(10)
    if hundred > BUDGET_MIB:
        sys.exit(f"100 peers take {hundred:.1f} MiB; the budget is {BUDGET_MIB}")


main()
