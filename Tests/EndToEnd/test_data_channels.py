"""Data channels with aiortc over real sockets; the Swift end is Tests/DataChannelProbe, which sends everything back."""

import asyncio
from pathlib import Path

import pytest
from aiortc import RTCPeerConnection, RTCSessionDescription

from harness.rtcast import BINARY

PROBE = Path(BINARY).parent / "DataChannelProbe"


async def read_description(process) -> str:
    lines = []
    while (line := (await process.stdout.readline()).decode()) not in (".\n", ""):
        lines.append(line.rstrip("\n"))
    return "\r\n".join(lines) + "\r\n"


def write_description(process, sdp: str) -> None:
    process.stdin.write((sdp.replace("\r\n", "\n") + ".\n").encode())


async def answer(process, peer) -> None:
    await peer.setRemoteDescription(RTCSessionDescription(await read_description(process), "offer"))
    await peer.setLocalDescription(await peer.createAnswer())
    write_description(process, peer.localDescription.sdp)


async def offer(process, peer) -> None:
    await peer.setLocalDescription(await peer.createOffer())
    write_description(process, peer.localDescription.sdp)
    await peer.setRemoteDescription(RTCSessionDescription(await read_description(process), "answer"))


async def exchange(role: str) -> None:
    process = await asyncio.create_subprocess_exec(
        str(PROBE), role, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=1 << 20
    )
    peer = RTCPeerConnection()
    opened, greeted = asyncio.get_running_loop().create_future(), asyncio.Queue()

    @peer.on("datachannel")
    def _(channel):
        channel.on("message", greeted.put_nowait)
        opened.set_result(channel)

    ours = peer.createDataChannel("ours", ordered=False, maxRetransmits=3, protocol="p")
    echoes = asyncio.Queue()
    ours.on("message", echoes.put_nowait)
    is_open = asyncio.Event()
    ours.on("open", is_open.set)
    closed = asyncio.Event()
    try:
        await (answer if role == "offer" else offer)(process, peer)
        theirs = await asyncio.wait_for(opened, 20)
        assert (theirs.label, theirs.protocol, theirs.ordered) == ("probe", "echo", True)
        assert await asyncio.wait_for(greeted.get(), 10) == "hello"
        await asyncio.wait_for(is_open.wait(), 10)
        assert {ours.id % 2, theirs.id % 2} == {0, 1}
        # aiortc takes 64 KiB at most.
        for message in ["grüß dich", "", b"", bytes(range(256)), bytes(60_000)]:
            ours.send(message)
            assert await asyncio.wait_for(echoes.get(), 10) == message
        theirs.on("close", closed.set)
        theirs.close()
        await asyncio.wait_for(closed.wait(), 10)
        ours.send("the other channel stays")
        assert await asyncio.wait_for(echoes.get(), 10) == "the other channel stays"
    finally:
        await peer.close()
        process.kill()
        await process.wait()


@pytest.mark.feature("S0.2")
@pytest.mark.parametrize("role", ["offer", "answer"])
def test_channels_of_both_sides_carry_messages_to_aiortc(role):
    """As offerer and as answerer, text and bytes, empty and large ones; closing one leaves the other."""
    asyncio.run(exchange(role))
