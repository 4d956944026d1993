"""Whole calls between rtcast and clients of other protocols at its hub, each written from its public description: PeerJS and SkyRTC. Their
media are aiortc's."""

import asyncio

import pytest
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from harness.signaling import PeerJSClient, SkyRTCClient
from peers.aiortc_peer import Bar, Tone


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


class Media:
    """Sends a moving bar and a tone, and counts the pictures that come."""

    def __init__(self):
        self.connection = RTCPeerConnection()
        self.pictures = 0
        self.enough = asyncio.Event()
        self.tasks = []
        self.connection.addTrack(Tone())
        self.connection.addTrack(Bar())
        self.connection.on("track", lambda track: self.tasks.append(asyncio.ensure_future(self.count(track))))

    async def count(self, track):
        try:
            while True:
                await track.recv()
                self.pictures += track.kind == "video"
                if self.pictures >= 10:
                    self.enough.set()
        except MediaStreamError:
            pass

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
        """Pictures came from `rtcast`, and it has taken ours."""
        await asyncio.wait_for(self.enough.wait(), 20)
        kinds = [await asyncio.to_thread(rtcast.wait_event, "track") for _ in range(2)]
        assert {event["kind"] for event in kinds} == {"audio", "video"}

    async def close(self):
        await self.connection.close()
        for task in self.tasks:
            task.cancel()


def go(work):
    async def bounded():
        await asyncio.wait_for(work(), 50)
    asyncio.run(bounded())


async def ended(rtcast):
    return await asyncio.to_thread(rtcast.wait_event, "peer", where=lambda e: e["state"] == "ended")


def waiting(cast, hub, whom="--name=bob"):
    bob = cast("call", *([whom] if whom.startswith("room:") else []), "--server", hub, "--name", "bob", "--answer", "auto", "--no-window",
               "--test", "--audio", "none")
    bob.wait_event("registered")
    return bob


def test_a_peerjs_client_calls_rtcast(cast, hub):
    bob = waiting(cast, hub)

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


def test_rtcast_calls_a_peerjs_client(cast, hub):
    async def work():
        media = Media()
        async with await PeerJSClient.enter(hub, "alice") as alice:
            bob = cast("test", "--to", "alice", "--server", hub, "--name", "bob", "--no-window", "--size", "320x180")
            offer = await alice.hear(type="OFFER")
            await alice.answer(offer, await media.answer(offer["payload"]["sdp"]["sdp"]))
            await media.seen(bob)
            bob.interrupt()
            await alice.hear(type="LEAVE")
        await media.close()
    go(work)


def test_a_skyrtc_client_calls_rtcast_in_its_room(cast, hub):
    bob = waiting(cast, hub, "room:100")

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


def test_rtcast_calls_a_skyrtc_client_in_its_room(cast, hub):
    async def work():
        media = Media()
        async with await SkyRTCClient.enter(hub, "100") as sky:
            bob = cast("test", "--to", "room:100", "--server", hub, "--name", "bob", "--no-window", "--size", "320x180")
            offer = await sky.event("_offer")
            await sky.emit("__answer", sdp={"type": "answer", "sdp": await media.answer(offer["sdp"]["sdp"])}, socketId=offer["socketId"])
            await media.seen(bob)
            bob.interrupt()
            await sky.event("_remove_peer")
        await media.close()
    go(work)
