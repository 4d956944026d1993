"use strict";
// Exact pixels: what of the picture is drawn over the video as it is on the screen, and for how long it holds. The machine alone,
// without elements; docs/exact-pixels.md has the messages and why this is right.

/// Which blocks of 16 × 16 pixels are drawn, for which nothing that the video shows is newer.
class ExactStore {
  static blockSize = 16;
  /// Milliseconds. RTP timestamps say which of two is newer if they are less than 6.6 hours apart.
  static longRest = 3_600_000;

  /// - clock: milliseconds since some beginning.
  constructor(clock = () => performance.now()) {
    this.clock = clock;
    this.heard = clock();   // when a timestamp came last
    this.forget();
  }

  /// Discards everything; messages before the beginning of a picture are ignored.
  forget() {
    this.width = this.height = this.columns = this.rows = 0;
    this.since = new Uint32Array(0);   // by block: the number of its last event, a void or a drawing
    this.drawn = new Uint8Array(0);    // 1: valid; 2: void, but still newer than the video
    this.from = new Uint32Array(0);    // the RTP timestamp of the drawn pixels
    this.order = 0;
    this.frame = null;                 // the newest frame that the video has shown
    this.told = null;                  // RTP timestamp: frames up to it are covered by messages
  }

  get hasBegun() { return this.told !== null; }
  get drawnBlocks() { return this.drawn.reduce((sum, is) => sum + (is === 1), 0); }

  begin(timestamp, width, height) {
    const { frame } = this;
    this.forget();
    this.frame = frame;
    Object.assign(this, { width, height });
    this.tell(timestamp);
    this.columns = Math.ceil(width / ExactStore.blockSize);
    this.rows = Math.ceil(height / ExactStore.blockSize);
    this.since = new Uint32Array(this.columns * this.rows);
    this.drawn = new Uint8Array(this.columns * this.rows);
    this.from = new Uint32Array(this.columns * this.rows);
  }

  tell(timestamp) {
    this.hear(timestamp);
    this.told = timestamp;
  }

  /// After a long rest all that was known is older than what comes.
  hear(timestamp) {
    const now = this.clock(), before = (timestamp - 1) >>> 0;
    if (now - this.heard > ExactStore.longRest) {
      if (this.frame !== null) this.frame = before;
      if (this.told !== null) this.told = before;
      this.from.fill(before);
    }
    this.heard = now;
  }

  /// These rectangles of blocks are others from now on. What is drawn there goes now, or, where the video is behind it, when the
  /// video has come so far: nothing older than what was seen is seen.
  /// Returns what to clear, in pixels.
  void(timestamp, rects) {
    if (!this.hasBegun) return [];
    this.tell(timestamp);
    this.order += 1;
    for (const rect of rects) this.each(rect, (block) => { this.since[block] = this.order; if (this.drawn[block]) this.drawn[block] = 2; });
    return this.clear(rects);
  }

  /// The video shows the frame with this timestamp now, or one that is newer.
  /// Returns what to clear, in pixels.
  show(timestamp) {
    if (timestamp === this.frame) return [];
    this.hear(timestamp);
    if (this.frame !== null && ((timestamp - this.frame) | 0) <= 0) return [];
    this.frame = timestamp;
    // The video does not go back.
    for (let block = 0; block < this.from.length; block++) if (((timestamp - this.from[block]) | 0) > 0) this.from[block] = timestamp;
    return this.clear([{ column: 0, row: 0, width: this.columns, height: this.rows }]);
  }

  clear(rects) {
    const runs = [];
    let run = null;
    for (const rect of rects) {
      this.each(rect, (block) => {
        if (this.drawn[block] !== 2 || this.frame === null || ((this.frame - this.from[block]) | 0) < 0) return;
        this.drawn[block] = 0;
        const column = block % this.columns, row = Math.floor(block / this.columns);
        if (run && run.row === row && run.column + run.width === column) run.width += 1;
        else runs.push(run = { column, row, width: 1, height: 1 });
      });
    }
    return ExactStore.joined(runs).map((rect) => this.pixels(rect));
  }

  /// A rectangle of pixels has come, and is decoded from now on.
  /// Returns what `land` wants; null for one that nothing can be done with.
  arrive({ timestamp, x, y, width, height }) {
    const side = ExactStore.blockSize;
    if (!this.hasBegun || x % side || y % side || !width || !height || x + width > this.width || y + height > this.height) return null;
    this.tell(timestamp);
    this.order += 1;
    return { store: this.since, order: this.order, timestamp,
      rect: { column: x / side, row: y / side, width: Math.ceil(width / side), height: Math.ceil(height / side) } };
  }

