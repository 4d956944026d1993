"""Files as phones, cameras, broadcasts and slide programs make them, to a viewer that takes pictures as they come: aiortc."""

import subprocess
import time

import numpy as np
import pytest

from harness import barcode
from harness.aiortc_viewer import luma, see
from harness.rtcast import run

# What aiortc takes without its being encoded again.
BASELINE = ("-profile:v", "baseline")


def made(clips, name, *arguments):
    """A clip of test pictures."""
    subprocess.run(["ffmpeg", "-y", "-loglevel", "error", *arguments, clips.path(name)], check=True)
    return clips.path(name)


def position(rtcast, seconds):
    """Waits until the file is there."""
    rtcast.wait_event("stats", where=lambda event: event["position_s"] >= seconds)


@pytest.mark.feature("S0.72", peer="aiortc, FFmpeg")
@pytest.mark.parametrize("way", ["--copy", "--no-copy"])
def test_a_turned_recording_is_upright_to_who_does_not_turn_it(way, cast, clips):
    path = clips.numbered("baseline.mp4", extra=BASELINE)
    turned = clips.remade("baseline-turned.mp4", path, "-c", "copy", "-metadata:s:v", "rotate=90")
    rtcast = cast("file", turned, "--loop", way)
    listening = rtcast.listening()
    planes, _ = see(listening, skipped=5)
    assert luma(planes).shape == (640, 360)
    assert barcode.read(np.rot90(luma(planes), 3)) is not None
    rtcast.drain()
    capture = next(event for event in rtcast.seen if event["event"] == "capture")
    assert (capture["width"], capture["height"]) == (360, 640)


