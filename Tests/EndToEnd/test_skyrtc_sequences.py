"""The messages of SkyRTC as it is published, played against the hub: its server and its script for browsers (LingyuCoder/SkyRTC and
SkyRTC-client, 0.0.2 and 0.0.4), and the client for iOS that its best known description comes with. What the hub says is compared letter by
letter with what the published server says in its place, and in its order; the messages are written here from the protocol."""

import asyncio
import json
import re

import aiohttp
import pytest

from harness.signaling import Client

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
OFFER, ANSWER = "v=0\r\no=- 1 2 IN IP4 127.0.0.1\r\na=rtpmap:96 VP8/90000\r\n", "v=0\r\no=- 2 2 IN IP4 127.0.0.1\r\n"
LINE = "candidate:1 1 udp 2122260223 192.0.2.1 61764 typ host generation 0"


@pytest.fixture
def hub(cast):
    return cast("serve", "--listen", "127.0.0.1:0").url()


def go(work):
    async def bounded():
        await asyncio.wait_for(work(), 50)
    asyncio.run(bounded())


def spelled(value):
    """As JavaScript spells it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def event(name, **data):
    return spelled({"eventName": name, "data": data})


class Sky(Client):
    """Says and hears texts, to the letter."""

    async def next(self):
        async with asyncio.timeout(10):
            frame = await self.socket.receive()
        assert frame.type == aiohttp.WSMsgType.TEXT, f"{frame.type} {frame.data} {frame.extra}"
        return frame.data

    async def join(self, room, others):
        """What a script says first, and what it must be told; it takes its name from it."""
        await self.say(event("__join", room=room))
        told = await self.next()
        found = re.fullmatch(r'\{"eventName":"_peers","data":\{"connections":(\[.*\]),"you":"(' + UUID + r')"\}\}', told)
        assert found and found[1] == spelled([each.name for each in others]), told
        self.name = found[2]
        for each in others:
            assert await each.next() == event("_new_peer", socketId=self.name)
        return self


class Phone(Sky):
    """The client for iOS: it writes its JSON over several lines and with `\\/`, and sends it as binary messages; it takes texts."""

    async def say(self, message):
        pretty = json.dumps(json.loads(message), indent=2, separators=(",", " : ")).replace("/", "\\/")
        await self.socket.send_bytes(pretty.encode())


def offer_to(who, sdp=OFFER):
    return event("__offer", sdp={"sdp": sdp, "type": "offer"}, socketId=who.name)


def offer_from(who, sdp=OFFER):
    return event("_offer", sdp={"sdp": sdp, "type": "offer"}, socketId=who.name)


@pytest.mark.feature("S3.23", "S3.24", "S3.25", "S3.26", "S3.27", "S3.28", peer="SkyRTC as published")
@pytest.mark.parametrize("path", ["", "skyrtc"])
def test_three_browsers_of_the_published_script_meet_connect_and_part(hub, path):
    """The newcomer offers to everybody in the order of the list, and candidates follow before the answers; each pair has its own."""
    async def work():
        async with await Sky.open(hub + path) as first, await Sky.open(hub + path) as second, await Sky.open(hub + path) as third, \
                await Sky.open(hub + path) as elsewhere:
            await first.join("100", [])
            await second.join("100", [first])
            await elsewhere.join("200", [])
            await third.join("100", [first, second])

            for other in (first, second):
                await third.say(offer_to(other))
            for index in (0, 1):
                for other in (first, second):
                    await third.say(event("__ice_candidate", label=index, candidate=LINE, socketId=other.name))
            for other in (first, second):
                assert await other.next() == offer_from(third)
                # The script creates its answer while candidates come.
                assert await other.next() == event("_ice_candidate", label=0, candidate=LINE, socketId=third.name)
                await other.say(event("__answer", socketId=third.name, sdp={"sdp": ANSWER, "type": "answer"}))
                await other.say(event("__ice_candidate", label=0, candidate=LINE, socketId=third.name))
                assert await other.next() == event("_ice_candidate", label=1, candidate=LINE, socketId=third.name)
                assert await third.next() == event("_answer", sdp={"sdp": ANSWER, "type": "answer"}, socketId=other.name)
                assert await third.next() == event("_ice_candidate", label=0, candidate=LINE, socketId=other.name)

            gone = first.name
            await first.close()
            for other in (second, third):
                assert await other.next() == event("_remove_peer", socketId=gone)
            # Nobody else heard of any of it: this is the next thing that is said to each.
            await third.say(offer_to(second))
            assert await second.next() == offer_from(third)
            await third.say(event("__join", room="200"))
            assert await elsewhere.next() == event("_new_peer", socketId=third.name)
    go(work)


def test_no_room_is_one_room(hub):
    """The script's `room` is the address's fragment; without one it is empty."""
    async def work():
        async with await Sky.open(hub) as first, await Sky.open(hub) as second, await Sky.open(hub) as named:
            await first.join("", [])
            await named.join("%E4%BC%9A%E8%AE%AE", [])
            await second.join("", [first])
    go(work)


def test_candidates_that_find_nobody_cost_nothing(hub):
    """A browser goes on sending candidates to one who has just left. The published server says nothing to that; what the hub says instead is
    an event that the script does not know, and it keeps the connection."""
    async def work():
        async with await Sky.open(hub) as first, await Sky.open(hub) as second:
            await first.join("100", [])
            await second.join("100", [first])
            gone = first.name
            await first.close()
            assert await second.next() == event("_remove_peer", socketId=gone)
            for _ in range(60):
                await second.say(event("__ice_candidate", label=0, candidate=LINE, socketId=gone))
            for _ in range(60):
                assert json.loads(await second.next())["eventName"] == "_error"
            async with await Sky.open(hub) as third:
                await third.join("100", [second])
    go(work)


@pytest.mark.feature("S3.22", "S3.29", "S3.30", "S3.31", "S3.32", "S3.33", peer="SkyRTC as published")
def test_the_client_for_ios_meets_a_browser(hub):
    """Its candidates carry `id`, which the server has to hand on (without it phones see black)."""
    async def work():
        async with await Sky.open(hub) as browser, await Phone.open(hub) as phone:
            await browser.join("100", [])
            await phone.join("100", [browser])
            await phone.say(event("__offer", sdp={"type": "offer", "sdp": OFFER}, socketId=browser.name))
            offer = json.loads(await browser.next())
            assert offer == {"eventName": "_offer", "data": {"sdp": {"type": "offer", "sdp": OFFER}, "socketId": phone.name}}
            await phone.say(event("__ice_candidate", id="video", label=1, candidate=LINE, socketId=browser.name))
            assert json.loads(await browser.next()) == {"eventName": "_ice_candidate", "data": {
                "id": "video", "label": 1, "candidate": LINE, "socketId": phone.name}}
            await browser.say(event("__answer", socketId=phone.name, sdp={"sdp": ANSWER, "type": "answer"}))
            assert await phone.next() == event("_answer", sdp={"sdp": ANSWER, "type": "answer"}, socketId=browser.name)
            await browser.say(event("__ice_candidate", label=0, candidate=LINE, socketId=phone.name))
            assert await phone.next() == event("_ice_candidate", label=0, candidate=LINE, socketId=browser.name)
            gone = phone.name
            await phone.close()
            assert await browser.next() == event("_remove_peer", socketId=gone)
    go(work)