  /// A picture that is here or on its way is that of the timestamp, but for these rectangles of blocks.
  /// Returns what `land` wants.
  adopt(timestamp, rects) {
    const arrival = this.arrive({ timestamp, x: 0, y: 0, width: this.width, height: this.height });
    if (arrival) this.void(timestamp, rects);
    return arrival;
  }

  /// Takes the decoded pixels, as far as they are still valid.
  /// Returns what to draw, in pixels.
  land(arrival) {
    if (arrival.store !== this.since) return [];   // of another picture
    const runs = [], { column, row, width, height } = arrival.rect;
    for (let y = row; y < row + height; y++) {
      let run = null;
      for (let x = column; x < column + width; x++) {
        const block = y * this.columns + x;
        if (this.since[block] >= arrival.order) { run = null; continue; }
        this.since[block] = arrival.order;
        this.drawn[block] = 1;
        this.from[block] = arrival.timestamp;
        if (run) run.width += 1; else runs.push(run = { column: x, row: y, width: 1, height: 1 });
      }
    }
    return ExactStore.joined(runs).map((rect) => this.pixels(rect));
  }

  /// Whether all that is drawn holds for the frame that the video shows.
  get holds() { return this.hasBegun && this.frame !== null && ((this.frame - this.told) | 0) <= 0; }

  /// Runs of equal columns below each other as one.
  static joined(runs) {
    const joined = [];
    for (const run of runs) {
      const above = joined.find((rect) => rect.column === run.column && rect.width === run.width && rect.row + rect.height === run.row);
      if (above) above.height += 1; else joined.push(run);
    }
    return joined;
  }

  each({ column, row, width, height }, body) {
    for (let y = row; y < Math.min(this.rows, row + height); y++)
      for (let x = column; x < Math.min(this.columns, column + width); x++) body(y * this.columns + x);
  }

  pixels({ column, row, width, height }) {
    const side = ExactStore.blockSize, x = column * side, y = row * side;
    return { x, y, width: Math.min(this.width, x + width * side) - x, height: Math.min(this.height, y + height * side) - y };
  }
}

/// A message of the caster as a value; null for none of ours.
function parseExact(buffer) {
  const view = new DataView(buffer);
  if (view.byteLength < 7) return null;
  const timestamp = view.getUint32(1);
  switch (view.getUint8(0)) {
  case 1: return view.byteLength === 9 ? { kind: "begin", timestamp, width: view.getUint16(5), height: view.getUint16(7) } : null;
  case 2: case 4: {
    const count = view.getUint16(5);
    if (view.byteLength !== 7 + count * 8) return null;
    const rects = Array.from({ length: count }, (_, i) => ({ column: view.getUint16(7 + i * 8), row: view.getUint16(9 + i * 8),
      width: view.getUint16(11 + i * 8), height: view.getUint16(13 + i * 8) }));
    return { kind: view.getUint8(0) === 2 ? "void" : "snapshot", timestamp, rects };
  }
  case 3:
    if (view.byteLength <= 17) return null;
    return { kind: "rectangle", timestamp, number: view.getUint32(5), x: view.getUint16(9), y: view.getUint16(11),
      width: view.getUint16(13), height: view.getUint16(15), webP: new Uint8Array(buffer, 17) };
  default: return null;
  }
}

/// The viewer's messages.
const exactWords = {
  ready: (isVisible, snapshot) => Uint8Array.of(1, 1, (isVisible ? 1 : 0) | (snapshot === null ? 0 : 2), ...(snapshot === null ? [] : exactWords.number(snapshot))),
  acknowledgement: (number) => Uint8Array.of(2, ...exactWords.number(number)),
  number: (value) => [value >>> 24, value >>> 16 & 255, value >>> 8 & 255, value & 255],
};

/// Draws exact pixels of one session into a canvas that lies upon the video.
class ExactLayer {
  static feature = "exact";
  static protocol = "rtcast-exact.1";
  static isPossible = typeof createImageBitmap === "function" && !!globalThis.HTMLVideoElement?.prototype.requestVideoFrameCallback;

  /// - snapshot: the whole picture, which the page asked for by itself: promises of the `number` by which the caster knows it, soon or
  ///   never, and of the `picture`; both null when it is of no use.
  constructor(connection, snapshot = null) {
    this.store = new ExactStore();
    this.snapshot = snapshot;
    this.number = null;      // the snapshot's, until it was sent
    this.isAwaited = false;  // the number may still come
    this.canvas = null;
    this.isOver = false;
    this.channel = connection.createDataChannel("exact", { protocol: ExactLayer.protocol });
    this.channel.binaryType = "arraybuffer";
    this.channel.onopen = () => this.ready();
    if (snapshot) this.await(snapshot.number);
    this.channel.onclose = () => this.end();
    this.channel.onmessage = ({ data }) => { if (data instanceof ArrayBuffer) this.take(parseExact(data)); };
  }

