"""Publishing by WHIP to a peer nobody here wrote: aiortc behind a few lines of HTTP; and to servers that misbehave."""

import asyncio
import contextlib
import re
import threading
import time

import pytest
from aiohttp import web
from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

from harness.aiortc_viewer import only_h264
from harness.http_server import HTTPServer
from harness.rtcast import run


@pytest.fixture
def serve():
    servers = []

    def start(handler):
        servers.append(HTTPServer(handler))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.mark.quick
def test_aiortc_receives_what_we_publish(cast, serve):
    sizes = []
    seen = threading.Event()
    deleted = threading.Event()
    tokens = []
    peers = []

    async def handler(message):
        if message.method == "DELETE":
            deleted.set()
            return web.Response(status=200)
        if message.method != "POST":
            return web.Response(status=405)
        tokens.append(message.headers.get("Authorization"))
        peer = RTCPeerConnection()
        peers.append(peer)

        @peer.on("track")
        def on_track(track):
            async def pull():
                while True:
                    frame = await track.recv()
                    sizes.append((frame.width, frame.height))
                    if len(sizes) >= 10:
                        seen.set()
            if track.kind == "video":
                asyncio.ensure_future(pull())

        await peer.setRemoteDescription(RTCSessionDescription(await message.text(), "offer"))
        await peer.setLocalDescription(await peer.createAnswer())
        return web.Response(status=201, text=peer.localDescription.sdp, content_type="application/sdp",
                            headers={"Location": "/resource/1", "ETag": '"1"'})

    server = serve(handler)
    rtcast = cast("test", "--pattern", "clock", "--fps", "10", "--size", "320x240", "--to", server.url + "/whip", "--token", "s3cret")
    assert seen.wait(20), f"frames: {len(sizes)}"
    assert sizes[0] == (320, 240)
    assert tokens == ["Bearer s3cret"]
    rtcast.interrupt()
    assert rtcast.wait() == 0
    assert deleted.wait(5), "the resource is deleted on the way out"
    server.run(peers[0].close())


@pytest.mark.parametrize("status,code", [(401, 77), (403, 77), (404, 69), (405, 69), (500, 69), (503, 69)])
def test_a_server_that_refuses(serve, status, code):
    async def handler(message):
        return web.Response(status=status, text="no")
    exit_code, _, err = run("test", "--to", serve(handler).url + "/whip", timeout=30)
    assert exit_code == code, err
    assert str(status) in err


def test_redirects_are_followed_but_not_forever(serve):
    async def loop(message):
        return web.Response(status=307, headers={"Location": "/again"})
    code, _, err = run("test", "--to", serve(loop).url + "/whip", timeout=30)
    assert code == 76 and "redirect" in err.lower()


@pytest.mark.parametrize("body", ["", "rubbish", "v=0\r\n" * 3])
def test_a_server_that_answers_rubbish(serve, body):
    async def handler(message):
        return web.Response(status=201, text=body, content_type="application/sdp", headers={"Location": "/r"})
    code, _, err = run("test", "--to", serve(handler).url + "/whip", timeout=30)
    assert code == 76, err


def test_a_server_that_never_answers(serve):
    async def handler(message):
        await asyncio.sleep(60)
        return web.Response(status=500)
    code, _, err = run("test", "--to", serve(handler).url + "/whip", timeout=40)
    assert code == 69 and "answer" in err.lower()


def test_nobody_there():
    code, _, err = run("test", "--to", "http://127.0.0.1:9/whip", timeout=30)
    assert code == 69 and "127.0.0.1:9" in err


def answering(peers, takes=("audio", "video"), edit=lambda offer: offer):
    """A WHIP service by aiortc that takes these kinds of media. `edit` changes the offer that it sees."""
    async def handler(message):
        if message.method != "POST":
            return web.Response(status=200)
        peer = RTCPeerConnection()
        peers.append(peer)
        peer.received = []

        @peer.on("track")
        def on_track(track):
            async def pull():
                with contextlib.suppress(MediaStreamError):
                    while True:
                        peer.received.append(await track.recv())
            if track.kind == "video":
                asyncio.ensure_future(pull())

        await peer.setRemoteDescription(RTCSessionDescription(edit(await message.text()), "offer"))
        await peer.setLocalDescription(await peer.createAnswer())
        answer = peer.localDescription.sdp
        for kind in {"audio", "video"} - set(takes):
            mid = re.search(rf"m={kind} .*?a=mid:(\S+)", answer, re.DOTALL)[1]
            answer = re.sub(rf"(a=group:BUNDLE.*?) {mid}\b", r"\1", re.sub(rf"m={kind} \d+ ", f"m={kind} 0 ", answer))
        return web.Response(status=201, text=answer, content_type="application/sdp", headers={"Location": "/resource/1"})
    return handler


def test_a_service_that_knows_h264_alone_is_sent_it(cast, serve):
    peers = []
    server = serve(answering(peers, edit=only_h264))
    cast("test", "--pattern", "clock", "--fps", "10", "--size", "320x240", "--to", server.url + "/whip")
    deadline = time.monotonic() + 20
    while not (peers and peers[0].received):
        assert time.monotonic() < deadline, "no picture came"
        time.sleep(0.05)
    assert peers[0].received[0].width == 320
    server.run(peers[0].close())


def test_a_service_that_takes_no_video_is_named(cast, serve, clips):
    peers = []
    server = serve(answering(peers, takes=["audio"]))
    path = clips.numbered("heard.mp4", sound="aac")
    status, _, complaint = run("file", path, "--to", server.url + "/whip", "--duration", "10")
    assert status == 77 and "takes no video" in complaint and "H264" in complaint, (status, complaint)
    for peer in peers:
        server.run(peer.close())
