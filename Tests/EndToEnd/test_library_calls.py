"""The library's calls with a peer that is not ours, aiortc: what an application hears, sends and asks its signaling for. The application is
Tests/CallProbe; it is called "probe" and brings along its own signaling, capturer and audio device."""

import re
import time
from collections import Counter

import pytest

from harness.application import Application, FarEnd
from harness.far_peer import SOUND

TONE, OCTAVE = 440, 880


@pytest.fixture
def ends():
    application = Application()
    far = FarEnd(application)
    application.do("setup")
    yield application, far
    application.stop()
    far.stop()


def connected(application, far):
    """aiortc calls, and the call is taken."""
    far.call("probe")
    application.event("incoming", **{"from": "far"})
    application.do("accept")
    application.event("start")


def called(application, far):
    application.do("ring", "far")
    application.event("start")


def quiet(far):
    """No sound comes any more, not even silence."""
    marks = [(-1, 0.0)]

    def still():
        if far.figures["audio"] != marks[-1][0]:
            marks.append((far.figures["audio"], time.monotonic()))
        return time.monotonic() - marks[-1][1] > 0.7
    far.until(still, "an end of the sound")


@pytest.mark.feature("S0.7", "S0.11", "S0.20", "S0.59", "S0.60", "S0.65", peer="aiortc")
def test_a_call_that_comes_is_told_and_taken(ends):
    application, far = ends
    application.do("record-video")
    application.event("local video")
    far.call("probe")
    application.event("incoming", **{"from": "far"})
    assert not application.named("start")
    application.do("accept")
    application.event("start")
    far.wait_moving()
    far.wait_tone(TONE)


@pytest.mark.feature("S0.61", "S0.64", "S1.31", "S3.16", "S3.19", "S4.12", peer="aiortc")
def test_far_pictures_are_told_with_whose_they_are_and_shown_until_they_are_gone(ends):
    application, far = ends
    connected(application, far)
    application.event("remote video", of="far")
    application.event("picture", size="320x180")
    assert not application.named("no remote video")
    far.do("drop-video")
    far.do("offer")
    application.event("no remote video", of="far")


@pytest.mark.feature("S0.62", "S0.63", "S0.75", "S3.20", "S4.7", peer="aiortc")
def test_far_sound_plays_by_itself_and_nothing_listens_unasked(ends):
    """On a device of the application's own."""
    application, far = ends
    connected(application, far)
    application.event("remote audio", of="far")
    application.hears("played", SOUND, 0)
    assert not application.named("listening") and not application.named("local audio")
    assert far.figures["tone"] is None
    application.do("record")
    application.event("listening")
    application.event("local audio")
    far.wait_tone(TONE)


@pytest.mark.feature("S0.76", "S0.77", peer="aiortc")
def test_sound_is_edited_before_it_is_sent_and_tapped_raw(ends):
    application, far = ends
    application.do("record")
    called(application, far)
    far.wait_tone(TONE)
    application.hears("tapped", SOUND, 0)
    application.do("edit", "octave")
    far.wait_tone(OCTAVE)
    application.do("edit", "silence")
    far.until(lambda: far.figures["tone"] is None, "silence")
    application.do("edit", "none")
    far.wait_tone(TONE)


@pytest.mark.feature("S0.68", peer="aiortc")
def test_muting_here_and_there(ends):
    application, far = ends
    application.do("record-video")
    called(application, far)
    far.wait_moving()
    far.wait_tone(TONE)
    application.do("mute", "video")
    application.do("mute", "audio")
    far.wait_still()
    quiet(far)
    sounds = far.figures["audio"]
    told = {(m["data"]["kind"], m["data"]["muted"]) for m in list(far.events) if m["event"] == "hub" and m.get("data", {}).get("type") == "mute"}
    assert told == {("video", True), ("audio", True)}
    application.do("unmute", "video")
    application.do("unmute", "audio")
    far.wait_moving()
    far.until(lambda: far.figures["audio"] > sounds + 10, "sound again")
    application.hears("played", SOUND, 0)
    start = application.mark()
    application.do("deafen")
    application.hears("played", 0, start)
    start = application.mark()
    application.do("listen")
    application.hears("played", SOUND, start)


@pytest.mark.feature("S0.9", "S0.10", "S0.18", "S0.19", "S1.24", peer="aiortc")
def test_a_call_begins_with_sound_alone_and_pictures_come_and_go(ends):
    application, far = ends
    application.do("record")
    called(application, far)
    far.wait_tone(TONE)
    [first] = application.descriptions("offer")
    ways = {section.split(" ", 1)[0]: re.search("a=(sendrecv|sendonly|recvonly|inactive)", section)[1] for section in first.split("\r\nm=")[1:]}
    assert ways == {"audio": "sendrecv", "video": "recvonly"} and far.figures["videos"] == []
    application.do("video")
    far.wait_moving()
    application.do("stop-video")
    far.wait_still()


