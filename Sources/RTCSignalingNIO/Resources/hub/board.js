"use strict";
// The switchboard: the calls, the peers at the hub, and the rules for ringing.

class Switchboard {
  constructor(line, local) {
    Object.assign(this, { line, local, calls: new Map(), people: new Set(), room: null, members: new Set() });
    this.onchange = () => {};      // calls, people or rooms changed
    this.onmedia = () => {};       // (call): what arrives changed
    this.onchat = () => {};        // (call, text)
    this.onended = () => {};       // (call)
    this.onfault = () => {};       // ({ code, message })
    line.onmessage = (message) => this.receive(message);
    line.onservers = () => { for (const call of this.calls.values()) call.serve(); };
    line.onwake = () => this.wake();
  }

  get active() { return [...this.calls.values()].filter((call) => call.state !== "ringing"); }
  get live() { return [...this.calls.values()].filter((call) => call.isLive); }
  get ringing() { return [...this.calls.values()].find((call) => call.state === "ringing") ?? null; }
  with(peer) { return [...this.calls.values()].find((call) => call.peer === peer) ?? null; }

  // MARK: actions

  call(peer, room = null) {
    const call = this.add(new Call(this, peer, freshId(), { outgoing: true, room }));
    call.ring();
    return call;
  }

  hangUp() {
    const room = this.room;
    for (const call of this.calls.values()) call.end("left-here");
    if (room !== null) this.leaveRoom();
  }

  enterRoom(room) {
    if (this.room === room) return;
    this.hangUp();
    this.room = room;
    this.line.join(room);
    this.onchange();
  }

  leaveRoom() {
    this.line.leave(this.room);
    this.room = null;
    this.members.clear();
    this.onchange();
  }

  reject(call, reason = "rejected") {
    call.say({ type: "reject", reason });
    call.end(reason);
  }

  /// Local media changed: every call sends what there is now.
  resend() {
    for (const call of this.calls.values()) if (call.pc) { call.send(); call.tellMutes(); call.tune(); }
  }

  chat(text) {
    let heard = 0;
    for (const { chat } of this.calls.values()) if (chat?.readyState === "open") { chat.send(text); heard++; }
    return heard;
  }

  /// Retries broken connections.
  wake() { for (const call of this.calls.values()) call.wake(); }

  add(call) {
    this.calls.set(call.id, call);
    this.onchange();
    return call;
  }

  ended(call) {
    this.calls.delete(call.id);
    this.onended(call);
    this.onchange();
    for (const other of this.live) other.tune();
    // Connections in a room are restored by their callers.
    if (call.room !== null && call.room === this.room && call.outgoing && ["lost", "unreachable", "unanswered"].includes(call.reason)) {
      setTimeout(() => this.meet(call.peer), 2000);
    }
  }

  // MARK: messages

  receive(message) {
    const { type, from, room, peer } = message;
    switch (type) {
    case "peers": this.arrived(room, message.peers ?? []); break;
    case "peer-joined": this.came(room, peer); break;
    case "peer-left": this.went(room, peer); break;
    case "present": this.people = new Set(message.peers ?? []); this.onchange(); break;
    case "peer-arrived": this.appeared(peer); break;
    case "peer-gone": this.disappeared(peer); break;
    case "signal": this.signal(from, message.data, message.call); break;
    case "candidate": this.find(from, message.call)?.candidate(message.candidate); break;
    case "bye": this.bye(from, message.call); break;
    case "error": this.fault(message); break;
    }
  }

  arrived(room, peers) {
    if (room === this.room) {
      this.members = new Set(peers);
      for (const peer of peers) this.meet(peer);
    }
    this.onchange();
  }

  /// The newcomer calls everybody who is there.
  meet(peer) {
    if (this.room !== null && this.members.has(peer) && !this.with(peer)) this.call(peer, this.room);
  }

  came(room, peer) {
    if (room === this.room) this.members.add(peer);
    this.back(peer);
  }

  went(room, peer) {
    if (room === this.room) this.members.delete(peer);
    const call = this.with(peer);
    if (call && room === call.room) this.vanished(call);
    this.onchange();
  }

  /// At the hub, in whatever room or none.
  appeared(peer) {
    this.people.add(peer);
    this.back(peer);
    const call = this.with(peer);
    if (call?.isLive) call.retell();
  }

  disappeared(peer) {
    this.people.delete(peer);
    const call = this.with(peer);
    if (call) this.vanished(call);
    this.onchange();
  }

