"""From drawing to the browser's presentation: latency, frames, bytes, quality, processor time and memory of a cast, beside other senders.

    Benchmarks/GlassToGlass/set_up
    sudo .build/venv/bin/python Benchmarks/GlassToGlass/measure.py desktop [SENDER …] [--contents scroll …] [--rounds 3]
    sudo .build/venv/bin/python Benchmarks/GlassToGlass/measure.py links [SENDER …] [--scenarios drop …]

`desktop` measures each content of Benchmarks/Desktops without limits of the network, `links` a page that scrolls over links that shrink and
lose. Each measurement adds one JSON line to `results/desktop.jsonl` or `results/links.jsonl` (--out); tables.py makes the tables. The README
beside this file says what is measured. Wants root for network namespaces, and RTCAST or a release build.
"""

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

import psutil

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "Tests/EndToEnd"), str(HERE)]

from figures import LinkCurve, seconds_to_age, shown  # noqa: E402
from senders import SENDERS  # noqa: E402
from stage import Stage, sleep_until  # noqa: E402

CONTENTS = ("static", "typing", "scroll", "drag", "video", "slides")
WIDE = {"rate": 5e6, "delay": 0.025, "queue": 0.3}
NARROW = {"rate": 3e6, "delay": 0.025, "queue": 0.3}
# The link at the start; (seconds after the first frame, rate towards the receiver); spans that are told apart, in seconds.
SCENARIOS = {
    "drop": (WIDE, [(20, 600e3), (40, 3e6)], [(5, 20), (20, 40), (40, 60)]),
    "loss2": ({**NARROW, "loss": 0.02}, [], [(5, 30)]),
    "loss10": ({**NARROW, "loss": 0.1}, [], [(5, 30)]),
}


class Meter:
    """Processor time and memory of a process and of those it started."""

    def __init__(self, process):
        self.process = process
        self.start = self._seconds()
        self.began = time.monotonic()

    def _tree(self):
        return [self.process, *self.process.children(recursive=True)]

    def _seconds(self):
        seconds = {}
        for one in self._tree():
            try:
                times = one.cpu_times()
                seconds[one.pid] = times.user + times.system
            except psutil.NoSuchProcess:
                pass
        return seconds

    def cores(self):
        used = sum(seconds - self.start.get(pid, 0) for pid, seconds in self._seconds().items())
        return round(used / (time.monotonic() - self.began), 3)

    def pss_mib(self):
        return round(sum(one.memory_full_info().pss for one in self._tree()) / 2**20)


def wait_for_first_frame(stage, sender):
    """When it was presented, and the milliseconds since the sender's process began."""
    sender.connect(stage.receiver)
    first = stage.receiver.first_frame()
    return first, round((first - sender.process.create_time()) * 1000)


def measure_desktop(stage, sender, content, options):
    first, first_ms = wait_for_first_frame(stage, sender)
    result = {"first_frame_ms": first_ms}
    if content == "static":
        sleep_until(first + 2)
        result["after_2s"] = stage.quality()
    sleep_until(first + options.warm)
    meter, server, idle = Meter(sender.process), Meter(psutil.Process(stage.desktop.server.process.pid)), psutil.cpu_times().idle
    begin, counters = time.time(), stage.link.counters()["forth"]
    time.sleep(options.seconds)
    end, after = time.time(), stage.link.counters()["forth"]
    result |= {"cpu": meter.cores(), "cpu_x_server": server.cores(), "idle_cores": round((psutil.cpu_times().idle - idle) / (end - begin), 2),
               "pss_mib": meter.pss_mib(), "kbps": round((after["bytes"] - counters["bytes"]) * 8 / (end - begin) / 1000)}
    result["moving"] = stage.quality(options.pictures and options.pictures / f"{sender.name}.{content}.png")
    stage.desktop.pause()
    time.sleep(2)
    result["at_rest"] = stage.quality()
    return result | shown(stage.receiver.frames(), begin, end) | stage.receiver.format()


