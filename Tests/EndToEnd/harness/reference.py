"""A sender that is not ours: aiortc behind the same viewer page, to try the page and to calibrate what the tests measure.

`--kinds` says what it answers to an offer of both (`video`, `audio`, `video,audio`); the rest is rejected. It shows a moving
bar code with a 440 Hz tone, or with `--flash` a white picture and a 1 kHz beep of 50 ms that start in the same instant, once a second.
"""

import argparse
import asyncio
import fractions
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "Sources/RTCSignalingNIO/Resources/viewer.html"


class Reference:
    """The sender in a process of its own, so that a busy test does not disturb its pace."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([sys.executable, "-m", "harness.reference", *arguments], stdout=subprocess.PIPE, text=True,
                                        cwd=Path(__file__).resolve().parents[1])
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http"), "the reference sender did not start"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)


def tracks(options):
    """The two tracks of one viewer, on one clock: what both show at media time t is sent at the same instant."""
    import numpy as np
    from aiortc import MediaStreamTrack
    from av import AudioFrame, VideoFrame

    from harness.barcode import draw

    start = []
    late = round(options.beep_late * 48)

    async def until(media_time):
        if not start:
            start.append(time.monotonic())
        delay = start[0] + media_time - time.monotonic()
        if delay > 0:
            await asyncio.sleep(delay)

    class Sound(MediaStreamTrack):
        kind = "audio"
        block = 0

        async def recv(self):
            samples = np.arange(self.block * 960, self.block * 960 + 960)
            if options.flash:
                values = np.where((samples - late) % 48000 < 2400, 0.5 * np.sin(2 * np.pi * 1000 * samples / 48000), 0)
            else:
                values = 0.25 * np.sin(2 * np.pi * options.tone * samples / 48000)
            stereo = np.repeat((values * 32767).astype(np.int16), 2).reshape(1, -1)
            frame = AudioFrame.from_ndarray(stereo, format="s16", layout="stereo")
            frame.sample_rate, frame.pts, frame.time_base = 48000, self.block * 960, fractions.Fraction(1, 48000)
            await until(self.block * 0.02)
            self.block += 1
            return frame

    class Picture(MediaStreamTrack):
        kind = "video"
        number = 0

        async def recv(self):
            width, height, rate = options.width, options.height, options.fps
            luma = np.full((height * 3 // 2, width), 128, np.uint8)
            if options.flash:
                luma[:height] = 235 if self.number % rate == 0 else 16
            else:
                luma[:height] = np.arange(width, dtype=np.uint16)[None, :] * 180 // width + 30
                x = self.number * 7 % (width - 40)
                luma[height // 2:height // 2 + 40, x:x + 40] = 235
            draw(luma[:height], self.number, int(time.time() * 1000))
            frame = VideoFrame.from_ndarray(luma, format="yuv420p")
            frame.pts, frame.time_base = self.number * 90000 // rate, fractions.Fraction(1, 90000)
            await until(self.number / rate)
            self.number += 1
            return frame

    return {"audio": Sound, "video": Picture}


async def serve(options):
    from aiohttp import web
    from aiortc import RTCPeerConnection, RTCSessionDescription

    connections = {}
    kinds = options.kinds.split(",")

    async def page(_):
        page = re.sub(r'<script src="(viewer/\w+\.js)"></script>',
                      lambda tag: f"<script>\n{(PAGE.parent / tag[1]).read_text()}</script>", PAGE.read_text())
        return web.Response(text=page, content_type="text/html", headers={"Cache-Control": "no-store"})

    async def health(_):
        return web.json_response({"status": "live"})

    async def whep(request):
        offer = await request.text()
        connection = RTCPeerConnection()
        name = str(len(connections) + 1)
        connections[name] = connection
        make = tracks(options)
        await connection.setRemoteDescription(RTCSessionDescription(sdp=offer, type="offer"))
        for transceiver in connection.getTransceivers():
            if transceiver.kind in kinds:
                transceiver.sender.replaceTrack(make[transceiver.kind]())
                transceiver.direction = "sendonly"
            elif options.inactive:
                transceiver.direction = "inactive"
            else:
                await transceiver.stop()
        await connection.setLocalDescription(await connection.createAnswer())
        return web.Response(status=201, text=connection.localDescription.sdp, content_type="application/sdp",
                            headers={"Location": f"/whep/session/{name}"})

    async def leave(request):
        connection = connections.pop(request.match_info["name"], None)
        if connection:
            await connection.close()
        return web.Response()

    async def drop(_):
        """Ends every session as a sender that goes away would."""
        for name in list(connections):
            await connections.pop(name).close()
        return web.Response()

    application = web.Application()
    application.add_routes([web.get("/", page), web.get("/health", health), web.post("/whep", whep), web.post("/drop", drop),
                            web.delete("/whep/session/{name}", leave)])
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", options.port)
    await site.start()
    print(f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/", flush=True)
    await asyncio.Event().wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kinds", default="video,audio")
    parser.add_argument("--inactive", action="store_true")
    parser.add_argument("--flash", action="store_true")
    parser.add_argument("--beep-late", type=float, default=0, help="milliseconds")
    parser.add_argument("--tone", type=float, default=440)
    parser.add_argument("--width", type=int, default=640)
    parser.add_argument("--height", type=int, default=360)
    parser.add_argument("--fps", type=int, default=30)
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(serve(parser.parse_args()))


if __name__ == "__main__":
    main()
