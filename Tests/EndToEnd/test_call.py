"""Calls by rtcast: with another rtcast, with a browser on the hub's page, by hand, and with nobody."""

import json
import subprocess
import time

import numpy as np
import pytest

from harness.pictures import decoded
from harness.reach import recorded
from harness.rtcast import BINARY, run, surroundings

QUIET = ["--audio", "none"]


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


def peer(cast, state, **more):
    return cast.wait_event("peer", where=lambda e: e["state"] == state and all(e.get(k) == v for k, v in more.items()))


def leave(cast):
    """Ctrl-C; the exit status."""
    cast.interrupt()
    return cast.process.wait(10)


def streams(path):
    shown = subprocess.run(
        ["ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=codec_type,width,nb_read_packets", "-of", "json", str(path)],
        capture_output=True, text=True, check=True)
    return {s["codec_type"]: s for s in json.loads(shown.stdout)["streams"]}


@pytest.mark.quick
@pytest.mark.feature("S0.10", "S0.11", "S0.66")
def test_a_cast_rings_a_peer_who_takes_it_and_records_it(cast, hub, tmp_path):
    """`--to NAME --server`, `call` without a name, `--record` of what comes."""
    copy = tmp_path / "copy.mkv"
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", "--record", str(copy), *QUIET)
    assert bob.wait_event("registered")["id"] == "bob"
    alice = cast("test", "--to", "bob", "--server", hub, "--name", "alice", "--no-window", "--size", "320x180", "--fps", "15",
                 "--tone", "440", "--duration", "5")
    assert peer(alice, "ringing")["direction"] == "out"
    assert peer(bob, "ringing")["id"] == "alice"
    peer(alice, "connected")
    kinds = {bob.wait_event("track")["kind"], bob.wait_event("track")["kind"]}
    assert kinds == {"video", "audio"}
    assert alice.process.wait(20) == 0
    assert peer(bob, "ended")["reason"] == "hung up remotely"
    assert leave(bob) == 0
    found = streams(copy)
    assert found["video"]["width"] == 320 and int(found["video"]["nb_read_packets"]) > 15
    assert int(found["audio"]["nb_read_packets"]) > 50


@pytest.mark.parametrize("caller", [("call", "bob", "--audio", "none"), ("screen", "--to", "bob")], ids=["call", "screen --to"])
def test_a_window_is_shown_in_a_call_by_the_same_options_as_in_a_cast(caller, cast, hub, xserver, tmp_path):
    """`--window`, `--size`, `--bitrate` and the default of `--fps`."""
    copy = tmp_path / "copy.mkv"
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", "--record", str(copy), *QUIET)
    bob.wait_event("registered")
    painter = xserver.client()
    window = painter.window(100, 50, 320, 240, title="Shown to bob")
    alice = cast(*caller, "--window", "Shown to bob", "--size", "160x120", "--bitrate", "300k", "--server", hub, "--no-window",
                 "--duration", "8", display=xserver.name)
    assert bob.wait_event("track", where=lambda e: e["kind"] == "video")["content"] == "screen"
    alice.wait_event("stats")
    for number in range(80):  # twenty times a second, of which five are sent
        painter.fill(window, 0, 0, 320, 240, 0xFFFFFF if number % 2 else 0x204060)
        time.sleep(0.05)
    stats = alice.wait_event("stats", where=lambda e: e["streams"] and e["streams"][0].get("frames_sent", 0) > 5)
    assert stats["target_bps"] <= 300_000
    assert alice.process.wait(20) == 0
    painter.close()
    assert leave(bob) == 0
    found = streams(copy)["video"]
    assert found["width"] == 160 and int(found["nb_read_packets"]) <= 5 * 8 + 10, found


