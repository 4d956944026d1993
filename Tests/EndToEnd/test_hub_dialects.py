"""Calls through the hub by clients of its dialects, over real WebSockets. What they offer each other is only text here: media are the
business of the calls' own tests."""

import asyncio

import pytest

from harness.signaling import NativeClient, PeerJSClient, SkyRTCClient

OFFER, ANSWER = "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\n", "v=0\r\no=- 2 2 IN IP4 0.0.0.0\r\n"
CANDIDATE = {"candidate": "candidate:1 1 udp 1 192.0.2.1 1 typ host", "sdpMid": "0", "sdpMLineIndex": 0}


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


def go(work):
    asyncio.run(work)


def test_peerjs_clients_exchange_offer_answer_and_candidates(hub):
    async def work():
        async with await PeerJSClient.enter(hub) as alice, await PeerJSClient.enter(hub, "bob") as bob:
            # By which older clients begin; nobody answers what nobody knows.
            await alice.say({"ping": "once"})
            status, names = await PeerJSClient.peers(hub)
            assert status == 200 and sorted(names) == sorted([alice.name, "bob"])
            callee = next(name for name in names if name != alice.name)
            connection = await alice.offer(callee, OFFER)
            offer = await bob.hear(type="OFFER")
            assert offer == {"type": "OFFER", "src": alice.name, "dst": "bob", "payload": {
                "sdp": {"type": "offer", "sdp": OFFER}, "type": "media", "connectionId": connection}}
            await bob.answer(offer, ANSWER)
            assert (await alice.hear(type="ANSWER"))["payload"]["sdp"] == {"type": "answer", "sdp": ANSWER}
            await bob.candidate(alice.name, connection, CANDIDATE)
            assert (await alice.hear(type="CANDIDATE"))["payload"]["candidate"] == CANDIDATE
            await alice.say({"type": "HEARTBEAT"})
            await alice.say({"type": "LEAVE", "dst": "bob"})
            assert (await bob.hear(type="LEAVE"))["src"] == alice.name
    go(work())


def test_a_peerjs_offer_to_nobody_expires(hub):
    async def work():
        async with await PeerJSClient.enter(hub, "alice") as alice:
            await alice.offer("nobody", OFFER)
            assert await alice.hear() == {"type": "EXPIRE", "src": "nobody", "dst": "alice"}
    go(work())


def test_a_peerjs_name_is_taken_once(hub):
    async def work():
        async with await PeerJSClient.enter(hub, "alice"):
            second = await PeerJSClient.open(hub + "peerjs?key=peerjs&id=alice&token=other")
            assert (await second.hear())["type"] == "ID-TAKEN"
            assert await second.closing() == 1008
            await second.close()
    go(work())


def test_a_peerjs_client_and_a_native_one_call_each_other(hub):
    async def work():
        async with await PeerJSClient.enter(hub, "alice") as alice, await NativeClient.enter(hub, "bob") as bob:
            connection = await alice.offer("bob", OFFER)
            await alice.candidate("bob", connection, CANDIDATE)
            ring = (await bob.hear(type="signal", **{"from": "alice"}))["data"]
            assert ring == {"call": connection, "type": "call", "media": {"audio": True, "video": True}}
            description = (await bob.hear(type="signal"))["data"]
            assert description == {"call": connection, "type": "description", "description": {"type": "offer", "sdp": OFFER}}
            candidate = await bob.hear(type="candidate")
            assert candidate["call"] == connection and candidate["candidate"] == CANDIDATE
            await bob.signal("alice", {"call": connection, "type": "accept"})
            await bob.signal("alice", {"call": connection, "type": "description", "description": {"type": "answer", "sdp": ANSWER}})
            answer = await alice.hear()
            assert answer["type"] == "ANSWER" and answer["payload"]["connectionId"] == connection
            assert answer["payload"]["sdp"] == {"type": "answer", "sdp": ANSWER}

            await bob.signal("alice", {"call": "k", "type": "call", "media": {"audio": True}})
            assert (await bob.hear(type="signal"))["data"] == {"call": "k", "type": "accept"}
            await bob.signal("alice", {"call": "k", "type": "description", "description": {"type": "offer", "sdp": OFFER}})
            offer = await alice.hear(type="OFFER")
            assert offer["payload"]["connectionId"] == "k" and offer["payload"]["type"] == "media"
            await alice.answer(offer, ANSWER)
            assert (await bob.hear(type="signal"))["data"]["description"] == {"type": "answer", "sdp": ANSWER}
            await bob.say({"type": "bye", "to": "alice", "call": "k"})
            assert (await alice.hear())["type"] == "LEAVE"
    go(work())


@pytest.mark.parametrize("path", ["/", "/skyrtc"])
def test_skyrtc_clients_meet_in_a_room(hub, path):
    async def work():
        async with await SkyRTCClient.enter(hub, "100", path) as first, await SkyRTCClient.enter(hub, "100", path) as second:
            assert first.others == [] and second.others == [first.name]
            assert await first.event("_new_peer") == {"socketId": second.name}
            await second.emit("__offer", sdp={"type": "offer", "sdp": OFFER}, socketId=first.name)
            await second.emit("__ice_candidate", id="0", label=0, candidate=CANDIDATE["candidate"], socketId=first.name)
            assert await first.event("_offer") == {"sdp": {"type": "offer", "sdp": OFFER}, "socketId": second.name}
            assert await first.event("_ice_candidate") == {
                "id": "0", "label": 0, "candidate": CANDIDATE["candidate"], "socketId": second.name}
            await first.emit("__answer", sdp={"type": "answer", "sdp": ANSWER}, socketId=second.name)
            assert await second.event("_answer") == {"sdp": {"type": "answer", "sdp": ANSWER}, "socketId": first.name}
            await second.close()
            assert await first.event("_remove_peer") == {"socketId": second.name}
    go(work())


def test_a_room_with_skyrtc_and_native_clients(hub):
    async def work():
        async with await NativeClient.enter(hub, "alice") as alice:
            await alice.say({"type": "join", "room": "100"})
            assert (await alice.hear(type="peers"))["peers"] == []
            async with await SkyRTCClient.enter(hub, "100") as sky:
                assert sky.others == ["alice"]
                assert (await alice.hear(type="peer-joined"))["peer"] == sky.name
                await sky.emit("__offer", sdp={"type": "offer", "sdp": OFFER}, socketId="alice")
                ring = (await alice.hear(type="signal"))["data"]
                assert ring["type"] == "call" and ring["room"] == "100"
                offer = (await alice.hear(type="signal"))["data"]
                assert offer["call"] == ring["call"] and offer["description"]["sdp"] == OFFER
                await alice.signal(sky.name, {"call": ring["call"], "type": "accept"})
                await alice.signal(sky.name, {
                    "call": ring["call"], "type": "description", "description": {"type": "answer", "sdp": ANSWER}})
                await alice.say({"type": "candidate", "to": sky.name, "call": ring["call"], "candidate": CANDIDATE})
                assert (await sky.event("_answer"))["sdp"]["sdp"] == ANSWER
                assert await sky.event("_ice_candidate") == {
                    "id": "0", "label": 0, "candidate": CANDIDATE["candidate"], "socketId": "alice"}
            assert (await alice.hear(type="peer-left"))["peer"] == sky.name
    go(work())
