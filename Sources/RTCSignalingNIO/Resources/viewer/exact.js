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
    this.kept = new Map();             // by slot: the size of the cell whose pixels are in it
    this.keeping = new Map();          // by slot: the cell to keep as soon as it is drawn
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

  /// Pixels are elsewhere now (`copies`, whose pixels at x, y were at x - dx, y - dy), and new ones lie upon them (`patches`); these `blocks`
  /// are exact then, and `voids` are others. Everything that came before it has been drawn, as far as it could be decoded.
  /// Returns in pixels: what to clear, and after that the parts to draw of the copies, from the canvas as it was before, and of the patches,
  /// by their place in the list.
  move({ timestamp, voids, blocks, copies, patches }, isDecoded = () => true) {
    const result = { clear: [], copies: [], patches: [] };
    if (!this.hasBegun) return result;
    this.tell(timestamp);
    this.order += 1;
    const parts = { copies, patches: patches.filter((patch, index) => isDecoded(index)), lacking: patches.filter((patch, index) => !isDecoded(index)) };
    const isPossible = copies.every((copy) => this.contains(copy) && this.contains(ExactStore.source(copy, copy))) && patches.every((patch) => this.contains(patch));
    const isGiven = (rect) => isPossible && this.isGiven(rect, parts);
    // By the blocks as they were before.
    const drawn = [], lost = [...voids];
    for (const rect of blocks) {
      if (isGiven(rect)) { drawn.push(rect); continue; }
      const runs = [], { row, height, column, width } = rect;
      for (let y = row; y < Math.min(this.rows, row + height); y++) {
        let run = null;
        for (let x = column; x < Math.min(this.columns, column + width); x++) {
          const block = { column: x, row: y, width: 1, height: 1 };
          if (!isGiven(block)) { run = null; lost.push(block); }
          else if (run) run.width += 1;
          else runs.push(run = block);
        }
      }
      drawn.push(...ExactStore.joined(runs));
    }
    for (const rect of lost) this.each(rect, (block) => { this.since[block] = this.order; if (this.drawn[block]) this.drawn[block] = 2; });
    for (const rect of drawn) this.each(rect, (block) => { this.since[block] = this.order; this.drawn[block] = 1; this.from[block] = timestamp; });
    result.clear = this.clear(lost);
    for (const rect of drawn) {
      const pixels = this.pixels(rect);
      for (const copy of copies) result.copies.push({ ...ExactStore.common(pixels, copy), dx: copy.dx, dy: copy.dy });
      patches.forEach((patch, index) => result.patches.push({ ...ExactStore.common(pixels, patch), index }));
    }
    for (const kind of ["copies", "patches"]) result[kind] = result[kind].filter((part) => !ExactStore.isEmpty(part));
    return result;
  }

  /// Whether the page has every pixel of the blocks: new, copied from what is drawn, or drawn in its place.
  isGiven(rect, { copies, patches, lacking }) {
    const pixels = this.pixels(rect);
    if (lacking.some((patch) => !ExactStore.isEmpty(ExactStore.common(patch, pixels)))) return false;
    if (patches.some((patch) => ExactStore.covers(patch, pixels))) return true;
    if (!copies.some((copy) => ExactStore.covers(copy, pixels)) && !this.areDrawn(rect)) return false;
    return copies.every((copy) => {
      const part = ExactStore.common(pixels, copy);
      return ExactStore.isEmpty(part) || this.areDrawn(ExactStore.blocksOf(ExactStore.source(copy, part)));
    });
  }

  areDrawn(rect) {
    let are = true;
    this.each(rect, (block) => { if (this.drawn[block] !== 1) are = false; });
    return are;
  }

  contains({ x, y, width, height }) { return width > 0 && height > 0 && x >= 0 && y >= 0 && x + width <= this.width && y + height <= this.height; }

  /// Where the pixels of a part of a copy were.
  static source({ dx, dy }, { x, y, width, height }) { return { x: x - dx, y: y - dy, width, height }; }

  static covers(outer, { x, y, width, height }) {
    return outer.x <= x && outer.y <= y && outer.x + outer.width >= x + width && outer.y + outer.height >= y + height;
  }

  static isEmpty({ width, height }) { return width <= 0 || height <= 0; }

  /// The pixels that both have.
  static common(a, b) {
    const x = Math.max(a.x, b.x), y = Math.max(a.y, b.y);
    return { x, y, width: Math.min(a.x + a.width, b.x + b.width) - x, height: Math.min(a.y + a.height, b.y + b.height) - y };
  }

  /// The blocks that have a pixel of a rectangle.
  static blocksOf({ x, y, width, height }) {
    const side = ExactStore.blockSize, column = Math.floor(x / side), row = Math.floor(y / side);
    return { column, row, width: Math.ceil((x + width) / side) - column, height: Math.ceil((y + height) / side) - row };
  }

  /// The caster can name pixels that the page keeps, in cells of this size.
  /// Returns the number of slots for which `bytes` of pixels suffice; null for a size that cannot be.
  offer(width, height, bytes) {
    const side = ExactStore.blockSize;
    if (!width || !height || width % side || height % side || width > 512 || height > 512) return null;
    this.cell = { width, height };
    this.kept.clear();
    this.keeping.clear();
    return Math.min(65535, Math.floor(bytes / (4 * width * height)));
  }

  /// Each cell of the runs, by its place in them; `rect` is null outside the picture.
  *cells(runs) {
    const side = ExactStore.blockSize, columns = this.cell.width / side, rows = this.cell.height / side;
    const perRow = Math.ceil(this.columns / columns), count = perRow * Math.ceil(this.rows / rows);
    for (const { cell, slot, length } of runs) {
      for (let i = 0; i < length; i++) {
        const column = (cell + i) % perRow * columns, row = Math.floor((cell + i) / perRow) * rows;
        const rect = cell + i < count ? { column, row, width: Math.min(columns, this.columns - column), height: Math.min(rows, this.rows - row) } : null;
        yield { slot: slot + i, rect };
      }
    }
  }

  /// These cells are to be kept as they are now, or will be when what has arrived is drawn.
  /// Returns what `keepDrawn` does.
  keep(timestamp, runs) {
    if (!this.hasBegun || !this.cell) return [];
    this.tell(timestamp);
    for (const { slot, rect } of this.cells(runs)) {
      this.kept.delete(slot);
      if (rect) this.keeping.set(slot, { rect, order: this.order }); else this.keeping.delete(slot);
    }
    return this.keepDrawn();
  }

  /// Returns the cells to copy into their slots now, in pixels.
  keepDrawn() {
    const copies = [];
    for (const [slot, { rect, order }] of this.keeping) {
      let isDrawn = true, isOver = false;
      this.each(rect, (block) => {
        // A block with a later event may be another one.
        if (this.since[block] > order) isOver = true;
        else if (this.drawn[block] !== 1) isDrawn = false;
      });
      if (!isOver && !isDrawn) continue;
      this.keeping.delete(slot);
      if (isOver) continue;
      const pixels = this.pixels(rect);
      this.kept.set(slot, { width: pixels.width, height: pixels.height });
      copies.push({ slot, ...pixels });
    }
    return copies;
  }

  /// These cells are as these slots: rectangles that are decoded already.
  /// Returns what to draw from which slot, in pixels, and the places of the cells that the page does not have.
  recall(timestamp, runs) {
    const draw = [], missing = [];
    if (!this.hasBegun || !this.cell) return { draw, missing };
    this.tell(timestamp);
    this.order += 1;
    let index = 0;
    for (const { slot, rect } of this.cells(runs)) {
      const kept = this.kept.get(slot), pixels = rect && this.pixels(rect);
      if (pixels && kept?.width === pixels.width && kept.height === pixels.height) {
        this.land({ store: this.since, order: this.order, timestamp, rect });
        draw.push({ slot, ...pixels });
      } else {
        missing.push(index);
      }
      index += 1;
    }
    return { draw, missing };
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
    return { kind: view.getUint8(0) === 2 ? "void" : "snapshot", timestamp, rects: parseBlocks(view, 7, count) };
  }
  case 3:
    if (view.byteLength <= 17) return null;
    return { kind: "rectangle", timestamp, number: view.getUint32(5), x: view.getUint16(9), y: view.getUint16(11),
      width: view.getUint16(13), height: view.getUint16(15), webP: new Uint8Array(buffer, 17) };
  case 5: return view.byteLength === 9 ? { kind: "cells", timestamp, width: view.getUint16(5), height: view.getUint16(7) } : null;
  case 6: {
    const runs = parseCellRuns(view, 5);
    return runs && { kind: "keep", timestamp, runs };
  }
  case 7: {
    const runs = view.byteLength < 11 ? null : parseCellRuns(view, 9);
    return runs && { kind: "recall", timestamp, number: view.getUint32(5), runs };
  }
  case 8: return parseMove(view, timestamp);
  case 9: return { kind: "moves", timestamp };
  default: return null;
  }
}