@pytest.mark.feature("S0.66", "S0.68", "S1.1", "S1.2", peer="Chromium")
def test_a_browser_takes_the_call_of_a_cast_and_hangs_up(cast, hub, visit):
    """The picture is seen on the hub's page, the browser's own comes back, and its end is a clean one."""
    [page] = visit(hub, "bob")
    alice = cast("test", "--to", "bob", "--server", hub, "--name", "alice", "--no-window", "--size", "640x360", "--tone", "440")
    page.accept()
    page.wait(state="call").wait_tiles(1).wait_moving()
    kinds = {alice.wait_event("track")["kind"], alice.wait_event("track")["kind"]}
    assert kinds == {"video", "audio"}
    peer(alice, "connected")
    page.bar("microphone")
    assert alice.wait_event("muted") == {"event": "muted", "id": "bob", "kind": "audio", "muted": True}
    page.bar("hangup")
    assert peer(alice, "ended")["reason"] == "hung up remotely"
    assert alice.process.wait(10) == 0


@pytest.mark.quick
def test_a_browser_calls_a_waiting_rtcast(cast, hub, visit):
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", "--test", *QUIET)
    bob.wait_event("registered")
    [page] = visit(hub, "alice")
    page.call("bob")
    page.wait(state="call").wait_tiles(1).wait_moving()
    bob.wait_event("track", where=lambda e: e["kind"] == "video")
    peer(bob, "connected")
    assert leave(bob) == 0
    page.wait(state="lobby")


@pytest.mark.feature("S1.1", "S3.1", "S3.2", "S3.9", "S3.11", "S3.13", peer="Chromium")
def test_a_room_of_a_browser_and_two_casts(cast, hub, visit):
    [page] = visit(hub + "#planning", "alice")
    casts = [cast("test", "--to", "room:planning", "--server", hub, "--name", name, "--no-window", "--size", "320x180")
             for name in ("bob", "carol")]
    page.wait_tiles(2).wait_moving()
    for each in casts:
        assert {peer(each, "connected")["id"], peer(each, "connected")["id"]} == {"alice", "bob", "carol"} - {
            "bob" if each is casts[0] else "carol"}
    assert leave(casts[0]) == 0
    page.wait_gone("bob")
    page.wait_tiles(1).wait_moving()


def test_a_room_is_recorded_with_all_its_pictures_and_sounds(cast, hub, tmp_path):
    """Each in a track of its own, by name; who comes later than the file begins another with all who are there."""
    keeper = cast("call", "room:planning", "--server", hub, "--name", "alice", "--no-window", "--record", str(tmp_path / "room.mkv"), *QUIET)
    for name, size in (("bob", "320x180"), ("carol", "160x90")):
        cast("test", "--to", "room:planning", "--server", hub, "--name", name, "--no-window", "--size", size, "--fps", "15", "--tone", "440")
    for _ in range(2):
        keeper.wait_event("track", where=lambda e: e["kind"] == "video")

    def tracks():
        newest = max(tmp_path.glob("room*.mkv"), key=lambda path: path.stat().st_mtime_ns)
        shown = subprocess.run(
            ["ffprobe", "-v", "error", "-count_packets", "-show_entries", "stream=codec_type,width,nb_read_packets:stream_tags=title",
             "-of", "json", str(newest)], capture_output=True, text=True)
        found = json.loads(shown.stdout or "{}").get("streams", [])
        return {(s["codec_type"], s.get("width"), s["tags"]["title"]): int(s.get("nb_read_packets", 0)) for s in found}

    wanted = {("video", 320, "bob"), ("video", 160, "carol"), ("audio", None, "bob"), ("audio", None, "carol")}
    deadline = time.monotonic() + 30
    while (found := tracks()).keys() != wanted or min(found.values()) < 15:
        assert time.monotonic() < deadline, found
        time.sleep(0.5)
    assert leave(keeper) == 0
    assert tracks().keys() == wanted


def test_a_cast_is_watched_from_its_link_and_recorded(cast, tmp_path):
    copy = tmp_path / "copy.mkv"
    url = cast("test", "--size", "320x180").url()
    viewer = cast("watch", url, "--no-window", "--record", str(copy), "--duration", "4")
    viewer.wait_event("track", where=lambda e: e["kind"] == "video")
    assert viewer.process.wait(20) == 0
    assert streams(copy)["video"]["width"] == 320


