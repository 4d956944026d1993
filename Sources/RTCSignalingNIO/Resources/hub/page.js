"use strict";
// The page around it: what it says, what its buttons do, and the attributes by which it can be watched.

const $ = (id) => document.getElementById(id);
const root = document.documentElement;
const line = new HubLine(), local = new LocalMedia(), board = new Switchboard(line, local);
const ringer = new Ringer(), tiles = new Tiles($("grid"));

const query = new URLSearchParams(location.search);
const page = { joined: false, asked: false, unread: 0, lastPeer: "", token: recall("token", sessionStorageOrNone()) ?? "" };

/// `/#room`, or `/#room=…&token=…`.
function fragment() {
  const text = location.hash.slice(1);
  const pairs = /(^|&)(room|token)=/.test(text) ? new URLSearchParams(text) : null;
  let room = pairs ? pairs.get("room") ?? "" : text;
  if (!pairs) try { room = decodeURIComponent(text); } catch { /* as it stands */ }
  return { room: asName(room), token: pairs?.get("token") ?? query.get("token") ?? "" };
}

/// One spelling for each name, which the hub has too: what was typed, pasted or linked may have its accents as characters of
/// their own.
function asName(text) { return text.trim().normalize("NFC"); }

/// The token in the typed text, which may be a whole link.
function secretIn(text) {
  text = text.trim();
  return new URLSearchParams(text.slice(text.indexOf("#") + 1)).get("token") ?? text;
}

/// The secret of the link is taken out of the address, where others see it over a shoulder, in a history and in a shared screen;
/// this tab alone keeps it.
function keepSecret() {
  const { room, token } = fragment();
  if (!token) return;
  remember("token", page.token = token, sessionStorageOrNone());
  query.delete("token");
  try { history.replaceState(history.state, "", location.pathname + (query.size ? "?" + query : "") + (room && "#" + fragmentFor(room))); } catch { /* a sandboxed frame */ }
}

function sessionStorageOrNone() { try { return sessionStorage; } catch { return null; } }

/// The new fragment of the address.
function fragmentFor(room) { return encodeURIComponent(room); }

/// The page's address for others, with what lets them in: their names are their own.
function invitation() {
  const address = new URL(location.href), { room } = fragment();
  address.searchParams.delete("name");
  address.hash = page.token ? new URLSearchParams({ ...(room && { room }), token: page.token }) : fragmentFor(room);
  return address.href;
}

// MARK: state

function state() {
  if (!page.joined) return line.state === "connecting" ? "joining" : "start";
  const [call] = board.active;
  if (board.room !== null) return "room";
  if (call) return call.isLive ? "call" : call.state;
  return board.ringing ? "ringing" : "lobby";
}

const reasons = {
  "hung-up": (peer) => peer + " hung up.", "left-here": () => "", "rejected": (peer) => peer + " declined.", "busy": (peer) => peer + " is busy in another call.",
  "unsupported": (peer) => peer + " cannot take calls.", "unanswered": (peer) => peer + " does not answer.", "missed": (peer) => "You missed a call from " + peer + ".",
  "cancelled": (peer) => "You missed a call from " + peer + ".", "was-busy": (peer) => peer + " rang while you were busy.",
  "unknown-peer": (peer) => peer + " is not here.", "lost": (peer) => "The connection to " + peer + " was lost.",
  "unreachable": (peer) => "No connection could be made to " + peer + ". A firewall between you may need a TURN server.", "crossed": () => "", "left": (peer) => peer + " left.",
};

