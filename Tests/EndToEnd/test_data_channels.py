"""Data channels with aiortc over real sockets; the Swift end is Tests/DataChannelProbe, which sends everything back."""

import asyncio
import itertools
import subprocess
from pathlib import Path

import pytest
from aiortc import RTCPeerConnection, RTCSessionDescription

from harness.browser import chromium
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


@pytest.mark.quick
@pytest.mark.feature("S0.2", "S0.22", "S0.26", "S1.19", "S3.40", peer="aiortc")
@pytest.mark.parametrize("role", ["offer", "answer"])
def test_channels_of_both_sides_carry_messages_to_aiortc(role):
    """As offerer and as answerer, text and bytes, empty and large ones; closing one leaves the other."""
    asyncio.run(exchange(role))


PAGE = """
  const [role, sdp, done] = arguments;
  const gathered = (peer) => new Promise((resolve) => {
    if (peer.iceGatheringState === "complete") return resolve();
    peer.addEventListener("icegatheringstatechange", () => peer.iceGatheringState === "complete" && resolve());
  });
  (async () => {
    const peer = window.peer ??= new RTCPeerConnection();
    window.heard ??= {};
    if (!window.ours) {
      window.ours = peer.createDataChannel("ours", { ordered: false, protocol: "p" });
      window.unreliable = peer.createDataChannel("unreliable", { ordered: false, maxRetransmits: 0 });
      for (const channel of [window.ours, window.unreliable]) {
        channel.binaryType = "arraybuffer";
        window.heard[channel.label] = [];
        channel.onmessage = ({ data }) => window.heard[channel.label].push(data);
      }
      peer.ondatachannel = ({ channel }) => {
        window.theirs = channel;
        window.heard[channel.label] = [];
        channel.onmessage = ({ data }) => window.heard[channel.label].push(data);
        channel.onclose = () => window.hasClosed = true;
      };
    }
    if (role === "answer") await peer.setRemoteDescription({ type: "offer", sdp });
    else if (sdp) { await peer.setRemoteDescription({ type: "answer", sdp }); return done(null); }
    await peer.setLocalDescription();
    await gathered(peer);
    done(peer.localDescription.sdp);
  })().catch((error) => done("error: " + error));
"""
ECHO = """
  const done = arguments[0], { ours, unreliable, heard } = window;
  const until = async (condition, seconds = 20) => {
    for (const end = performance.now() + seconds * 1000; !condition();) {
      if (performance.now() > end) throw `not in ${seconds} s: ${condition}, ${heard.ours.length}, ${heard.unreliable.length}`;
      await new Promise((r) => setTimeout(r, 20));
    }
  };
  (async () => {
    await until(() => ours.readyState === "open" && unreliable.readyState === "open");
    for (let i = 0; i < 50; i++) unreliable.send(String(i));
    // What is lost stays lost; on loopback that is little.
    await until(() => heard.unreliable.length > 40);
    const bytes = new Uint8Array(262144).map((_, i) => i * 31 + (i >> 8));
    const sent = ["grüß dich", "", new ArrayBuffer(0), bytes.buffer, ...Array(100).fill(bytes.slice(0, 65536).buffer)];
    for (const message of sent) ours.send(message);
    await until(() => heard.ours.length === sent.length);
    const same = (a, b) => typeof a === "string" || typeof b === "string" ? a === b
      : a.byteLength === b.byteLength && new Uint8Array(a).every((byte, i) => byte === new Uint8Array(b)[i]);
    // Unordered: each has arrived, in whatever order.
    const missing = sent.filter((message) => !heard.ours.some((echo) => same(message, echo))).length;
    await until(() => window.theirs);
    window.theirs.close();
    await until(() => window.hasClosed);
    heard.ours.length = 0;
    ours.send("the other channel stays");
    await until(() => heard.ours.length);
    done({ missing, hello: heard.probe[0], last: heard.ours[0] });
  })().catch((error) => done({ error: String(error) }));
"""


@pytest.mark.feature("S0.2", "S0.22", "S0.26", peer="Chromium")
@pytest.mark.parametrize("role", ["offer", "answer"])
def test_channels_of_both_sides_carry_messages_to_chromium(role):
    """Large and small, ordered and not, reliable and not; closing one leaves the other."""
    process = subprocess.Popen([PROBE, role], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def read():
        lines = iter(process.stdout.readline, "")
        return "\r\n".join(line.rstrip("\n") for line in itertools.takewhile(lambda line: line != ".\n", lines)) + "\r\n"

    def write(sdp):
        process.stdin.write(sdp.replace("\r\n", "\n") + ".\n")
        process.stdin.flush()

    driver = chromium()
    driver.set_script_timeout(60)
    try:
        driver.get("data:text/html,<title>channels</title>")
        if role == "offer":
            write(driver.execute_async_script(PAGE, "answer", read()))
        else:
            write(driver.execute_async_script(PAGE, "offer", None))
            driver.execute_async_script(PAGE, "offer", read())
        said = driver.execute_async_script(ECHO)
        assert said.get("error") is None, said
        assert (said["missing"], said["hello"], said["last"]) == (0, "hello", "the other channel stays")
    finally:
        driver.quit()
        process.kill()
        process.wait()