def measure_link(stage, sender, scenario):
    conditions, steps, spans = SCENARIOS[scenario]
    stage.link.set(**conditions)
    first, first_ms = wait_for_first_frame(stage, sender)
    begin = time.time()
    stage.link.play(*((at, "forth", {"rate": rate}) for at, rate in steps))
    samples = []
    for second in range(spans[-1][1] + 1):
        sleep_until(begin + second)
        samples.append((time.time() - begin, stage.link.counters()["forth"]))
    frames, curve = stage.receiver.frames(), LinkCurve(samples)
    result = {"first_frame_ms": first_ms, "spans": []}
    for start, end in spans:
        rate = ([conditions["rate"]] + [rate for at, rate in steps if at <= start])[-1]
        result["spans"].append({"from_s": start, "to_s": end, "capacity_kbps": round(rate / 1000), **shown(frames, begin + start, begin + end),
                                **curve.carried(start, end)})
    if steps:
        (drop, _), (rise, rate) = steps
        result["young_after_drop_s"] = seconds_to_age(frames, 300, begin + drop, begin + rise)
        result["rate_after_rise_s"] = curve.seconds_to(0.8 * rate, rise)
    return result | stage.receiver.format()


def record(stage, name, what, options):
    """One measurement, as it is written down; a failure is one too."""
    sender = SENDERS[name](stage, options.fps, options.bitrate)
    sender.name = name
    about = {"sender": name, options.key: what, "fps_asked": options.fps, "bitrate": options.bitrate, "when": time.strftime("%F %T"),
             "load": round(os.getloadavg()[0], 1), "nice": os.nice(0)}
    try:
        stage.show(what if options.key == "content" else "scroll")
        if options.key == "content":
            found = measure_desktop(stage, sender, what, options)
        else:
            found = measure_link(stage, sender, what)
        found = {"version": sender.version(), **found}
    except Exception as error:   # the others are measured all the same
        found = {"error": f"{type(error).__name__}: {error}"}
    finally:
        for end in (sender.stop, stage.clear):
            try:
                end()
            except Exception as error:
                print(f"{name}: {str(error)[:300]}", file=sys.stderr)
    return about | found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    desktop, links = commands.add_parser("desktop"), commands.add_parser("links")
    for command in (desktop, links):
        command.add_argument("senders", nargs="*", metavar="SENDER", help=f"of {', '.join(SENDERS)}; all by default")
        command.add_argument("--rounds", type=int)
        command.add_argument("--fps", type=int, default=30)
        command.add_argument("--bitrate", type=int, help="the most that a sender may use, bit/s")
        command.add_argument("--out", type=Path)
    desktop.add_argument("--contents", nargs="+", default=CONTENTS, dest="what")
    desktop.add_argument("--warm", type=float, default=4, help="seconds from the first frame to the measurement")
    desktop.add_argument("--seconds", type=float, default=8)
    desktop.add_argument("--pictures", type=Path, help="a folder for the compared frames")
    desktop.set_defaults(key="content", rounds=3, bitrate=2_500_000, out=HERE / "results/desktop.jsonl")
    links.add_argument("--scenarios", nargs="+", default=list(SCENARIOS), choices=list(SCENARIOS), dest="what")
    links.set_defaults(key="scenario", rounds=1, bitrate=8_000_000, out=HERE / "results/links.jsonl")
    options = parser.parse_args()
    unknown = set(options.senders) - set(SENDERS)
    if unknown:
        parser.error(f"no sender {', '.join(unknown)}; there are {', '.join(SENDERS)}")
    return options


def main():
    # A shell that starts this in the background has it ignore Ctrl-C, and with it every cast, which ends by that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = arguments()
    failures = 0
    for folder in (options.out.parent, getattr(options, "pictures", None)):
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
    stage = Stage()
    try:
        for turn in range(options.rounds):
            for what in options.what:
                for name in options.senders or SENDERS:
                    line = record(stage, name, what, options)
                    failures += "error" in line
                    with open(options.out, "a") as file:
                        file.write(json.dumps(line) + "\n")
                    print(json.dumps(line), flush=True)
    finally:
        stage.close()
    sys.exit(1 if failures else 0)


main()
