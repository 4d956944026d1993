"""A viewer by WHEP that nobody here wrote: aiortc. It turns no pictures, and takes H.264 of the lower profiles and VP8."""

import asyncio
import re
import time
import urllib.error
import urllib.request

import aiortc

from harness.rtcast import bearer


class Refused(Exception):
    """By the cast, with this status and sentence."""

    def __init__(self, error):
        self.status, self.sentence = error.code, error.read().decode()
        super().__init__(f"{self.status}: {self.sentence}")


def see(listening, seconds=10, kinds=("video",), edit=lambda offer: offer, skipped=0):
    """The first picture, or the one after so many, as planes of luma above chroma; and the seconds to it from the answer on. None when none
    came. `edit` changes the offer's text."""
    return asyncio.run(_see(listening, seconds, kinds, edit, skipped))


async def _see(listening, seconds, kinds, edit, skipped):
    peer = aiortc.RTCPeerConnection()
    try:
        for kind in kinds:
            peer.addTransceiver(kind, direction="recvonly")
        await peer.setLocalDescription(await peer.createOffer())
        answer = await asyncio.to_thread(offer, listening, edit(peer.localDescription.sdp))
        await peer.setRemoteDescription(aiortc.RTCSessionDescription(answer, "answer"))
        track = next(t.receiver.track for t in peer.getTransceivers() if t.kind == "video")
        start = time.monotonic()
        try:
            for _ in range(skipped + 1):
                frame = await asyncio.wait_for(track.recv(), seconds)
        except asyncio.TimeoutError:
            return None
        return frame.to_ndarray(format="yuv420p"), time.monotonic() - start
    finally:
        await peer.close()


def offer(listening, sdp):
    """The answer."""
    request = urllib.request.Request(
        listening["whep"], sdp.encode(), {"Content-Type": "application/sdp", **bearer(listening)})
    try:
        return urllib.request.urlopen(request, timeout=10).read().decode()
    except urllib.error.HTTPError as error:
        raise Refused(error) from None


def luma(planes):
    return planes[:planes.shape[0] * 2 // 3]


def only_h264(offer, mode=1):
    """H.264 as the only video codec, in this packetization mode."""
    numbers = re.findall(r"a=rtpmap:(\d+) H264/90000", offer)
    offer = re.sub(r"m=video (\d+) (\S+) .*", lambda line: f"m=video {line[1]} {line[2]} {' '.join(numbers)}", offer)
    kept = [line for line in offer.split("\r\n")
            if not (found := re.match(r"a=(?:rtpmap|fmtp|rtcp-fb):(\d+) ", line)) or found[1] in numbers
            or offer.index(line) < offer.index("m=video")]
    return "\r\n".join(kept).replace("packetization-mode=1", f"packetization-mode={mode}")
