#!/usr/bin/python3
"""GStreamer's webrtcbin, steered as harness/far_peer.py says. Wants Debian's own Python, which has the bindings."""

import array
import json
import re
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstWebRTC", "1.0")
gi.require_version("GstSdp", "1.0")
from gi.repository import GLib, Gst, GstSdp, GstWebRTC  # noqa: E402

SOUND = 660
OWN_PAYLOADS = {"VP8": "96", "OPUS": "97"}
PICTURE = ("videotestsrc is-live=true pattern=ball ! video/x-raw,width={width},height={height},framerate=15/1 ! vp8enc deadline=1 "
           "cpu-used=8 keyframe-max-dist=30 target-bitrate=300000 ! rtpvp8pay picture-id-mode=15-bit mtu=1200 ! "
           "capsfilter caps=application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000,payload={payload}")
TONE = ("audiotestsrc is-live=true freq={hz} volume=0.3 ! audio/x-raw,rate=48000,channels=2 ! opusenc ! rtpopuspay ! "
        "capsfilter caps=application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,payload={payload}")
WATCH = "rtpvp8depay ! vp8dec ! fakesink name=end signal-handoffs=true sync=false"
LISTEN = ("rtpopusdepay ! opusdec ! audioconvert ! audio/x-raw,format=S16LE,channels=1,rate=48000 ! "
          "fakesink name=end signal-handoffs=true sync=false")


def tell(event, **members):
    print(json.dumps({"event": event, **members}), flush=True)


def payloads(offer):
    """The numbers by which an offer calls our codecs: webrtcbin answers with those only if they are the streams' own."""
    return {name: re.search(rf"a=rtpmap:(\d+) {name}/", offer, re.IGNORECASE).group(1) for name in OWN_PAYLOADS}