function parseBlocks(view, start, count) {
  return Array.from({ length: count }, (_, i) => ({ column: view.getUint16(start + i * 8), row: view.getUint16(start + 2 + i * 8),
    width: view.getUint16(start + 4 + i * 8), height: view.getUint16(start + 6 + i * 8) }));
}

/// A message that moves pixels, with the WebP files of its patches.
function parseMove(view, timestamp) {
  if (view.byteLength < 17) return null;
  const [voids, blocks, copies, patches] = [9, 11, 13, 15].map((offset) => view.getUint16(offset));
  let start = 17 + (voids + blocks) * 8, end = start + (copies + patches) * 12;
  if (view.byteLength < end) return null;
  const rect = (at) => ({ x: view.getUint16(at), y: view.getUint16(at + 2), width: view.getUint16(at + 4), height: view.getUint16(at + 6) });
  const value = { kind: "move", timestamp, number: view.getUint32(5), voids: parseBlocks(view, 17, voids),
    blocks: parseBlocks(view, 17 + voids * 8, blocks), copies: [], patches: [] };
  for (let i = 0; i < copies; i++, start += 12) value.copies.push({ ...rect(start), dx: view.getInt16(start + 8), dy: view.getInt16(start + 10) });
  for (let i = 0; i < patches; i++, start += 12) {
    const size = view.getUint32(start + 8);
    if (end + size > view.byteLength) return null;
    value.patches.push({ ...rect(start), webP: new Uint8Array(view.buffer, view.byteOffset + end, size) });
    end += size;
  }
  return end === view.byteLength ? value : null;
}

