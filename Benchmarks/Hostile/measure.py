"""What attackers cost honest viewers: one to five attackers of each kind beside ten viewers.

    RTCAST_BENCHMARKS=1 swift build -c release --product ViewersBenchmark
    python Benchmarks/Hostile/measure.py [--kinds none nack …] [--attackers 1 5] [--viewers 10] [--seconds 60] [--cast ARGUMENTS …]

Wants the Python environment of the end-to-end tests, and RTCAST or a release build. The viewers are light (`ViewersBenchmark`: they
decode nothing and read the clock of each frame). Attackers are programs of their own on the same machine, so that part of what they
cost is the processor that they take: the row `burn` has as many programs that only take processor time.

For each row: the age of frames when they are complete (p50, p95) and the longest gap between two frames of a viewer, processor time
and memory of the cast, and how many of the newcomers who asked every half second for the page and for a session got both.
"""

import argparse
import http.client
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness.rtcast import Rtcast, door  # noqa: E402

VIEWERS = os.environ.get("VIEWERS", str(ROOT / ".build/release/ViewersBenchmark"))
HOSTILE = ROOT / "Tests/EndToEnd/peers/hostile_viewer.py"
CAST = ("test", "--pattern", "scroll-text", "--fps", "30", "--size", "640x360", "--content-hint", "detail")
# By datagrams of a session that is connected; by new connections; by requests; by nothing but processor time.
FLOODS = ("nack", "feedback", "pli", "reports")
KINDS = ("none", "burn", *FLOODS, "half-open", "connections", "tokens")
# A description whose maker never comes.
OFFER = ("v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\n"
         "a=mid:0\r\na=rtcp-mux\r\na=setup:actpass\r\na=ice-ufrag:abcd\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\na=recvonly\r\n"
         "a=fingerprint:sha-256 " + ":".join(["AB"] * 32) + "\r\na=rtpmap:96 VP8/90000\r\n")


class Attacker:
    """One program that attacks until it is stopped."""

    def __init__(self, kind, address, seconds):
        token = address.authorization.get("Authorization", "").removeprefix("Bearer ")
        if kind == "burn":
            command = [sys.executable, "-c", "while True: pass"]
        elif kind in FLOODS:
            command = [sys.executable, str(HOSTILE), address, token, kind, str(seconds)]
        else:
            command = [sys.executable, __file__, "--attack", kind, address, token]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if kind in FLOODS:
            self.process.stdout.readline()

    def stop(self):
        self.process.kill()
        self.process.communicate()


def attack(kind, url, token):
    """The attacks by TCP and HTTP, in a process of their own."""
    parts = urlsplit(url)

    def post(authorization):
        try:
            connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
            connection.request("POST", parts.path, OFFER, {"Content-Type": "application/sdp", "Authorization": f"Bearer {authorization}"})
            connection.getresponse().read()
            connection.close()
        except (OSError, http.client.HTTPException):
            time.sleep(0.001)
    held = []
    while True:
        if kind == "half-open":
            post(token)
        elif kind == "tokens":
            post("guess")
        else:
            # Silent connections, the oldest closed for a new one.
            try:
                held.append(socket.create_connection((parts.hostname, parts.port), timeout=5))
            except OSError:
                time.sleep(0.001)
            if len(held) > 900:
                held.pop(0).close()


class Newcomers:
    """Asks for the page and a session every half second."""

    def __init__(self, address):
        self.address, self.asked, self.served, self.isOver = address, 0, 0, False
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        parts = urlsplit(self.address)
        while not self.isOver:
            self.asked += 1
            try:
                connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=5)
                connection.request("GET", "/")
                page = connection.getresponse()
                page.read()
                connection.request("POST", parts.path, OFFER, {"Content-Type": "application/sdp", **self.address.authorization})
                answer = connection.getresponse()
                answer.read()
                if answer.status == 201:
                    connection.request("DELETE", answer.headers["Location"], headers=self.address.authorization)
                    connection.getresponse().read()
                self.served += page.status == 200 and answer.status == 201
                connection.close()
            except (OSError, http.client.HTTPException):
                pass
            time.sleep(0.5)

    def stop(self):
        self.isOver = True
        self.thread.join(15)


def cpu(process):
    times = process.cpu_times()
    return times.user + times.system


def measure(kind, attackers, viewers, seconds, cast):
    rtcast = Rtcast(*cast)
    started = []
    try:
        address = door(rtcast.listening())
        url = rtcast.seen[-1]["url"]
        honest = subprocess.Popen([VIEWERS, url, str(viewers), str(seconds)], stdout=subprocess.PIPE, text=True)
        process, marks, newcomers, result = psutil.Process(rtcast.process.pid), [], None, {}
        for line in honest.stdout:
            if line.strip() == "begin":
                started = [Attacker(kind, address, seconds + 5) for _ in range(attackers)]
                newcomers = Newcomers(address)
                marks.append((time.monotonic(), cpu(process)))
            elif line.strip() == "end":
                marks.append((time.monotonic(), cpu(process)))
                newcomers.stop()
            else:
                result = json.loads(line)
        honest.wait(30)
        (start, first), (end, last) = marks
        rtcast.drain()
        left = [event for event in rtcast.seen if event["event"] == "peer" and event.get("reason") == "too costly"]
        result.update(cpu=(last - first) / (end - start), rss=process.memory_info().rss / 2**20, asked=newcomers.asked,
                      served=newcomers.served, sent_away=len(left))
        return result
    finally:
        for one in started:
            one.stop()
        rtcast.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="+", default=KINDS, choices=KINDS)
    parser.add_argument("--attackers", nargs="+", type=int, default=(1, 2, 3, 4, 5))
    parser.add_argument("--viewers", type=int, default=10)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--cast", nargs=argparse.REMAINDER, default=CAST)
    parser.add_argument("--attack", nargs=3, metavar=("KIND", "URL", "TOKEN"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.attack:
        return attack(*options.attack)
    print("| attack | attackers | p50 ms | p95 ms | longest gap ms | CPU, cores | RSS MiB | newcomers served | sent away |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind in options.kinds:
        for count in (0,) if kind == "none" else options.attackers:
            row = measure(kind, count, options.viewers, options.seconds, options.cast)
            print("| %s | %d | %.1f | %.1f | %.0f | %.2f | %.0f | %d of %d | %d |" % (
                kind, count, row["p50_ms"], row["p95_ms"], row["longest_gap_ms"], row["cpu"], row["rss"], row["served"], row["asked"], row["sent_away"]), flush=True)


if __name__ == "__main__":
    main()
