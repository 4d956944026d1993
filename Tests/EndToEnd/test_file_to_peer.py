"""A file that is sent to one receiver begins when it can be received, with its first picture and as it is; and one that `--control` swaps in."""

import subprocess
import time

import pytest

from harness import clips as clip

CALL = ("--no-window", "--audio", "none")


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


def recorded(path):
    """Codec and frame numbers of a recording that is one file."""
    said, _ = clip.probe(path)
    [codec] = [stream["codec_name"] for stream in said["streams"] if stream["codec_type"] == "video"]
    assert [other.name for other in path.parent.glob(path.stem + "*" + path.suffix)] == [path.name], "one file"
    return codec, clip.numbers(path)


def whole(numbers, count):
    """All pictures in their order; the last few may still be on their way when the sender ends."""
    return numbers == list(range(len(numbers))) and len(numbers) > count - 8


@pytest.mark.parametrize("every", [30, 120])
@pytest.mark.parametrize("sound", ["aac", None])
def test_a_peer_gets_a_file_from_its_first_picture_as_it_is(every, sound, cast, clips, hub, tmp_path):
    """However long it rings, and however far apart the key frames are."""
    source = clips.numbered(f"to-peer-{every}-{sound}.mp4", sound=sound, seconds=4, keyframe_every=every)
    got = tmp_path / "got.mkv"
    bob = cast("call", "--server", hub, "--name", "bob", "--record", str(got), "--control", *CALL, stdin=subprocess.PIPE)
    bob.wait_event("registered")
    alice = cast("file", source, "--to", "bob", "--server", hub, "--name", "alice", "--no-window")
    bob.wait_event("peer", where=lambda event: event["state"] == "ringing")
    bob.command("accept")
    assert alice.wait(40) == 0
    bob.interrupt()
    assert bob.wait() == 0
    codec, numbers = recorded(got)
    assert codec == "h264" and whole(numbers, 120), (codec, numbers[:40], len(numbers))


def test_a_whip_service_gets_a_file_from_its_first_picture(cast, clips, tmp_path):
    """By what is sent, which is recorded here."""
    source = clips.numbered("to-whip.mp4", sound="aac", seconds=4, keyframe_every=120)
    hub = cast("serve", "--listen", "127.0.0.1:0").url()
    got = tmp_path / "got.mkv"
    alice = cast("file", source, "--to", hub + "whip/talk", "--record", str(got))
    assert alice.wait(40) == 0
    codec, numbers = recorded(got)
    assert codec == "h264" and whole(numbers, 120), (codec, numbers[:40], len(numbers))


def parts_of(folder, count, timeout=20):
    """Waits until the recording has that many parts."""
    deadline = time.monotonic() + timeout
    while len(parts := sorted(folder.glob("got*.mkv"))) < count:
        assert time.monotonic() < deadline, [part.name for part in parts]
        time.sleep(0.02)


def test_a_file_swapped_in_begins_with_its_first_picture_and_the_first_source_comes_back(cast, clips, browser, tmp_path):
    """As in docs/control.md. Each change of codec begins another file of the recording."""
    source = clips.numbered("intro.mp4", sound="aac", seconds=2, keyframe_every=60)
    got = tmp_path / "got.mkv"
    rtcast = cast("test", "--pattern", "clock", "--fps", "10", "--size", "320x180", "--control", "--record", str(got), stdin=subprocess.PIPE)
    rtcast.wait_event("capture")
    rtcast.command("source", "file", source)
    assert rtcast.wait_event("capture")["source"] == "file"
    assert rtcast.wait_event("capture")["source"] == "test", "the cast goes on with what it began with"
    # Once more, when the first source is in the recording again: its pictures make the third part.
    parts_of(tmp_path, 3)
    rtcast.command("source", "file", source)
    assert rtcast.wait_event("capture")["source"] == "file"
    assert rtcast.wait_event("capture")["source"] == "test"
    rtcast.interrupt()
    assert rtcast.wait() == 0
    parts = sorted(tmp_path.glob("got*.mkv"))
    files = [clip.numbers(path) for path in parts if clip.probe(path)[0]["streams"][0]["codec_name"] == "h264"]
    assert len(files) == 2 and all(whole(numbers, 60) for numbers in files), [numbers[:8] for numbers in files]


def test_a_call_goes_on_after_a_file_that_was_swapped_in(cast, clips, hub):
    source = clips.numbered("intro.mp4", sound="aac", seconds=2, keyframe_every=60)
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", *CALL)
    bob.wait_event("registered")
    alice = cast("test", "--to", "bob", "--server", hub, "--name", "alice", "--no-window", "--size", "320x180", "--fps", "30", "--control",
                 stdin=subprocess.PIPE)

    def sent(least):
        return alice.wait_event("stats", timeout=40, where=lambda event: frames(event) >= least)

    def frames(event):
        return sum(stream.get("frames_sent", 0) for stream in event["streams"] if stream["kind"] == "video")

    before = frames(sent(10))
    alice.command("source", "file", source)
    alice.wait_event("control", where=lambda event: event["ok"])
    sent(before + 60 + 90)   # more than the file has
    assert alice.process.poll() is None


def test_the_file_that_a_cast_began_with_still_ends_it(cast, clips):
    source = clips.numbered("intro.mp4", sound="aac", seconds=2, keyframe_every=60)
    rtcast = cast("file", source, "--control", stdin=subprocess.PIPE)
    assert rtcast.wait(30) == 0