@pytest.mark.feature("S1.3", "S1.9")
def test_descriptions_travel_by_hand(cast, tmp_path):
    """`--to manual`: our offer there, its answer here; and the picture, which the recording has with its numbers in their order."""
    copy = tmp_path / "copy.mkv"
    alice = cast("test", "--to", "manual", "--pattern", "clock", "--fps", "15", "--size", "640x360", stdin=subprocess.PIPE)
    offer = alice.wait_event("description")
    assert offer["type"] == "offer" and offer["sdp"].startswith("v=0")
    bob = cast("watch", "manual", "--no-window", "--record", str(copy), stdin=subprocess.PIPE)
    bob.write((offer["sdp"].replace("\r\n", "\n") + "\n").encode())
    answer = bob.wait_event("description")
    assert answer["type"] == "answer"
    alice.write((json.dumps({"type": "answer", "sdp": answer["sdp"]}) + "\n\n").encode())
    bob.wait_event("peer", where=lambda e: e["state"] == "connected")
    assert {e["kind"] for e in bob.seen if e["event"] == "track"} >= {"video"}
    deadline = time.monotonic() + 20
    while not copy.exists() or decoded(copy) < 20:
        assert time.monotonic() < deadline, "no picture is recorded"
        time.sleep(0.2)
    assert leave(bob) == 0
    numbers = recorded(copy)
    # One that is sent again, finer, is there twice.
    assert None not in numbers and numbers == sorted(numbers) and len(set(numbers)) >= 15, numbers


def test_who_is_there_is_listed_for_those_who_may_know(cast):
    serve = cast("serve", "--listen", "127.0.0.1:0", "--token", "s3cret")
    hub = serve.url().split("#")[0].split("?")[0]
    to = ["--server", hub, "--token", "s3cret"]
    assert run("list", "peers", *to) == (0, "Peers\n  nobody\n", "")
    for name in ("bob", "alice"):
        cast("call", *to, "--name", name, "--no-window", *QUIET).wait_event("registered")
    assert run("list", "peers", *to)[1] == "Peers\n  alice\n  bob\n"
    status, out, _ = run("list", "peers", "--json", "--name", "carol", "--token", "s3cret", env={"RTCAST_SERVER": hub})
    assert status == 0 and json.loads(out) == {"peers": ["alice", "bob"]}
    status, _, stderr = run("list", "peers", "--server", hub)
    assert status == 77 and "--token" in stderr
    status, _, stderr = run("list", "peers", "--server", hub, "--token", "guess")
    assert status == 77 and "--token" in stderr
    status, _, stderr = run("list", "peers")
    assert status == 64 and "RTCAST_SERVER" in stderr
    assert run("list", "peers", "--server", "ws://127.0.0.1:1")[0] == 69
    assert run("list", "codecs", "--server", hub)[0] == 64


def test_nobody_there_rejected_and_no_hub_are_told_apart(cast, hub):
    to = ["--server", hub, "--no-window"]
    status, lines, stderr = run("test", "--to", "nobody", *to)
    assert status == 69 and "nobody" in stderr
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "reject", "--no-window", *QUIET)
    bob.wait_event("registered")
    status, lines, stderr = run("test", "--to", "bob", *to)
    assert status == 77 and "did not take" in stderr
    status, _, stderr = run("test", "--to", "bob", "--server", "ws://127.0.0.1:1", "--no-window")
    assert status == 69 and "hub" in stderr
    status, _, stderr = run("test", "--to", "bob", "--no-window")
    assert status == 64 and "RTCAST_SERVER" in stderr
    status, _, stderr = run("test", "--to", "bob", *to, "--name", "bob")
    assert status == 77 and "taken" in stderr


def test_what_ends_a_call_is_said_once_and_no_file_is_claimed(hub, tmp_path):
    """For people: nobody of that name, and a recording into which nothing came."""
    got = tmp_path / "got.mkv"
    done = subprocess.run(
        [BINARY, "call", "nobody", "--server", hub, "--no-window", "--record", str(got), *QUIET], capture_output=True, text=True, timeout=20,
        env=surroundings())
    said = done.stdout + done.stderr
    assert done.returncode == 69 and said.count("no peer nobody") == 1, said
    assert "Recorded into" not in said and "Nothing was recorded" in said and not got.exists()