class Peer:
    def __init__(self):
        self.pipeline = None
        self.numbers = OWN_PAYLOADS
        self.awaited = set()     # our pads whose streams are not known yet; nothing is described before
        self.work = []           # what waits for them
        self.videos = []
        self.audio = 0
        self.wave = array.array("h")
        self.chat = None
        self.kept = []           # replies own what the binding does not copy

    def start(self, caller):
        self.pipeline = Gst.Pipeline.new(None)
        self.bin = Gst.ElementFactory.make("webrtcbin", "peer")
        self.bin.set_property("bundle-policy", GstWebRTC.WebRTCBundlePolicy.MAX_BUNDLE)
        self.pipeline.add(self.bin)
        self.bin.connect("on-ice-candidate", lambda _, line, text: tell(
            "candidate", candidate={"candidate": text, "sdpMLineIndex": line, "sdpMid": None}))
        self.bin.connect("notify::connection-state", self.changed)
        self.bin.connect("pad-added", self.incoming)
        self.bin.connect("on-data-channel", lambda _, channel: self.talk(channel))
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect("message::error", lambda _, message: tell("error", message=str(message.parse_error())))
        if caller:
            self.send()

    def send(self):
        self.attach(TONE.format(hz=SOUND, payload=self.numbers["OPUS"]))
        self.attach(PICTURE.format(width=320, height=180, payload=self.numbers["VP8"]))
        self.pipeline.set_state(Gst.State.PLAYING)

    def attach(self, description):
        branch = Gst.parse_bin_from_description(description, False)
        ghost = Gst.GhostPad.new("src", branch.find_unlinked_pad(Gst.PadDirection.SRC))
        branch.add_pad(ghost)
        self.pipeline.add(branch)
        pad = self.bin.request_pad_simple("sink_%u")
        self.awaited.add(pad)
        pad.connect("notify::caps", self.known)
        ghost.link(pad)
        branch.sync_state_with_parent()

    def known(self, pad, _):
        if pad.get_current_caps() is not None:
            GLib.idle_add(self.settle, pad)

    def settle(self, pad):
        self.awaited.discard(pad)
        self.when_known()

    def when_known(self, work=None):
        if work:
            self.work.append(work)
        if not self.awaited:
            ready, self.work = self.work, []
            for each in ready:
                each()

    # What comes.

    def incoming(self, _, pad):
        if pad.direction != Gst.PadDirection.SRC:
            return
        is_video = pad.get_current_caps().get_structure(0).get_string("media") == "video"
        branch = Gst.parse_bin_from_description(WATCH if is_video else LISTEN, True)
        if is_video:
            video = {"frames": 0, "width": 0}
            self.videos.append(video)
        else:
            video = None
        branch.get_by_name("end").connect("handoff", self.picture if video else self.sound, video)
        self.pipeline.add(branch)
        branch.sync_state_with_parent()
        pad.link(branch.get_static_pad("sink"))

    @staticmethod
    def picture(_, buffer, pad, video):
        video["frames"] += 1
        video["width"] = pad.get_current_caps().get_structure(0).get_int("width")[1]

    def sound(self, _, buffer, pad, __):
        self.audio += 1
        samples = array.array("h", buffer.extract_dup(0, buffer.get_size()))
        self.wave = (self.wave + samples)[-24000:]

    def tone(self):
        """From the upward crossings of half a second."""
        wave = self.wave
        if len(wave) < 24000 or max(wave) < 300:
            return None
        return 2 * sum(1 for before, after in zip(wave, wave[1:]) if before < 0 <= after)

    def changed(self, *_):
        tell("state", state=self.bin.get_property("connection-state").value_nick)

    def talk(self, channel):
        self.chat = channel
        channel.connect("on-message-string", lambda _, text: tell("message", text=text))
        channel.connect("on-open", lambda _: tell("chat", state="open"))
        channel.connect("on-close", lambda _: tell("chat", state="closed"))
        if channel.get_property("ready-state") == GstWebRTC.WebRTCDataChannelState.OPEN:
            tell("chat", state="open")

    # Descriptions.

    def promise(self, then):
        def replied(promise):
            promise.wait()
            self.kept.append(promise.get_reply())
            GLib.idle_add(lambda: then(self.kept[-1]) and False)
        return Gst.Promise.new_with_change_func(replied)

    def describe(self, reply, kind):
        if reply is None or (description := reply.get_value(kind)) is None:
            return tell("error", message=f"no {kind}: {reply.to_string() if reply else None}")
        self.bin.emit("set-local-description", description, Gst.Promise.new())
        tell("description", type=kind, sdp=description.sdp.as_text())

    def offer(self):
        self.when_known(lambda: self.bin.emit("create-offer", None, self.promise(lambda reply: self.describe(reply, "offer"))))

    def receive(self, kind, sdp):
        _, message = GstSdp.SDPMessage.new_from_text(sdp)
        kinds = {"offer": GstWebRTC.WebRTCSDPType.OFFER, "answer": GstWebRTC.WebRTCSDPType.ANSWER}
        description = GstWebRTC.WebRTCSessionDescription.new(kinds[kind], message)
        if kind == "answer":
            self.bin.emit("set-remote-description", description, Gst.Promise.new())
            return
        if self.pipeline.get_state(0)[1] != Gst.State.PLAYING:
            self.numbers = payloads(sdp)
            self.send()

        def answer(_):
            self.bin.emit("create-answer", None, self.promise(lambda reply: self.describe(reply, "answer")))
        self.when_known(lambda: self.bin.emit("set-remote-description", description, self.promise(answer)))

    def obey(self, command):
        match command:
            case {"do": "start", "caller": caller}:
                self.start(caller)
                if caller:
                    self.talk(self.bin.emit("create-data-channel", "chat", None))
            case {"do": "offer"}:
                self.offer()
            case {"do": "description", "type": kind, "sdp": sdp}:
                self.receive(kind, sdp)
            case {"do": "candidate", "candidate": text} if text:
                self.bin.emit("add-ice-candidate", command.get("sdpMLineIndex") or 0, text)
            case {"do": "add-video"}:
                self.attach(PICTURE.format(width=160, height=90, payload=self.numbers["VP8"]))
            case {"do": "say", "text": text}:
                self.chat.emit("send-string", text)
            case {"do": "close"} if self.pipeline:
                self.pipeline.set_state(Gst.State.NULL)
                tell("state", state="closed")
        return False

    def figures(self):
        tell("figures", videos=self.videos, audio=self.audio, tone=self.tone())
        return True


def main():
    Gst.init(None)
    peer, loop = Peer(), GLib.MainLoop()

    def read():
        for line in sys.stdin:
            GLib.idle_add(peer.obey, json.loads(line))
        GLib.idle_add(loop.quit)
    threading.Thread(target=read, daemon=True).start()
    GLib.timeout_add(200, peer.figures)
    loop.run()
    if peer.pipeline:
        peer.pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    main()