board.onended = (call) => {
  root.dataset.lastEnd = call.reason;
  const inRoom = call.room !== null;
  let text = (reasons[call.reason] ?? (() => "The call with " + call.peer + " has ended."))(call.peer);
  if (call.reason === "rejected" && !call.outgoing) text = "";
  if (inRoom && call.reason === "hung-up") text = call.peer + " left.";
  if (text) tell(text, call.reason, !inRoom && call.reason !== "was-busy" ? call.peer : null);
  if (call.wasLive) ringer.sign("went");
  else if (text && call.outgoing) ringer.sign("no");
  if (!board.live.length && board.room === null) clearChat();
};
board.onfault = ({ code, message }) => {
  if (code === "too-many-followers") { $("people-note").textContent = "There are too many peers to list them here; call by name."; return; }
  // A room with an invalid name is not tried again after a reload.
  if (code === "bad-room") forgetRoom();
  tell(message || "The hub refused that (" + code + ").", code);
};
board.onmedia = () => showStage();
board.onchange = () => show();
board.onchat = (call, text) => { addLine(call.peer, text); ringer.sign("word"); };
local.onchange = () => { board.resend(); showMedia(); };
tiles.onblocked = () => { $("tap").hidden = !tiles.blocked; root.dataset.sound = tiles.blocked ? "blocked" : ""; };

line.onstate = (now) => {
  root.dataset.hub = now;
  if (now === "online") {
    board.wake();
    root.dataset.name = line.name;
    if (!page.joined) {
      page.joined = true;
      remember("name", line.name);
      line.follow();
      followFragment();
    }
  }
  if (now === "refused") refused(line.fault);
  show();
};

function refused({ code, message }) {
  const inCall = board.live.length > 0;
  page.joined = page.joined && inCall;
  const sentences = {
    "bad-token": line.token ? "The token is wrong. Ask the person who sent you the link for the current one." : "This hub needs a token. It is part of the link that was sent to you.",
    "taken-name": `The name “${line.name}” is taken here. Choose another.`,
    "replaced": "You joined under this name from another tab or device.",
  };
  const sentence = sentences[code] ?? message;
  const isLink = code.startsWith("link-");
  // With an expired link the call ends; after any other refusal it continues.
  if (inCall && !isLink) { tell(sentence + " The call goes on.", code); return; }
  if (isLink) { board.hangUp(); page.joined = false; board.people.clear(); }
  root.dataset.error = code;
  $("join-error").textContent = sentence;
  $("join-error").hidden = false;
  const isToken = code === "bad-token" || isLink, field = isToken ? $("token") : $("name");
  $("token-row").hidden = !isToken && !$("token").value;
  if (isToken) $("token").value = line.token;
  for (const each of [$("token"), $("name")]) each.toggleAttribute("aria-invalid", each === field && code !== "replaced");
  show();
  field.focus();
  field.select();
}

// MARK: view

function show() {
  const now = state(), onStage = ["calling", "connecting", "call", "room"].includes(now), before = root.dataset.state;
  root.dataset.state = now;
  root.dataset.calls = board.live.length;
  root.dataset.room = board.room ?? "";
  $("home").hidden = onStage;
  $("stage").hidden = !onStage;
  $("start").hidden = page.joined;
  $("lobby").hidden = !page.joined;
  $("join").disabled = now === "joining";
  $("join").textContent = now === "joining" ? "Joining…" : fragment().room ? "Join the room" : "Join";
  const { room } = fragment();
  $("room-hint").hidden = !room;
  $("room-hint").textContent = "You will join the room “" + room + "”. Everybody there will see and hear what you send.";
  if (before !== now && !onStage && before !== undefined && ["calling", "connecting", "call", "room"].includes(before)) $("people-title").focus();
  if (before !== now && onStage && !$("grid").contains(document.activeElement)) $("stage").focus({ preventScroll: true });
  const names = { start: "Calls", joining: "Joining…", lobby: line.name + " · Calls", ringing: "☎ " + board.ringing?.peer + " is calling", room: "# " + board.room,
    calling: "Ringing " + board.active[0]?.peer + "…", connecting: "Connecting…", call: "● " + board.active[0]?.peer };
  document.title = (names[now] ?? "Calls") + " · rtcast";
  if (before !== now && (now === "calling" || now === "ringing")) $("toast").hidden = true;
  if (before !== now && now === "call") $("said").textContent = "In a call with " + board.active[0].peer;
  if (before !== now && now === "calling") $("said").textContent = "Ringing " + board.active[0].peer;
  showLine();
  showPeople();
  showRinging();
  showStage();
  showMedia();
  ringer.play(board.ringing ? "ring" : now === "calling" ? "ringback" : null);
}