def with_orientation(jpeg, orientation):
    """A JPEG with Exif data that says how it is to be turned (Exif 2.3 §4.6.4)."""
    tiff = b"II*\0\x08\0\0\0" + b"\x01\0" + b"\x12\x01\x03\0\x01\0\0\0" + bytes([orientation, 0, 0, 0]) + b"\0\0\0\0"
    exif = b"Exif\0\0" + tiff
    return jpeg[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + jpeg[2:]


# What brings the shown picture back to the one in the file.
UNDONE = {2: np.fliplr, 4: np.flipud, 5: np.transpose, 6: lambda shown: np.rot90(shown, 1), 7: lambda shown: np.rot90(shown, 2).T}


@pytest.mark.parametrize("orientation", UNDONE)
def test_a_photo_is_upright_as_exif_says(orientation, cast, clips, tmp_path):
    still = clips.remade("number.jpg", clips.numbered("baseline.mp4", extra=BASELINE), "-frames:v", "1", "-q:v", "1")
    path = tmp_path / "photo.jpg"
    path.write_bytes(with_orientation(open(still, "rb").read(), orientation))
    planes, _ = see(cast("file", str(path)).listening(), skipped=1)
    assert barcode.read(np.ascontiguousarray(UNDONE[orientation](luma(planes)))) == 0


@pytest.mark.parametrize("parameters", ["intra-refresh=1:keyint=25", "keyint=infinite", "open-gop=1:keyint=25:bframes=0"])
def test_pictures_that_none_can_begin_with_are_encoded(parameters, cast, clips):
    name = parameters.replace("=", "").replace(":", "-") + ".mp4"
    path = made(clips, name, "-f", "lavfi", "-i", "testsrc2=s=640x360:d=30:r=25", "-pix_fmt", "yuv420p", "-c:v", "libx264", *BASELINE,
                "-x264-params", parameters)
    rtcast = cast("file", path)
    listening = rtcast.listening()
    for seconds in [1, 13]:
        position(rtcast, seconds)
        _, waited = see(listening)
        assert waited < 3


@pytest.mark.parametrize("name, arguments", [
    ("wide.mp4", ("-vf", "setsar=64/45")),
    ("wide-by-vui.ts", ("-bsf:v", "h264_metadata=sample_aspect_ratio=64/45")),
])
@pytest.mark.parametrize("way", ["--copy", "--no-copy"])
def test_pixels_that_are_not_square_become_so(name, arguments, way, cast, clips):
    path = made(clips, name, "-f", "lavfi", "-i", "testsrc2=s=720x576:d=5", "-pix_fmt", "yuv420p", "-c:v", "libx264", *BASELINE, *arguments)
    planes, _ = see(cast("file", path, "--loop", way).listening())
    assert luma(planes).shape == (576, 1024)


def test_slides_are_shown_whenever_somebody_comes(cast, clips):
    """The container says that a picture lasts a second, and the next comes after eight."""
    path = made(clips, "slides.mp4", "-f", "lavfi", "-i", "color=red:s=320x240:r=1:d=3,setpts=N*8/TB", "-fps_mode", "passthrough",
                "-pix_fmt", "yuv420p", "-c:v", "libx264", *BASELINE)
    rtcast = cast("file", path, "--loop")
    listening = rtcast.listening()
    position(rtcast, 2)
    seen = see(listening, seconds=4)
    assert seen is not None, "nothing is shown before the next picture"
    assert luma(seen[0]).shape == (240, 320)


def test_what_can_be_played_of_a_file_is_and_the_rest_is_named(cast, clips):
    both = ("-f", "lavfi", "-i", "testsrc2=d=3", "-f", "lavfi", "-i", "sine=d=3")
    rtcast = cast("file", made(clips, "silent.mkv", *both, "-af", "aselect=0", "-c:a", "aac"), "--loop")
    assert see(rtcast.listening()) is not None
    assert any("The sound of" in line and "cannot be decoded" in line for line in rtcast.stderr), rtcast.stderr

    rtcast = cast("file", made(clips, "blind.mkv", *both, "-vf", "select=0", "-c:v", "mpeg4", "-c:a", "aac"))
    rtcast.listening()
    assert rtcast.wait(20) == 0
    assert any("The pictures of" in line and "cannot be decoded" in line for line in rtcast.stderr), rtcast.stderr


def test_colours_beyond_what_screens_show_are_named(cast, clips):
    for transfer, name in [("smpte2084", "PQ"), ("arib-std-b67", "HLG")]:
        path = made(clips, f"{name}.mkv", "-f", "lavfi", "-i", "testsrc2=d=2", "-pix_fmt", "yuv420p10le", "-c:v", "libx264", "-color_trc", transfer,
                    "-color_primaries", "bt2020", "-colorspace", "bt2020nc")
        rtcast = cast("file", path, "--loop")
        rtcast.listening()
        deadline = time.monotonic() + 10
        while not any(f"{name} (HDR)" in line for line in rtcast.stderr):
            assert time.monotonic() < deadline, rtcast.stderr
            time.sleep(0.05)


def test_an_animated_webp_is_refused_as_one(clips):
    path = made(clips, "moving.webp", "-f", "lavfi", "-i", "testsrc2=s=64x48:d=1:r=5", "-c:v", "libwebp_anim")
    status, _, complaint = run("file", path, "--duration", "2")
    assert status == 66 and "animated WebP" in complaint, (status, complaint)


def test_a_cast_says_what_is_sent(cast, clips):
    """Six channels of sound go as two; pictures that no viewer takes as they are go as what they are encoded with."""
    path = made(clips, "high.mkv", "-f", "lavfi", "-i", "testsrc2=s=320x240:d=5", "-f", "lavfi", "-i", "anullsrc=cl=5.1:d=5", "-shortest", "-pix_fmt",
                "yuv420p", "-c:v", "libx264", "-profile:v", "high", "-bf", "0", "-c:a", "aac")
    rtcast = cast("file", path, "--loop")
    listening = rtcast.listening()
    capture = next(event for event in rtcast.seen if event["event"] == "capture")
    assert capture["audio_channels"] == 2
    rtcast.wait_event("stats", where=lambda event: event["codec"] == "H264")
    assert see(listening, skipped=40) is not None
    rtcast.wait_event("stats", where=lambda event: event["viewers"] == 1 and event["codec"] == "VP8")