def test_a_call_without_a_sound_server_is_told_how_to_go_without_sound(hub, tmp_path):
    deaf = {"PULSE_SERVER": f"unix:{tmp_path}/none", "XDG_RUNTIME_DIR": str(tmp_path)}
    status, _, stderr = run("call", "room:x", "--server", hub, "--no-window", env=deaf)
    assert status == 69 and "--audio none" in stderr, stderr


def test_busy_and_no_answer_are_69(cast, hub, tmp_path):
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", *QUIET)
    bob.wait_event("registered")
    first = cast("test", "--to", "bob", "--server", hub, "--name", "alice", "--no-window", "--size", "320x180")
    peer(first, "connected")
    status, _, stderr = run("test", "--to", "bob", "--server", hub, "--no-window")
    assert status == 69 and "bob" in stderr and "another call" in stderr, stderr
    silent = cast("call", "--server", hub, "--name", "carol", "--answer", "ask", "--no-window", *QUIET, stdin=subprocess.PIPE)
    silent.wait_event("registered")
    impatient = tmp_path / "impatient.json"
    impatient.write_text(json.dumps({"ringTimeout": 2}))   # 45 s otherwise
    status, _, stderr = run("test", "--to", "carol", "--server", hub, "--no-window", "--preset", str(impatient))
    assert status == 69 and "carol" in stderr and "answer" in stderr, stderr
    assert peer(silent, "ringing")["direction"] == "in"
    assert peer(silent, "ended")["reason"] == "hung up remotely"   # its ringing ends as well


def test_a_peer_is_called_by_an_address_of_the_hub_with_its_name(cast, hub):
    """`--to ws://host/NAME`, in place of `--server`."""
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", *QUIET)
    bob.wait_event("registered")
    alice = cast("test", "--to", hub.replace("http", "ws") + "bob", "--name", "alice", "--no-window", "--size", "320x180", "--duration", "3")
    peer(alice, "connected")
    assert bob.wait_event("track", where=lambda event: event["kind"] == "video")
    assert alice.process.wait(20) == 0
    assert peer(bob, "ended")["id"] == "alice"


def test_two_rtcasts_hear_each_other(cast, hub, tmp_path):
    """Each records what comes; each tone is at the other end, and not at its own."""
    files = {"alice": tmp_path / "alice.mkv", "bob": tmp_path / "bob.mkv"}
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", "--file", tone_file(tmp_path, 880),
               "--record", str(files["bob"]))
    bob.wait_event("registered")
    alice = cast("test", "--to", "bob", "--server", hub, "--name", "alice", "--no-window", "--size", "320x180", "--tone", "440",
                 "--record", str(files["alice"]), "--duration", "6")
    peer(alice, "connected")
    assert alice.process.wait(30) == 0
    assert leave(bob) == 0
    assert abs(pitch(files["bob"]) / 440 - 1) < 0.01
    assert abs(pitch(files["alice"]) / 880 - 1) < 0.01


def tone_file(folder, hz):
    path = folder / f"{hz}.mkv"
    subprocess.run(["ffmpeg", "-loglevel", "error", "-f", "lavfi", "-i", f"sine=frequency={hz}:sample_rate=48000:duration=30", "-f", "lavfi",
                    "-i", "testsrc=size=320x180:rate=10:duration=30", "-c:v", "libvpx", "-deadline", "realtime", "-c:a", "libopus", str(path)],
                   check=True)
    return str(path)


def pitch(path):
    """The loudest of a recording's sound, from its second second on."""
    raw = subprocess.run(["ffmpeg", "-loglevel", "error", "-ss", "1", "-i", str(path), "-vn", "-ac", "1", "-ar", "48000", "-f", "s16le", "-"],
                         capture_output=True, check=True).stdout
    wave = np.frombuffer(raw, np.int16).astype(float)
    assert len(wave) > 48_000
    spectrum = np.abs(np.fft.rfft(wave * np.hanning(len(wave))))
    return float(np.argmax(spectrum) * 48_000 / len(wave))
