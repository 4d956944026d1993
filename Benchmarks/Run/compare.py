#!/usr/bin/env python3
"""Test runs that are recorded and can be watched, side by side on this machine: `rtcast run`, and what people put together without
it: Xvfb, ffmpeg (x11grab, libx264 ultrafast, as in docker-selenium) and x11vnc.

    Benchmarks/Run/compare.py                      # six runs at once, 30 seconds each
    Benchmarks/Run/compare.py --runs 20 --rounds 2

Each run shows a terminal (xterm) that prints a line of a log five times per second, as tests do, and then rests. Nobody watches.
CPU is that of the programs which record and serve, and of the X server, over the same 20 seconds or so while lines are printed; the
terminal's own is left out. PSNR compares the last picture of the recording with the display, which `xwd` reads at that time.
A busy machine makes programs miss pictures, and missed pictures cost nothing: so the recordings are decoded, and the pictures in
which something new stands are counted (`steps`), beside the lines that the terminals printed.
Needs .build/release/rtcast, xterm, x11vnc, ffmpeg and x11-apps."""

import argparse
import collections
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests/EndToEnd"))

import numpy as np  # noqa: E402

from harness.pictures import psnr  # noqa: E402

RTCAST = os.environ.get("RTCAST", str(ROOT / ".build/release/rtcast"))
TICKS = os.sysconf("SC_CLK_TCK")
TAIL = 60  # seconds of a recording in which its last pictures are looked for: many runs end one after the other


def terminal(seconds, folder):
    """The command of a run: prints lines, rests, and ends when the file `done` is there."""
    script = (f"n=0; end=$((SECONDS + {seconds})); while [ $SECONDS -lt $end ]; do n=$((n + 1)); "
              "echo \"[$n] PASS tests/browser/test_$((n % 17)).py::test_page_$((n * 7 % 101)) in 0.$((n * 37 % 1000)) s\"; sleep 0.2; done; "
              f"echo $n > {folder}/rests; until [ -e {folder}/done ] || [ ! -d {folder} ]; do sleep 0.2; done")
    return ["xterm", "-geometry", "140x45+40+40", "-fa", "monospace", "-fs", "10", "-e", "bash", "-c", script]


