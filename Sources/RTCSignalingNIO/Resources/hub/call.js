"use strict";
// One call with one peer: perfect negotiation of changing media, and the state of the connection.

/// state: calling or ringing → connecting → connected ⇄ interrupted → ended.
class Call {
  constructor(board, peer, id, { outgoing, room = null, plain = false }) {
    Object.assign(this, { board, peer, id, outgoing, room, plain, polite: !outgoing });
    this.state = outgoing ? "calling" : "ringing";
    this.reason = null;             // why it ended
    this.since = 0;                 // connected at
    this.pc = null;
    this.chat = null;
    this.lanes = {};                // by kind of LocalMedia: the transceiver that sends it
    this.streamKinds = new Map();          // by stream of the remote peer: camera or screen, if announced
    this.mutedThere = { audio: false, video: false };
    this.gone = false;              // the hub no longer knows the peer
    this.early = [];                // candidates that came before their description
    this.work = Promise.resolve();
    this.timers = {};
    this.patience(outgoing ? 45000 : 60000, outgoing ? "unanswered" : "missed");
  }

  get over() { return this.state === "ended"; }
  get isLive() { return this.state === "connected" || this.state === "interrupted"; }

  say(data) { this.board.line.send({ type: "signal", to: this.peer, call: this.id, data: { call: this.id, ...data } }); }

  ring() {
    const local = this.board.local;
    this.say({ type: "call", media: { audio: !!local.tracks.microphone, video: !!local.tracks.camera, screen: !!local.tracks.screen },
      ...(this.room !== null && { room: this.room }) });
  }

  accept(offer = null) {
    if (this.state !== "ringing") return;
    if (!this.plain) this.say({ type: "accept" });
    this.connect();
    if (offer) this.describe(offer);
  }

  connect() {
    if (this.pc || this.over) return;
    this.enter("connecting");
    this.patience(30000, "unreachable");
    const pc = this.pc = new RTCPeerConnection({ bundlePolicy: "max-bundle", iceServers: this.board.line.iceServers });
    pc.onnegotiationneeded = () => this.negotiate();
    pc.onicecandidate = ({ candidate }) => this.board.line.send({ type: "candidate", to: this.peer, call: this.id, candidate });
    pc.ontrack = () => this.board.onmedia(this);
    pc.onsignalingstatechange = () => {
      if (pc.signalingState !== "stable") return;
      clearTimeout(this.timers.restart);
      if (this.troubled) this.restart(8000);
      this.watch(pc.sctp?.transport ?? pc.getReceivers().find((receiver) => receiver.transport)?.transport);
      this.tune();
      this.board.onmedia(this);
    };
    pc.onconnectionstatechange = () => this.follow();
    pc.ondatachannel = ({ channel }) => { if (channel.label === "chat") this.talkOver(channel); };
    this.offering = this.outgoing;   // the first offer is the caller's
    this.send();
    if (this.outgoing) {
      if (!this.lanes.microphone) pc.addTransceiver("audio", { direction: "recvonly" });
      if (!this.lanes.camera && !this.lanes.screen) pc.addTransceiver("video", { direction: "recvonly" });
      if (!this.plain) this.talkOver(pc.createDataChannel("chat"));
    }
    this.tellMutes();
  }

  // MARK: what is sent

  /// Brings what the connection sends in line with what there is to send. Changing a device needs no negotiation.
  send() {
    if (!this.pc || this.over) return;
    for (const [kind, track] of Object.entries(this.board.local.tracks)) {
      const lane = this.lanes[kind];
      const sends = lane && !lane.stopped && lane.direction.startsWith("send");
      if (!track) {
        if (!sends) continue;
        lane.sender.replaceTrack(null).catch(() => {});
        lane.direction = lane.direction === "sendrecv" ? "recvonly" : "inactive";
      } else if (sends) {
        if (lane.sender.track !== track) lane.sender.replaceTrack(track).catch(() => {});
      } else if (lane && !lane.stopped) {
        lane.sender.replaceTrack(track).catch(() => {});
        lane.direction = lane.direction === "recvonly" ? "sendrecv" : "sendonly";
      } else {
        const sender = this.pc.addTrack(track, this.board.local.streamOf(kind));
        this.lanes[kind] = this.pc.getTransceivers().find((each) => each.sender === sender);
      }
    }
  }

