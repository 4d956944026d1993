"""Clips that tell where they are: every frame carries its number, every sound its pitch. Made by the `ffmpeg` program when first asked for."""

import os
import random
import subprocess
from pathlib import Path

import numpy as np

from harness.barcode import draw

CODECS = {
    "h264": ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-profile:v", "main"],
    "vp8": ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "8", "-b:v", "2M"],
    "vp9": ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-row-mt", "1", "-b:v", "2M"],
    "av1": ["-c:v", "libsvtav1", "-preset", "10", "-crf", "30"],
    "ffv1": ["-c:v", "ffv1"],
}
SOUNDS = {"aac": ["-c:a", "aac", "-b:a", "128k"], "opus": ["-c:a", "libopus", "-b:a", "96k"], "flac": ["-c:a", "flac"],
          "pcm": ["-c:a", "pcm_s16le"], "mp3": ["-c:a", "libmp3lame"]}


def luma(number, width, height, fps, flash):
    """A grey ramp with a square that moves; or black, and white once a second."""
    plane = np.empty((height, width), np.uint8)
    if flash:
        plane[:] = 235 if number % fps < 2 else 16
    else:
        plane[:] = np.arange(width, dtype=np.uint32)[None, :] * 180 // width + 30
        side = max(2, height // 9)
        x = number * 7 % max(1, width - side)
        plane[height // 2:height // 2 + side, x:x + side] = 235
    draw(plane, number)
    return plane


def frames(count, width=640, height=360, fps=30, flash=False, numbers=None):
    """The pictures as planar 4:2:0 of 8 bits, one bytes object each."""
    chroma = bytes([128]) * (2 * ((width + 1) // 2) * ((height + 1) // 2))
    for number in numbers if numbers is not None else range(count):
        yield luma(number, width, height, fps, flash).tobytes() + chroma


def y4m(count, width=640, height=360, fps=30, **options):
    """The same as YUV4MPEG2, piece by piece."""
    yield f"YUV4MPEG2 W{width} H{height} F{fps}:1 Ip A1:1 C420jpeg\n".encode()
    for frame in frames(count, width, height, fps, **options):
        yield b"FRAME\n" + frame


def waveform(seconds, tone=440, beep=False, rate=48000):
    """Stereo, 16 bits: a tone at -12 dB; or 50 ms of 1 kHz that begin with each second."""
    at = np.arange(int(seconds * rate))
    if beep:
        wave = np.where(at % rate < rate // 20, 0.5 * np.sin(2 * np.pi * 1000 * at / rate), 0)
    else:
        wave = 0.25 * np.sin(2 * np.pi * tone * at / rate)
    return np.repeat((wave * 32767).astype(np.int16), 2).tobytes()


class Clips:
    """A folder of clips; each is made once."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def path(self, name):
        return str(self.folder / name)

    def numbered(self, name, codec="h264", sound=None, seconds=10, width=640, height=360, fps=30, tone=440, flash=False, b_frames=0,
                 keyframe_every=30, extra=()):
        """Frames 0, 1, 2, … ; the container is the name's ending. With `flash`, white and beep begin together once a second."""
        target = self.folder / name
        if target.exists():
            return str(target)
        pcm = self.folder / (name + ".pcm")
        command = ["ffmpeg", "-y", "-loglevel", "error", "-f", "yuv4mpegpipe", "-i", "pipe:0"]
        if sound:
            pcm.write_bytes(waveform(seconds, tone, flash))
            command += ["-f", "s16le", "-ar", "48000", "-ac", "2", "-i", str(pcm)]
        command += [*CODECS[codec], "-g", str(keyframe_every)]
        if codec == "h264":
            command += ["-bf", str(b_frames), "-x264-params", "b-adapt=0"]
        command += [*(SOUNDS[sound] if sound else []), *extra, str(target)]
        encoder = subprocess.Popen(command, stdin=subprocess.PIPE)
        for piece in y4m(int(seconds * fps), width, height, fps, flash=flash):
            encoder.stdin.write(piece)
        encoder.stdin.close()
        assert encoder.wait() == 0, command
        pcm.unlink(missing_ok=True)
        return str(target)

    def y4m(self, name="numbered.y4m", seconds=10, **options):
        target = self.folder / name
        if not target.exists():
            fps = options.get("fps", 30)
            with open(target, "wb") as file:
                file.writelines(y4m(int(seconds * fps), **options))
        return str(target)

    def sound_only(self, name="tone.flac", sound="flac", seconds=20, tone=440):
        target = self.folder / name
        if not target.exists():
            subprocess.run(["ffmpeg", "-y", "-loglevel", "error", "-f", "s16le", "-ar", "48000", "-ac", "2", "-i", "pipe:0",
                            *SOUNDS[sound], str(target)], input=waveform(seconds, tone), check=True)
        return str(target)

    def remade(self, name, source, *arguments, before=()):
        """Another clip put through ffmpeg."""
        target = self.folder / name
        if not target.exists():
            subprocess.run(["ffmpeg", "-y", "-loglevel", "error", *before, "-i", source, *arguments, str(target)], check=True)
        return str(target)

    def bytes(self, name, data):
        target = self.folder / name
        target.write_bytes(data)
        return str(target)

    def truncated(self, name, source, share):
        return self.bytes(name, Path(source).read_bytes()[:int(os.path.getsize(source) * share)])

    def garbage(self, name="garbage.mp4", size=100_000, seed=1):
        return self.bytes(name, random.Random(seed).randbytes(size))


def probe(path, *entries):
    """What ffprobe says of a file, as {key: value} a stream."""
    import json
    done = subprocess.run(["ffprobe", "-v", "error", "-print_format", "json", "-show_streams", "-show_format", *entries, str(path)],
                          capture_output=True, text=True)
    return json.loads(done.stdout or "{}"), done.stderr


def packets(path, stream="v:0"):
    """The presentation times of a stream's packets, in seconds, in file order, and whether each is a key frame."""
    said, _ = probe(path, "-select_streams", stream, "-show_entries", "packet=pts_time,flags")
    return [(float(p["pts_time"]), "K" in p["flags"]) for p in said.get("packets", []) if "pts_time" in p]


def numbers(path, width=640, height=360):
    """The frame numbers in a file, read from its decoded pictures."""
    from harness.barcode import read
    raw = subprocess.run(["ffmpeg", "-loglevel", "error", "-i", str(path), "-fps_mode", "passthrough", "-pix_fmt", "gray",
                          "-f", "rawvideo", "pipe:1"], capture_output=True).stdout
    planes = np.frombuffer(raw[:len(raw) // (width * height) * width * height], np.uint8).reshape(-1, height, width)
    return [read(plane) for plane in planes]