def cpu(process):
    """Seconds of processor time of a process, and of its children that have ended."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(int(each) for each in fields[11:15]) / TICKS


def named_children(process):
    """{name: numbers} of all descendants."""
    found = {}
    try:
        children = [int(each) for task in Path(f"/proc/{process}/task").iterdir() for each in (task / "children").read_text().split()]
    except FileNotFoundError:
        return found
    for child in children:
        try:
            name = Path(f"/proc/{child}/comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has just ended
        found.setdefault(name, []).append(child)
        for name, numbers in named_children(child).items():
            found.setdefault(name, []).extend(numbers)
    return found


class RtcastRun:
    label = "`rtcast run`"

    def __init__(self, options, folder):
        self.record = folder / "run.webm"
        self.process = subprocess.Popen(
            [RTCAST, "run", "--size", options.size, "--fps", str(options.fps), "--audio", "none", "--no-cursor", "--record", str(self.record),
             "--serve", "--json", "--", *terminal(options.seconds, folder)],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.process.stdout:
            event = json.loads(line)
            if event["event"] == "run" and event["state"] == "started":
                break
        else:
            raise SystemExit("rtcast did not start")
        self.env = {**os.environ, "DISPLAY": event["display"], "XAUTHORITY": event["xauthority"]}
        self.reader = threading.Thread(target=self.process.stdout.read, daemon=True)
        self.reader.start()

    def cpu(self):
        children = named_children(self.process.pid)
        own = [self.process.pid, *children.get("rtc-run", []), *children.get("rtc-launcher", [])]
        return sum(map(cpu, own)), sum(map(cpu, children.get("Xvfb", [])))

    def end(self, folder):
        (folder / "done").touch()
        self.process.wait(30)


class Parts:
    label = "Xvfb, ffmpeg, x11vnc"

    def __init__(self, options, folder):
        self.record = folder / "parts.mp4"
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-screen", "0", options.size + "x24", "-nolisten", "tcp", "-displayfd", str(write)],
                                       pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as pipe:
            display = ":" + pipe.readline().strip()
        self.env = {**os.environ, "DISPLAY": display}
        quiet = {"env": self.env, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.recorder = subprocess.Popen(
            ["ffmpeg", "-y", "-loglevel", "error", "-f", "x11grab", "-draw_mouse", "0", "-video_size", options.size, "-framerate", str(options.fps),
             "-i", display, "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", str(self.record)], stdin=subprocess.DEVNULL, **quiet)
        self.viewer = subprocess.Popen(["x11vnc", "-display", display, "-forever", "-shared", "-nopw", "-localhost", "-autoport", "5950", "-q"], **quiet)
        self.command = subprocess.Popen(terminal(options.seconds, folder), **quiet)

    def cpu(self):
        return cpu(self.recorder.pid) + cpu(self.viewer.pid), cpu(self.server.pid)

    def end(self, folder):
        self.recorder.send_signal(signal.SIGINT)
        self.recorder.wait(30)
        (folder / "done").touch()
        self.command.wait(30)
        for process in (self.viewer, self.server):
            process.terminate()
            process.wait(30)


def shown(env, size):
    """What the display shows: height x width x RGB."""
    raw = subprocess.run(["xwd", "-silent", "-root"], env=env, capture_output=True, check=True).stdout
    width, height = size
    header = np.frombuffer(raw[:100], dtype=">u4")
    start, stride = int(header[0] + header[19] * 12), int(header[12])
    return np.frombuffer(raw[start:start + stride * height], np.uint8).reshape(height, stride)[:, :4 * width].reshape(height, width, 4)[:, :, 2::-1]


def sharpness(record, wanted, size):
    """PSNR of the picture at the end of a recording that is most like the display; what follows it is the end of the command."""
    width, height = size
    command = ["ffmpeg", "-v", "fatal", "-sseof", f"-{TAIL}", "-i", str(record), "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    last = collections.deque(maxlen=20)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as decoder:
        while len(raw := decoder.stdout.read(3 * width * height)) == 3 * width * height:
            last.append(raw)
    luma = np.array([0.2126, 0.7152, 0.0722])
    pictures = (np.frombuffer(raw, np.uint8).reshape(height, width, 3) for raw in last)
    return max(psnr(picture @ luma, wanted @ luma) for picture in pictures)


def steps(record):
    """How many pictures of a recording differ visibly from the picture before, at half the resolution; better quality is no difference."""
    width, height = 640, 360
    command = ["ffmpeg", "-v", "fatal", "-i", str(record), "-fps_mode", "passthrough", "-vf", f"scale={width}:{height}:flags=area", "-f", "rawvideo",
               "-pix_fmt", "gray", "-"]
    count, before = 0, None
    with subprocess.Popen(command, stdout=subprocess.PIPE) as decoder:
        while len(raw := decoder.stdout.read(width * height)) == width * height:
            picture = np.frombuffer(raw, np.uint8).astype(np.int16)
            if before is not None:
                count += int((abs(picture - before) > 60).sum() > 20)
            before = picture
    return count


def measure(kind, options, scratch):
    """One round: several runs at once."""
    size = tuple(map(int, options.size.split("x")))
    folders = [scratch / f"{kind.__name__}-{index}" for index in range(options.runs)]
    for folder in folders:
        folder.mkdir()
    runs = [kind(options, folder) for folder in folders]
    time.sleep(4)  # all terminals are open
    begin, before = time.monotonic(), [run.cpu() for run in runs]
    time.sleep(options.seconds - 10)
    after, end = [run.cpu() for run in runs], time.monotonic()
    while not all((folder / "rests").exists() for folder in folders):
        time.sleep(0.2)
    time.sleep(3)
    lines = [int((folder / "rests").read_text()) for folder in folders]
    wanted = [shown(run.env, size) for run in runs]
    for run, folder in zip(runs, folders):
        run.end(folder)
    own, server = ([(b[part] - a[part]) / (end - begin) for a, b in zip(before, after)] for part in (0, 1))
    return {"own": own, "server": server, "psnr": [sharpness(run.record, picture, size) for run, picture in zip(runs, wanted)],
            "lines": lines, "steps": [steps(run.record) for run in runs], "kilobytes": [run.record.stat().st_size / 1000 for run in runs]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=6, help="runs at the same time")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=30, help="time in which lines are printed")
    parser.add_argument("--fps", type=int, default=15, help="frame rate of both recordings")
    parser.add_argument("--size", default="1280x720")
    options = parser.parse_args()
    for program in ("Xvfb", "xterm", "ffmpeg", "x11vnc", "xwd"):
        if not shutil.which(program):
            raise SystemExit(f"{program} is missing; scripts/setup --bench installs it.")
    rows = {}
    with tempfile.TemporaryDirectory(prefix="run-bench-") as scratch:
        for number in range(options.rounds):
            for kind in (RtcastRun, Parts):
                print(f"load {os.getloadavg()[0]:.1f}: round {number + 1}, {kind.label}", file=sys.stderr)
                folder = Path(scratch) / str(number)
                folder.mkdir(exist_ok=True)
                for name, values in measure(kind, options, folder).items():
                    rows.setdefault(kind, {}).setdefault(name, []).extend(values)
    print(f"{options.runs} runs at once, {options.size}, {options.fps} frames per second, {options.rounds} rounds of {options.seconds} s")
    print("| | record and serve, cores | X server, cores | together | lines printed | steps recorded | ms a step | PSNR of luma, least / median dB | "
          "recording kB |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind, row in rows.items():
        own, server = sum(row["own"]) / options.rounds, sum(row["server"]) / options.rounds
        printed, recorded = sum(row["lines"]) / options.rounds, sum(row["steps"]) / options.rounds
        print(f"| {kind.label} | {own:.3f} | {server:.3f} | {own + server:.3f} | {printed:.0f} | {recorded:.0f} | "
              f"{(own + server) * options.seconds / max(1, recorded) * 1000:.1f} | {min(row['psnr']):.1f} / {statistics.median(row['psnr']):.1f} | "
              f"{statistics.median(row['kilobytes']):.0f} |")


if __name__ == "__main__":
    main()