/// Runs of cells and slots, from their number on to the end of the message; null if they are more than a picture has.
function parseCellRuns(view, start) {
  const count = view.getUint16(start);
  if (view.byteLength !== start + 2 + count * 6) return null;
  const runs = Array.from({ length: count }, (_, i) => ({ cell: view.getUint16(start + 2 + i * 6), slot: view.getUint16(start + 4 + i * 6),
    length: view.getUint16(start + 6 + i * 6) }));
  return runs.reduce((sum, { length }) => sum + length, 0) <= 65535 ? runs : null;
}

/// The viewer's messages.
const exactWords = {
  ready: (isVisible, snapshot) => Uint8Array.of(1, 1, (isVisible ? 1 : 0) | (snapshot === null ? 0 : 2), ...(snapshot === null ? [] : exactWords.number(snapshot))),
  acknowledgement: (number) => Uint8Array.of(2, ...exactWords.number(number)),
  cache: (slots) => Uint8Array.of(3, slots >>> 8, slots & 255),
  missing: (number, cells) => Uint8Array.of(4, ...exactWords.number(number), ...[cells.length, ...cells].flatMap((value) => [value >>> 8 & 255, value & 255])),
  follows: () => Uint8Array.of(5),
  number: (value) => [value >>> 24, value >>> 16 & 255, value >>> 8 & 255, value & 255],
};

/// The pixels of cells, by slot, in canvases that are made when they are needed.
class CellSheets {
  /// Pixels along each side of a canvas.
  static side = 1024;

  constructor({ width, height }) {
    Object.assign(this, { width, height });
    this.perRow = Math.floor(CellSheets.side / width);
    this.perSheet = this.perRow * Math.floor(CellSheets.side / height);
    this.sheets = [];
    this.isLost = false;   // the browser gave no memory, or took it back
  }

  place(slot) {
    const number = slot % this.perSheet;
    return { sheet: Math.floor(slot / this.perSheet), left: number % this.perRow * this.width, top: Math.floor(number / this.perRow) * this.height };
  }

  pen(sheet) {
    if (this.sheets[sheet]) return this.sheets[sheet];
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = CellSheets.side;
    canvas.addEventListener("contextlost", () => { this.isLost = true; });
    const pen = canvas.getContext("2d");
    if (!pen) this.isLost = true;
    return this.sheets[sheet] = pen;
  }

