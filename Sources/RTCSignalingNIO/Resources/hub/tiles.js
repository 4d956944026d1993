"use strict";
// The stage: a tile for every received video, a face for each peer without one, their sound, and the quality.

class Tiles {
  constructor(grid) {
    this.grid = grid;
    this.tiles = new Map();       // key → tile
    this.voices = new Map();      // track id → audio element
    this.silenced = new Set();    // peers that this side does not want to hear
    this.speaker = recall("device.speaker") ?? "";
    this.blocked = false;
    this.onblocked = () => {};
    new ResizeObserver(() => this.arrange()).observe(grid);
  }

  /// Makes the stage show what the calls have.
  show(calls) {
    const wanted = new Map(), sounding = new Set();
    for (const call of calls) {
      const incoming = Tiles.incoming(call);
      for (const { track, kind, key } of incoming.filter(({ track }) => track.kind === "video")) wanted.set(key, { call, track, kind });
      if (![...wanted.values()].some((each) => each.call === call && each.kind !== "screen")) wanted.set(call.id, { call, track: null, kind: "face" });
      for (const { track } of incoming.filter(({ track }) => track.kind === "audio")) { this.voice(call, track); sounding.add(track.id); }
    }
    // A face that only says what a screen beside it says as well is left out once that is up.
    for (const [key, { call, kind }] of wanted) {
      if (kind === "face" && call.isLive && [...wanted.values()].some((each) => each.call === call && each.kind === "screen")) wanted.delete(key);
    }
    for (const [key, tile] of this.tiles) if (!wanted.has(key)) { tile.figure.remove(); this.tiles.delete(key); }
    for (const [id, voice] of this.voices) if (!sounding.has(id)) { voice.srcObject = null; voice.remove(); this.voices.delete(id); }
    for (const [key, { call, track, kind }] of wanted) {
      if (!this.tiles.has(key)) this.tiles.set(key, this.make(key));
      this.fill(this.tiles.get(key), call, track, kind);
    }
    this.arrange();
  }

  /// The received media of a call, by the negotiated directions, without removed tracks.
  static incoming(call) {
    const transceivers = call.pc && call.pc.connectionState !== "closed" ? call.pc.getTransceivers() : [];
    return transceivers.filter(({ currentDirection, receiver }) =>
      (currentDirection === "sendrecv" || currentDirection === "recvonly") && receiver.track.readyState === "live")
      .map((transceiver) => {
        const { track } = transceiver.receiver, streams = Tiles.streams(call, transceiver);
        return { track, transceiver, key: call.id + "/" + transceiver.mid,
          kind: streams.some((id) => call.streamKinds.get(id) === "screen") ? "screen" : "camera" };
      });
  }

  /// The streams that the remote peer put a transceiver's track into, from its description: the browser tells them only once.
  static streams(call, { mid }) {
    const sections = (call.pc.remoteDescription?.sdp ?? "").split(/^m=/m);
    // Compared, not searched for by a pattern: a mid is the other's text.
    const section = sections.find((each) => each.split("\n").some((line) => line.trimEnd() === "a=mid:" + mid)) ?? "";
    return [...section.matchAll(/^a=msid:(\S+)/gm)].map((match) => match[1]);
  }

  make(key) {
    const figure = $("tile-shape").content.firstElementChild.cloneNode(true);
    const part = (name) => figure.querySelector(name);
    const tile = { key, figure, video: part("video"), face: part(".face"), name: part(".name"), what: part(".what"),
      figures: part(".figures"), silence: part("[data-tile=silence]"), last: null };
    part("[data-tile=full]").onclick = () => this.full(tile);
    tile.silence.onclick = () => { this.silence(tile.call.peer, !this.silenced.has(tile.call.peer)); };
    figure.ondblclick = () => this.full(tile);
    tile.video.onloadeddata = tile.video.onresize = () => this.shown(tile);
    this.grid.append(figure);
    return tile;
  }

