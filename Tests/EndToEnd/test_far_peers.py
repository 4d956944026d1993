"""Whole calls between `rtcast` and peers that are not ours, through the hub: aiortc, GStreamer, Pion, Chromium, Firefox. Each hears and
sees the other, writes, adds and drops media while the call goes on, and hangs up."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness import pion
from harness.far_peer import SOUND, FarPeer
from harness.firefox import Firefox, installed as firefox_installed
from harness.hub_page import HubPage
from harness.pictures import decoded
from harness.sound import pitch

PEERS = Path(__file__).parent / "peers"
BINDINGS = "import gi; gi.require_version('GstWebRTC', '1.0'); gi.require_version('GstSdp', '1.0')"
TONE = 440
ADD_VIDEO = ("const [call] = board.calls.values(), copy = local.tracks.camera.clone();"
             "call.pc.addTrack(copy, new MediaStream([copy]));")


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


@pytest.fixture(scope="session")
def pion_program(tmp_path_factory):
    if why := pion.missing():
        pytest.skip(why)
    return pion.build(tmp_path_factory.mktemp("pion"))


@pytest.fixture
def far(request, hub, tmp_path):
    """Registers a peer of the kind given, as "far"."""
    started = []

    def start(kind):
        match kind:
            case "aiortc":
                peer = FarPeer([sys.executable, str(PEERS / "aiortc_peer.py")], hub, "far")
            case "gstreamer":
                if subprocess.run(["/usr/bin/python3", "-c", BINDINGS], capture_output=True).returncode != 0:
                    pytest.skip("no GStreamer bindings: install python3-gst-1.0 and gir1.2-gst-plugins-bad-1.0")
                peer = FarPeer(["/usr/bin/python3", str(PEERS / "gstreamer_peer.py")], hub, "far")
            case "pion":
                program = request.getfixturevalue("pion_program")
                folder = tmp_path / "pion"
                folder.mkdir()
                peer = pion.Pion(program, folder, hub, "far")
        started.append(peer)
        return peer

    yield start
    for peer in started:
        peer.stop()


@pytest.fixture
def page(request, visit, hub):
    """The hub's page in the browser given, as "far"."""
    foxes = []

    def open_page(kind):
        if kind == "chromium":
            return visit(hub, "far")[0]
        if not firefox_installed():
            pytest.skip("no firefox-esr")
        pulse = request.getfixturevalue("pulse")   # without a sound server Firefox runs no AudioContext
        foxes.append(Firefox(environment={"PULSE_SERVER": pulse.env["PULSE_SERVER"]}))
        page = HubPage(foxes[-1], hub, "far")
        page.join()
        return page

    yield open_page
    for fox in foxes:
        fox.quit()


@pytest.fixture
def clip(clips):
    return clips.numbered("call-440.webm", codec="vp8", sound="opus", seconds=60, width=320, height=180, fps=15, tone=TONE,
                          keyframe_every=15, extra=("-b:a", "48k"))   # Pion keeps no packets above 255 bytes whole


@pytest.fixture
def calling(cast, hub):
    """An rtcast that calls "far" with a picture and a tone."""
    return lambda *more: cast("test", "--to", "far", "--server", hub, "--name", "ours", "--no-window", "--size", "320x180", "--fps", "15",
                              "--tone", str(TONE), "--control", *more, stdin=subprocess.PIPE)


@pytest.fixture
def waiting(cast, hub, clip):
    """An rtcast that takes calls, showing a clip with its tone."""
    def start(*more):
        ours = cast("call", "--server", hub, "--name", "ours", "--answer", "auto", "--no-window", "--file", clip, "--control", *more,
                    stdin=subprocess.PIPE)
        ours.wait_event("registered")
        return ours
    return start


def peer(ours, state):
    return ours.wait_event("peer", where=lambda e: e["state"] == state)


def received(videos):
    """Whether a `stats` event tells of so many pictures that have come, and of sound."""
    def check(event):
        frames = [stream.get("frames_received", 0) for stream in event["streams"] if stream["kind"] == "video"]
        packets = sum(stream.get("packets_received", 0) for stream in event["streams"] if stream["kind"] == "audio")
        return packets > 20 and sum(count > 5 for count in frames) == videos
    return check


def obeyed(ours, name, *arguments):
    ours.command(name, *arguments)
    ours.wait_event("control", where=lambda e: e["command"] == name)


def chat(ours, far):
    far.wait_event("chat", state="open")
    ours.wait_event("chat")
    obeyed(ours, "say", "Grüß dich")
    far.wait_event("message", text="Grüß dich")
    far.do("say", text="Right here")
    assert ours.wait_event("message") == {"event": "message", "id": "far", "text": "Right here"}


def kept(copy):
    """Our recording of the far side can be played."""
    assert decoded(copy) >= 5
    assert abs(pitch(copy) / SOUND - 1) < 0.03


