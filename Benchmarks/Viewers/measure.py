"""What a cast costs with 1, 10, 25 and 50 viewers: processor time, packets a second, latency.

    RTCAST_BENCHMARKS=1 swift build -c release --product ViewersBenchmark
    python Benchmarks/Viewers/measure.py [--viewers 1 10 25 50] [--seconds 10] [--cast ARGUMENTS …]

Wants the Python environment of the end-to-end tests, and RTCAST or a release build. The viewers are light (`ViewersBenchmark`: they
decode nothing) and share one process and one thread, on the same machine: with many of them the latency is theirs too.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

from harness.rtcast import Rtcast  # noqa: E402

VIEWERS = os.environ.get("VIEWERS", str(ROOT / ".build/release/ViewersBenchmark"))
CAST = ("test", "--pattern", "scroll-text", "--fps", "30", "--size", "1280x720", "--content-hint", "detail")


def cpu(process):
    times = process.cpu_times()
    return times.user + times.system


def threads(process):
    """Processor seconds of each thread, by name."""
    result = {}
    for thread in process.threads():
        name = Path(f"/proc/{process.pid}/task/{thread.id}/comm").read_text().strip()
        result[name] = result.get(name, 0) + thread.user_time + thread.system_time
    return result


def measure(count, seconds, cast):
    rtcast = Rtcast(*cast)
    try:
        viewers = subprocess.Popen([VIEWERS, rtcast.url(), str(count), str(seconds)], stdout=subprocess.PIPE, text=True)
        process, watcher = psutil.Process(rtcast.process.pid), psutil.Process(viewers.pid)
        marks = []
        for line in viewers.stdout:
            if line.strip() in ("begin", "end"):
                marks.append((time.monotonic(), cpu(process), cpu(watcher), threads(process)))
            else:
                result = json.loads(line)
        viewers.wait(30)
        (start, first, w1, t1), (end, last, w2, t2) = marks
        result["cpu"] = (last - first) / (end - start)
        result["watchers_cpu"] = (w2 - w1) / (end - start)
        result["rss"] = process.memory_info().rss / 2**20
        result["threads"] = {name: round((t2[name] - t1.get(name, 0)) / (end - start), 3) for name in t2}
        return result
    finally:
        rtcast.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--viewers", type=int, nargs="+", default=[1, 10, 25, 50])
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--cast", nargs=argparse.REMAINDER, default=CAST)
    options = parser.parse_args()
    print("| viewers | CPU of the cast, cores | of the viewers | packets/s | frames/s, each | latency p50 / p95 ms | key frames | RSS MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for count in options.viewers:
        r = measure(count, options.seconds, options.cast)
        print(f"| {count} | {r['cpu']:.2f} | {r['watchers_cpu']:.2f} | {r['packets']} | {r['frames'] / count:.1f} | "
              f"{r['p50_ms']} / {r['p95_ms']} | {r['key_frames']} | {r['rss']:.0f} |", flush=True)
        print("  ", r["threads"], file=sys.stderr)


if __name__ == "__main__":
    main()
