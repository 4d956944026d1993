"use strict";
// The pointer, drawn by the page upon the video, so that moving it costs no frame; docs/cursor.md has the messages. `CursorStore` is
// the machine alone, without elements and clocks.

/// How the pointer looks, where it is, and whether it is the page's to draw.
class CursorStore {
  static side = 128;        // pixels of an image, at most
  static images = 32;       // kept, the one used longest ago goes first

  constructor() {
    this.images = new Map();      // by digest
    this.image = null;
    this.position = null;         // { x, y } in pixels of the picture; null: nothing of the pointer is in it
    this.number = null;           // of that position
    this.width = this.height = 0; // of the picture
    this.isOurs = false;          // frames that are shown have no pointer in them
    this.coming = null;           // { timestamp, isOurs }: from that frame on
    this.frame = null;            // the newest frame that the video has shown
  }

  /// Takes a message of the caster; true if something is to be redrawn.
  take(message) {
    switch (message?.kind) {
    case "drawing": return this.draw(message);
    case "image": return this.look(message.digest, message.image);
    case "show": {
      const image = this.images.get(message.digest);
      return image ? this.look(message.digest, image) : false;
    }
    case "position":
      if (this.number !== null && ((message.number - this.number) | 0) <= 0) return false;
      this.number = message.number;
      this.position = message.position;
      return true;
    default: return false;
    }
  }

  draw({ timestamp, isOurs, isSettled, width, height }) {
    Object.assign(this, { width, height, coming: { timestamp, isOurs } });
    if (isSettled) this.settle(); else this.follow();
    return true;
  }

  look(digest, image) {
    this.images.delete(digest);
    if (this.images.size >= CursorStore.images) this.images.delete(this.images.keys().next().value);
    this.images.set(digest, image);
    this.image = image;
    return true;
  }

  /// The video shows the frame with this timestamp now, or one that is newer.
  /// Returns whether something is to be redrawn.
  show(timestamp) {
    if (this.frame !== null && ((timestamp - this.frame) | 0) <= 0) return false;
    this.frame = timestamp;
    return this.follow();
  }

  follow() {
    if (!this.coming || this.frame === null || ((this.frame - this.coming.timestamp) | 0) < 0) return false;
    return this.settle();
  }

  /// Applies the announced change.
  settle() {
    if (!this.coming) return false;
    const before = this.isOurs;
    this.isOurs = this.coming.isOurs;
    this.coming = null;
    return before !== this.isOurs;
  }

  /// Forgets which side draws the pointer.
  forget() { Object.assign(this, { isOurs: false, coming: null }); }

  get isShown() { return this.isOurs && this.image !== null && this.position !== null; }
}

/// A message of the caster as a value; null for none of ours.
function parseCursor(buffer) {
  const view = new DataView(buffer), size = view.byteLength;
  if (size < 9) return null;
  switch (view.getUint8(0)) {
  case 1: {
    const flags = view.getUint8(5);
    if (size !== 10 || flags > 3) return null;
    return { kind: "drawing", timestamp: view.getUint32(1), isOurs: (flags & 1) !== 0, isSettled: (flags & 2) !== 0,
      width: view.getUint16(6), height: view.getUint16(8) };
  }
  case 2: {
    if (size < 17) return null;
    const width = view.getUint16(9), height = view.getUint16(11);
    if (!width || !height || width > CursorStore.side || height > CursorStore.side || size !== 17 + width * height * 4) return null;
    return { kind: "image", digest: view.getBigUint64(1), image: { width, height, hotX: view.getUint16(13), hotY: view.getUint16(15),
      pixels: new Uint8ClampedArray(buffer, 17) } };
  }
  case 3: return size === 9 ? { kind: "show", digest: view.getBigUint64(1) } : null;
  case 4:
    if (size !== 10 || view.getUint8(5) > 1) return null;
    return { kind: "position", number: view.getUint32(1),
      position: view.getUint8(5) ? { x: view.getInt16(6), y: view.getInt16(8) } : null };
  default: return null;
  }
}

/// The viewer's messages.
const cursorPlaces = { picture: 0, viewer: 1, nowhere: 2 };
const cursorWords = { ready: (place) => new Uint8Array([1, 1, place]) };

/// Draws the pointer of one session into an element that lies upon the video.
class CursorLayer {
  static feature = "cursor";
  static protocols = ["rtcast-cursor.1", "rtcast-cursor-position.1"];
  static isPossible = !!globalThis.HTMLVideoElement?.prototype.requestVideoFrameCallback && typeof ResizeObserver === "function";
  /// The time after which every video has reached a frame, in milliseconds.
  static patience = 5000;
  /// After so many milliseconds without a frame the next is newer, whatever its timestamp seems to say.
  static longRest = 3_600_000;

