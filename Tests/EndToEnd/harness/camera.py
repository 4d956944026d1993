"""Cameras that a program finds where there are none: Video4Linux devices played by a preloaded library, camera.c.

    cameras = Cameras(folder)
    cameras.add("/dev/video7", "Left Webcam", [Mode("YUYV", (320, 240), 15)])
    cast("camera", "left", env=cameras.environment)

Only programs that are started in this environment see them. Each picture carries its number (`barcode`) and bars of known colours.
"""

import errno
import io
import os
import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from . import barcode

SOURCE = Path(__file__).with_name("camera.c")
LENGTH = 60  # pictures of a mode, before they come again
DAMAGED = 0x80000000

# The lower half of each picture, from the left.
BARS = [(255, 255, 255), (255, 0, 0), (0, 255, 0), (0, 0, 255)]


@dataclass
class Mode:
    """What a camera offers: the four letters of a format, a size, and pictures a second (0: it does not say)."""

    code: str
    size: tuple
    rate: int
    # What the pictures are put through: each picture's number and bytes in, bytes out.
    change: object = None
    # Pictures between two key frames of H.264.
    keyframe_every: int = 15
    extra: list = field(default_factory=list)


class Cameras:
    def __init__(self, folder):
        self.folder = Path(folder)
        self.library = self.folder / "camera.so"
        subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", self.library, SOURCE], check=True, timeout=60)
        self.description = self.folder / "cameras"
        self.description.write_text("")
        self.environment = {"LD_PRELOAD": str(self.library), "RTCAST_TEST_CAMERAS": str(self.description)}

    def add(self, path, name, modes, answer=None, refuse=None, unplug=None):
        """Another camera. `answer`: code, size and bytes in a row that it says it delivers. `refuse`: a step and an errno."""
        lines = [f"camera {path}", f"name {name}"]
        for mode in modes:
            lines.append(f"mode {mode.code} {mode.size[0]} {mode.size[1]} {mode.rate} {self._pictures(mode)}")
        if answer:
            code, (width, height), row = answer
            lines.append(f"answer {code} {width} {height} {row}")
        if refuse:
            lines.append(f"refuse {refuse[0]} {refuse[1]}")
        if unplug is not None:
            lines.append(f"unplug {unplug}")
        with open(self.description, "a") as file:
            file.write("\n".join(lines) + "\n")
        return self

    def _pictures(self, mode):
        target = self.folder / f"pictures-{len(list(self.folder.glob('pictures-*')))}"
        pictures = h264(mode) if mode.code == "H264" else [CODERS[mode.code](picture(number, *mode.size)) for number in range(LENGTH)]
        with open(target, "wb") as file:
            for number, data in enumerate(pictures):
                damaged = 0
                if mode.change:
                    data = mode.change(number, data)
                    if data is None:
                        damaged, data = DAMAGED, b""
                file.write(struct.pack("<I", len(data) | damaged) + data)
        return target


# MARK: Pictures

def picture(number, width, height):
    """Red, green and blue of each pixel: the number above, bars of colours below."""
    luma = np.full((height, width), 126, np.uint8)
    barcode.draw(luma, number)
    grey = np.clip((luma.astype(int) - 16) * 255 // 219, 0, 255).astype(np.uint8)
    pixels = np.repeat(grey[:, :, None], 3, axis=2)
    for index, colour in enumerate(BARS):
        pixels[height // 2:, index * width // len(BARS):(index + 1) * width // len(BARS)] = colour
    return pixels


def bars(pixels):
    """The colours in the middle of each bar."""
    height, width = pixels.shape[:2]
    return [tuple(int(value) for value in pixels[height * 3 // 4, (2 * index + 1) * width // (2 * len(BARS))]) for index in range(len(BARS))]


def assert_bars(pixels, tolerance=24):
    found = bars(pixels)
    assert np.abs(np.array(found) - BARS).max() <= tolerance, found


def _yuv(pixels):
    """BT.601, limited range, each plane in full size."""
    red, green, blue = (pixels[:, :, index].astype(float) for index in range(3))
    luma = 16 + (65.481 * red + 128.553 * green + 24.966 * blue) / 255
    u = 128 + (-37.797 * red - 74.203 * green + 112.0 * blue) / 255
    v = 128 + (112.0 * red - 93.786 * green - 18.214 * blue) / 255
    return [np.clip(np.round(plane), 0, 255).astype(np.uint8) for plane in (luma, u, v)]


def yuyv(pixels):
    luma, u, v = _yuv(pixels)
    packed = np.empty((*luma.shape, 2), np.uint8)
    packed[:, :, 0] = luma
    packed[:, 0::2, 1], packed[:, 1::2, 1] = u[:, 0::2], v[:, 0::2]
    return packed.tobytes()


def nv12(pixels):
    luma, u, v = _yuv(pixels)
    return luma.tobytes() + np.stack([u[::2, ::2], v[::2, ::2]], axis=2).tobytes()


def jpeg(pixels):
    """With half of the chroma across and without Huffman tables, as USB cameras send it."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=90, subsampling="4:2:2")
    data, kept, at = buffer.getvalue(), b"\xff\xd8", 2
    while data[at + 1] != 0xda:
        length = 2 + int.from_bytes(data[at + 2:at + 4], "big")
        if data[at + 1] != 0xc4:
            kept += data[at:at + length]
        at += length
    return kept + data[at:]


CODERS = {"YUYV": yuyv, "NV12": nv12, "MJPG": jpeg}


def h264(mode):
    """One access unit a picture, in Annex B, with the parameter sets before each key frame; no picture refers to a later one."""
    width, height = mode.size
    command = ["ffmpeg", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(mode.rate or 30), "-i", "pipe:0",
               "-pix_fmt", "yuv420p", "-c:v", "libx264", "-profile:v", "main", "-preset", "veryfast", "-tune", "zerolatency", "-qp", "20",
               "-g", str(mode.keyframe_every), "-bf", "0", "-x264-params", "aud=1:scenecut=0:colormatrix=smpte170m", *mode.extra, "-f", "h264", "pipe:1"]
    pixels = b"".join(picture(number, width, height).tobytes() for number in range(LENGTH))
    stream = subprocess.run(command, input=pixels, capture_output=True, check=True).stdout
    delimiter = b"\0\0\0\1\x09"
    return [delimiter + unit for unit in stream.split(delimiter)[1:]]