  put({ slot, x, y, width, height }, canvas) {
    const { sheet, left, top } = this.place(slot);
    this.pen(sheet)?.drawImage(canvas, x, y, width, height, left, top, width, height);
  }

  draw({ slot, x, y, width, height }, pen) {
    const { sheet, left, top } = this.place(slot);
    pen.drawImage(this.sheets[sheet].canvas, left, top, width, height, x, y, width, height);
  }

  /// Gives the memory back at once.
  clear() {
    for (const pen of this.sheets) if (pen) pen.canvas.width = pen.canvas.height = 0;
    this.sheets = [];
  }
}

/// Draws exact pixels of one session into a canvas that lies upon the video.
class ExactLayer {
  static feature = "exact";
  static protocol = "rtcast-exact.1";
  /// Bytes of pixels that the page keeps: sixteen screens of 1080p, or four on small devices.
  static memory = navigator.deviceMemory < 4 || globalThis.matchMedia?.("(pointer: coarse)").matches ? 32 << 20 : 128 << 20;
  static isPossible = typeof createImageBitmap === "function" && !!globalThis.HTMLVideoElement?.prototype.requestVideoFrameCallback;

  /// - snapshot: the whole picture, which the page asked for by itself: promises of the `number` by which the caster knows it, soon or
  ///   never, and of the `picture`; both null when it is of no use.
  constructor(connection, snapshot = null) {
    this.store = new ExactStore();
    this.snapshot = snapshot;
    this.number = null;      // the snapshot's, until it was sent
    this.isAwaited = false;  // the number may still come
    this.isSeen = false;     // the caster was asked for pixels
    this.canvas = null;
    this.isOver = false;
    this.queue = [];         // messages behind a move that waits for pictures
    this.decoding = 0;       // rectangles that have not been drawn yet
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
    this.drop();
    this.sheets?.clear();
    this.update();
    this.isSeen = !document.hidden && !document.pictureInPictureElement;
    this.channel.send(exactWords.ready(this.isSeen, this.isSeen ? this.number : null));
    if (this.isSeen) this.number = null;
  }

  end() {
    if (this.isOver) return;
    this.isOver = true;
    clearInterval(this.watch);
    this.store.forget();
    this.drop();
    this.sheets?.clear();
    this.update();
  }

  /// Messages that have not had their turn are of no use any more.
  drop() {
    for (const { pictures } of this.queue) for (const picture of pictures ?? []) picture.then((bitmap) => bitmap?.close());
    this.queue = [];
  }

  take(message) {
    if (!message || this.isOver || !this.canvas) return;
    if (message.kind === "rectangle" || message.kind === "move") {
      message.pictures = (message.patches ?? [message]).map((part) => ExactLayer.decode(part));
      if (message.patches) Promise.all(message.pictures).then((bitmaps) => { message.bitmaps = bitmaps; this.advance(); });
    }
    this.queue.push(message);
    this.advance();
  }

  /// Messages have their turn in order: a move, and what is behind it, when all pixels that came before it are drawn and its own are decoded.
  advance() {
    if (this.isOver) return;
    while (this.queue.length && !(this.queue[0].kind === "move" && (this.decoding > 0 || !this.queue[0].bitmaps))) this.perform(this.queue.shift());
    this.look();
    this.update();
  }

  perform(message) {
    switch (message.kind) {
    case "begin":
      if (!this.isSeen) break;   // it was on its way when the page was hidden; without it nothing else is drawn
      this.store.begin(message.timestamp, message.width, message.height);
      Object.assign(this.canvas, { width: message.width, height: message.height });   // which clears it
      this.pen = this.canvas.getContext("2d");
      this.onsize?.();
      break;
    case "void":
      this.clear(this.store.void(message.timestamp, message.rects));
      break;
    case "rectangle":
      this.say(exactWords.acknowledgement(message.number));
      this.draw(message);
      break;
    case "snapshot":
      this.adopt(message);
      break;
    case "cells":
      this.offer(message);
      break;
    case "keep":
      this.keep(this.store.keep(message.timestamp, message.runs));
      break;
    case "recall":
      this.recall(message);
      break;
    case "moves":
      this.say(exactWords.follows());
      break;
    case "move":
      // Not on arrival: a page that lags behind is to have the video.
      this.say(exactWords.acknowledgement(message.number));
      this.move(message);
      break;
    }
  }

