"use strict";
// Shows all streams of the hub as still pictures. The list is asked for every two seconds; a picture only if it is in sight
// and the list says that it has changed.

const Wall = {
  interval: 2000,             // between two requests for the list, in milliseconds
  perTile: 150,               // many tiles that change are renewed less often: so long for each
  parallel: 5,                // pictures that are fetched at a time
  farewell: 8000,             // for so long an ended stream stays in sight
};

const grid = document.getElementById("grid"), note = document.getElementById("note"), ask = document.getElementById("ask");
const empty = document.getElementById("empty"), shape = document.getElementById("tile-shape").content.firstElementChild;
const fragment = new URLSearchParams(location.hash.slice(1));
let token = keptSecret();
const client = clientName();

/// The secret of the link. It is taken out of the address, and kept by this tab alone.
function keptSecret() {
  const told = fragment.get("token");
  try {
    if (!told) return sessionStorage.getItem("rtcast.wall") ?? "";
    sessionStorage.setItem("rtcast.wall", told);
  } catch { /* no storage: a page that is loaded anew asks for the secret */ }
  if (told) try { history.replaceState(history.state, "", location.pathname + location.search); } catch { /* a sandboxed frame */ }
  return told ?? "";
}

/// The identifier of this tab, the same on the viewer page: a link for one person is used once by both.
function clientName() {
  const fresh = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  try {
    const kept = sessionStorage.getItem("rtcast.client");
    if (/^[0-9a-f]{32}$/.test(kept)) return kept;
    sessionStorage.setItem("rtcast.client", fresh);
  } catch { /* no storage */ }
  return fresh;
}

/// A request that costs a header if the server has nothing new.
function request(path, etag) {
  const headers = { "RTCast-Client": client };
  if (token) headers.Authorization = "Bearer " + token;
  if (etag) headers["If-None-Match"] = etag;
  return fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(10000) });
}

/// One stream in the grid.
class Tile {
  static all = new Map();
  static loading = 0;
  static sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) target.tile.isInSight = isIntersecting;
    Tile.load();
  }, { root: grid, rootMargin: "80px" });

  constructor(name) {
    this.name = name;
    this.hub = "";            // the address of another hub that has the stream
    this.newest = null;       // the server's name of the newest picture; null: the stream has none
    this.etag = null;         // of the picture that is shown
    this.due = 0;             // not asked for before this time
    this.isInSight = false;
    this.isLoading = false;
    this.element = shape.cloneNode(true);
    this.element.tile = this;
    this.element.dataset.name = name;
    this.element.querySelector(".initial").textContent = [...name][0]?.toUpperCase() ?? "";
    this.element.querySelector("b").textContent = name;
    this.address(false);
    // The secret is in the address only while the link is used, not while it is looked at.
    for (const event of ["pointerdown", "keydown"]) this.element.addEventListener(event, () => this.address(true));
    for (const event of ["pointerleave", "blur"]) this.element.addEventListener(event, () => this.address(false));
    Tile.all.set(name, this);
    Tile.sight.observe(this.element);
  }

  address(isUsed) {
    this.element.href = this.hub + "watch?stream=" + encodeURIComponent(this.name)
      + (isUsed && token ? "#" + new URLSearchParams({ token }) : "");
  }

  take({ newest, viewers, address = "" }) {
    // A secret that came by TLS is not sent without.
    const hub = address.startsWith("https:") || location.protocol === "http:" && address.startsWith("http:") ? address : "";
    // Between a press and its click, the address keeps the secret.
    if (hub !== this.hub) {
      this.hub = hub;
      this.address(false);
    }
    clearTimeout(this.leaving);
    this.leaving = 0;
    this.newest = newest;
    this.element.dataset.state = "live";
    this.element.querySelector("i").textContent = this.hub ? "at " + new URL(this.hub).host
      : viewers ? viewers + (viewers === 1 ? " viewer" : " viewers") : "";
    this.element.setAttribute("aria-label", "Watch " + this.name);
  }

  end() {
    if (this.leaving) return;
    this.newest = null;
    this.element.dataset.state = "ended";
    this.element.querySelector("i").textContent = "ended";
    this.leaving = setTimeout(() => {
      Tile.sight.unobserve(this.element);
      if (this.url) URL.revokeObjectURL(this.url);
      if (document.activeElement === this.element) (this.element.nextElementSibling ?? this.element.previousElementSibling)?.focus();
      this.element.remove();
      Tile.all.delete(this.name);
      arrange();
    }, Wall.farewell);
  }

  /// The name of the picture that is shown: its entity tag without the width.
  get shown() { return this.etag?.slice(1, this.etag.lastIndexOf("-")) ?? null; }

  get wants() { return this.isInSight && !this.isLoading && this.newest && this.newest !== this.shown && performance.now() >= this.due; }

  async load() {
    this.isLoading = true;
    Tile.loading += 1;
    let pause = Math.max(Wall.interval, Tile.all.size * Wall.perTile);
    try {
      const width = Math.ceil(this.element.clientWidth * Math.min(2, devicePixelRatio));
      const response = await request("snapshot/" + encodeURIComponent(this.name) + "?width=" + width, this.etag);
      if (response.status === 200) {
        const url = URL.createObjectURL(await response.blob()), image = this.element.querySelector("img");
        await new Promise((done) => { image.onload = image.onerror = done; image.src = url; });
        if (this.url) URL.revokeObjectURL(this.url);
        this.url = url;
        this.etag = response.headers.get("ETag");
        this.element.dataset.picture = this.shown;
      } else if (response.status !== 304) pause = 10000;
    } catch { pause = 5000; }
    this.due = performance.now() + pause * (0.9 + 0.1 * Math.random());
    this.isLoading = false;
    Tile.loading -= 1;
    Tile.load();
  }

  static load() {
    if (document.hidden) return;
    for (const tile of Tile.all.values()) {
      if (Tile.loading >= Wall.parallel) return;
      if (tile.wants) tile.load();
    }
  }
}

