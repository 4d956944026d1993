"""A viewer that connects as others do and then sends as much as it can of what costs its peer most.

    python hostile_viewer.py WHEP-URL TOKEN KIND [SECONDS [RATE]]

Prints `connected`, sends until the connection ends, standard input is closed or the time is over, and prints how many datagrams it
has sent and why it has stopped, as JSON. The rate is in datagrams a second. For `test_hostile_peers.py` and `Benchmarks/Hostile`.
"""

import asyncio
import json
import os
import struct
import sys
import time
import urllib.request

import aiortc

# Bytes of a datagram.
SIZE = 1_100


# Fifteen of them ask for each of 65,536 packets.
EVERY_PACKET = [b"".join(struct.pack("!HH", (17 * (256 * part + entry)) & 0xFFFF, 0xFFFF) for entry in range(256)) for part in range(15)]


def compound(packets):
    """As many of these packets as a datagram takes, behind an empty receiver report (RFC 3550 §6.1)."""
    data = struct.pack("!BBHI", 0x80, 201, 1, 1)
    for packet in packets:
        if len(data) + len(packet) > SIZE:
            break
        data += packet
    return data


def repeat(packet):
    while True:
        yield packet


def nacks(source, number):
    """Asks for every packet there was (RFC 4585 §6.2.1): 17 in each entry of four bytes."""
    return compound([struct.pack("!BBHII", 0x81, 205, 2 + 256, 1, source) + EVERY_PACKET[number % 15]])


def feedback(source, number):
    """Feedback of 65,535 statuses each (finding B1)."""
    chunks = struct.pack("!9H", *[0x1FFF] * 8, 7)
    body = struct.pack("!IIHHI", 1, source, number & 0xFFFF, 65_535, number & 0xFFFFFF) + chunks + b"\0\0"
    return compound(repeat(struct.pack("!BBH", 0x8F, 205, len(body) // 4) + body))


def pictures_lost(source, number):
    return compound(repeat(struct.pack("!BBHII", 0x81, 206, 2, 1, source)))


def reports(source, number):
    block = struct.pack("!IIIIII", source, 0x10000000 | number & 0xFFFF, number, 0, number & 0xFFFFFFFF, 0)
    return compound(repeat(struct.pack("!BBHI", 0x80 | 31, 201, 1 + 31 * 6, 1) + block * 31))


KINDS = {"nack": nacks, "feedback": feedback, "pli": pictures_lost, "reports": reports}


async def connect(url, token):
    peer = aiortc.RTCPeerConnection()
    peer.addTransceiver("video", direction="recvonly")
    await peer.setLocalDescription(await peer.createOffer())
    headers = {"Content-Type": "application/sdp", **({"Authorization": f"Bearer {token}"} if token else {})}
    request = urllib.request.Request(url, peer.localDescription.sdp.encode(), headers)
    answer = await asyncio.to_thread(lambda: urllib.request.urlopen(request, timeout=20).read().decode())
    await peer.setRemoteDescription(aiortc.RTCSessionDescription(answer, "answer"))
    source = next(int(line[7:].split()[0]) for line in answer.splitlines() if line.startswith("a=ssrc:"))
    transport = peer.getTransceivers()[0].receiver.transport
    deadline = time.monotonic() + 20
    while transport.state != "connected":
        if time.monotonic() > deadline:
            sys.exit("not connected")
        await asyncio.sleep(0.02)
    return peer, transport, source


async def main(url, token, kind, seconds, rate):
    peer, transport, source = await connect(url, token)
    pair = transport.transport._connection._nominated[1]

    def make(number):
        return transport._tx_srtp.protect_rtcp(KINDS[kind](source, number))
    print("connected", flush=True)
    closed = asyncio.create_task(asyncio.to_thread(sys.stdin.read))
    sent, why, start = 0, "time", time.monotonic()
    while time.monotonic() < start + seconds:
        if transport.state != "connected":
            why = "ended"
            break
        if closed.done():
            why = "stopped"
            break
        # A sender that was held up does not make up for it: nobody's packets would find room.
        due = min(int((time.monotonic() - start) * rate), sent + 1_000) if rate else sent + 100
        while sent < due:
            pair.protocol.transport.sendto(make(sent), pair.remote_addr)
            sent += 1
        await asyncio.sleep(0.001 if rate else 0)
    print(json.dumps({"sent": sent, "why": why}), flush=True)
    # The thread that waits on standard input would keep the program.
    os._exit(0)


if __name__ == "__main__":
    numbers = [float(text) for text in sys.argv[4:]] + [60, 0][len(sys.argv) - 4:]
    asyncio.run(main(*sys.argv[1:4], *numbers))
