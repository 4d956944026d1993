"""What a slow or changing link gets of each encoder: EncoderBenchmark on a desktop of Benchmarks/Desktops, as one table.

    scripts/setup --bench && RTCAST_BENCHMARKS=1 swift build -c release --product EncoderBenchmark
    .build/venv/bin/python Benchmarks/Encoders/compare.py [--codecs vp8 h264-444 …] [--scenarios drop …] [-- OPTION …]

Encodes and decodes are real, the link and the time are virtual: apart from the milliseconds of processor time, a run gives the same figures on
any machine, unless `-- --busy FACTOR` lets time pass while it encodes. Scenarios are listed in Benchmarks/Sources/EncoderBenchmark/main.swift.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "Tests/EndToEnd"), str(ROOT / "Benchmarks/GlassToGlass")]

from stage import PAGE, Desktop, compiled  # noqa: E402

PROGRAM = ROOT / ".build/release/EncoderBenchmark"
CODECS = ["vp8", "vp9", "vp9-444", "av1", "av1-444", "h264", "h264-444"]
SCENARIOS = ["start-1000", "start-2500", "scroll-1000", "scroll-2500-rest", "typing-2500"]
# Of desktops.c: the page is moved by 6 lines a picture, and its screens are 900 lines tall.
LINES_A_STEP, SCREEN, SCREENS = 6, 900, 6


def screenshot(program, number):
    """Picture `number` of the page that scrolls, as B, G, R and a spare byte."""
    desktop = Desktop(program, "scroll", frozen=number)
    try:
        time.sleep(1)
        shown = desktop.server.picture()
    finally:
        desktop.close()
    pixels = np.zeros((*shown.shape[:2], 4), np.uint8)
    pixels[:, :, :3] = shown[:, :, ::-1]
    return pixels


def pictures(folder):
    """base.bgra, the desktop, and page.bgra, all screens of its page in one column."""
    program = compiled()
    shots = [screenshot(program, number * SCREEN // LINES_A_STEP) for number in range(SCREENS)]
    shots[0].tofile(f"{folder}/base.bgra")
    np.concatenate([shot[PAGE] for shot in shots]).tofile(f"{folder}/page.bgra")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--codecs", nargs="+", default=CODECS, choices=CODECS)
    parser.add_argument("--scenarios", nargs="+", default=SCENARIOS)
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time; with more than one, processor times are too long")
    parser.add_argument("--program", type=Path, default=PROGRAM)
    parser.add_argument("options", nargs="*", help="for EncoderBenchmark, after --")
    options = parser.parse_args()
    print("| scenario, phase | codec | fps | longest gap ms | delay p50 / p95 / max ms | longest queue ms | kbit/s | luma dB, mean (end) | "
          "RGB dB, mean (end) | ms a frame | kB | s to 32 / 40 / 44 / 48 dB |\n|---|---|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        pictures(folder)

        def run(job):
            scenario, codec = job
            return subprocess.run([options.program, scenario, "--codec", codec, "--pictures", folder, "--table", *options.options],
                                  capture_output=True, text=True, check=True).stdout
        jobs = [(scenario, codec) for scenario in options.scenarios for codec in options.codecs]
        for rows in pool.map(run, jobs):
            print(rows, end="", flush=True)


if __name__ == "__main__":
    main()
