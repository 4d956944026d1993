"""aiortc, steered as harness/far_peer.py says."""

import asyncio
import fractions
import json
import sys
import time

import numpy as np
from aiortc import MediaStreamTrack, RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCSessionDescription
from aiortc.codecs import HEADER_EXTENSIONS
from aiortc.sdp import SessionDescription, candidate_from_sdp
from av import AudioFrame, VideoFrame

SOUND = 660


def tell(event, **members):
    print(json.dumps({"event": event, **members}), flush=True)


def keep_numbers(sdp):
    """Our offers will number header extensions as this one does (RFC 8829, section 5.2.2). aiortc would number them anew, and its connection
    ends at a packet that outruns the answer: the number it knows has another extension by then."""
    numbers = {(media.kind, extension.uri): extension.id for media in SessionDescription.parse(sdp).media if media.kind in HEADER_EXTENSIONS
               for extension in media.rtp.headerExtensions}
    for kind, extensions in HEADER_EXTENSIONS.items():
        for extension in extensions:
            extension.id = numbers.get((kind, extension.uri), extension.id)


class Paced(MediaStreamTrack):
    """What is at media time t is given at that time."""

    def __init__(self):
        super().__init__()
        self.start = None
        self.count = 0

    async def wait(self, media_time):
        self.start = self.start or time.monotonic()
        await asyncio.sleep(max(0, self.start + media_time - time.monotonic()))


class Tone(Paced):
    kind = "audio"

    async def recv(self):
        await self.wait(self.count * 0.02)
        at = np.arange(self.count * 960, self.count * 960 + 960)
        wave = (8000 * np.sin(2 * np.pi * SOUND * at / 48000)).astype(np.int16).reshape(1, -1)
        frame = AudioFrame.from_ndarray(wave, format="s16", layout="mono")
        frame.sample_rate, frame.pts, frame.time_base = 48000, self.count * 960, fractions.Fraction(1, 48000)
        self.count += 1
        return frame


class Bar(Paced):
    """A bar that moves over grey."""

    kind = "video"

    def __init__(self, width=320, height=180, rate=15):
        super().__init__()
        self.width, self.height, self.rate = width, height, rate

    async def recv(self):
        await self.wait(self.count / self.rate)
        planes = np.full((self.height * 3 // 2, self.width), 128, np.uint8)
        at = self.count * 7 % (self.width - 40)
        planes[:self.height, at:at + 40] = 235
        frame = VideoFrame.from_ndarray(planes, format="yuv420p")
        frame.pts, frame.time_base = self.count * 90000 // self.rate, fractions.Fraction(1, 90000)
        self.count += 1
        return frame


class Peer:
    def __init__(self):
        self.connection = self.chat = None
        self.channels = {}
        self.videos = []
        self.audio = 0
        self.wave = np.zeros(0)
        self.tasks = set()

    def start(self, caller, servers):
        self.videos, self.audio, self.wave = [], 0, np.zeros(0)
        self.connection = connection = RTCPeerConnection(RTCConfiguration([RTCIceServer(**server) for server in servers]))
        connection.on("connectionstatechange", lambda: tell("state", state=connection.connectionState))
        connection.on("track", lambda track: self.keep(self.watch(track) if track.kind == "video" else self.listen(track)))
        connection.on("datachannel", self.talk)
        connection.addTrack(Tone())
        connection.addTrack(Bar())
        if caller:
            self.talk(connection.createDataChannel("chat"))

    def keep(self, work):
        task = asyncio.ensure_future(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def talk(self, channel):
        self.chat = channel
        self.channels[channel.label] = channel
        about = {"label": channel.label, "retransmissions": channel.maxRetransmits}
        channel.on("message", lambda said: tell("message", label=channel.label, **(
            {"text": said} if isinstance(said, str) else {"bytes": said.decode()})))
        channel.on("open", lambda: tell("chat", state="open", **about))
        channel.on("close", lambda: tell("chat", state="closed", **about))
        if channel.readyState == "open":
            tell("chat", state="open", **about)

    async def watch(self, track):
        video = {"frames": 0, "width": 0, "times": []}
        self.videos.append(video)
        try:
            while True:
                frame = await track.recv()
                video["frames"] += 1
                video["width"] = frame.width
                video["times"] = [*video["times"][-19:], frame.pts]
        except Exception:   # the end of the track
            return

    async def listen(self, track):
        try:
            while True:
                frame = await track.recv()
                samples = frame.to_ndarray().reshape(-1)[::len(frame.layout.channels)]
                self.audio += 1
                self.wave = np.concatenate([self.wave, samples])[-16384:]
        except Exception:
            return

    def tone(self):
        if len(self.wave) < 16384 or np.abs(self.wave).max() < 300:
            return None
        spectrum = np.abs(np.fft.rfft(self.wave * np.hanning(len(self.wave))))
        return float(np.argmax(spectrum) * 48000 / len(self.wave))

    async def describe(self, description):
        await self.connection.setLocalDescription(description)
        local = self.connection.localDescription
        tell("description", type=local.type, sdp=local.sdp)

    async def obey(self, command):
        match command:
            case {"do": "start", "caller": caller}:
                self.start(caller, command.get("iceServers", []))
            case {"do": "offer"}:
                await self.describe(await self.connection.createOffer())
            case {"do": "description", "type": kind, "sdp": sdp}:
                await self.connection.setRemoteDescription(RTCSessionDescription(sdp=sdp, type=kind))
                if kind == "offer":
                    keep_numbers(sdp)
                    await self.describe(await self.connection.createAnswer())
            case {"do": "candidate", "candidate": text} if text:
                candidate = candidate_from_sdp(text.removeprefix("candidate:"))
                candidate.sdpMid, candidate.sdpMLineIndex = command.get("sdpMid"), command.get("sdpMLineIndex")
                await self.connection.addIceCandidate(candidate)
            case {"do": "add-video"}:
                self.connection.addTrack(Bar(160, 90))
            case {"do": "say", "text": text}:
                self.channels.get(command.get("label"), self.chat).send(text)
            case {"do": "say-bytes", "text": text}:
                self.channels.get(command.get("label"), self.chat).send(text.encode())
            case {"do": "drop-video"}:
                for transceiver in self.connection.getTransceivers():
                    if transceiver.kind == "video":
                        transceiver.sender.replaceTrack(None)
                        transceiver.direction = "recvonly"
            case {"do": "close-channel", "label": label}:
                self.channels[label].close()
            case {"do": "close"} if self.connection:
                await self.connection.close()
                tell("state", state="closed")

    async def figures(self):
        while True:
            tell("figures", videos=self.videos, audio=self.audio, tone=self.tone())
            await asyncio.sleep(0.2)


async def main():
    peer = Peer()
    lines = asyncio.StreamReader(limit=1 << 20)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    peer.keep(peer.figures())
    while line := await lines.readline():
        try:
            await peer.obey(json.loads(line))
        except Exception as error:
            tell("error", message=repr(error))
    if peer.connection:
        await peer.connection.close()


if __name__ == "__main__":
    asyncio.run(main())
