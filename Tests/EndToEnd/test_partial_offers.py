"""Offers to a cast that ask for less than a viewer wants, or in a way that brings less: refused with the cause, not answered with half."""

import re

import pytest

from harness.aiortc_viewer import Refused, luma, only_h264, see


@pytest.fixture(scope="module")
def talk(tmp_path_factory):
    from harness.clips import Clips
    return Clips(tmp_path_factory.mktemp("talk")).numbered("talk.mp4", sound="aac", seconds=5, extra=("-profile:v", "baseline"))


def without_bundle(offer):
    return re.sub("a=group:BUNDLE.*\r\n", "", offer)


def sending(offer):
    return offer.replace("a=recvonly", "a=sendonly")


def idle(offer):
    return offer.replace("a=recvonly", "a=inactive")


@pytest.mark.parametrize("kinds, edit, cause", [
    (["audio", "video"], without_bundle, "its video is not in the BUNDLE group"),
    (["video", "audio"], without_bundle, "its audio is not in the BUNDLE group"),
    (["video"], sending, "sendonly or inactive"),
    (["audio", "video"], idle, "sendonly or inactive"),
])
def test_an_offer_that_would_bring_less_is_refused(kinds, edit, cause, cast, talk):
    listening = cast("file", talk, "--loop").listening()
    with pytest.raises(Refused) as refusal:
        see(listening, kinds=kinds, edit=edit)
    assert refusal.value.status == 422 and cause in refusal.value.sentence, refusal.value
    assert not refusal.value.sentence.rstrip().endswith("..")


def test_one_kind_needs_no_bundle(cast, talk):
    assert see(cast("file", talk, "--loop").listening(), edit=without_bundle) is not None


def test_h264_in_single_units_alone_is_refused_with_the_cause(cast, talk):
    listening = cast("file", talk, "--loop").listening()
    with pytest.raises(Refused) as refusal:
        see(listening, kinds=["audio", "video"], edit=lambda offer: only_h264(offer, 0))
    assert refusal.value.status == 406 and "packetization-mode 1" in refusal.value.sentence, refusal.value


@pytest.mark.parametrize("coding", [("-profile:v", "high"), ("-profile:v", "baseline", "-g", "300")])
def test_a_viewer_that_knows_h264_alone_sees_a_file_it_cannot_take_as_it_is(coding, cast, clips):
    """High profile, which it did not offer; or key frames that are ten seconds apart."""
    path = clips.numbered(f"h264-{coding[1]}.mp4", seconds=12, extra=coding, keyframe_every=300)
    rtcast = cast("file", path, "--loop")
    listening = rtcast.listening()
    rtcast.wait_event("stats", where=lambda event: 1 < event["position_s"] < 6)
    planes, waited = see(listening, edit=lambda offer: only_h264(offer, 1))
    assert luma(planes).shape == (360, 640) and waited < 4


@pytest.mark.parametrize("function", ["sha-384", "sha-512"])
def test_a_certificate_may_be_named_by_other_hash_functions(function, cast):
    listening = cast("test", "--size", "320x180", "--fps", "10").listening()

    def edit(offer):
        return "\r\n".join(line for line in offer.split("\r\n") if not line.startswith("a=fingerprint:") or function in line)
    assert see(listening, edit=edit) is not None


@pytest.mark.parametrize("function", ["sha-384", "sha-512"])
def test_a_certificate_by_another_name_is_compared_whole(function, cast):
    """One digit of the digest is wrong: no connection."""
    listening = cast("test", "--size", "320x180", "--fps", "10").listening()

    def edit(offer):
        kept = [line for line in offer.split("\r\n") if not line.startswith("a=fingerprint:") or function in line]
        return "\r\n".join(line[:-1] + ("0" if line[-1] != "0" else "1") if function in line else line for line in kept)
    assert see(listening, edit=edit, seconds=4) is None
