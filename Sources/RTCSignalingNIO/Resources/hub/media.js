"use strict";
// The media of this side: microphone, camera, screen. A call sends the present media, and is notified of changes.

class LocalMedia {
  constructor() {
    this.tracks = { microphone: null, camera: null, screen: null, screenSound: null };
    this.face = new MediaStream();       // the streams only give the remote peer their names
    this.shared = new MediaStream();
    this.muted = { microphone: false, camera: false };
    this.faults = {};                    // by kind: what the browser said
    this.devices = [];
    this.onchange = () => {};
    navigator.mediaDevices?.addEventListener?.("devicechange", () => this.list());
  }

  static get hasDevices() { return !!navigator.mediaDevices?.getUserMedia; }
  static get hasScreens() { return !!navigator.mediaDevices?.getDisplayMedia; }

  streamOf(kind) { return kind.startsWith("screen") ? this.shared : this.face; }
  isOn(kind) { return !!this.tracks[kind] && !this.muted[kind]; }
  chosen(kind) { return recall("device." + kind) ?? ""; }

  /// Asks for all of `kinds` at once, and one by one if one of them fails.
  async start(kinds) {
    if (!LocalMedia.hasDevices) { for (const kind of kinds) this.blame(kind, { name: "Insecure" }); this.onchange(); return; }
    try { this.adopt(await this.request(kinds)); }
    catch (error) {
      for (const kind of kinds) {
        if (kinds.length === 1 || (error.name === "NotAllowedError" && !(await LocalMedia.mayAsk(kind)))) { this.blame(kind, error); continue; }
        try { this.adopt(await this.request([kind])); } catch (own) { this.blame(kind, own); }
      }
    }
    await this.list();
    this.onchange();
  }

  async request(kinds, anyDevice = false) {
    const wish = (kind) => !anyDevice && this.chosen(kind) ? { deviceId: { exact: this.chosen(kind) } } : {};
    try {
      return await navigator.mediaDevices.getUserMedia({
        ...(kinds.includes("microphone") && {
          audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, ...wish("microphone") } }),
        ...(kinds.includes("camera") && {
          video: { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 }, ...wish("camera") } }),
      });
    } catch (error) {
      if (anyDevice || error.name !== "OverconstrainedError") throw error;
      return this.request(kinds, true);   // the device of last time is not here
    }
  }

  /// After a refusal: whether this kind, asked for alone, was granted before.
  static async mayAsk(kind) {
    try { return (await navigator.permissions.query({ name: kind })).state === "granted"; } catch { return false; }
  }

  adopt(stream) {
    for (const track of stream.getTracks()) this.set(track.kind === "audio" ? "microphone" : "camera", track);
  }

  set(kind, track) {
    this.tracks[kind]?.stop();
    if (this.tracks[kind]) this.tracks[kind].onended = null;
    this.tracks[kind] = track;
    delete this.faults[kind];
    if (!track) return;
    if (kind === "screen") {
      track.contentHint = "detail";
      track.contentHint = "text";        // where it is known: letters before motion
    }
    if (kind in this.muted) track.enabled = !this.muted[kind];
    track.onended = () => {
      this.set(kind, null);
      if (kind === "screen") this.set("screenSound", null);
      else this.blame(kind, { name: "Ended" });
      this.onchange();
    };
  }

  stop(kind) {
    this.set(kind, null);
    if (kind === "screen") this.set("screenSound", null);
    this.onchange();
  }

  mute(kind, muted) {
    this.muted[kind] = muted;
    if (this.tracks[kind]) this.tracks[kind].enabled = !muted;
    this.onchange();
  }

  /// Another device, or none (""), at once; calls keep their lines.
  async choose(kind, deviceId) {
    remember("device." + kind, deviceId);
    if (deviceId === "none") { this.stop(kind); return; }
    this.muted[kind] = false;
    if (kind === "camera") this.tracks.camera?.stop();   // many cameras open only once
    await this.start([kind]);
  }

  async share() {
    if (!LocalMedia.hasScreens) { this.blame("screen", { name: LocalMedia.hasDevices ? "Unsupported" : "Insecure" }); this.onchange(); return; }
    try {
      const stream = await navigator.mediaDevices.getDisplayMedia({
        video: { frameRate: { ideal: 15, max: 30 } }, audio: true, ...LocalMedia.displayWishes });
      this.set("screen", stream.getVideoTracks()[0] ?? null);
      this.set("screenSound", stream.getAudioTracks()[0] ?? null);
    } catch (error) { this.blame("screen", error); }
    this.onchange();
  }

  async list() {
    try { this.devices = await navigator.mediaDevices.enumerateDevices(); } catch { this.devices = []; }
    this.onchange();
  }

  blame(kind, error) {
    if (kind in this.muted) this.tracks[kind] = null;
    this.faults[kind] = { code: error.name, detail: error.message || error.name };
  }

  /// The missing media and the remedy; equal problems of several kinds are reported once.
  get complaints() {
    const kindsOf = new Map();
    for (const [kind, fault] of Object.entries(this.faults)) {
      const key = fault.code === "NotAllowedError" && kind === "screen" ? "Cancelled" : fault.code;
      kindsOf.set(key, { kinds: [...(kindsOf.get(key)?.kinds ?? []), kind], detail: fault.detail });
    }
    return [...kindsOf].map(([code, { kinds, detail }]) => {
      const things = kinds.join(" and ");
      return {
        Insecure: "Browsers give camera, microphone and screen to https:// pages only (and on this machine to http://localhost). "
          + "You can still join, see and hear.",
        Cancelled: "No screen was chosen, so nothing is shared.",
        NotAllowedError: `Not allowed here: ${things}. Allow it by the sign in the address bar, then press its button again. You can also go on without.`,
        NotFoundError: `Not found: ${things}. Plug one in, or go on without.`,
        NotReadableError: `Does not start: ${things}. Another program may be using it; close that, then press its button again.`,
        AbortError: `Does not start: ${things}. Unplug it, plug it in, and press its button again.`,
        Unsupported: "This browser cannot share the screen; browsers on phones cannot.",
        Ended: `Stopped: ${things}. It was unplugged, or its permission was taken back.`,
      }[code] ?? `Does not start: ${things}, because of “${detail}”.`;
    });
  }
}
LocalMedia.displayWishes = {};   // what a test adds to the question

/// `storage`: null for none.
function recall(name, storage) {
  try { return (storage === undefined ? localStorage : storage).getItem("rtcast.hub." + name); } catch { return null; }
}
function remember(name, value, storage) {
  try { (storage === undefined ? localStorage : storage).setItem("rtcast.hub." + name, value); } catch { /* a private window, or no storage */ }
}