  /// A message may have its turn when the channel is closing.
  say(words) {
    if (this.channel.readyState === "open") this.channel.send(words);
  }

  /// The picture; null if it cannot be decoded, or has another size: the video is there.
  static async decode({ webP, width, height }) {
    try {
      const picture = await createImageBitmap(new Blob([webP], { type: "image/webp" }), { colorSpaceConversion: "none" });
      if (picture.width === width && picture.height === height) return picture;
      picture.close();
    } catch { /* It cannot be decoded. */ }
    return null;
  }

  async draw(message) {
    const arrival = this.store.arrive(message), [decoded] = message.pictures;
    await this.whileDecoding(async () => {
      const picture = await decoded;
      if (picture && arrival) this.land(arrival, picture, message.x, message.y);
      picture?.close();
    });
  }

  async whileDecoding(body) {
    this.decoding += 1;
    try { await body(); } finally { this.decoding -= 1; }
    this.advance();
  }

  /// Copies what moved, by way of another canvas, as parts may overlap; then draws the patches.
  move(message) {
    const { canvas } = this, { bitmaps } = message, aside = this.aside?.canvas ?? document.createElement("canvas");
    if (!this.aside) aside.addEventListener("contextlost", () => this.ready());
    if (!(this.aside ??= aside.getContext("2d"))) return void this.channel.close();   // no memory: the video is there
    if (aside.width !== canvas.width || aside.height !== canvas.height) Object.assign(aside, { width: canvas.width, height: canvas.height });
    const { clear, copies, patches } = this.store.move(message, (index) => bitmaps[index] !== null);
    for (const { x, y, width, height, dx, dy } of copies) this.aside.drawImage(canvas, x - dx, y - dy, width, height, x, y, width, height);
    this.clear(clear);
    for (const { x, y, width, height } of copies) this.pen.drawImage(aside, x, y, width, height, x, y, width, height);
    for (const { index, x, y, width, height } of patches) {
      const { x: left, y: top } = message.patches[index];
      this.pen.drawImage(bitmaps[index], x - left, y - top, width, height, x, y, width, height);
    }
    for (const bitmap of bitmaps) bitmap?.close();
    this.keep(this.store.keepDrawn());
  }

  /// The snapshot is as good as rectangles of the channel; it may still be on its way.
  async adopt({ timestamp, rects }) {
    const arrival = this.store.adopt(timestamp, rects);
    await this.whileDecoding(async () => {
      const picture = await this.snapshot?.picture.catch(() => null);
      if (!arrival || arrival.store !== this.store.since) return;
      if (picture?.width === this.store.width && picture.height === this.store.height) this.land(arrival, picture, 0, 0);
      else this.ready();   // without it, then
    });
  }

  land(arrival, picture, left, top) {
    for (const { x, y, width, height } of this.store.land(arrival))
      this.pen.drawImage(picture, x - left, y - top, width, height, x, y, width, height);
    this.keep(this.store.keepDrawn());
  }

  /// Says how many cells the page keeps.
  offer({ width, height }) {
    const slots = this.store.offer(width, height, ExactLayer.memory);
    if (slots === null) return;
    this.sheets?.clear();
    this.sheets = new CellSheets(this.store.cell);
    this.channel.send(exactWords.cache(slots));
  }

  keep(copies) {
    for (const copy of copies) this.sheets.put(copy, this.canvas);
    this.checkSheets();
  }

  /// Draws what the page keeps, and asks for the rest.
  recall({ timestamp, number, runs }) {
    this.checkSheets();
    const { draw, missing } = this.store.recall(timestamp, runs);
    for (const copy of draw) this.sheets.draw(copy, this.pen);
    this.say(missing.length ? exactWords.missing(number, missing.slice(0, 256)) : exactWords.acknowledgement(number));
  }

  /// Without memory the page keeps nothing.
  checkSheets() {
    if (!this.sheets?.isLost || this.isOver) return;
    this.sheets.clear();
    this.sheets.isLost = false;
    this.store.kept.clear();
    this.store.keeping.clear();
    this.channel.send(exactWords.cache(0));
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
globalThis.exactPixels = { ExactStore, ExactLayer, CellSheets, parseExact, exactWords };
