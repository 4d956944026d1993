"use strict";
// The line to the hub: one WebSocket, a name on it, and the will to get it back. Calls do not depend on it.

/// state: closed → connecting → online ⇄ lost; or refused, when trying again by itself would not help.
class HubLine {
  constructor() {
    this.state = "closed";
    this.name = "";
    this.token = "";
    this.fault = null;           // { code, message } of the last refusal
    this.iceServers = [];
    this.rooms = new Set();      // the rooms to be in, across reconnections
    this.following = false;      // whether changes of the peers are reported
    this.retryAt = 0;
    this.onstate = () => {};
    this.onmessage = () => {};
    this.onservers = () => {};   // iceServers are others than before
    this.onwake = () => {};      // the network is back or another, or the machine slept
    this.socket = null;
    this.queue = [];             // for peers, while there is no line
    this.tries = 0;
    this.wasOnline = false;
    this.heard = 0;
    addEventListener("online", () => this.wake());
    addEventListener("offline", () => { if (this.state === "online") this.ask(1500); });
    document.addEventListener("resume", () => this.wake());
    navigator.connection?.addEventListener?.("change", () => this.wake());
    // A clock that has jumped has slept, and the hub and the peers may have given up meanwhile. Hidden pages are woken once a
    // minute at least.
    let ticked = Date.now();
    setInterval(() => { const gap = Date.now() - ticked; ticked += gap; if (gap > 75000) this.wake(); }, 5000);
    setInterval(() => this.ask(12000), 20000);
  }

  /// Retries at once.
  wake() {
    if (this.state === "lost") { this.tries = 0; this.connect(); } else this.ask(4000);
    this.onwake();
  }

  open(name, token) {
    Object.assign(this, { name, token, tries: 0, wasOnline: false, secret: HubLine.secret(name) });
    this.connect();
  }

  /// The tab's proof that a name is its own: a page that was reloaded gets its name back at once.
  static secret(name) {
    const fresh = randomText(32);
    try {
      const kept = JSON.parse(sessionStorage.getItem("rtcast.secret") ?? "null");
      if (kept?.name === name && typeof kept.secret === "string") return kept.secret;
      sessionStorage.setItem("rtcast.secret", JSON.stringify({ name, secret: fresh }));
    } catch { /* no storage: then the name is free again a little later */ }
    return fresh;
  }

  connect() {
    this.drop();
    this.enter(this.wasOnline ? "lost" : "connecting");
    // A proxy may show the page at its path without a final slash.
    const path = /\/(index\.html)?$/.test(location.pathname) ? location.pathname : location.pathname + "/";
    const address = new URL("hub", location.origin + path);
    address.protocol = address.protocol.replace("http", "ws");
    let socket;
    try { socket = new WebSocket(address); } catch { this.again(); return; }
    this.socket = socket;
    this.heard = performance.now();
    this.patience = setTimeout(() => { if (socket === this.socket) { this.drop(); this.again(); } }, 10000);
    socket.onopen = () => socket.send(JSON.stringify({
      type: "register", id: this.name, secret: this.secret, ...(this.token ? { token: this.token } : {}),
      ...(this.wasOnline ? { returning: true } : {}) }));
    socket.onmessage = (event) => { if (socket === this.socket) this.receive(event.data); };
    socket.onclose = () => {
      if (socket !== this.socket) return;
      this.drop();
      if (this.state !== "refused" && this.state !== "closed") this.again();
    };
  }

  receive(text) {
    this.heard = performance.now();
    clearTimeout(this.doubt);
    let message;
    try { message = JSON.parse(text); } catch { return; }
    if (message === null || typeof message !== "object") return;
    if (message.type === "registered") this.registered(message);
    else if (message.type === "ice-servers") this.use(message.iceServers);
    else if (message.type === "error" && this.refuses(message)) return;
    else this.onmessage(message);
  }

  registered(message) {
    clearTimeout(this.patience);
    Object.assign(this, { name: message.id, fault: null, tries: 0, wasOnline: true });
    this.use(message.iceServers);
    const entered = new Set(message.rooms ?? []), followed = this.following;
    this.enter("online");
    for (const room of this.rooms) if (!entered.has(room)) this.send({ type: "join", room });
    for (const room of entered) if (!this.rooms.has(room)) this.send({ type: "leave", room });
    if (followed) this.send({ type: "list", follow: true });
    for (const { message, due } of this.queue.splice(0)) if (due > performance.now()) this.send(message);
  }

  /// Takes new credentials for TURN servers, which the hub sends before the old ones expire.
  use(servers) {
    this.iceServers = Array.isArray(servers) ? servers : [];
    this.onservers();
  }

  /// Whether the error is about this line rather than about something that was asked for on it.
  refuses({ code, message }) {
    // Once there is a name, what is said of names is about others'.
    if (code === "bad-name" && this.state === "online") return false;
    const final = ["bad-token", "bad-name", "weak-secret", "replaced"].includes(code) || String(code).startsWith("link-")
      || (code === "taken-name" && !this.wasOnline);
    const passing = ["too-many-tries", "taken-name", "too-many-peers", "too-many-connections", "never-registered", "silent", "too-slow",
      "too-many-faults", "shutting-down", "lost-name"].includes(code)
      // On a line with a name, it is about a room.
      || (code === "cluster-unavailable" && this.state !== "online");
    if (!final && !passing) return false;
    this.fault = { code, message: String(message ?? "") };
    this.drop();
    if (final) this.enter("refused");
    else this.again();
    return true;
  }

  /// Messages to peers wait for the connection; the rest is sent again when it is back.
  send(message) {
    if (this.state === "online" && this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify(message));
    } else if (message.to !== undefined && this.queue.length < 200) {
      this.queue.push({ message, due: performance.now() + 60000 });
    }
  }

  join(room) { this.rooms.add(room); if (this.state === "online") this.send({ type: "join", room }); }
  follow() { this.following = true; if (this.state === "online") this.send({ type: "list", follow: true }); }
  leave(room) { if (this.rooms.delete(room) && this.state === "online") this.send({ type: "leave", room }); }

  /// Checks whether the hub still answers.
  ask(patience) {
    if (this.state !== "online") return;
    this.send({ type: "ping" });
    clearTimeout(this.doubt);
    this.doubt = setTimeout(() => { if (this.state === "online") { this.drop(); this.again(); } }, patience);
  }

  again() {
    const wait = [500, 1000, 2000, 4000, 8000][Math.min(this.tries++, 4)] * (0.8 + Math.random() * 0.4);
    this.retryAt = performance.now() + wait;
    this.enter("lost");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.connect(), wait);
  }

  drop() {
    for (const timer of [this.timer, this.doubt, this.patience]) clearTimeout(timer);
    const socket = this.socket;
    this.socket = null;
    if (socket) { socket.onopen = socket.onmessage = null; socket.close(1000); }
  }

  close() {
    this.enter("closed");
    this.queue = [];
    this.following = false;
    this.rooms.clear();
    this.drop();
  }

  enter(state) {
    if (this.state === state && state !== "lost") return;
    this.state = state;
    this.onstate(state);
  }
}

function randomText(length) {
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => "0123456789abcdefghijklmnopqrstuv"[byte & 31]).join("");
}

/** Of a call: fourteen characters, which PeerJS clients are given as a connection id; theirs of data connections begin with `dc_`. */
function freshId() { return "rc_" + randomText(11); }
