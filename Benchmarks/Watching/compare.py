"""What it costs to watch a 1080p30 stream in a window: `rtcast watch` beside `ffplay`, in one run, one after another.

    scripts/setup --bench
    python Benchmarks/Watching/compare.py [--seconds 10] [--rounds 5] [WATCHER …]

Wants the Python environment of the end-to-end tests, and RTCAST or a release build. The same file goes over loopback to both, unchanged:
`rtcast file --copy` sends it to `rtcast watch`, ffmpeg sends it as plain RTP to ffplay, which neither decrypts nor repairs. Each has a
virtual screen of its own without a graphics card; ffplay draws as it likes best (OpenGL on the processor) and by SDL's own software. A
row is the median of the rounds: processor seconds (user and system) a second of its process while it shows, those of its X server,
pictures that reached the screen a second (counted by DAMAGE), and its memory.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
from Xlib.display import Display
from Xlib.ext import damage

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness.rtcast import BINARY, Rtcast  # noqa: E402
from harness.xserver import XServer  # noqa: E402

CLIPS = {
    "H.264": ("watched.mp4", ["-c:v", "libx264", "-preset", "veryfast", "-profile:v", "main", "-bf", "0", "-g", "60"]),
    "VP8": ("watched.webm", ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "-6", "-threads", "2", "-g", "60"]),
}
WAYS = ("rtcast", "ffplay", "ffplay, software")
WATCHERS = [f"{way} {codec}" for codec in CLIPS for way in WAYS]


def clip(folder, codec):
    """20 s of moving patterns under noise, 4 Mbit/s, a key frame every 2 s, no sound."""
    name, encoder = CLIPS[codec]
    path = Path(folder) / name
    if not path.exists():
        print(f"making {name} …", file=sys.stderr)
        subprocess.run(
            ["ffmpeg", "-y", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=30",
             "-vf", "noise=alls=6:allf=t,format=yuv420p", "-t", "20", *encoder, "-b:v", "4M", "-maxrate", "4M", "-bufsize", "4M",
             str(path)], check=True)
    return str(path)


class Updates:
    """Counts the moments at which something on the screen changed."""

    def __init__(self, name):
        self.display = Display(name)
        self.display.damage_query_version()
        self.display.screen().root.damage_create(damage.DamageReportRawRectangles)
        self.display.sync()

    def count(self, seconds):
        """Changes less than 8 ms apart are one picture's."""
        end, last, pictures = time.monotonic() + seconds, 0, 0
        while (now := time.monotonic()) < end:
            changed = False
            while self.display.pending_events():
                changed = self.display.next_event().__class__.__name__ == "DamageNotify" or changed
            if changed:
                pictures += now - last > 0.008
                last = now
            time.sleep(0.003)
        return pictures / seconds


def used(process):
    times = process.cpu_times()
    return times.user + times.system


def measure(process, screen, seconds):
    server, updates = psutil.Process(screen.process.pid), Updates(screen.name)
    before, server_before, start = used(process), used(server), time.monotonic()
    shown = updates.count(seconds)
    spent = time.monotonic() - start
    info = process.memory_full_info()
    return {
        "cpu": (used(process) - before) / spent, "xvfb": (used(server) - server_before) / spent, "shown": shown,
        "rss": info.rss / 2**20, "pss": info.pss / 2**20,
    }


def watch(path, screen, seconds, warm):
    cast = Rtcast("file", path, "--copy", "--loop", "--listen", "127.0.0.1:0")
    try:
        viewer = Rtcast("watch", cast.url(), display=screen.name)
        try:
            viewer.wait_event("track", where=lambda event: event["kind"] == "video")
            time.sleep(warm)
            return measure(psutil.Process(viewer.process.pid), screen, seconds)
        finally:
            viewer.stop()
    finally:
        cast.stop()


def play(path, screen, seconds, warm, renderer):
    with tempfile.TemporaryDirectory() as folder:
        description = f"{folder}/stream.sdp"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1] & ~1
        sender = subprocess.Popen(
            ["ffmpeg", "-loglevel", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", path, "-c", "copy", "-f", "rtp",
             "-sdp_file", description, f"rtp://127.0.0.1:{port}?pkt_size=1200"], stdout=subprocess.DEVNULL)
        player = None
        try:
            while not os.path.exists(description):
                time.sleep(0.05)
            environment = {**os.environ, "DISPLAY": screen.name, **({"SDL_RENDER_DRIVER": renderer} if renderer else {})}
            player = subprocess.Popen(
                ["ffplay", "-loglevel", "error", "-nostats", "-an", "-buffer_size", "4000000",
                 "-protocol_whitelist", "file,udp,rtp", description], env=environment, stdin=subprocess.DEVNULL)
            time.sleep(warm + 3)  # until a key frame has come
            return measure(psutil.Process(player.pid), screen, seconds)
        finally:
            for each in (player, sender):
                if each:
                    each.kill()  # ffplay may wait for a packet before it would end
                    each.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("watchers", nargs="*", metavar="WATCHER", help="names as in the table; all by default")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", default=os.environ.get("TMPDIR", "/tmp"))
    options = parser.parse_args()
    names = options.watchers or WATCHERS
    paths = {codec: clip(options.folder, codec) for codec in CLIPS if any(name.endswith(codec) for name in names)}
    results = {name: [] for name in names}
    print(BINARY, file=sys.stderr)
    for turn in range(options.rounds):
        for name in names if turn % 2 == 0 else names[::-1]:
            way, codec = name.rsplit(" ", 1)
            screen = XServer((2200, 1300))
            try:
                if way == "rtcast":
                    row = watch(paths[codec], screen, options.seconds, 3)
                else:
                    row = play(paths[codec], screen, options.seconds, 3, "software" if "software" in way else None)
            finally:
                screen.stop()
            results[name].append(row)
            print(json.dumps({"watcher": name, **row}), file=sys.stderr)
    print("| watcher | CPU s a second | X server | shown a second | RSS MiB | PSS MiB |\n|---|---|---|---|---|---|")
    for name, rows in results.items():
        middle = {key: statistics.median(row[key] for row in rows) for key in rows[0]}
        print(f"| {name} | {middle['cpu']:.3f} | {middle['xvfb']:.3f} | {middle['shown']:.1f} | {middle['rss']:.0f} | {middle['pss']:.0f} |")


if __name__ == "__main__":
    main()