  /// Waits a moment for the snapshot's number before it asks for pixels.
  async await(number) {
    this.isAwaited = true;
    this.number = await Promise.race([number, new Promise((next) => setTimeout(next, 1000, null))]);
    this.isAwaited = false;
    this.ready();
  }

  /// From now on there is a page to draw in.
  attach(video, canvas, receiver) {
    Object.assign(this, { video, canvas, receiver });
    const shown = (_, { rtpTimestamp }) => {
      if (this.isOver || this.video.srcObject === null) return;
      this.video.requestVideoFrameCallback(shown);
      this.show(rtpTimestamp);
    };
    video.requestVideoFrameCallback(shown);
    // Callbacks are missed now and then; what the track was given last says as much.
    // The browser shows the video alone there.
    for (const change of ["enterpictureinpicture", "leavepictureinpicture"]) video.addEventListener(change, () => this.ready());
    this.watch = setInterval(() => this.look(), 100);
    this.ready();
  }

  /// Asks for pixels from the beginning, or for none if the page is hidden or the video is a picture in picture.
  ready() {
    if (this.channel.readyState !== "open" || !this.canvas || this.isOver || this.isAwaited) return;
    const { frame } = this.store;
    this.store.forget();
    this.store.frame = frame;
    this.update();
    const isSeen = !document.hidden && !document.pictureInPictureElement;
    this.channel.send(exactWords.ready(isSeen, isSeen ? this.number : null));
    if (isSeen) this.number = null;
  }

  end() {
    if (this.isOver) return;
    this.isOver = true;
    clearInterval(this.watch);
    this.store.forget();
    this.update();
  }

  take(message) {
    if (!message || this.isOver || !this.canvas) return;
    switch (message.kind) {
    case "begin":
      this.store.begin(message.timestamp, message.width, message.height);
      Object.assign(this.canvas, { width: message.width, height: message.height });   // which clears it
      this.pen = this.canvas.getContext("2d");
      this.onsize?.();
      break;
    case "void":
      this.clear(this.store.void(message.timestamp, message.rects));
      break;
    case "rectangle":
      this.channel.send(exactWords.acknowledgement(message.number));
      this.decode(message);
      break;
    case "snapshot":
      this.adopt(message);
      break;
    }
    this.look();
    this.update();
  }

  async decode(message) {
    const arrival = this.store.arrive(message);
    if (!arrival) return;
    try {
      const picture = await createImageBitmap(new Blob([message.webP], { type: "image/webp" }), { colorSpaceConversion: "none" });
      if (picture.width === message.width && picture.height === message.height) this.land(arrival, picture, message.x, message.y);
      picture.close();
    } catch { /* the video is there */ }
  }

  /// The snapshot is as good as rectangles of the channel; it may still be on its way.
  async adopt({ timestamp, rects }) {
    const arrival = this.store.adopt(timestamp, rects);
    const picture = await this.snapshot?.picture.catch(() => null);
    if (!arrival || arrival.store !== this.store.since) return;
    if (picture?.width === this.store.width && picture.height === this.store.height) this.land(arrival, picture, 0, 0);
    else this.ready();   // without it, then
  }

  land(arrival, picture, left, top) {
    for (const { x, y, width, height } of this.store.land(arrival))
      this.pen.drawImage(picture, x - left, y - top, width, height, x, y, width, height);
  }

  /// The newest frame of the track is shown now or in a moment.
  look() {
    if (document.hidden || this.isOver) return;
    const [source] = this.receiver?.getSynchronizationSources() ?? [];
    if (source) this.show(source.rtpTimestamp);
  }

  show(timestamp) {
    if (timestamp === undefined) return;
    this.clear(this.store.show(timestamp));
    this.update();
  }

  clear(rects) { for (const { x, y, width, height } of rects) this.pen.clearRect(x, y, width, height); }

  get frame() { return this.store.frame; }
  get isShown() { return this.store.holds; }

  update() {
    const visibility = this.isShown ? "visible" : "hidden";
    if (this.canvas && this.canvas.style.visibility !== visibility) this.canvas.style.visibility = visibility;
  }
}

(globalThis.pageFeatures ??= []).push(ExactLayer);
globalThis.exactPixels = { ExactStore, ExactLayer, parseExact, exactWords };