def talked(ours, far):
    """Sound, pictures and words both ways; then each side changes what it sends."""
    peer(ours, "connected")
    far.wait_moving()
    far.wait_tone(TONE)
    chat(ours, far)
    ours.wait_event("stats", where=received(1))

    far.do("add-video")
    far.do("offer")
    ours.wait_event("stats", where=received(2))
    obeyed(ours, "source", "none")
    far.wait_still()
    obeyed(ours, "source", "test", "--pattern", "bars", "--size", "320x180")
    far.wait_moving()


@pytest.mark.feature("S0.1", "S0.10", "S0.58", "S1.6", "S1.8", "S3.42", peer="aiortc, GStreamer, Pion")
@pytest.mark.parametrize("kind", ["aiortc", "gstreamer", "pion"])
def test_a_peer_of_another_make_is_called(far, calling, tmp_path, kind):
    far = far(kind)
    copy = tmp_path / "copy.mkv"
    ours = calling("--record", str(copy))
    talked(ours, far)

    obeyed(ours, "hangup")
    far.until(lambda: far.ended, "end of the call")
    assert ours.wait() == 0
    kept(copy)


@pytest.mark.feature("S0.8", "S0.11", "S0.19", "S0.67", "S1.33", "S3.5", peer="aiortc, GStreamer, Pion")
@pytest.mark.quick
@pytest.mark.parametrize("kind", ["aiortc", "gstreamer", "pion"])
def test_a_peer_of_another_make_calls(far, waiting, tmp_path, kind):
    far = far(kind)
    copy = tmp_path / "copy.mkv"
    ours = waiting("--record", str(copy))
    far.call("ours")
    talked(ours, far)

    far.hang_up()
    assert peer(ours, "ended")["reason"] == "hung up remotely"
    ours.interrupt()
    assert ours.wait() == 0
    kept(copy)


def offered(far):
    """Kind, direction and whether there is a source, of the audio and video of each description that was offered to it."""
    said = [e["data"]["description"] for e in far.events if e["event"] == "hub" and e["type"] == "signal" and e["data"]["type"] == "description"]
    sections = [re.split("(?m)^m=", description["sdp"])[1:] for description in said if description["type"] == "offer"]
    return [[(media.split()[0], re.search("(?m)^a=(sendrecv|sendonly|recvonly|inactive)", media)[1], "a=ssrc:" in media)
             for media in each if media.startswith(("audio", "video"))] for each in sections]


@pytest.mark.feature("S0.18", peer="aiortc")
def test_a_call_begins_with_sound_alone_and_a_picture_is_added(cast, hub, far, pulse):
    """As aiortc sees it: the first offer takes pictures and sends none, the next one sends them in the same place."""
    pulse.play(TONE)
    pulse.add_microphone("microphone", "desktop")
    far = far("aiortc")
    ours = cast("call", "far", "--server", hub, "--name", "ours", "--no-window", "--audio", "microphone", "--control", env=pulse.env,
                stdin=subprocess.PIPE)
    peer(ours, "connected")
    far.wait_tone(TONE)
    assert offered(far) == [[("audio", "sendrecv", True), ("video", "recvonly", False)]]
    ours.wait_event("stats", where=received(1))   # aiortc's picture comes all the while
    assert sum(video["frames"] for video in far.figures["videos"]) == 0
    obeyed(ours, "source", "test", "--pattern", "bars", "--size", "320x180")
    far.wait_moving()
    assert offered(far)[1:] == [[("audio", "sendrecv", True), ("video", "sendrecv", True)]]


def talk(ours, page):
    page.wait(state="call").wait_tiles(1).wait_moving()
    peer(ours, "connected")
    page.wait_tone(TONE)
    ours.wait_event("stats", where=received(1))
    page.say("Right here")
    assert ours.wait_event("message")["text"] == "Right here"
    obeyed(ours, "say", "Grüß dich")
    page.wait_words("ours", "Grüß dich")

    page.run(ADD_VIDEO)
    ours.wait_event("stats", where=received(2))
    obeyed(ours, "source", "none")
    page.wait_tiles(0)
    obeyed(ours, "source", "test", "--pattern", "bars", "--size", "320x180")
    page.wait_tiles(1).wait_moving()


@pytest.mark.feature("S0.1", "S0.10", "S0.22", "S0.66", "S1.1", peer="Chromium, Firefox")
@pytest.mark.parametrize("kind", ["chromium", "firefox"])
def test_a_browser_is_called(calling, page, kind):
    page = page(kind)
    ours = calling()
    page.accept()
    talk(ours, page)
    obeyed(ours, "hangup")
    page.wait(state="lobby", lastEnd="hung-up")
    assert ours.wait() == 0


@pytest.mark.feature("S0.11", "S0.62", "S0.67", "S1.12", peer="Chromium, Firefox")
@pytest.mark.parametrize("kind", ["chromium", "firefox"])
def test_a_browser_calls(waiting, page, kind):
    page = page(kind)
    ours = waiting()
    page.type("#whom", "ours")
    page.click("#by-name button")
    talk(ours, page)
    page.bar("hangup")
    assert peer(ours, "ended")["reason"] == "hung up remotely"
    ours.interrupt()
    assert ours.wait() == 0
