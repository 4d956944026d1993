"""Holds the link emulator of Tests/EndToEnd/harness (link.c) to what it is set to: round trip, rate, queue, loss, bursts, late packets, changes.

    sudo .build/venv/bin/python Benchmarks/GlassToGlass/check_link.py

Sends UDP packets from one host to the other, prints one line for each property, and exits with 1 if one is off. Takes 45 seconds. Emulator
and test run with real-time priority, so that other programs do not disturb them much.
"""

import os
import socket
import struct
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness.link import Link  # noqa: E402

SIZE = 1200   # bytes of a packet, IP and UDP headers included
PORT = 5000


def bound(host, address):
    with host:
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    opened.bind((address, PORT))
    opened.settimeout(1)
    return opened


def blast(link, rate, seconds):
    """Sends from the near host to the far one at `rate` bit/s. Returns how many were sent, and of each that came: when, its number, its delay."""
    near, far, came = bound(link.near, link.NEAR), bound(link.far, link.FAR), []

    def receive():
        try:
            while True:
                number, sent = struct.unpack("!Id", far.recv(SIZE)[:12])
                came.append((time.monotonic(), number, time.monotonic() - sent))
        except TimeoutError:
            pass
    receiver = threading.Thread(target=receive)
    receiver.start()
    begin, count = time.monotonic(), 0
    while (now := time.monotonic()) < begin + seconds:
        near.sendto(struct.pack("!Id", count, now) + bytes(SIZE - 28 - 12), (link.FAR, PORT))
        count += 1
        time.sleep(max(0, begin + count * SIZE * 8 / rate - time.monotonic()))
    receiver.join()
    near.close()
    far.close()
    return count, came


def arrived(came, begin, end):
    """bit/s between two times, in seconds since the first packet came."""
    count = sum(begin <= at - came[0][0] < end for at, _, _ in came)
    return count * SIZE * 8 / (end - begin)


def delays(came):
    return sorted(delay * 1000 for _, _, delay in came)


def round_trip(link):
    link.set(delay=0.025)
    near, far = bound(link.near, link.NEAR), bound(link.far, link.FAR)
    times = []
    for _ in range(40):
        begin = time.monotonic()
        near.sendto(b"there", (link.FAR, PORT))
        far.sendto(*far.recvfrom(100))
        near.recv(100)
        times.append((time.monotonic() - begin) * 1000)
    near.close()
    far.close()
    median = sorted(times)[20]
    yield "round trip of 2 x 25 ms", 50 <= median < 52, f"median {median:.1f} ms"


def rates(link):
    for rate in (600e3, 3e6, 20e6):
        link.set(rate=rate, delay=0.01, queue=0.3)
        _, came = blast(link, 1.4 * rate, 3)
        measured, longest = arrived(came, 1, 2.9), delays(came)[-1] - 10
        yield f"{rate / 1e6:g} Mbit/s", abs(measured / rate - 1) < 0.03, f"{measured / 1e6:.3f} Mbit/s"
        yield f"a queue of 300 ms at {rate / 1e6:g} Mbit/s", 270 < longest < 330, f"longest {longest:.0f} ms"


def losses(link):
    link.set(loss=0.05)
    sent, came = blast(link, 20e6, 4)
    lost = 1 - len(came) / sent
    yield "5 % of random loss", 0.042 < lost < 0.058, f"{100 * lost:.1f} % of {sent}"
    link.set(loss=0, burst_loss=0.05, burst_length=4)
    sent, came = blast(link, 20e6, 6)
    numbers = sorted(number for _, number, _ in came)
    bursts = [b - a - 1 for a, b in zip(numbers, numbers[1:]) if b - a > 1]
    lost, mean = sum(bursts) / sent, sum(bursts) / len(bursts)
    yield "5 % of loss in bursts of 4", 0.034 < lost < 0.068 and 3 < mean < 5, f"{100 * lost:.1f} %, mean burst {mean:.1f}"


def lateness(link):
    link.set(delay=0.01, jitter=0.02)
    _, came = blast(link, 5e6, 2)
    numbers, found = [number for _, number, _ in came], delays(came)
    yield ("10 ms and up to 20 more, in order", numbers == sorted(numbers) and 10 <= found[0] < 16 and 26 < found[-1] < 34,
           f"{found[0]:.1f}–{found[-1]:.1f} ms")
    link.set(jitter=0, late=0.1, late_by=0.02)
    sent, came = blast(link, 5e6, 2)
    overtaken = sum(delay > 0.025 for _, _, delay in came) / sent
    numbers = [number for _, number, _ in came]
    yield "a tenth late by 20 ms", 0.06 < overtaken < 0.14 and numbers != sorted(numbers), f"{100 * overtaken:.0f} %"


def changes(link):
    link.set(rate=5e6, queue=0.1)
    played = link.play((1.5, "forth", {"rate": 1e6}), (3, "forth", {"rate": 3e6}))
    before = link.counters()["forth"]
    _, came = blast(link, 6e6, 4.5)
    played.join()
    measured = [arrived(came, *span) / 1e6 for span in ((0.3, 1.4), (1.9, 2.9), (3.4, 4.4))]
    close = all(abs(found / wanted - 1) < 0.05 for found, wanted in zip(measured, (5, 1, 3)))
    yield "from 5 to 1 to 3 Mbit/s", close, ", ".join(f"{found:.2f}" for found in measured)
    counted = link.counters()["forth"]["bytes"] - before["bytes"]
    yield "bytes counted", counted == len(came) * SIZE, f"{counted} of {len(came) * SIZE}"


def main():
    failures = 0
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    with Link(seed=7) as link:
        for check in (round_trip, rates, losses, lateness, changes):
            for name, isRight, found in check(link):
                failures += not isRight
                print("ok  " if isRight else "OFF ", name + ":", found, flush=True)
            link.clear()
    sys.exit(1 if failures else 0)


main()