/// The number of columns with which all tiles are largest and still in sight; else as wide as a thumb can hit.
function arrange() {
  const count = Math.max(1, grid.childElementCount), gap = 8;
  const width = grid.clientWidth - 24, height = grid.clientHeight - 15;
  let best = Math.min(width, width < 500 ? 150 : 220);
  for (let columns = 1; columns <= count; columns++) {
    const tile = (width - gap * (columns - 1)) / columns, rows = Math.ceil(count / columns);
    if (tile < best) break;
    if (rows * (tile * 9 / 16 + gap) <= height + gap) { best = tile; break; }
  }
  grid.style.setProperty("--tile", Math.floor(best) + "px");
  empty.hidden = Tile.all.size > 0 || document.documentElement.dataset.state !== "live";
  grid.hidden = !ask.hidden || !empty.hidden;
}

function show(state, words) {
  document.documentElement.dataset.state = state;
  note.textContent = words;
  ask.hidden = state !== "refused";
  arrange();
}

/// Puts the list on the page. Tiles keep their places: the order is that of names.
function take(streams) {
  const names = new Set(streams.map(({ name }) => name));
  for (const stream of streams) (Tile.all.get(stream.name) ?? new Tile(stream.name)).take(stream);
  for (const tile of Tile.all.values()) if (!names.has(tile.name)) tile.end();
  const order = [...Tile.all.values()].sort((one, other) => one.name.localeCompare(other.name, undefined, { numeric: true }));
  order.forEach(({ element }, place) => { if (grid.children[place] !== element) grid.insertBefore(element, grid.children[place] ?? null); });
  show("live", streams.length === 1 ? "1 stream" : streams.length + " streams");
}

let listTag = null, timer = 0, isAsking = false;

async function follow() {
  clearTimeout(timer);
  if (isAsking) return;
  isAsking = true;
  let pause = Wall.interval;
  try {
    const response = await request("streams", listTag);
    if (response.status === 200) {
      const tag = response.headers.get("ETag");
      take((await response.json()).streams);
      listTag = tag;
    } else if (response.status === 304) {
      if (document.documentElement.dataset.state !== "live") show("live", Tile.all.size + " streams");
    } else if (response.status === 401 || response.status === 403) {
      document.getElementById("ask-reason").textContent = token ? (await response.text()).trim() : "";
      listTag = null;
      for (const tile of Tile.all.values()) tile.end();
      show("refused", "");
      pause = 0;
    } else {
      show("offline", (await response.text()).trim().slice(0, 200));
      pause = 1000 * Math.max(5, Number(response.headers.get("Retry-After")) || 0);
    }
  } catch {
    show("offline", "The hub does not answer; trying again.");
    listTag = null;
  }
  isAsking = false;
  Tile.load();
  if (pause && !document.hidden) timer = setTimeout(follow, pause);
}

ask.addEventListener("submit", (event) => {
  event.preventDefault();
  const text = document.getElementById("secret").value.trim(), mark = text.indexOf("#");
  token = (mark < 0 ? null : new URLSearchParams(text.slice(mark + 1)).get("token")) ?? text;
  try { sessionStorage.setItem("rtcast.wall", token); } catch { /* no storage */ }
  follow();
});

document.addEventListener("visibilitychange", () => { if (!document.hidden && ask.hidden) follow(); });
addEventListener("resize", arrange);
addEventListener("online", () => { if (ask.hidden) follow(); });

// Arrow keys move in the grid; Enter opens a stream; f fills the screen.
addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.target.matches("input")) return;
  if (event.key === "f") {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen?.().catch(() => {});
    return;
  }
  const tiles = [...grid.children], place = tiles.indexOf(document.activeElement);
  const columns = tiles.filter(({ offsetTop }) => offsetTop === tiles[0].offsetTop).length;
  const steps = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns, Home: -place, End: tiles.length - 1 - place };
  if (!tiles.length || !(event.key in steps)) return;
  const next = place < 0 ? 0 : place + steps[event.key];
  if (tiles[next]) {
    event.preventDefault();
    tiles[next].focus();
  }
});

document.getElementById("command").textContent = "rtcast screen --to " + new URL("whip/NAME", location.href).href
  + (location.hash || token ? " --token-file FILE" : "");
follow();
