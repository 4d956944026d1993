"use strict";
// Lists monitors and windows with pictures of them as they look now, and has one cast. Only pictures in sight are asked for.

const Page = { interval: 2000, fresh: 1500 };
const element = (id) => document.getElementById(id);
const shape = element("tile-shape").content.firstElementChild, tiles = new Map();
let token = keptSecret(), stateTag = null, timer = 0, isAsking = false, isLoading = false, words = "";

/// The secret of the link. It is taken out of the address, and kept by this tab alone.
function keptSecret() {
  const told = new URLSearchParams(location.hash.slice(1)).get("token");
  try {
    if (!told) return sessionStorage.getItem("rtcast.pick") ?? "";
    sessionStorage.setItem("rtcast.pick", told);
  } catch { /* no storage: a page that is loaded anew asks for the secret */ }
  if (told) try { history.replaceState(history.state, "", location.pathname); } catch { /* a sandboxed frame */ }
  return told ?? "";
}

function request(path, options = {}, etag = null) {
  const headers = { Authorization: "Bearer " + token };
  if (etag) headers["If-None-Match"] = etag;
  return fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(10000), ...options });
}

function say(text, isBad = false) {
  words = isBad ? text : "";
  element("note").textContent = text;
  element("note").dataset.bad = isBad;
}

/// One monitor or window.
class Tile {
  static sight = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) target.tile.isInSight = isIntersecting;
    load();
  });

  constructor(source) {
    this.id = source.id;
    this.etag = null;
    this.due = 0;
    this.isInSight = false;
    this.element = shape.cloneNode(true);
    this.element.tile = this;
    this.element.dataset.id = source.id;
    this.element.addEventListener("click", () => pick(this));
    element(source.kind === "window" ? "windows" : "monitors").querySelector(".grid").append(this.element);
    tiles.set(this.id, this);
    Tile.sight.observe(this.element);
  }

  take({ name, width, height, shown }, isPicked) {
    this.isShown = shown;
    this.element.disabled = !shown;
    this.element.setAttribute("aria-pressed", isPicked);
    this.element.querySelector(".name").textContent = name;
    this.element.querySelector(".what").textContent = isPicked ? "Viewers see this" : shown ? `${width}×${height}` : "Minimised";
  }

  async load() {
    const response = await request("pick/picture/" + this.id, {}, this.etag);
    if (response.status === 200) {
      const url = URL.createObjectURL(await response.blob()), image = this.element.querySelector("img");
      image.src = url;
      if (this.url) URL.revokeObjectURL(this.url);
      this.url = url;
      this.etag = response.headers.get("ETag");
      this.element.dataset.picture = this.etag;
    }
  }

  remove() {
    Tile.sight.unobserve(this.element);
    if (this.url) URL.revokeObjectURL(this.url);
    this.element.remove();
    tiles.delete(this.id);
  }
}

/// One picture at a time, the oldest first: the page costs little however many windows there are.
async function load() {
  if (isLoading || document.hidden) return;
  const wanted = [...tiles.values()].filter((tile) => tile.isInSight && tile.isShown && performance.now() >= tile.due);
  if (!wanted.length) return;
  const tile = wanted.reduce((one, other) => (one.due <= other.due ? one : other));
  isLoading = true;
  try { await tile.load(); } catch { /* asked for again later */ }
  tile.due = performance.now() + Page.fresh;
  isLoading = false;
  load();
}

function take({ sources, picked, links, to, viewers }) {
  const ids = new Set(sources.map(({ id }) => id));
  for (const tile of [...tiles.values()]) if (!ids.has(tile.id)) tile.remove();
  for (const source of sources) (tiles.get(source.id) ?? new Tile(source)).take(source, source.id === picked);
  for (const kind of ["monitors", "windows"]) element(kind).hidden = !element(kind).querySelector(".tile");
  element("nothing").hidden = sources.length > 0;
  const isLive = picked !== null;
  document.documentElement.dataset.state = isLive ? "casting" : "waiting";
  element("title").textContent = isLive ? "You are casting" : "Pick what to cast";
  element("hint").textContent = isLive ? "Click another one to show it instead; viewers stay connected. Ctrl-C in the terminal stops the cast."
    : "Viewers see nothing of your screen until you click one of these.";
  element("share").hidden = !isLive || (!links.length && !to);
  element("share").querySelector("label").textContent = to ? "Sent to" : "Link for viewers";
  if (element("link").value !== (to ?? links[0] ?? "")) element("link").value = to ?? links[0] ?? "";
  element("copy").hidden = Boolean(to);
  element("audience").textContent = to ? "" : viewers === 0 ? "Nobody watches yet." : viewers === 1 ? "1 viewer" : viewers + " viewers";
  element("ask").hidden = true;
  if (!words) say("");
}

async function follow() {
  clearTimeout(timer);
  if (isAsking) return;
  isAsking = true;
  let goesOn = true;
  try {
    const response = await request("pick/state", {}, stateTag);
    if (response.status === 200) {
      stateTag = response.headers.get("ETag");
      take(await response.json());
    } else if (response.status === 401 || response.status === 403) {
      for (const tile of [...tiles.values()]) tile.remove();
      document.documentElement.dataset.state = "refused";
      for (const id of ["share", "monitors", "windows", "nothing"]) element(id).hidden = true;
      element("ask").hidden = false;
      if (token) say((await response.text()).trim(), true);
      stateTag = null;
      goesOn = false;
    } else if (response.status !== 304) say((await response.text()).trim().slice(0, 200), true);
    else if (words === offline) say("");
  } catch {
    stateTag = null;
    say(offline, true);
  }
  isAsking = false;
  load();
  if (goesOn && !document.hidden) timer = setTimeout(follow, Page.interval);
}

const offline = "rtcast does not answer. Has the cast ended?";

async function pick(tile) {
  if (tile.element.getAttribute("aria-busy") === "true") return;
  tile.element.setAttribute("aria-busy", "true");
  try {
    const response = await request("pick/choice", { method: "POST", body: tile.id });
    if (response.ok) say("");
    else say((await response.text()).trim(), true);
  } catch { say(offline, true); }
  tile.element.removeAttribute("aria-busy");
  stateTag = null;
  follow();
}

element("copy").addEventListener("click", async () => {
  element("link").select();
  try { await navigator.clipboard.writeText(element("link").value); } catch { document.execCommand("copy"); }
  element("copy").textContent = "Copied";
  setTimeout(() => { element("copy").textContent = "Copy the link"; }, 2000);
});

element("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = element("secret").value.trim(), mark = text.indexOf("#");
  token = (mark < 0 ? null : new URLSearchParams(text.slice(mark + 1)).get("token")) ?? text;
  try { sessionStorage.setItem("rtcast.pick", token); } catch { /* no storage */ }
  say("");
  follow();
});

document.addEventListener("visibilitychange", () => { if (!document.hidden && element("ask").hidden) follow(); });
follow();
