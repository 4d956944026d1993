"""sipsorcery's webrtc-interop tests (the JSON offer protocol of webrtc-echoes), with aiortc at the other end, both ways: the client
posts its offer as JSON, the server answers as JSON; then DTLS connects (test 0), and a word comes back in a data channel (test 1).
The Swift end is Tests/InteropPeer."""

import asyncio
import json
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from aiortc import RTCPeerConnection, RTCSessionDescription

from harness.rtcast import BINARY

PEER = Path(BINARY).parent / "InteropPeer"


async def swift(role):
    return await asyncio.create_subprocess_exec(
        str(PEER), role, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 20)


async def serve(handler):
    app = web.Application()
    app.router.add_post("/offer", handler)
    runner = web.AppRunner(app, shutdown_timeout=0.2)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return runner, f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/offer"


async def post(url, description):
    async with aiohttp.ClientSession() as session, session.post(url, json=description) as answer:
        return await answer.json(content_type=None)


async def our_server(body):
    """Calls `body` with the URL of a server that answers with InteropPeer."""
    peers = []

    async def offer(message):
        peers.append(await swift("server"))
        peers[-1].stdin.write(json.dumps(await message.json()).encode() + b"\n")
        return web.Response(text=(await peers[-1].stdout.readline()).decode(), content_type="application/json")

    runner, url = await serve(offer)
    try:
        await asyncio.wait_for(body(url), 30)
    finally:
        for peer in peers:
            peer.kill()
            await peer.wait()
        await runner.cleanup()


async def offer_by_aiortc(url, peer):
    connected = asyncio.Event()
    peer.on("connectionstatechange", lambda: connected.set() if peer.connectionState == "connected" else None)
    await peer.setLocalDescription(await peer.createOffer())
    answer = await post(url, {"sdp": peer.localDescription.sdp, "type": peer.localDescription.type})
    await peer.setRemoteDescription(RTCSessionDescription(**answer))
    await connected.wait()


@pytest.mark.parametrize("media", ["audio", "video"])
def test_aiortc_connects_to_our_server(media):
    async def body(url):
        peer = RTCPeerConnection()
        try:
            peer.addTransceiver(media)
            await offer_by_aiortc(url, peer)
        finally:
            await peer.close()
    asyncio.run(our_server(body))


def test_our_server_sends_back_what_aiortc_says():
    async def body(url):
        peer = RTCPeerConnection()
        heard = asyncio.Queue()
        try:
            channel = peer.createDataChannel("any")
            channel.on("open", lambda: channel.send("wxyz5"))
            channel.on("message", heard.put_nowait)
            await offer_by_aiortc(url, peer)
            assert await heard.get() == "wxyz5"
        finally:
            await peer.close()
    asyncio.run(our_server(body))


def test_our_client_hears_its_word_again_from_aiortc():
    async def work():
        peers = []

        async def answer(message):
            peers.append(RTCPeerConnection())
            peers[-1].on("datachannel", lambda channel: channel.on("message", channel.send))
            await peers[-1].setRemoteDescription(RTCSessionDescription(**await message.json()))
            await peers[-1].setLocalDescription(await peers[-1].createAnswer())
            description = peers[-1].localDescription
            return web.json_response({"sdp": description.sdp, "type": description.type})

        runner, url = await serve(answer)
        client = await swift("client")
        try:
            offer = json.loads(await asyncio.wait_for(client.stdout.readline(), 10))
            client.stdin.write(json.dumps(await post(url, offer)).encode() + b"\n")
            assert await asyncio.wait_for(client.wait(), 30) == 0
        finally:
            if client.returncode is None:
                client.kill()
                await client.wait()
            for peer in peers:
                await peer.close()
            await runner.cleanup()
    asyncio.run(work())
