// A caster that keeps the rules of docs/exact-pixels.md, a video beside it, and the page's store between them: whatever order
// they come in, nothing is drawn that is older than the frame it is drawn upon. Returns what was wrong, one line each.
function fuzzExact({ ExactStore, parseExact }, seed, steps) {
  let state = seed >>> 0 || 1;
  const below = (n) => { state ^= state << 13; state >>>= 0; state ^= state >>> 17; state ^= state << 5; state >>>= 0; return state % n; };
  const wrong = [];
  let width = 700, height = 333, columns, rows, screen, held, count = 0, time = 0xfffff000, told;
  const channel = [], video = [], decoding = [], snapshots = [], pending = [];
  let clock = 0;
  const store = new ExactStore(() => clock);
  let canvas = [], shown = null, seen = [];

  const message = (size, fill) => { const view = new DataView(new ArrayBuffer(size)); fill(view); channel.push(view.buffer); };
  const begin = () => {
    [columns, rows] = [Math.ceil(width / 16), Math.ceil(height / 16)];
    screen = Array.from({ length: columns * rows }, () => ++count);
    held = new Uint8Array(columns * rows);
    snapshots.length = 0;
    tellSize();
  };
  const tellSize = () => message(9, (view) => { view.setUint8(0, 1); view.setUint32(1, time); view.setUint16(5, width); view.setUint16(7, height); });
  // Who comes anew has a snapshot: what has changed since is told with it.
  const adopt = () => {
    const snapshot = snapshots[below(snapshots.length)], rects = [];
    if (!snapshot) return;
    screen.forEach((number, b) => { if (snapshot[b] !== number) rects.push({ column: b % columns, row: Math.floor(b / columns), width: 1, height: 1 }); });
    tellSize();
    pending.push(snapshot);
    blocks(4, rects);
  };
  const anyRect = () => { const column = below(columns), row = below(rows);
    return { column, row, width: 1 + below(columns - column), height: 1 + below(rows - row) }; };
  const each = ({ column, row, width, height }, body) => {
    for (let y = row; y < row + height; y++) for (let x = column; x < column + width; x++) body(y * columns + x); };
  const voids = (rects) => blocks(2, rects);
  const blocks = (kind, rects) => message(7 + 8 * rects.length, (view) => {
    view.setUint8(0, kind); view.setUint32(1, time); view.setUint16(5, rects.length);
    rects.forEach((rect, i) => [rect.column, rect.row, rect.width, rect.height].forEach((n, k) => view.setUint16(7 + i * 8 + k * 2, n)));
  });
  const change = () => { const rect = anyRect(); each(rect, (b) => { screen[b] = ++count; held[b] = 0; }); voids([rect]); };
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
  const blocksOf = ({ x, y, width, height }) => ({ column: x / 16, row: y / 16, width: Math.ceil(width / 16), height: Math.ceil(height / 16) });
  const clear = (rect, of) => { const { column, row, width, height } = blocksOf(rect);
    for (let v = row; v < row + height; v++) for (let u = column; u < column + width; u++) canvas[v * of + u] = undefined; };
  const receive = () => {
    const buffer = channel.shift();
    if (!buffer) return;
    const value = parseExact(buffer);
    if (!value) { wrong.push("a message was not understood"); return; }
    if (value.kind === "begin") { store.begin(value.timestamp, value.width, value.height); canvas = []; seen = []; }
    if (value.kind === "void") for (const rect of store.void(value.timestamp, value.rects)) clear(rect, store.columns);
    if (value.kind === "snapshot") {
      const numbers = new DataView(new ArrayBuffer(store.columns * store.rows * 4)), snapshot = pending.shift();
      for (let b = 0; b < store.columns * store.rows; b++) numbers.setUint32(b * 4, snapshot[b]);
      decoding.push({ arrival: store.adopt(value.timestamp, value.rects),
        value: { x: 0, y: 0, width: store.width, height: store.height, webP: new Uint8Array(numbers.buffer) } });
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
        canvas[v * store.columns + u] = numbers.getUint32(((v - from.row) * from.width + u - from.column) * 4);
    }
  };
  const show = () => { if (video.length) { shown = video.shift(); for (const rect of store.show(shown.time)) clear(rect, store.columns); } };
  const all = () => {
    while (channel.length) receive();
    while (decoding.length) land();
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
      if (number !== undefined && !store.drawn[block]) wrong.push(`seed ${seed} step ${step}: block ${block} is drawn and not accounted for`);
    });
  };

  begin();
  for (let step = 0; step < steps && wrong.length < 5; step++) {
    pass(1 + below(3000));
    // Hours without a frame, after which nothing is under way.
    if (below(60) === 0) {
      frame();
      all();
      pass(below(24) * 3600 * 90000);
    }
    const what = below(24);
    if (what < 3) change();
    else if (what < 6) frame();
    else if (what < 11) send();
    else if (what < 17) receive();
    else if (what < 20) land();
    else if (what < 23) show();
    else if (below(10) === 0) snapshots.push(screen.slice());
    else if (below(10) === 0) adopt();
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