  /// Screens keep their size and leave out frames; cameras share the line between all who are called.
  tune() {
    for (const kind of ["camera", "screen"]) {
      const sender = this.lanes[kind]?.sender, parameters = sender?.getParameters?.();
      if (!sender?.track || !parameters?.encodings?.length) continue;
      const crowd = this.board.live.length;
      parameters.degradationPreference = kind === "screen" ? "maintain-resolution" : "balanced";
      parameters.encodings[0].maxBitrate = kind === "screen" ? 4_000_000 : crowd < 3 ? 2_500_000 : crowd < 5 ? 1_000_000 : 500_000;
      sender.setParameters(parameters).catch(() => {});
    }
  }

  tellMutes() {
    const { muted, tracks } = this.board.local;
    const told = { audio: !!tracks.microphone && muted.microphone, video: !!tracks.camera && muted.camera };
    for (const kind of ["audio", "video"]) {
      if ((this.told?.[kind] ?? false) !== told[kind] && !this.plain) this.say({ type: "mute", kind, muted: told[kind] });
    }
    this.told = told;
  }

  /// The hub knows the peer again: what was said while it did not is lost.
  retell() {
    if (this.plain || !this.told) return;
    for (const kind of ["audio", "video"]) this.say({ type: "mute", kind, muted: this.told[kind] });
  }

  // MARK: negotiation

  async negotiate() {
    if (!this.offering || this.over) return;
    try {
      this.making = true;
      await this.pc.setLocalDescription();
      this.sendDescription();
    } catch (error) { this.puzzled(error); } finally { this.making = false; }
  }

  sendDescription() {
    const { type, sdp } = this.pc.localDescription;
    if (this.plain) { this.board.line.send({ type: "signal", to: this.peer, call: this.id, data: { type, sdp } }); return; }
    const { face, shared } = this.board.local;
    this.say({ type: "description", description: { type, sdp }, streams: { [face.id]: "camera", [shared.id]: "screen" } });
  }

  /// The content of the remote peer's streams: cameras or screens.
  showing(streams) {
    if (!streams || typeof streams !== "object") return;
    for (const [id, kind] of Object.entries(streams).slice(0, 64)) this.streamKinds.set(id, kind);
    while (this.streamKinds.size > 64) this.streamKinds.delete(this.streamKinds.keys().next().value);
  }

  describe(description, streams) {
    if (typeof description?.sdp !== "string") return;
    this.showing(streams);
    this.inOrder(async () => {
      const { pc } = this;
      const ready = !this.making && (pc.signalingState === "stable" || this.settling);
      this.ignoring = description.type === "offer" && !ready && !this.polite;
      if (this.ignoring || (description.type === "answer" && pc.signalingState === "stable")) return;
      this.settling = description.type === "answer";
      try { await pc.setRemoteDescription({ type: description.type, sdp: description.sdp }); } finally { this.settling = false; }
      for (const candidate of this.early.splice(0)) await this.add(candidate).catch(() => {});
      if (description.type === "offer") {
        await pc.setLocalDescription();
        this.sendDescription();
        this.offering = true;
      }
    });
  }

  candidate(candidate) {
    if (this.over) return;
    if (!this.pc) { if (this.early.length < 128) this.early.push(candidate); return; }   // it still rings here
    this.inOrder(async () => {
      if (!this.pc.remoteDescription) { this.early.push(candidate); return; }
      try { await this.add(candidate); } catch (error) { if (!this.ignoring) this.puzzled(error); }
    });
  }