  back(peer) {
    const call = this.with(peer);
    if (call) call.gone = false;
    this.onchange();
  }

  /// The hub lost a peer. An established call continues without the hub.
  vanished(call) {
    call.gone = true;
    if (call.state === "connected") return;
    call.end(call.isLive ? "lost" : call.state === "ringing" ? "cancelled" : "unknown-peer");
  }

  find(from, id) {
    const call = id === undefined ? this.with(from) : this.calls.get(id);
    return call?.peer === from ? call : null;
  }

  signal(from, data, outerID) {
    if (data === null || typeof data !== "object") return;
    const id = typeof data.call === "string" ? data.call : outerID;
    const call = this.find(from, id);
    switch (data.type) {
    case "call": if (!call && typeof id === "string") this.rung(from, id, data); break;
    case "accept": if (call?.state === "calling") call.connect(); break;
    case "reject":
      if (call?.state === "calling") call.end(["busy", "unsupported"].includes(data.reason) ? data.reason : "rejected");
      break;
    case "description":
      if (call?.pc) call.describe(data.description, data.streams);
      else if (call?.state === "ringing") call.offer = data.description;   // older protocols' callers do not wait
      else if (!call) this.line.send({ type: "bye", to: from, call: id, reason: "unknown-call" });
      break;
    case "streams": if (call) { call.showing(data.streams); this.onmedia(call); } break;
    case "mute":
      if (call && (data.kind === "audio" || data.kind === "video")) { call.mutedThere[data.kind] = data.muted === true; this.onmedia(call); }
      break;
    case "end": if (call) this.bye(from, id); break;
    case "offer": case "answer": this.bare(from, id, data, call); break;
    }
  }

  /// Bare offers and answers of other dialects' clients.
  bare(from, id, data, call) {
    if (call?.pc) { call.describe(data); return; }
    if (data.type !== "offer" || call) return;
    const inRoom = this.room !== null && this.members.has(from);
    this.rung(from, id ?? freshId(), { offer: data, ...(inRoom && { room: this.room }) });
  }

  rung(from, id, { room = null, offer = null }) {
    const call = new Call(this, from, id, { outgoing: false, room, plain: !!offer });
    call.offer = offer;
    if (!window.RTCPeerConnection) { this.refuse(call, "unsupported"); return; }
    // A room takes calls from those whom the hub says are in it, and from nobody else.
    if (room !== null && (room !== this.room || !this.members.has(from))) { this.refuse(call, "rejected"); return; }
    const other = this.with(from);
    const crossed = !!other && other.outgoing && other.room === room && (other.state === "calling" || other.state === "connecting");
    if (crossed && comesFirst(this.line.name, from)) { clearTimeout(call.timers.end); return; }   // they answer ours
    if (other) other.end(crossed ? "crossed" : "lost");
    if (room === null && !crossed && (this.room !== null || this.calls.size)) {
      this.refuse(call, "busy");
      this.onended(Object.assign(call, { reason: "was-busy" }));
      return;
    }
    this.add(call);
    if (crossed || room !== null) call.accept(offer);
  }

  /// Rejects a call without ringing.
  refuse(call, reason) {
    clearTimeout(call.timers.end);
    if (call.plain) this.line.send({ type: "bye", to: call.peer, call: call.id, reason });
    else call.say({ type: "reject", reason });
    call.state = "ended";
  }

  bye(from, id) {
    const call = this.find(from, id);
    if (call) call.end(call.state === "ringing" ? "cancelled" : call.state === "calling" ? "rejected" : "hung-up");
  }

  fault({ code, message, to, room }) {
    const call = to === undefined ? null : this.with(to);
    if (code === "unknown-peer") {
      if (call) this.vanished(call);
      return;
    }
    if (code === "incompatible") {
      // A client of another dialect: it knows no ringing, only the offer.
      if (call?.state === "calling") { call.plain = true; call.connect(); }
      return;
    }
    if (code === "not-in-room") return;
    if (room !== undefined && room === this.room) this.leaveRoom();
    this.onfault({ code, message: String(message ?? ""), room });
  }
}

/// By the numbers of their characters, as everybody else compares names too.
function comesFirst(mine, theirs) {
  const a = Array.from(mine, (each) => each.codePointAt(0)), b = Array.from(theirs, (each) => each.codePointAt(0));
  for (let i = 0; i < Math.min(a.length, b.length); i++) if (a[i] !== b[i]) return a[i] < b[i];
  return a.length < b.length;
}
