"""PeerJS clients that others wrote (PyPI's `peerjs` and `peerjs-py`) at the hub of `rtcast serve`, and in calls with rtcast. Their media are
aiortc's."""

import asyncio

import pytest

from harness import peerjs_clients
from harness.pictures import decoded
from harness.peerjs_clients import PeerJS, PeerJSPy
from harness.sound import pitch
from peers.aiortc_peer import SOUND

peerjs_clients.install()


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


def go(work):
    async def bounded():
        await asyncio.wait_for(work(), 50)
    asyncio.run(bounded())


async def heard(rtcast, event, where):
    return await asyncio.to_thread(rtcast.wait_event, event, where=where)


def both_kinds(event):
    """Whether a `stats` event tells of pictures and sound that have come."""
    streams = event["streams"]
    return (sum(s.get("frames_received", 0) for s in streams if s["kind"] == "video") > 5
            and sum(s.get("packets_received", 0) for s in streams if s["kind"] == "audio") > 20)


def kept(copy):
    """What came from the other side, as rtcast recorded it: its pictures, and its tone."""
    assert decoded(copy) >= 5
    assert abs(pitch(copy) / SOUND - 1) < 0.03


@pytest.mark.feature("S2.5", "S2.6", "S2.8", "S2.9", "S2.10", "S2.11", peer="peerjs, peerjs-py")
@pytest.mark.parametrize("client", [PeerJS, PeerJSPy], ids=["peerjs", "peerjs-py"])
def test_rtcast_calls_a_peerjs_client(cast, hub, tmp_path, client):
    copy = tmp_path / "copy.mkv"

    async def work():
        async with await client.enter(hub) as alice:
            bob = cast("test", "--to", alice.name, "--server", hub, "--name", "bob", "--no-window", "--size", "320x180", "--fps", "15",
                       "--tone", "440", "--record", str(copy))
            await alice.received.seen()
            await heard(bob, "stats", both_kinds)
            bob.interrupt()
            await asyncio.wait_for(alice.hung_up.wait(), 10)
            assert await asyncio.to_thread(bob.wait) == 0
    go(work)
    kept(copy)


@pytest.mark.feature("S3.47", peer="peerjs")
def test_whoever_runs_the_hub_hears_who_comes_and_goes(cast):
    hub = cast("serve", "--listen", "127.0.0.1:0")
    url = hub.url()

    async def work():
        async with await PeerJS.enter(url) as alice:
            assert await heard(hub, "peer", lambda e: e["state"] == "joined") == {
                "event": "peer", "id": alice.name, "state": "joined", "dialect": "peerjs"}
            name = alice.name
        await heard(hub, "peer", lambda e: e["id"] == name and e["state"] == "left")
    go(work)


@pytest.mark.feature("S2.3", peer="peerjs")
def test_the_connection_that_rtcast_offers_is_named_by_fourteen_characters_and_no_data_connection(cast, hub):
    async def work():
        async with await PeerJS.enter(hub) as alice:
            bob = cast("test", "--to", alice.name, "--server", hub, "--name", "bob", "--no-window", "--size", "320x180")
            await heard(bob, "peer", lambda e: e["state"] == "connected")
            [offer] = alice.offers
            assert len(offer["connectionId"]) == 14 and offer["connectionId"].startswith("rc_")
            [call] = alice.peer._connections["bob"]
            assert call.connectionId == offer["connectionId"]
    go(work)


@pytest.mark.feature("S2.2", "S2.4", "S2.7", "S2.12", "S2.13", "S3.6", peer="peerjs-py")
def test_a_peerjs_client_calls_rtcast(cast, hub, clips, tmp_path):
    copy = tmp_path / "copy.mkv"
    clip = clips.numbered("peerjs.webm", codec="vp8", sound="opus", seconds=8, width=320, height=180, fps=15, tone=440, keyframe_every=15)
    bob = cast("call", "--server", hub, "--name", "bob", "--answer", "auto", "--no-window", "--file", clip, "--record", str(copy))
    bob.wait_event("registered")

    async def work():
        async with await PeerJSPy.enter(hub) as alice:
            assert sorted(await alice.names()) == sorted([alice.name, "bob"])
            connection = await alice.call("bob")
            await alice.received.seen()
            await heard(bob, "stats", both_kinds)
            await connection.close()
            await heard(bob, "peer", lambda e: e["state"] == "ended")
    go(work)
    bob.interrupt()
    assert bob.wait() == 0
    kept(copy)