function showLine() {
  const sentence = { online: "Online as " + line.name, lost: page.joined && board.live.length ? "Hub unreachable; the call goes on" : "Reconnecting to the hub…",
    connecting: "Connecting…", closed: "", refused: "Not connected" }[line.state];
  if ($("line-text").textContent !== sentence) $("line-text").textContent = sentence;
  const aside = line.state === "online" ? "" : sentence;
  if ($("stage-line").textContent !== aside) $("stage-line").textContent = aside;
  $("line").title = line.fault?.message ?? "";
  $("leave").hidden = !page.joined;
  $("try").hidden = line.state !== "lost";
}

function showPeople() {
  const list = $("people"), names = [...board.people].sort((a, b) => a.localeCompare(b));
  const known = new Map([...list.children].map((item) => [item.dataset.peer, item]));
  for (const [name, item] of known) if (!board.people.has(name)) item.remove();
  for (const [index, name] of names.entries()) {
    let item = known.get(name);
    if (!item) {
      item = $("person-shape").content.firstElementChild.cloneNode(true);
      item.dataset.peer = name;
      item.querySelector(".name").textContent = name;
      item.querySelector("button").setAttribute("aria-label", "Call " + name);
      item.querySelector("button").onclick = () => ring(name);
      paintFace(item.querySelector(".face"), name);
    }
    if (list.children[index] !== item) list.insertBefore(item, list.children[index] ?? null);
  }
  $("nobody").hidden = names.length > 0;
  $("nobody").textContent = line.state === "online" ? "Nobody else is here yet. Send them this page’s address." : "Not connected to the hub.";
}

function showRinging() {
  const call = board.ringing, dialog = $("incoming");
  if (!call) { if (dialog.open) dialog.close(); return; }
  $("incoming-name").textContent = call.peer;
  dialog.dataset.peer = call.peer;
  paintFace($("incoming-face"), call.peer);
  $("accept-quiet").hidden = !local.isOn("camera");
  if (!dialog.open) { dialog.showModal(); $("accept").focus(); }
}

function showStage() {
  const calls = board.active;
  tiles.show(calls);
  $("alone").hidden = !(board.room !== null && !calls.length);
  $("alone-room").textContent = board.room ?? "";
  if ($("alone-link").value !== invitation()) $("alone-link").value = invitation();
  $("stage-title").textContent = board.room !== null ? "# " + board.room + " · " + (calls.length + 1) : calls.map((call) => call.peer).join(", ");
  const open = board.live.some((call) => call.chat?.readyState === "open");
  $("chat-text").disabled = $("chat-send").disabled = !open;
  $("chat-text").placeholder = open ? "Message" : board.live.length ? "No chat with this peer" : "Opens with the call";
  root.dataset.calls = board.live.length;
}

const labels = {
  microphone: { on: "Microphone is on", off: "Microphone is off" }, camera: { on: "Camera is on", off: "Camera is off" },
  screen: { on: "Screen is shared", off: "Share a screen" },
};

function showMedia() {
  for (const kind of ["microphone", "camera", "screen"]) {
    const on = kind === "screen" ? !!local.tracks.screen : local.isOn(kind);
    root.dataset[kind] = on ? "on" : local.tracks[kind] ? "muted" : "off";
    for (const button of document.querySelectorAll(`[data-do=${kind}]`)) {
      button.setAttribute("aria-pressed", on);
      button.title = labels[kind][on ? "on" : "off"];
      button.toggleAttribute("data-fault", !!local.faults[kind] && !on);
      if (kind === "screen") button.hidden = !LocalMedia.hasScreens && LocalMedia.hasDevices;
    }
  }
  const camera = local.isOn("camera") ? local.tracks.camera : null, shown = camera ?? local.tracks.screen;
  root.dataset.preview = camera ? "camera" : shown ? "screen" : "none";
  for (const video of document.querySelectorAll(".mirror video")) {
    if ((video.srcObject?.getVideoTracks()[0] ?? null) === shown) continue;
    video.srcObject = shown ? new MediaStream([shown]) : null;
    if (shown) video.play().catch(() => {});
  }
  const complaint = local.complaints.join(" ");
  root.dataset.mediaFault = Object.entries(local.faults).map(([kind, fault]) => kind + ":" + fault.code).join(" ");
  if ($("media-fault").textContent !== complaint) {
    $("media-fault").textContent = complaint;
    if (complaint && !$("stage").hidden) tell(complaint, "media");
  }
  $("media-fault").hidden = !complaint;
  $("choice").hidden = page.asked || !LocalMedia.hasDevices || !!shown || !!local.tracks.microphone;
  $("mirror-empty").hidden = !$("choice").hidden || !!shown;
  $("mirror-empty-text").textContent = local.tracks.microphone ? "You send sound only." : "You send nothing; you can watch and listen.";
  for (const face of document.querySelectorAll(".mirror .face")) paintFace(face, line.name || $("name").value || "?");
  showDevices();
}

