"""A viewer nobody here wrote: aiortc, which refuses a rejected m-section without ICE credentials, and hands a picture
over only when the next begins."""

import asyncio
import json
import re
import subprocess
import urllib.request

import aiortc
import pytest

from harness.rtcast import bearer


async def first_picture(listening, kinds):
    """The size of the first picture that the viewer is handed."""
    peer = aiortc.RTCPeerConnection()
    try:
        for kind in kinds:
            peer.addTransceiver(kind, direction="recvonly")
        await peer.setLocalDescription(await peer.createOffer())
        request = urllib.request.Request(
            listening["whep"], peer.localDescription.sdp.encode(), {"Content-Type": "application/sdp", **bearer(listening)})
        answer = await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=10).read().decode())
        await peer.setRemoteDescription(aiortc.RTCSessionDescription(answer, "answer"))
        video = next(t.receiver.track for t in peer.getTransceivers() if t.kind == "video")
        frame = await asyncio.wait_for(video.recv(), 15)
        return frame.width, frame.height
    finally:
        await peer.close()


@pytest.mark.feature("S1.16", peer="aiortc")
@pytest.mark.parametrize("kinds", [["video"], ["audio", "video"], ["video", "audio"]], ids="-".join)
def test_a_resting_picture_is_shown_to_a_viewer_who_offers(xserver, cast, kinds):
    rtcast = cast("screen", "--fps", "5", display=xserver.name)
    assert asyncio.run(first_picture(rtcast.listening(), kinds)) == (1280, 720)


@pytest.mark.feature("S1.3", "S1.9", "S3.43", peer="aiortc")
def test_descriptions_travel_by_hand_and_nothing_follows_them(cast):
    """`--to manual`: all candidates are in the offer, and it says that there are no more."""
    rtcast = cast("test", "--to", "manual", "--size", "320x180", "--fps", "15", stdin=subprocess.PIPE)
    offer = rtcast.wait_event("description")["sdp"]
    assert "\r\na=candidate:" in offer and "\r\na=end-of-candidates" in offer

    async def work():
        peer = aiortc.RTCPeerConnection()
        try:
            await peer.setRemoteDescription(aiortc.RTCSessionDescription(offer, "offer"))
            await peer.setLocalDescription(await peer.createAnswer())
            rtcast.write((json.dumps({"type": "answer", "sdp": peer.localDescription.sdp}) + "\n\n").encode())
            video = next(t.receiver.track for t in peer.getTransceivers() if t.kind == "video")
            for _ in range(5):
                frame = await asyncio.wait_for(video.recv(), 15)
            assert (frame.width, frame.height) == (320, 180)
        finally:
            await peer.close()
    asyncio.run(work())


@pytest.mark.feature("S3.35", peer="aiortc")
def test_all_viewers_of_a_cast_meet_one_certificate(cast):
    listening = cast("test", "--size", "320x180").listening()

    async def fingerprint():
        peer = aiortc.RTCPeerConnection()
        try:
            peer.addTransceiver("video", direction="recvonly")
            await peer.setLocalDescription(await peer.createOffer())
            request = urllib.request.Request(
                listening["whep"], peer.localDescription.sdp.encode(), {"Content-Type": "application/sdp", **bearer(listening)})
            answer = await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=10).read().decode())
            await peer.setRemoteDescription(aiortc.RTCSessionDescription(answer, "answer"))
            track = peer.getTransceivers()[0].receiver.track
            await asyncio.wait_for(track.recv(), 15)   # it holds what it shows: DTLS has compared them
            return set(re.findall("a=fingerprint:(.*)", answer))
        finally:
            await peer.close()
    [first] = asyncio.run(fingerprint())
    assert asyncio.run(fingerprint()) == {first}