  fill(tile, call, track, kind) {
    tile.call = call;
    tile.track = track;
    const { figure, video } = tile, data = figure.dataset;
    data.peer = call.peer;
    data.kind = kind;
    data.link = call.state;
    data.audioMuted = call.mutedThere.audio;
    data.videoMuted = kind === "camera" && call.mutedThere.video;
    data.silenced = this.silenced.has(call.peer);
    if (track && video.srcObject?.getVideoTracks()[0] !== track) {
      data.state = "waiting";
      video.srcObject = new MediaStream([track]);
      video.play().catch(() => {});
    } else if (!track) {
      data.state = "face";
      video.srcObject = null;
    }
    const told = { calling: "Ringing…", connecting: "Connecting…", interrupted: "Connection interrupted…" }[call.state] ?? "";
    tile.name.textContent = call.peer;
    tile.what.textContent = told || (kind === "screen" ? "screen" : data.videoMuted === "true" ? "camera off" : "");
    paintFace(tile.face, call.peer);
    figure.setAttribute("aria-label", [call.peer, kind === "screen" ? "screen" : "", told, call.mutedThere.audio ? "microphone off" : ""].filter(Boolean).join(", "));
    tile.silence.setAttribute("aria-pressed", data.silenced);
    tile.silence.setAttribute("aria-label", "Mute " + call.peer);
    figure.querySelector("[data-tile=full]").setAttribute("aria-label", "Full screen: " + call.peer);
    figure.querySelector("[data-tile=full]").hidden = !track;
    tile.silence.hidden = kind === "screen" || !call.isLive;
  }

  shown(tile) {
    tile.figure.dataset.state = "live";
    tile.figure.dataset.size = tile.video.videoWidth + "x" + tile.video.videoHeight;
    this.arrange();
  }

  /// The number of columns, at most three, that makes the pictures largest; screens get the room and the faces a strip.
  arrange() {
    const count = this.tiles.size, { clientWidth: width, clientHeight: height } = this.grid;
    const screens = [...this.tiles.values()].filter(({ figure }) => figure.dataset.kind === "screen").length, faces = count - screens;
    this.grid.dataset.count = count;
    this.grid.dataset.layout = root.dataset.layout = !screens || !faces ? "grid" : width > height ? "side" : "below";
    // In the strip the last place is for one's own picture. Rows or columns are counted so that both kinds come out even.
    this.grid.style.setProperty("--screen-span", faces + 1);
    this.grid.style.setProperty("--face-span", screens);
    this.grid.style.setProperty("--places", screens * (faces + 1));
    if (!count || !width) return;
    const area = (columns) => {
      const wide = width / columns, tall = height / Math.ceil(count / columns);
      return Math.min(wide * wide * 9 / 16, tall * tall * 16 / 9);
    };
    const columns = [1, 2, 3].filter((each) => each <= count).reduce((best, each) => area(each) > area(best) * 1.02 ? each : best, 1);
    this.grid.style.setProperty("--columns", columns);
    this.grid.dataset.columns = columns;
  }

  full(tile) {
    if (document.fullscreenElement) { document.exitFullscreen(); return; }
    if (tile.figure.requestFullscreen) tile.figure.requestFullscreen({ navigationUI: "hide" }).catch(() => {});
    else tile.video.webkitEnterFullscreen?.();   // iPhones know full screen for videos only
  }

  // MARK: sound

  voice(call, track) {
    let voice = this.voices.get(track.id);
    if (!voice) {
      voice = document.createElement("audio");
      voice.autoplay = true;
      voice.srcObject = new MediaStream([track]);
      if (this.speaker) voice.setSinkId?.(this.speaker).catch(() => {});
      this.voices.set(track.id, voice);
      $("voices").append(voice);
      this.play(voice);
    }
    voice.dataset.peer = call.peer;
    voice.muted = this.silenced.has(call.peer);
  }

  async play(voice) {
    try { await voice.play(); } catch (error) { if (error.name === "NotAllowedError") this.block(true); }
  }

  /// After somebody touched the page.
  unblock() {
    this.block(false);
    for (const voice of this.voices.values()) this.play(voice);
  }

  block(blocked) { this.blocked = blocked; this.onblocked(); }

  silence(peer, silent) {
    if (silent) this.silenced.add(peer);
    else this.silenced.delete(peer);
    for (const voice of this.voices.values()) if (voice.dataset.peer === peer) voice.muted = silent;
    for (const tile of this.tiles.values()) if (tile.call.peer === peer) this.fill(tile, tile.call, tile.track, tile.figure.dataset.kind);
  }