function showDevices() {
  for (const [id, type, kind] of [["camera-list", "videoinput", "camera"], ["microphone-list", "audioinput", "microphone"], ["speaker-list", "audiooutput", "speaker"]]) {
    const found = local.devices.filter((device) => device.kind === type && device.deviceId);
    const options = [["", kind === "speaker" ? "System default" : "Any"], ...found.map((device, i) => [device.deviceId, device.label || `${kind} ${i + 1}`])];
    if (kind !== "speaker") options.push(["none", "None"]);
    const shape = JSON.stringify(options);
    if ($(id).dataset.shape !== shape) {
      $(id).dataset.shape = shape;
      $(id).replaceChildren(...options.map(([value, text]) => new Option(text, value)));
    }
    const current = kind === "speaker" ? tiles.speaker : local.tracks[kind]?.getSettings().deviceId ?? (local.chosen(kind) === "none" ? "none" : "");
    if (document.activeElement !== $(id)) $(id).value = options.some(([value]) => value === current) ? current : "";
  }
  $("speaker-row").hidden = !("setSinkId" in HTMLMediaElement.prototype);
}

let telling = 0;
/// Shows a note for some seconds, also for screen readers.
function tell(text, code = "", again = null) {
  $("said").textContent = text;
  page.lastPeer = again ?? "";
  root.dataset.notice = code;
  $("toast-text").textContent = text;
  $("toast-again").hidden = !again || again === line.name;
  $("toast").hidden = false;
  clearTimeout(telling);
  telling = setTimeout(hideToast, 9000);
}
function hideToast() {
  if ($("toast").matches(":hover, :focus-within")) { telling = setTimeout(hideToast, 3000); return; }
  $("toast").hidden = true;
  $("toast-text").textContent = "";
}

// MARK: chat

