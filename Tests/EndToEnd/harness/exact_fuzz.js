// A caster that keeps the rules of docs/exact-pixels.md, a video beside it, and the page's store between them: whatever order
// they come in, nothing is drawn that is older than the frame it is drawn upon. Returns what was wrong, one line each; and counts the
// cells that the page had, those it did not have, and the blocks that it copied, in `tally`.
function fuzzExact({ ExactStore, parseExact }, seed, steps, tally = {}) {
  let state = seed >>> 0 || 1;
  const below = (n) => { state ^= state << 13; state >>>= 0; state ^= state >>> 17; state ^= state << 5; state >>>= 0; return state % n; };
  const wrong = [];
  let width = 700, height = 333, columns, rows, screen, held, count = 0, time = 0xfffff000, told;
  const channel = [], video = [], decoding = [], snapshots = [], pending = [];
  // Each change has a number, and a look of each quarter of the block: pixels of equal looks are the same. The page keeps a few cells of
  // 32 x 32 pixels, by slot.
  const looks = [], moves = [], side = 2, slots = 12, answers = [], recalls = [];
  let cached = new Map(), kept = [], slot = 0, sent = 0;
  let clock = 0;
  const store = new ExactStore(() => clock);
  let canvas = [], quarters = new Map(), shown = null, seen = [];

  const message = (size, fill) => { const view = new DataView(new ArrayBuffer(size)); fill(view); channel.push(view.buffer); };
  const begin = () => {
    [columns, rows] = [Math.ceil(width / 16), Math.ceil(height / 16)];
    screen = Array.from({ length: columns * rows }, () => { looks[++count] = Array.from({ length: 4 }, () => below(3)); return count; });
    held = new Uint8Array(columns * rows);
    snapshots.length = 0;
    tellSize();
  };
  const tellSize = () => { cached = new Map(); message(9, (view) => { view.setUint8(0, 1); view.setUint32(1, time); view.setUint16(5, width); view.setUint16(7, height); }); };
  const look = (number) => (looks[number] ?? "nothing").toString();
  // Where a quarter of a block is, by its place in quarters.
  const quarter = (u, v) => ({ block: (v >> 1) * columns + (u >> 1), part: (v & 1) * 2 + (u & 1) });
  const perRow = () => Math.ceil(columns / side);
  const anyCell = () => { const cell = below(perRow() * Math.ceil(rows / side)), column = cell % perRow() * side, row = Math.floor(cell / perRow()) * side;
    return { cell, rect: { column, row, width: Math.min(side, columns - column), height: Math.min(side, rows - row) } }; };
  const key = ({ rect }) => { const all = [rect.width]; each(rect, (b) => all.push(look(screen[b]))); return all.join(); };
  const runs = (kind, list) => message((kind === 6 ? 7 : 11) + 6 * list.length, (view) => {
    view.setUint8(0, kind); view.setUint32(1, time);
    if (kind === 7) view.setUint32(5, ++sent);
    const start = kind === 6 ? 5 : 9;
    view.setUint16(start, list.length);
    list.forEach(({ cell, slot }, i) => [cell, slot, 1].forEach((n, k) => view.setUint16(start + 2 + i * 6 + k * 2, n)));
  });
  // Cells that the page has, or that are on their way to it, are kept in slots that are used again in turn.
  const keep = () => {
    const list = [];
    for (let i = below(8); i >= 0; i--) {
      const cell = anyCell(), name = key(cell);
      let isHeld = true;
      each(cell.rect, (b) => { if (!held[b]) isHeld = false; });
      if (!isHeld || cached.has(name) || list.length === slots) continue;
      for (const [other, place] of cached) if (place.slot === slot) cached.delete(other);
      cached.set(name, { slot, sent });
      list.push({ cell: cell.cell, slot });
      slot = (slot + 1) % slots;
    }
    if (list.length) runs(6, list);
  };
  const recall = () => {
    const list = new Map();
    for (let i = 0; i < 40; i++) {
      const cell = anyCell(), place = cached.get(key(cell));
      let isHeld = true;
      each(cell.rect, (b) => { if (!held[b]) isHeld = false; });
      if (place && !isHeld) list.set(cell.cell, { ...cell, slot: place.slot, name: key(cell) });
    }
    if (!list.size) return;
    const all = [...list.values()];
    for (const { rect } of all) each(rect, (b) => { held[b] = 1; });
    runs(7, all);
    recalls.push({ number: sent, all, screen: screen.slice(), of: held });
  };
  // The page did not have these cells.
  const answer = () => {
    const said = answers.shift();
    if (said?.of === held && said.missing.length) voids(said.missing.map(({ rect }) => rect));
    for (const { rect, slot, name } of said?.missing ?? []) {
      if (said.of === held) each(rect, (b) => { held[b] = 0; });
      if (cached.get(name)?.slot === slot && cached.get(name).sent < said.number) cached.delete(name);
    }
  };
  // Who comes anew has a snapshot: what has changed since is told with it.
  const adopt = () => {
    const snapshot = snapshots[below(snapshots.length)], rects = [];
    if (!snapshot) return;
    screen.forEach((number, b) => { if (snapshot[b] !== number) rects.push({ column: b % columns, row: Math.floor(b / columns), width: 1, height: 1 }); });
    tellSize();
    held = new Uint8Array(columns * rows).fill(1);
    screen.forEach((number, b) => { if (snapshot[b] !== number) held[b] = 0; });
    pending.push(snapshot);
    blocks(4, rects);
  };
  const anyRect = () => { const column = below(columns), row = below(rows);
    return { column, row, width: 1 + below(columns - column), height: 1 + below(rows - row) }; };
  const each = ({ column, row, width, height }, body, of = columns) => {
    for (let y = row; y < row + height; y++) for (let x = column; x < column + width; x++) body(y * of + x); };
  const voids = (rects) => blocks(2, rects);
  const blocks = (kind, rects) => message(7 + 8 * rects.length, (view) => {
    view.setUint8(0, kind); view.setUint32(1, time); view.setUint16(5, rects.length);
    rects.forEach((rect, i) => [rect.column, rect.row, rect.width, rect.height].forEach((n, k) => view.setUint16(7 + i * 8 + k * 2, n)));
  });
  const change = () => { const rect = anyRect(), one = 1 + below(3);
    each(rect, (b) => { screen[b] = ++count; looks[count] = [one, one, one, one]; held[b] = 0; }); voids([rect]); };
  // A part of the screen moves by quarters of blocks, or none does, and up to two other parts are new. What the page has the source of,
  // it copies.
  const move = () => {
    const across = Math.floor(width / 8), down = Math.floor(height / 8), dx = below(2) ? 0 : below(9) - 4, dy = below(2) ? 0 : below(9) - 4;
    const u = Math.max(0, dx) + below(Math.max(1, across - Math.abs(dx))), v = Math.max(0, dy) + below(Math.max(1, down - Math.abs(dy)));
    const w = Math.min(across + Math.min(0, dx), u + 1 + below(30)) - u, h = Math.min(down + Math.min(0, dy), v + 1 + below(20)) - v;
    if (w < 1 || h < 1) return;
    const rect = { x: u * 8, y: v * 8, width: w * 8, height: h * 8 }, blocks = blocksOf(rect), given = [], lost = [], now = 1 + below(3);
    const copies = below(5) ? [rect] : [], patches = Array.from({ length: below(3) }, () => {
      const a = below(w), b = below(h);
      return { x: (u + a) * 8, y: (v + b) * 8, width: (1 + below(w - a)) * 8, height: (1 + below(h - b)) * 8 };
    });
    const isPatched = (b) => patches.some((patch) => covers(patch, b));
    const covers = (outer, b) => { const x = b % columns * 16, y = Math.floor(b / columns) * 16;
      return outer.x <= x && outer.y <= y && outer.x + outer.width >= Math.min(width, x + 16) && outer.y + outer.height >= Math.min(height, y + 16); };
    const inside = (outer, a, b) => a * 8 >= outer.x && b * 8 >= outer.y && a * 8 < outer.x + outer.width && b * 8 < outer.y + outer.height;
    const next = screen.slice();
    each(blocks, (b) => {
      const left = b % columns * 2, top = Math.floor(b / columns) * 2, all = looks[screen[b]].slice();
      let isGiven = isPatched(b) || copies.some((copy) => covers(copy, b)) || held[b];
      for (let part = 0; part < 4; part++) {
        const a = left + (part & 1), c = top + (part >> 1);
        if (copies.some((copy) => inside(copy, a, c))) {
          const from = quarter(a - dx, c - dy);
          all[part] = looks[screen[from.block]][from.part];
          if (!held[from.block] && !isPatched(b)) isGiven = false;
        }
        if (patches.some((patch) => inside(patch, a, c))) all[part] = now;
      }
      if (all.join() !== look(screen[b])) { next[b] = ++count; looks[count] = all; }
      if (isGiven) given.push(b); else if (next[b] !== screen[b]) lost.push(b);
    });
    for (const b of given) held[b] = 1;
    for (const b of lost) held[b] = 0;
    screen = next;
    const single = (b) => [b % columns, Math.floor(b / columns), 1, 1], sizeOf = ({ width, height }) => width * height / 64 * 4;
    const size = patches.reduce((sum, patch) => sum + sizeOf(patch), 0);
    message(17 + 8 * (lost.length + given.length) + 12 * (copies.length + patches.length) + size, (view) => {
      let at = 0;
      const put = (bytes, value) => { view[bytes === 1 ? "setUint8" : bytes === 2 ? "setUint16" : "setUint32"](at, value); at += bytes; };
      put(1, 8); put(4, time); put(4, 1);
      for (const n of [lost.length, given.length, copies.length, patches.length]) put(2, n);
      for (const b of [...lost, ...given]) for (const n of single(b)) put(2, n);
      for (const { x, y, width, height } of copies) for (const n of [x, y, width, height, dx * 8 & 0xffff, dy * 8 & 0xffff]) put(2, n);
      for (const patch of patches) { for (const n of [patch.x, patch.y, patch.width, patch.height]) put(2, n); put(4, sizeOf(patch)); }
      while (at < view.byteLength) put(4, now);
    });
    moves.push({ screen: screen.slice(), given });
  };
  // The page's part in it.
  const moved = (value) => {
    const before = new Map(quarters), { screen, given } = moves.shift(), isDecoded = value.patches.map(() => below(3) > 0);
    const { clear: cleared, copies, patches } = store.move(value, (index) => isDecoded[index]), touched = new Set();
    const each8 = ({ x, y, width, height }, body) => { for (let v = y; v < y + height; v += 8) for (let u = x; u < x + width; u += 8) body(u, v); };
    const name = (u, v) => v * 10000 + u;
    for (const rect of cleared) clear(rect, store.columns);
    for (const { dx, dy, ...rect } of copies) each8(rect, (u, v) => quarters.set(name(u, v), before.get(name(u - dx, v - dy))));
    for (const { index, ...rect } of patches) {
      const numbers = value.patches[index].webP;
      if (!isDecoded[index]) wrong.push(`seed ${seed}: a patch is drawn that was not decoded`);
      each8(rect, (u, v) => quarters.set(name(u, v), new DataView(numbers.buffer, numbers.byteOffset).getUint32(0)));
    }
    if (!store.hasBegun) return;
    for (const b of given) {
      if (store.drawn[b] !== 1) continue;
      canvas[b] = screen[b];
      touched.add(b);
    }
    tally.copied = (tally.copied ?? 0) + touched.size;
    copy(store.keepDrawn());
  };
  const paint = (b, number, of) => { canvas[b] = number;
    looks[number]?.forEach((one, part) => quarters.set((Math.floor(b / of) * 16 + (part >> 1) * 8) * 10000 + b % of * 16 + (part & 1) * 8, one)); };
  const frame = () => { voids([]); video.push({ time, screen: screen.slice(), columns }); };
  const send = () => {
    const rect = anyRect(), x = rect.column * 16, y = rect.row * 16, numbers = [];
    each(rect, (b) => { numbers.push(screen[b]); held[b] = 1; });
    message(17 + numbers.length * 4, (view) => {
      view.setUint8(0, 3); view.setUint32(1, time); view.setUint32(5, 1);
      [x, y, Math.min(width, x + rect.width * 16) - x, Math.min(height, y + rect.height * 16) - y].forEach((n, k) => view.setUint16(9 + k * 2, n));
      numbers.forEach((n, k) => view.setUint32(17 + k * 4, n));
    });
  };
  const blocksOf = ({ x, y, width, height }) => { const column = x >> 4, row = y >> 4;
    return { column, row, width: Math.ceil((x + width) / 16) - column, height: Math.ceil((y + height) / 16) - row }; };
  const clear = (rect, of) => { const { column, row, width, height } = blocksOf(rect);
    for (let v = row; v < row + height; v++) for (let u = column; u < column + width; u++) {
      canvas[v * of + u] = undefined;
      for (let part = 0; part < 4; part++) quarters.delete((v * 16 + (part >> 1) * 8) * 10000 + u * 16 + (part & 1) * 8);
    } };
  const receive = () => {
    // A move waits until everything before it is drawn.
    if (!channel.length || new Uint8Array(channel[0])[0] === 8 && decoding.length) return;
    const value = parseExact(channel.shift());
    if (!value) { wrong.push("a message was not understood"); return; }
    if (value.kind === "begin") { store.begin(value.timestamp, value.width, value.height); canvas = []; quarters.clear(); seen = []; }
    if (value.kind === "move") moved(value);
    if (value.kind === "void") for (const rect of store.void(value.timestamp, value.rects)) clear(rect, store.columns);
    if (value.kind === "snapshot") {
      const numbers = new DataView(new ArrayBuffer(store.columns * store.rows * 4)), snapshot = pending.shift();
      for (let b = 0; b < store.columns * store.rows; b++) numbers.setUint32(b * 4, snapshot[b]);
      decoding.push({ arrival: store.adopt(value.timestamp, value.rects),
        value: { x: 0, y: 0, width: store.width, height: store.height, webP: new Uint8Array(numbers.buffer) } });
    }
    if (value.kind === "cells") store.offer(value.width, value.height, slots * value.width * value.height * 4);
    if (value.kind === "keep") copy(store.keep(value.timestamp, value.runs));
    if (value.kind === "recall") {
      const { number, all, screen, of } = recalls.shift(), { draw, missing } = store.recall(value.timestamp, value.runs);
      for (const { slot, ...rect } of draw) {
        let i = 0;
        each(blocksOf(rect), (b) => {
          if (look(kept[slot]?.[i]) !== look(screen[b])) wrong.push(`seed ${seed}: slot ${slot} has ${kept[slot]?.[i]} in the place of ${screen[b]}`);
          i += 1;
          paint(b, screen[b], store.columns);
        }, store.columns);
      }
      tally.drawn = (tally.drawn ?? 0) + draw.length;
      tally.missing = (tally.missing ?? 0) + missing.length;
      answers.push({ number, of, missing: missing.map((index) => all[index]) });
    }
    if (value.kind === "rectangle") { const arrival = store.arrive(value); if (arrival) decoding.push({ arrival, value }); }
  };
  const land = () => {
    if (!decoding.length) return;
    const [{ arrival, value }] = decoding.splice(below(decoding.length), 1);
    const from = blocksOf(value), numbers = new DataView(value.webP.buffer, value.webP.byteOffset);
    for (const rect of store.land(arrival)) {
      const { column, row, width, height } = blocksOf(rect);
      for (let v = row; v < row + height; v++) for (let u = column; u < column + width; u++)
        paint(v * store.columns + u, numbers.getUint32(((v - from.row) * from.width + u - from.column) * 4), store.columns);
    }
    copy(store.keepDrawn());
  };
  const copy = (copies) => {
    for (const { slot, ...rect } of copies) {
      kept[slot] = [];
      each(blocksOf(rect), (b) => {
        if (canvas[b] === undefined) wrong.push(`seed ${seed}: block ${b} is kept before it is drawn`);
        kept[slot].push(canvas[b]);
      }, store.columns);
    }
  };
  const show = () => { if (video.length) { shown = video.shift(); for (const rect of store.show(shown.time)) clear(rect, store.columns); } };
  const all = () => {
    while (channel.length || decoding.length) { receive(); if (below(2)) land(); }
    while (video.length) show();
  };
  const pass = (ticks) => { time = (time + ticks) % 2 ** 32; clock += ticks / 90; };
  // What is seen of a block, exact or video, is never older than what was seen of it before.
  const back = (step) => {
    if (!shown || shown.columns !== store.columns) return;
    for (let block = 0; block < store.columns * store.rows; block++) {
      const now = (store.holds ? canvas[block] : undefined) ?? shown.screen[block];
      if (now < seen[block]) wrong.push(`seed ${seed} step ${step}: block ${block} goes back from ${seen[block]} to ${now}`);
      seen[block] = now;
    }
  };
  const check = (step) => {
    back(step);
    if (!shown || !store.holds) return;
    store.drawn.forEach((is, block) => { if (is && canvas[block] === undefined) wrong.push(`seed ${seed} step ${step}: block ${block} is not drawn`); });
    canvas.forEach((number, block) => {
      if (number !== undefined && shown.columns === store.columns && number < shown.screen[block])
        wrong.push(`seed ${seed} step ${step}: block ${block} shows ${number} upon ${shown.screen[block]}`);
      if (number !== undefined) looks[number].forEach((one, part) => {
        const x = block % store.columns * 16 + (part & 1) * 8, y = Math.floor(block / store.columns) * 16 + (part >> 1) * 8;
        if (x < store.width && y < store.height && quarters.get(y * 10000 + x) !== one)
          wrong.push(`seed ${seed} step ${step}: block ${block} has ${quarters.get(y * 10000 + x)} in the place of ${one} of ${number}`);
      });
      if (number !== undefined && !store.drawn[block]) wrong.push(`seed ${seed} step ${step}: block ${block} is drawn and not accounted for`);
    });
  };

  begin();
  message(9, (view) => { view.setUint8(0, 5); view.setUint32(1, time); view.setUint16(5, side * 16); view.setUint16(7, side * 16); });
  for (let step = 0; step < steps && wrong.length < 5; step++) {
    pass(1 + below(3000));
    // Hours without a frame, after which nothing is under way.
    if (below(60) === 0) {
      frame();
      all();
      pass(1 + below(24) * 3600 * 90000);
    }
    const what = below(33);
    if (what < 3) change();
    else if (what < 6) frame();
    else if (what < 11) send();
    else if (what < 17) receive();
    else if (what < 20) land();
    else if (what < 23) show();
    else if (what < 24 && below(10) === 0) snapshots.push(screen.slice());
    else if (what < 24 && below(10) === 0) adopt();
    else if (what < 25) keep();
    else if (what < 27) recall();
    else if (what < 28) answer();
    else if (what < 32) move();
    else if (below(40) === 0) { [width, height] = [17 + below(900), 17 + below(500)]; begin(); frame(); }
    check(step);
  }
  // Then all that was left comes.
  frame();
  all();
  check("last");
  if (!store.holds) wrong.push(`seed ${seed}: what is drawn stays hidden`);
  return wrong;
}