  speak(deviceId) {
    remember("device.speaker", this.speaker = deviceId);
    for (const voice of this.voices.values()) voice.setSinkId?.(deviceId).catch(() => {});
  }

  // MARK: figures

  /// The peers that are audible now, as the remote peer measured it.
  listen() {
    for (const tile of this.tiles.values()) {
      if (tile.figure.dataset.kind === "screen") continue;
      const receivers = tile.call.isLive ? tile.call.pc.getReceivers().filter(({ track }) => track?.kind === "audio") : [];
      tile.figure.dataset.speaking = receivers.some((receiver) => (receiver.getSynchronizationSources()[0]?.audioLevel ?? 0) > 0.02);
    }
  }

  async measure() {
    for (const call of new Set([...this.tiles.values()].map((tile) => tile.call))) {
      if (!call.isLive) continue;
      let report;
      try { report = [...(await call.pc.getStats()).values()]; } catch { continue; }
      const transport = report.find((each) => each.type === "transport");
      const pair = report.find((each) => each.type === "candidate-pair"
        && (each.id === transport?.selectedCandidatePairId || (!transport && each.nominated && each.state === "succeeded")));
      const sounds = report.filter((each) => each.type === "inbound-rtp" && each.kind === "audio");
      for (const tile of this.tiles.values()) {
        if (tile.call !== call) continue;
        const mid = tile.key.slice(call.id.length + 1);
        const video = tile.track && report.find((each) => each.type === "inbound-rtp" && each.kind === "video"
          && (each.mid === mid || each.trackIdentifier === tile.track.id));
        this.rate(tile, video ?? null, video ? [video] : sounds, pair?.currentRoundTripTime);
      }
    }
  }

  rate(tile, video, flows, roundTrip) {
    const sum = (name) => flows.reduce((all, each) => all + (each[name] ?? 0), 0);
    const now = { at: performance.now(), bytes: sum("bytesReceived"), lost: sum("packetsLost"), got: sum("packetsReceived"), frames: video?.framesDecoded ?? 0 };
    const then = tile.last;
    tile.last = now;
    tile.figure.dataset.frames = now.frames;
    if (!then || now.got < then.got) return;
    const seconds = (now.at - then.at) / 1000, lost = Math.max(0, now.lost - then.lost), got = now.got - then.got;
    const bitrate = (now.bytes - then.bytes) * 8 / seconds, loss = lost + got > 0 ? lost / (lost + got) : 0;
    const fps = (now.frames - then.frames) / seconds;
    // For display: the frame's own size is that before rotation.
    const [width, height] = tile.video.videoWidth ? [tile.video.videoWidth, tile.video.videoHeight] : [video?.frameWidth, video?.frameHeight];
    const parts = [video?.frameWidth && `${width}×${height}`, video && (fps < 0.5 ? "at rest" : Math.round(fps) + " fps"),
      bitrate >= 1e6 ? (bitrate / 1e6).toFixed(1) + " Mbit/s" : Math.round(bitrate / 1e3) + " kbit/s",
      roundTrip !== undefined && (roundTrip * 1000).toFixed(roundTrip < 0.01 ? 1 : 0) + " ms", (loss * 100).toFixed(1) + " % lost"];
    tile.figures.textContent = parts.filter(Boolean).join(" · ");
    const quality = loss > 0.05 || roundTrip > 0.4 ? "poor" : loss > 0.015 || roundTrip > 0.2 ? "fair" : "good";
    tile.figure.dataset.quality = quality;
    const bars = tile.figure.querySelector(".bars");
    bars.setAttribute("aria-label", "Connection: " + quality);
    bars.title = "Connection: " + quality;
    Object.assign(tile, { fps, bitrate, loss, roundTrip });
  }
}

/// A coloured disc with the first letters of a name.
function paintFace(face, name) {
  const words = name.trim().split(/[\s._-]+/).filter(Boolean);
  const first = (word) => Array.from(word ?? "")[0] ?? "";
  face.firstElementChild.textContent = (first(words[0]) + (words.length > 1 ? first(words.at(-1)) : "")).toUpperCase() || "?";
  let hue = 0;
  for (const letter of name) hue = (hue * 31 + letter.codePointAt(0)) % 360;
  face.style.setProperty("--hue", hue);
}