function addLine(from, text) {
  const item = $("line-shape").content.firstElementChild.cloneNode(true), mine = from === null;
  item.dataset.from = mine ? line.name : from;
  item.classList.toggle("mine", mine);
  item.querySelector("b").textContent = mine ? "You" : from;
  item.querySelector("time").textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const words = item.querySelector("p");
  for (const piece of text.slice(0, 20000).split(/(https?:\/\/[^\s<>"]+)/)) {
    if (!/^https?:\/\//.test(piece)) { words.append(piece); continue; }
    const link = document.createElement("a");
    Object.assign(link, { href: piece, textContent: piece, target: "_blank", rel: "noopener noreferrer" });
    words.append(link);
  }
  $("lines").append(item);
  while ($("lines").childElementCount > 500) $("lines").firstElementChild.remove();
  item.scrollIntoView({ block: "end" });
  if (!mine && root.dataset.chat !== "open") setUnread(page.unread + 1);
}
function setUnread(count) {
  page.unread = count;
  root.dataset.unread = count;
  $("unread").hidden = !count;
  $("unread").textContent = count > 9 ? "9+" : count;
  document.querySelector("[data-do=chat]").setAttribute("aria-label", count ? `Chat (c), ${count} unread` : "Chat (c)");
}
function clearChat() { $("lines").replaceChildren(); setUnread(0); openChat(false); }
function openChat(open) {
  root.dataset.chat = open ? "open" : "closed";
  $("chat").hidden = !open;
  document.querySelector("[data-do=chat]").setAttribute("aria-pressed", open);
  if (open) { setUnread(0); $("chat-text").focus(); }
}

// MARK: actions

async function join() {
  ringer.wake();
  root.dataset.error = "";
  $("join-error").hidden = true;
  if (!page.asked) await choose("both");
  const secret = secretIn($("token").value);
  if (secret) remember("token", page.token = secret, sessionStorageOrNone());
  line.open(asName($("name").value), page.token);
}

/// Asks for the media to send, before joining.
async function choose(what) {
  page.asked = true;
  remember("choice", what);
  const kinds = { both: ["microphone", "camera"], sound: ["microphone"], screen: ["microphone"], nothing: [] }[what];
  if (what === "screen") await local.share();
  const wanted = kinds.filter((kind) => local.chosen(kind) !== "none");
  if (wanted.length) await local.start(wanted);
  showMedia();
}

function ring(peer) {
  if (board.active.length || board.room !== null) return;
  if (peer === line.name) { tell("That is your own name.", "self"); return; }
  ringer.wake();
  board.call(peer);
}

function answer(withCamera) {
  const call = board.ringing;
  if (!call) return;
  ringer.wake();
  if (!withCamera && local.isOn("camera")) local.mute("camera", true);
  call.accept(call.offer);
}

function enterRoom(room) {
  if (room === board.room) return;
  board.enterRoom(room);
}

function followFragment() {
  keepSecret();
  const { room } = fragment();
  if (!page.joined) { show(); return; }
  if (room) enterRoom(room);
  else if (board.room !== null) board.hangUp();
}

function leaveStage() {
  if (board.room !== null) $("room").value = board.room;   // to offer a return to the room
  board.hangUp();
  forgetRoom();
  show();
}

/// Takes the room out of the address.
function forgetRoom() { if (location.hash) history.replaceState(null, "", location.pathname + location.search); }

const deeds = {
  async microphone() {
    if (local.tracks.microphone) local.mute("microphone", !local.muted.microphone);
    else await local.choose("microphone", local.chosen("microphone") === "none" ? "" : local.chosen("microphone"));
  },
  async camera() {
    if (local.tracks.camera) local.mute("camera", !local.muted.camera);
    else await local.choose("camera", local.chosen("camera") === "none" ? "" : local.chosen("camera"));
  },
  async screen() { page.asked = true; if (local.tracks.screen) local.stop("screen"); else await local.share(); },
  devices() { local.list(); $("devices").showModal(); },
  chat() { if (!$("stage").hidden) openChat(root.dataset.chat !== "open"); },
  "chat-close"() { openChat(false); document.querySelector("[data-do=chat]").focus(); },
  figures() {
    root.dataset.figures = root.dataset.figures === "on" ? "off" : "on";
    remember("figures", root.dataset.figures);
    for (const button of document.querySelectorAll("[data-do=figures]")) button.setAttribute("aria-pressed", root.dataset.figures === "on");
  },
  hangup() { leaveStage(); },
  help() { $("help").showModal(); },
};
const keys = { m: "microphone", v: "camera", s: "screen", c: "chat", d: "devices", i: "figures", h: "hangup", "?": "help" };

document.addEventListener("click", (event) => {
  const name = event.target.closest("[data-do]")?.dataset.do;
  if (name) { if (name === "microphone" || name === "camera") page.asked = true; deeds[name](); }
  const what = event.target.closest("[data-choice]")?.dataset.choice;
  if (what) choose(what);
  if (event.target.closest("[data-close]") || event.target.matches("dialog.sheet")) event.target.closest("dialog")?.close();
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && root.dataset.chat === "open" && !document.fullscreenElement && !document.querySelector("dialog[open]")) { deeds["chat-close"](); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea") || !$("keys-on").checked) return;
  if (document.querySelector("dialog[open]") || $("stage").hidden) return;
  const deed = Object.hasOwn(keys, event.key) && keys[event.key];
  if (event.key === "f") { const tile = [...tiles.tiles.values()].find(({ figure }) => figure.contains(document.activeElement)) ?? [...tiles.tiles.values()][0]; if (tile?.track) tiles.full(tile); }
  if (deed) { event.preventDefault(); deeds[deed](); }
});
$("start").addEventListener("submit", (event) => { event.preventDefault(); join(); });
$("by-name").addEventListener("submit", (event) => { event.preventDefault(); const peer = asName($("whom").value); if (peer) ring(peer); });
$("by-room").addEventListener("submit", (event) => {
  event.preventDefault();
  ringer.wake();
  const room = asName($("room").value);
  if (room) location.hash = fragmentFor(room);
  if (room === fragment().room) enterRoom(room);
});
$("say").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = $("chat-text").value.trim();
  if (!text || !board.chat(text)) return;
  addLine(null, text);
  $("chat-text").value = "";
});
$("accept").onclick = () => answer(true);
$("accept-quiet").onclick = () => answer(false);
$("reject").onclick = () => { if (board.ringing) board.reject(board.ringing); };
$("incoming").addEventListener("cancel", (event) => { event.preventDefault(); if (board.ringing) board.reject(board.ringing); });
$("toast-again").onclick = () => { $("toast").hidden = true; ring(page.lastPeer); };
$("toast-close").onclick = () => { $("toast").hidden = true; };
$("tap").onclick = () => { ringer.wake(); tiles.unblock(); };
$("try").onclick = () => line.connect();
$("leave").onclick = () => { board.hangUp(); line.close(); page.joined = false; board.people.clear(); show(); $("name").focus(); };
$("copy").onclick = async () => {
  try { await navigator.clipboard.writeText(invitation()); $("copy").textContent = "Copied"; } catch { $("alone-link").select(); }
  setTimeout(() => { $("copy").textContent = "Copy the link"; }, 2000);
};
for (const [id, kind] of [["camera-list", "camera"], ["microphone-list", "microphone"]]) $(id).onchange = () => { page.asked = true; local.choose(kind, $(id).value); };
$("speaker-list").onchange = () => tiles.speak($("speaker-list").value);
$("ring-on").onchange = () => ringer.set($("ring-on").checked);
$("keys-on").onchange = () => remember("keys", $("keys-on").checked ? "on" : "off");
document.addEventListener("pointerdown", () => { if (page.joined) ringer.wake(); if (tiles.blocked) tiles.unblock(); });
addEventListener("hashchange", followFragment);
addEventListener("pagehide", () => { for (const call of board.calls.values()) call.end("left-here"); line.close(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) board.wake(); });
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
setInterval(() => { if (!document.hidden) tiles.listen(); }, 300);
setInterval(() => { if (!document.hidden) tiles.measure(); }, 1000);
setInterval(() => { $("clock").textContent = clock(); if (line.state === "lost") showLine(); }, 1000);

function clock() {
  const since = Math.min(...board.live.map((call) => call.since));
  if (!Number.isFinite(since)) return "";
  const seconds = Math.round((Date.now() - since) / 1000), pair = (value) => String(value).padStart(2, "0");
  return (seconds >= 3600 ? Math.floor(seconds / 3600) + ":" : "") + pair(Math.floor(seconds / 60) % 60) + ":" + pair(seconds % 60);
}

window.rtcast = { line, local, board, tiles, ringer, get state() { return root.dataset.state; } };

keepSecret();
$("name").value = query.get("name") ?? recall("name") ?? "";
$("ring-on").checked = ringer.isOn;
$("keys-on").checked = recall("keys") !== "off";
root.dataset.hub = line.state;
root.dataset.figures = recall("figures") ?? "off";
document.querySelector("[data-do=figures]").setAttribute("aria-pressed", root.dataset.figures === "on");
openChat(false);
if (!LocalMedia.hasDevices) { local.blame("camera", { name: "Insecure" }); page.asked = true; }
if (!window.RTCPeerConnection) { $("join-error").textContent = "This browser has no WebRTC, so it cannot take part in calls."; $("join-error").hidden = false; }
show();
if (!$("name").value) $("name").focus();
// With an earlier permission for camera and microphone, the own picture appears at once.
(async () => {
  const kinds = ["camera", "microphone"];
  if (!page.asked && (await Promise.all(kinds.map(LocalMedia.mayAsk))).every(Boolean)) choose(recall("choice") === "sound" ? "sound" : "both");
})();