  /// Older protocols write bare lines, and leave out which section they mean.
  add(candidate) {
    if (typeof candidate === "string") candidate = { candidate, sdpMLineIndex: 0 };
    if (candidate && candidate.sdpMid == null && candidate.sdpMLineIndex == null) candidate.sdpMLineIndex = 0;
    return this.pc.addIceCandidate(candidate ?? undefined);
  }

  /// Other STUN and TURN servers, or fresh credentials: for the next restart.
  serve() { try { this.pc?.setConfiguration({ ...this.pc.getConfiguration(), iceServers: this.board.line.iceServers }); } catch (error) { this.puzzled(error); } }

  /// Runs tasks one after the other; an error of one does not affect the next.
  inOrder(step) {
    this.work = this.work.then(() => this.pc && !this.over ? step() : undefined).catch((error) => this.puzzled(error));
  }

  puzzled(error) { if (!this.over) console.warn("call with", this.peer, error); }

  // MARK: the connection

  follow() {
    if (this.over) return;
    clearTimeout(this.timers.restart);
    switch (this.pc.connectionState) {
    case "connected":
      clearTimeout(this.timers.end);
      this.since ||= Date.now();
      this.enter("connected");
      break;
    case "disconnected":
      if (this.isLive) this.enter("interrupted");
      this.restart(3000);
      break;
    case "failed":
      if (this.gone) { this.end("lost"); return; }
      if (this.isLive) this.enter("interrupted");
      this.patience(45000, "lost");
      this.restart(0);
      break;
    }
  }

  get troubled() { return !!this.pc && !this.over && this.since > 0 && this.pc.connectionState !== "connected"; }

  /// New candidates, new checks. The caller begins; the other side helps where that leads nowhere. Where signaling was
  /// interrupted too, an offer or its answer may be lost: it is said again.
  restart(delay, hurried = false) {
    clearTimeout(this.timers.restart);
    this.timers.restart = setTimeout(() => {
      if (this.over || this.pc.connectionState === "connected") return;
      if (this.pc.signalingState === "have-local-offer") this.sendDescription();
      else if (this.offering && this.pc.signalingState === "stable") this.pc.restartIce();
      this.restart(8000);
    }, delay + (this.polite && !hurried ? 4000 : 0));
  }

  /// The network or the hub is back, or the machine has slept. The connection may not know yet that it is broken.
  wake() {
    if (this.troubled) this.restart(0, true);
    else if (this.isLive) this.timers.wake = setTimeout(() => { if (this.troubled) this.restart(0, true); }, 2500);
  }

  /// A remote peer that closes says so on the connection itself, hub or no hub.
  watch(transport) {
    if (!transport || transport === this.transport) return;
    this.transport = transport;
    transport.addEventListener("statechange", () => { if (transport.state === "closed") this.end("hung-up"); });
  }

  talkOver(channel) {
    this.chat = channel;
    channel.onopen = channel.onclose = () => this.board.onchange();
    channel.onmessage = ({ data }) => { if (typeof data === "string") this.board.onchat(this, data); };
    this.board.onchange();
  }

  patience(milliseconds, reason) {
    clearTimeout(this.timers.end);
    this.timers.end = setTimeout(() => this.end(reason), milliseconds);
  }

  enter(state) {
    if (this.over || this.state === state) return;
    this.state = state;
    this.board.onchange();
  }

  /// Ends the call. The remote peer is notified unless it ended the call itself.
  end(reason) {
    if (this.over) return;
    for (const timer of Object.values(this.timers)) clearTimeout(timer);
    const silent = ["hung-up", "cancelled", "rejected", "busy", "unsupported", "unknown-peer", "crossed", "left"].includes(reason);
    if (!silent) this.board.line.send({ type: "bye", to: this.peer, call: this.id, reason });
    this.wasLive = this.isLive;
    this.wasRinging = this.state === "ringing";
    this.state = "ended";
    this.reason = reason;
    this.pc?.close();
    this.board.ended(this);
  }
}