@pytest.mark.feature("S0.73", "S0.74", "S1.27", "S1.28", "S4.28", "S4.41", peer="aiortc")
def test_pictures_are_previewed_and_arrive_with_the_times_they_were_taken_at(ends):
    """The application's capturer takes them at whole steps of 50 ms: 4,500 of the RTP clock."""
    application, far = ends
    application.do("video")
    application.event("preview", size="320x180")   # before any call
    called(application, far)
    far.wait_moving()
    far.until(lambda: far.figures["videos"][0]["frames"] >= 30, "thirty pictures")
    times = far.figures["videos"][0]["times"]
    # One that is coded again as a key frame has the time of that.
    [(_, count)] = Counter(time % 4500 for time in times).most_common(1)
    assert len(times) == 20 and times == sorted(times) and count >= 12, times


@pytest.mark.feature("S0.2", "S0.21", "S0.22", "S0.23", "S0.25", "S0.26", peer="aiortc")
def test_data_channels_are_opened_and_carry_text_and_bytes(ends):
    application, far = ends
    application.write("channel early")
    application.event("failed", command="channel early")   # not before the call has started
    application.do("record")
    called(application, far)
    application.do("channel", "plain")
    application.do("channel", "lossy", "unreliable")
    for label, retransmissions in (("plain", None), ("lossy", 0)):
        far.wait_event("chat", state="open", label=label, retransmissions=retransmissions)
        application.event("channel state", label=label, state="open")
    application.do("say", "plain", "Grüß dich")
    far.wait_event("message", label="plain", text="Grüß dich")
    application.do("bytes", "lossy", "abc")
    far.wait_event("message", label="lossy", bytes="abc")
    far.do("say", label="lossy", text="Right here")
    application.event("message", label="lossy", kind="text", text="Right here")
    far.do("say-bytes", label="plain", text="Right here")
    application.event("message", label="plain", kind="bytes", text="Right here")
    far.do("close-channel", label="plain")
    application.event("channel state", label="plain", state="closed")


@pytest.mark.feature("S0.24", "S0.67", peer="aiortc")
def test_a_channel_that_the_far_side_opened_is_told(ends):
    application, far = ends
    connected(application, far)   # who calls opens "chat"
    application.event("channel", label="chat")
    far.wait_event("chat", state="open", label="chat")
    far.do("say", text="At last")
    application.event("message", label="chat", text="At last")


@pytest.mark.feature("S0.15", "S0.16", "S0.17", peer="aiortc")
def test_a_batch_makes_one_offer(ends):
    application, far = ends
    application.do("record")
    called(application, far)
    far.wait_tone(TONE)
    assert len(application.descriptions("offer")) == 1
    application.do("batch")
    application.do("channel", "one")
    application.do("video")
    application.do("channel", "two")
    application.event("preview")   # half a second of pictures, and nothing of them is offered
    assert len(application.descriptions("offer")) == 1
    application.do("commit")
    far.wait_moving()
    for label in ("one", "two"):
        far.wait_event("chat", state="open", label=label)
    assert len(application.descriptions("offer")) == 2


@pytest.mark.feature("S0.3", "S0.49", "S0.50", "S0.51", "S0.53", "S0.55", peer="aiortc")
def test_an_applications_own_signaling_carries_a_call(ends):
    application, far = ends
    assert application.event("registered")["name"] == "probe"
    application.do("open")
    application.event("open", open="yes")
    application.do("record")
    called(application, far)
    far.wait_tone(TONE)
    application.do("hangup")
    bye = application.event("bye", to="far")
    assert bye["call"] == far.call_id
    application.event("end", error="")
    far.until(lambda: far.ended, "end of the call")


@pytest.mark.feature("S0.12", "S0.13", "S0.14", "S0.52", "S0.66", peer="aiortc")
def test_after_the_end_another_call_comes_until_the_application_disconnects(ends):
    application, far = ends
    connected(application, far)
    far.hang_up()
    application.event("end")
    start = application.mark()
    far.call("probe")
    application.event("incoming", start)
    application.do("reject")
    far.until(lambda: far.ended and far.ended.get("type") == "reject", "the rejection")
    start = application.mark()
    called(application, far)
    application.do("disconnect")
    application.event("goodbye", start)
    application.do("open")
    application.event("open", start, open="no")
    far.until(lambda: far.ended.get("type") == "bye", "the end")


@pytest.mark.feature("S1.21", peer="aiortc")
def test_the_call_holds_what_it_sends(ends):
    """The application keeps neither its capturer nor its tracks."""
    application, far = ends
    application.do("record-video")
    called(application, far)
    far.wait_moving()
    start = far.figures["videos"][0]["frames"]
    far.until(lambda: far.figures["videos"][0]["frames"] > start + 20, "pictures a second later")
