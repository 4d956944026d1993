"""Whole calls between rtcast and clients of other protocols at its hub, each written from its public description: PeerJS and SkyRTC. Their
media are aiortc's. PeerJS clients that others wrote are in test_peerjs_clients.py, SkyRTC's published messages in test_skyrtc_sequences.py."""

import asyncio
import subprocess

import numpy as np
import pytest
from aiortc import RTCPeerConnection, RTCSessionDescription

from harness.counted import Counted
from harness.signaling import PeerJSClient, SkyRTCClient
from harness.sound import pitch
from peers.aiortc_peer import SOUND, Bar, Tone


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


class Media:
    """Sends a moving bar and a tone, and counts what comes."""

    def __init__(self):
        self.connection = RTCPeerConnection()
        self.received = Counted()
        self.connection.addTrack(Tone())
        self.connection.addTrack(Bar())
        self.connection.on("track", self.received.take)

    async def offer(self):
        await self.connection.setLocalDescription(await self.connection.createOffer())
        return self.connection.localDescription.sdp

    async def answer(self, sdp):
        await self.connection.setRemoteDescription(RTCSessionDescription(sdp, "offer"))
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        return self.connection.localDescription.sdp

    async def accept(self, sdp):
        await self.connection.setRemoteDescription(RTCSessionDescription(sdp, "answer"))

    async def seen(self, rtcast):
        """Pictures came from `rtcast`, and ours and the tone come there."""
        await self.received.seen("video")
        kinds = [await asyncio.to_thread(rtcast.wait_event, "track") for _ in range(2)]
        assert {event["kind"] for event in kinds} == {"audio", "video"}
        await asyncio.to_thread(rtcast.wait_event, "stats", where=receives_both)

    async def close(self):
        await self.connection.close()
        self.received.stop()


def receives_both(event):
    came = {stream["kind"]: stream for stream in event["streams"] if "packets_received" in stream}
    # Half a second of sound is as much as a pitch is heard from.
    return came.keys() == {"audio", "video"} and came["audio"]["packets_received"] > 40 and came["video"]["frames_received"] > 10


def assert_kept(copy):
    """What `rtcast` recorded of the other side is our bar and our tone."""
    raw = subprocess.run(["ffmpeg", "-v", "error", "-i", str(copy), "-map", "v:0", "-fps_mode", "passthrough", "-pix_fmt", "gray", "-f", "rawvideo",
                          "-"], capture_output=True, check=True).stdout
    pictures = np.frombuffer(raw, np.uint8).reshape(-1, 180, 320)
    # A bar of 40 columns, elsewhere in each picture, on grey.
    bright = (pictures[:, 90] > 200).sum(axis=1)
    assert len(pictures) > 5 and (abs(bright - 40) <= 4).mean() > 0.9, bright
    assert len({int(np.argmax(picture[90])) // 4 for picture in pictures}) > 3, "it moves"
    assert abs(pitch(copy) / SOUND - 1) < 0.03


def go(work):
    async def bounded():
        await asyncio.wait_for(work(), 50)
    asyncio.run(bounded())


async def ended(rtcast):
    return await asyncio.to_thread(rtcast.wait_event, "peer", where=lambda e: e["state"] == "ended")


def end(rtcast):
    rtcast.interrupt()
    assert rtcast.wait() == 0


@pytest.fixture
def copy(tmp_path):
    return tmp_path / "copy.mkv"


def waiting(cast, hub, copy, *room):
    bob = cast("call", *room, "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", "--test", "--audio", "none", "--record",
               str(copy))
    bob.wait_event("registered")
    return bob


def test_a_peerjs_client_calls_rtcast(cast, hub, copy):
    bob = waiting(cast, hub, copy)

    async def work():
        media = Media()
        async with await PeerJSClient.enter(hub, "alice") as alice:
            await alice.offer("bob", await media.offer())
            await media.accept((await alice.hear(type="ANSWER"))["payload"]["sdp"]["sdp"])
            await media.seen(bob)
            await alice.say({"type": "LEAVE", "dst": "bob"})
            await ended(bob)
        await media.close()
    go(work)
    end(bob)
    assert_kept(copy)


def test_rtcast_calls_a_peerjs_client(cast, hub, copy):
    async def work():
        media = Media()
        async with await PeerJSClient.enter(hub, "alice") as alice:
            bob = cast("test", "--to", "alice", "--server", hub, "--name", "bob", "--no-window", "--size", "320x180", "--record", str(copy))
            offer = await alice.hear(type="OFFER")
            await alice.answer(offer, await media.answer(offer["payload"]["sdp"]["sdp"]))
            await media.seen(bob)
            bob.interrupt()
            await alice.hear(type="LEAVE")
            await asyncio.to_thread(bob.wait)
        await media.close()
    go(work)
    assert_kept(copy)


def test_a_skyrtc_client_calls_rtcast_in_its_room(cast, hub, copy):
    bob = waiting(cast, hub, copy, "room:100")

    async def work():
        media = Media()
        async with await SkyRTCClient.enter(hub, "100") as sky:
            assert sky.others == ["bob"]
            await sky.emit("__offer", sdp={"type": "offer", "sdp": await media.offer()}, socketId="bob")
            await media.accept((await sky.event("_answer"))["sdp"]["sdp"])
            await media.seen(bob)
        await ended(bob)
        await media.close()
    go(work)
    end(bob)
    assert_kept(copy)


def test_rtcast_calls_a_skyrtc_client_in_its_room(cast, hub, copy):
    async def work():
        media = Media()
        async with await SkyRTCClient.enter(hub, "100") as sky:
            bob = cast("test", "--to", "room:100", "--server", hub, "--name", "bob", "--no-window", "--size", "320x180", "--record", str(copy))
            offer = await sky.event("_offer")
            await sky.emit("__answer", sdp={"type": "answer", "sdp": await media.answer(offer["sdp"]["sdp"])}, socketId=offer["socketId"])
            await media.seen(bob)
            bob.interrupt()
            await sky.event("_remove_peer")
            await asyncio.to_thread(bob.wait)
        await media.close()
    go(work)
    assert_kept(copy)