  constructor(connection) {
    this.store = new CursorStore();
    this.isOver = false;
    this.element = null;
    this.shownAt = performance.now();
    const [everything, positions] = CursorLayer.protocols;
    this.channel = connection.createDataChannel("cursor", { protocol: everything });
    this.positions = connection.createDataChannel("cursor positions", { protocol: positions, ordered: false, maxRetransmits: 0 });
    for (const channel of [this.channel, this.positions]) {
      channel.binaryType = "arraybuffer";
      channel.onmessage = ({ data }) => { if (data instanceof ArrayBuffer) this.take(parseCursor(data), channel); };
    }
    this.channel.onopen = () => this.ready();
    this.channel.onclose = () => this.end();
  }

  /// From now on there is a page to draw in: `element` has the place of the video.
  attach(video, element, receiver) {
    Object.assign(this, { video, element, receiver });
    this.sheet = document.createElement("canvas");
    this.frame = document.createElement("div");
    this.frame.append(this.sheet);
    element.replaceChildren(this.frame);
    const shown = (_, { rtpTimestamp }) => {
      if (this.isOver || video.srcObject === null) return;
      video.requestVideoFrameCallback(shown);
      this.show(rtpTimestamp);
    };
    video.requestVideoFrameCallback(shown);
    for (const change of ["enterpictureinpicture", "leavepictureinpicture", "webkitbeginfullscreen", "webkitendfullscreen"])
      video.addEventListener(change, () => this.ready());
    video.addEventListener("resize", () => this.layOut());
    this.observer = new ResizeObserver(() => this.layOut());
    this.observer.observe(element);
    this.ready();
  }

  show(timestamp) {
    if (timestamp === undefined) return;
    const now = performance.now();
    if (now - this.shownAt > CursorLayer.longRest) this.store.frame = null;
    this.shownAt = now;
    if (this.store.show(timestamp)) this.place();
  }

  /// Asks to draw the pointer, unless the page is hidden or its video is shown alone elsewhere.
  ready() {
    if (this.channel.readyState !== "open" || !this.element || this.isOver) return;
    this.store.forget();
    this.place();
    this.channel.send(cursorWords.ready(this.isElsewhere ? cursorPlaces.picture : document.hidden ? cursorPlaces.nowhere : cursorPlaces.viewer));
  }

  /// The browser shows the video alone.
  get isElsewhere() { return !!document.pictureInPictureElement || !!this.video.webkitDisplayingFullscreen; }

  end() {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.limit);
    clearInterval(this.watch);
    this.observer?.disconnect();
    if (this.element) this.frame.hidden = true;
  }

  take(message, channel) {
    if (!message || this.isOver || !this.element || (channel === this.positions && message.kind !== "position")) return;
    const before = this.store.image;
    if (!this.store.take(message)) return;
    if (this.store.image !== before) this.paint();
    if (message.kind === "drawing") { this.wait(); this.layOut(); } else this.place();
  }

  /// Until the frame is shown from which on the announced holds. Callbacks are missed now and then; what the track was given last
  /// says as much.
  wait() {
    clearTimeout(this.limit);
    clearInterval(this.watch);
    if (!this.store.coming) return;
    this.watch = setInterval(() => {
      const [source] = this.receiver?.getSynchronizationSources() ?? [];
      this.show(source?.rtpTimestamp);
      if (!this.store.coming) clearInterval(this.watch);
    }, 100);
    this.limit = setTimeout(() => { clearInterval(this.watch); if (this.store.settle()) this.place(); }, CursorLayer.patience);
  }

  paint() {
    const { width, height, pixels } = this.store.image;
    Object.assign(this.sheet, { width, height });   // which clears it
    this.sheet.getContext("2d").putImageData(new ImageData(pixels, width, height), 0, 0);
  }

  /// The frame lies where the picture is seen: in the middle of the element, as large as fits.
  layOut() {
    const room = this.element.getBoundingClientRect(), { videoWidth, videoHeight } = this.video;
    if (!videoWidth || !videoHeight || !this.store.width || !this.store.height) return this.place();
    const scale = Math.min(room.width / videoWidth, room.height / videoHeight);
    const width = videoWidth * scale, height = videoHeight * scale;
    Object.assign(this.frame.style, { left: (room.width - width) / 2 + "px", top: (room.height - height) / 2 + "px",
      width: width + "px", height: height + "px" });
    this.scale = { x: width / this.store.width, y: height / this.store.height };
    this.place();
  }

  get isShown() { return !this.isOver && this.store.isShown && !!this.scale && !this.isElsewhere; }

  place() {
    if (!this.element) return;
    this.frame.hidden = !this.isShown;
    if (!this.isShown) return;
    const { image, position } = this.store, { x, y } = this.scale;
    this.sheet.style.transform =
      `translate(${(position.x - image.hotX) * x}px, ${(position.y - image.hotY) * y}px) scale(${x}, ${y})`;
  }

  /// Draws it into a picture of the whole, as it is seen.
  drawInto(pen, width, height) {
    if (!this.isShown) return;
    const { image, position } = this.store, x = width / this.store.width, y = height / this.store.height;
    pen.drawImage(this.sheet, (position.x - image.hotX) * x, (position.y - image.hotY) * y, image.width * x, image.height * y);
  }
}

(globalThis.pageFeatures ??= []).push(CursorLayer);
globalThis.pagePointer = { CursorStore, CursorLayer, parseCursor, cursorWords };
