"""A viewer nobody here wrote: aiortc, which refuses a rejected m-section without ICE credentials, and hands a picture
over only when the next begins."""

import asyncio
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


@pytest.mark.parametrize("kinds", [["video"], ["audio", "video"], ["video", "audio"]], ids="-".join)
def test_a_resting_picture_is_shown_to_a_viewer_who_offers(xserver, cast, kinds):
    rtcast = cast("screen", "--fps", "5", display=xserver.name)
    assert asyncio.run(first_picture(rtcast.listening(), kinds)) == (1280, 720)
