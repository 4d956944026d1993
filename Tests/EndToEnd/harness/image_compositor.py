"""A compositor that copies its one monitor by ext-image-copy-capture alone, and paints what the test says."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

from .rtcast import ROOT

PROTOCOLS = ROOT / "Sources/CWayland/protocol"
ARGB8888, XRGB8888, XBGR8888, RGB565 = 0, 1, 0x34324258, 0x36314752


class ImageCompositor:
    def __init__(self, program, size=(320, 200), formats=(XRGB8888,)):
        """`formats`: of its copies in shared memory, values of wl_shm.format."""
        self.folder = tempfile.TemporaryDirectory(prefix="image-")
        self.path = Path(self.folder.name)
        self.pixels, self.formats = np.zeros((size[1], size[0]), np.uint32), formats
        os.mkfifo(self.path / "control")
        self.env = {"XDG_RUNTIME_DIR": str(self.path), "WAYLAND_DISPLAY": "wayland-5"}
        self.output = open(self.path / "said", "wb")
        self.process = subprocess.Popen([str(program), "wayland-5", *map(str, (*size, *formats))], cwd=self.path, stdout=self.output,
                                        env={**os.environ, **self.env})
        self.until(lambda: (self.path / "wayland-5").exists(), "the compositor did not start")
        self.control = open(self.path / "control", "wb", buffering=0)

    @staticmethod
    def compiled(folder):
        sources = [str(Path(__file__).with_name("image_compositor.c"))]
        for file in sorted(PROTOCOLS.glob("*-v1.xml")):
            subprocess.run(["wayland-scanner", "server-header", file, folder / f"{file.stem}.h"], check=True)
            subprocess.run(["wayland-scanner", "private-code", file, folder / f"{file.stem}.c"], check=True)
            sources.append(str(folder / f"{file.stem}.c"))
        program = folder / "image_compositor"
        subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-I", str(folder), "-o", str(program), *sources, "-lwayland-server"], check=True)
        return program

    def until(self, condition, what):
        deadline = time.monotonic() + 20
        while not condition():
            assert self.process.poll() is None and time.monotonic() < deadline, f"{what}; {self.said()}"
            time.sleep(0.02)

    def said(self):
        return (self.path / "said").read_text().splitlines()

    def until_said(self, line, times=1):
        self.until(lambda: self.said().count(line) >= times, f"not said {times} times: {line}")

    def tell(self, *words):
        """Returns when it is done."""
        done = sum(line.startswith("done ") for line in self.said())
        self.control.write((" ".join(map(str, words)) + "\n").encode())
        self.until(lambda: sum(line.startswith("done ") for line in self.said()) > done, f"not done: {words}")

    def fill(self, colour, x=0, y=0, width=None, height=None):
        high, wide = self.pixels.shape
        width, height = width or wide, height or high
        self.pixels[y:y + height, x:x + width] = colour
        self.tell("fill", f"{colour:06x}", x, y, width, height)

    def resize(self, width, height, command="size"):
        self.pixels = np.zeros((height, width), np.uint32)
        self.tell(command, width, height)

    def picture(self):
        """What the monitor shows, without its transform."""
        shifts = (16, 8, 0) if XRGB8888 in self.formats else (0, 8, 16)
        return np.stack([(self.pixels >> shift & 255).astype(np.uint8) for shift in shifts], axis=-1)


    def stop(self):
        self.control.close()
        self.process.kill()
        self.process.wait()
        self.output.close()
        self.folder.cleanup()


class Turned:
    """The picture of a compositor as its turned monitor shows it."""

    def __init__(self, compositor, turn):
        self.compositor, self.turn = compositor, turn

    def picture(self):
        return self.turn(self.compositor.picture())
