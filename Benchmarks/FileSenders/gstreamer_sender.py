#!/usr/bin/python3
"""GStreamer's webrtcbin behind WHEP, for compare.py: one file, passed through or encoded anew, for one viewer at a time.

    gstreamer_sender.py copy|vp8 FILE [BITRATE]     prints its address; wants Debian's own Python, which has the bindings
"""

import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

PAGE = b"""<!doctype html><title>gst</title><video autoplay muted playsinline style="width:100%"></video><script>
const pc = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
window.rtcast = { pc };
pc.addTransceiver("video", { direction: "recvonly" });
pc.ontrack = (event) => {
  try { event.receiver.jitterBufferTarget = 0; } catch {}
  document.querySelector("video").srcObject = event.streams[0] ?? new MediaStream([event.track]);
};
(async () => {
  await pc.setLocalDescription();
  await new Promise((done) => { pc.onicegatheringstatechange = () => pc.iceGatheringState === "complete" && done(); setTimeout(done, 500); });
  const answer = await fetch("/whep", { method: "POST", body: pc.localDescription.sdp });
  await pc.setRemoteDescription({ type: "answer", sdp: await answer.text() });
})();
</script>"""

# `identity sync=true` holds each frame until its time: webrtcbin itself sends as fast as it is fed.
READ = "filesrc location={file} ! qtdemux ! h264parse"
WAYS = {
    "copy": READ + " config-interval=-1 ! identity sync=true ! rtph264pay config-interval=-1 aggregate-mode=zero-latency mtu=1200 ! "
            "application/x-rtp,media=video,encoding-name=H264,payload={payload} ! peer.",
    "vp8": READ + " ! avdec_h264 ! identity sync=true ! videoconvert ! vp8enc deadline=1 cpu-used=-6 threads=1 static-threshold=300 "
           "lag-in-frames=0 end-usage=cbr target-bitrate={bitrate} keyframe-max-dist=3000 ! rtpvp8pay picture-id-mode=15-bit mtu=1200 ! "
           "application/x-rtp,media=video,encoding-name=VP8,payload={payload} ! peer.",
}


def codec(offer, way):
    """(payload type, profile-level-id) of the offer to answer; webrtcbin takes a codec only if its parameters are the very same."""
    if way == "vp8":
        return re.search(r"a=rtpmap:(\d+) VP8/90000", offer).group(1), None
    for payload in re.findall(r"a=rtpmap:(\d+) H264/90000", offer):
        if found := re.search(rf"a=fmtp:{payload} .*packetization-mode=1.*profile-level-id=(4d\w+)", offer):
            return payload, found.group(1)
    raise SystemExit("the viewer has no H.264, main profile")


class Session:
    """One viewer: a pipeline that starts with the offer."""

    def __init__(self, way, file, bitrate, offer):
        self.answered = threading.Event()
        self.offer = offer
        payload, self.profile = codec(offer, way)
        self.stream_profile = self.profile
        self.pipeline = Gst.parse_launch("webrtcbin name=peer bundle-policy=max-bundle "
                                         + WAYS[way].format(file=file, payload=payload, bitrate=bitrate))
        self.peer = self.pipeline.get_by_name("peer")
        self.peer.connect("notify::ice-gathering-state", self.gathering)
        self.peer.get_static_pad("sink_0").connect("notify::caps", self.prepared)
        self.pipeline.set_state(Gst.State.PLAYING)

    def prepared(self, pad, _):
        """The stream's parameters are known: only now can the offer be answered."""
        caps = pad.get_current_caps()
        if caps is None or self.offer is None:
            return
        offer, self.offer = self.offer, None
        if self.profile:
            self.stream_profile = caps.get_structure(0).get_string("profile-level-id")
            offer = offer.replace("profile-level-id=" + self.profile, "profile-level-id=" + self.stream_profile)
        GLib.idle_add(self.negotiate, offer)

    def negotiate(self, offer):
        _, message = GstSdp.SDPMessage.new_from_text(offer)
        description = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.OFFER, message)
        self.peer.emit("set-remote-description", description, Gst.Promise.new_with_change_func(self.offered))

    def offered(self, promise):
        self.peer.emit("create-answer", None, Gst.Promise.new_with_change_func(self.created))

    def created(self, promise):
        promise.wait()
        self.reply = promise.get_reply()   # owns the answer, which the binding does not copy
        self.peer.emit("set-local-description", self.reply.get_value("answer"), Gst.Promise.new())

    def gathering(self, *_):
        if self.peer.get_property("ice-gathering-state") == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
            self.answered.set()

    def answer(self):
        if not self.answered.wait(10):
            raise SystemExit("gathering took too long")
        answer = self.peer.get_property("local-description").sdp.as_text()
        return answer.replace(f"profile-level-id={self.stream_profile}", f"profile-level-id={self.profile}")


def main():
    way, file = sys.argv[1:3]
    bitrate = int(sys.argv[3]) if len(sys.argv) > 3 else 4_000_000
    Gst.init(None)
    sessions = []

    class Door(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def reply(self, status, kind, body):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            self.reply(200, "text/html", PAGE)

        def do_POST(self):
            offer = self.rfile.read(int(self.headers["Content-Length"])).decode()
            sessions.append(Session(way, file, bitrate, offer))
            self.reply(201, "application/sdp", sessions[-1].answer().encode())

    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_port}/", flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
