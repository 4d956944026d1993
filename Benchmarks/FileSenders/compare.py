"""What it costs to send a 1080p30 H.264 file to one browser: rtcast, GStreamer's webrtcbin and ffmpeg, in one run, one after another.

    scripts/setup --bench
    python Benchmarks/FileSenders/compare.py [--seconds 30] [--rounds 3] [--soak MINUTES] [SENDER …]

Wants the Python environment of the end-to-end tests, and RTCAST or a release build. A row is the median of the rounds: CPU (user and
system, 100 % = one core) of the sender's process tree while it sends, resident and proportional memory at the end, what the browser
showed and received. ffmpeg sends plain RTP, without encryption, to a socket that nobody reads: what remains of the work without WebRTC.
Transcoding is to VP8 at 4 Mbit/s, speed -6, one thread, everywhere. `ffmpeg decode` and `ffmpeg encode` send nothing.
"""

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness.browser import Viewer, chromium  # noqa: E402
from harness.rtcast import BINARY  # noqa: E402

BITRATE = 4_000_000
ENCODER = ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "-6", "-threads", "1", "-static-thresh", "300", "-lag-in-frames", "0",
           "-b:v", str(BITRATE), "-minrate", str(BITRATE), "-maxrate", str(BITRATE), "-g", "3000"]


def clip(folder, seconds):
    """Moving patterns under noise, 4 Mbit/s, main profile, no B-frames, a key frame every 2 s, no sound."""
    path = Path(folder) / f"1080p30-{seconds}.mp4"
    if not path.exists():
        print("making the clip …", file=sys.stderr)
        subprocess.run(
            ["ffmpeg", "-y", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=1920x1080:rate=30",
             "-vf", "noise=alls=6:allf=t,format=yuv420p", "-t", str(seconds), "-c:v", "libx264", "-preset", "veryfast",
             "-profile:v", "main", "-bf", "0", "-g", "60", "-b:v", str(BITRATE), "-maxrate", str(BITRATE), "-bufsize", "4M",
             str(path)], check=True)
    return str(path)


class Sink:
    """A UDP port that takes and forgets."""

    def __enter__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        return f"rtp://127.0.0.1:{self.socket.getsockname()[1]}?pkt_size=1200"

    def __exit__(self, *_):
        self.socket.close()


def commands(path, sink):
    """{name: (command, whether a browser watches)}"""
    play = ["ffmpeg", "-loglevel", "error", "-nostdin", "-re", "-stream_loop", "-1", "-i", path, "-an"]
    gstreamer = ["/usr/bin/python3", str(Path(__file__).parent / "gstreamer_sender.py")]
    rtcast = [BINARY, "file", path, "--loop", "--bitrate", str(BITRATE)]
    return {
        "rtcast --copy": ([*rtcast, "--copy"], True),
        "gstreamer copy": ([*gstreamer, "copy", path], True),
        "ffmpeg copy": ([*play, "-c", "copy", "-f", "rtp", sink], False),
        "rtcast --no-copy": ([*rtcast, "--no-copy"], True),
        "gstreamer vp8": ([*gstreamer, "vp8", path, str(BITRATE)], True),
        "ffmpeg vp8": ([*play, *ENCODER, "-f", "rtp", sink], False),
        "ffmpeg encode": ([*play, *ENCODER, "-f", "null", "-"], False),
        "ffmpeg decode": ([*play, "-f", "null", "-"], False),
    }


def tree(process):
    return [process, *process.children(recursive=True)]


def cpu(process):
    total = 0
    for one in tree(process):
        times = one.cpu_times()
        total += times.user + times.system
    return total


def memory(process):
    infos = [one.memory_full_info() for one in tree(process)]
    return sum(i.rss for i in infos) / 2**20, sum(i.pss for i in infos) / 2**20


def inbound(viewer):
    return viewer.stat("inbound-rtp", kind="video") or {}


def measure(command, watched, driver, seconds, warm=6, every=None):
    """One row; with `every`, also the memory at that interval in seconds."""
    said = tempfile.TemporaryFile("w+")
    child = subprocess.Popen(command, stdout=subprocess.PIPE if watched else subprocess.DEVNULL, stderr=said, text=True)
    process = psutil.Process(child.pid)
    row = {}
    try:
        if watched:
            url = None
            while url is None:
                line = child.stdout.readline()
                if not line:
                    said.seek(0)
                    raise RuntimeError(f"{command} ended: {said.read()}")
                url = re.search(r"http://[^\s\"]+", line)
            viewer = Viewer(driver, url.group())
            viewer.wait_live(15)
        time.sleep(warm)
        before, start = cpu(process), time.monotonic()
        if watched:
            then, frames = inbound(viewer), viewer.frames()
        if every:
            row["rss"] = []
            while time.monotonic() - start < seconds:
                time.sleep(every)
                row["rss"].append(round(memory(process)[0], 1))
                print("  RSS MiB", row["rss"][-1], file=sys.stderr)
        else:
            time.sleep(seconds)
        spent = time.monotonic() - start
        row["cpu"] = (cpu(process) - before) / spent * 100
        row["rss_mib"], row["pss_mib"] = memory(process)
        if watched:
            now = inbound(viewer)
            row["fps"] = (viewer.frames() - frames) / spent
            row["kbit"] = (now.get("bytesReceived", 0) - then.get("bytesReceived", 0)) * 8 / spent / 1000
            row["lost"] = now.get("packetsLost", 0)
            row["codec"] = next((s["mimeType"] for s in viewer.stats() if s["id"] == now.get("codecId")), "")
            driver.get("about:blank")
    finally:
        child.terminate()
        try:
            child.wait(10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("senders", nargs="*", help="names as in the table; all by default")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--soak", type=float, help="minutes: only rtcast's memory, sampled each minute")
    parser.add_argument("--clip", type=int, default=90, help="length of the file in seconds; it is looped")
    parser.add_argument("--folder", default=os.environ.get("TMPDIR", "/tmp"))
    options = parser.parse_args()
    path = clip(options.folder, options.clip)
    driver = chromium((1920, 1200))
    results = {}
    try:
        with Sink() as sink:
            table = commands(path, sink)
            names = options.senders or list(table)
            if options.soak:
                for name in [n for n in names if n.startswith("rtcast")]:
                    print(name, file=sys.stderr)
                    row = measure(*table[name], driver, options.soak * 60, every=60)
                    print(f"{name}: RSS {row['rss'][0]} → {row['rss'][-1]} MiB (highest {max(row['rss'])}), CPU {row['cpu']:.2f} %")
                return
            for turn in range(options.rounds):
                for name in names if turn % 2 == 0 else names[::-1]:
                    row = measure(*table[name], driver, options.seconds)
                    results.setdefault(name, []).append(row)
                    print(json.dumps({"sender": name, **row}), file=sys.stderr)
    finally:
        driver.quit()
    print("| sender | CPU % of a core | RSS MiB | PSS MiB | shown fps | kbit/s | codec |\n|---|---|---|---|---|---|---|")
    for name, rows in results.items():
        middle = {key: statistics.median(r[key] for r in rows) for key in rows[0] if key != "codec"}
        watched = "fps" in middle
        print(f"| {name} | {middle['cpu']:.2f} | {middle['rss_mib']:.0f} | {middle['pss_mib']:.0f} | "
              + (f"{middle['fps']:.1f} | {middle['kbit']:.0f} | {rows[0]['codec'].replace('video/', '')} |" if watched else "– | – | – |"))


if __name__ == "__main__":
    main()
