"""The frame number in a picture: drawn as Sources/RTCCapture/Synthetic/FrameBarcode.swift draws it, and read in the page.

64 cells in two rows of 32, most significant bit first, white for 1: 24 bits frame number, 32 bits milliseconds, 8 bits CRC
(polynomial 0x07); a grey margin one cell wide around them; in the top left corner.
"""


def cell_size(width, height):
    if width >= 1024 and height >= 64:
        return 16
    fitting = min(16, width // 34, height // 4)
    return fitting // 2 * 2 if fitting > 1 else fitting


def crc8(payload):
    crc = 0
    for byte in payload.to_bytes(7, "big"):
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 0x07) & 0xff if crc & 0x80 else crc << 1
    return crc


def bits(frame, milliseconds):
    payload = (frame & 0xffffff) << 32 | milliseconds & 0xffffffff
    return payload << 8 | crc8(payload)


def draw(luma, frame, milliseconds=0):
    """Into a plane of limited-range luma, in place."""
    height, width = luma.shape
    cell = cell_size(width, height)
    luma[:4 * cell, :34 * cell] = 126
    luma[cell:3 * cell, cell:33 * cell] = 16
    code = bits(frame, milliseconds)
    for index in range(64):
        if code >> (63 - index) & 1:
            row, column = divmod(index, 32)
            luma[cell + row * cell:cell + (row + 1) * cell, cell + column * cell:cell + (column + 1) * cell] = 235


def read(luma):
    """The frame number in a plane of luma; None when the check does not fit."""
    height, width = luma.shape
    cell = cell_size(width, height)
    code = 0
    for index in range(64):
        row, column = divmod(index, 32)
        code = code << 1 | int(luma[cell + row * cell + cell // 2, cell + column * cell + cell // 2] > 125)
    return code >> 40 if crc8(code >> 8) == code & 0xff else None


READER = r"""
window.barcode ??= (() => {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  const cellSize = (width, height) => {
    if (width >= 1024 && height >= 64) return 16;
    const fitting = Math.min(16, Math.floor(width / 34), Math.floor(height / 4));
    return fitting > 1 ? Math.floor(fitting / 2) * 2 : fitting;
  };
  /// { frame, milliseconds } of 64 cells, or null when the check does not fit; `isSet` reads the cell at a column and a row.
  const decode = (isSet) => {
    let code = 0n;
    for (let i = 0; i < 64; i++) code = code << 1n | (isSet(i % 32, i >> 5) ? 1n : 0n);
    let crc = 0;
    for (let byte = 7; byte >= 1; byte--) {
      crc ^= Number(code >> BigInt(8 * byte) & 255n);
      for (let k = 0; k < 8; k++) crc = crc & 0x80 ? crc << 1 & 255 ^ 7 : crc << 1;
    }
    if (crc !== Number(code & 255n)) return null;
    return { frame: Number(code >> 40n), milliseconds: Number(code >> 8n & 0xffffffffn) };
  };
  /// What the video shows now.
  const read = (video) => {
    const cell = cellSize(video.videoWidth, video.videoHeight);
    if (!cell) return null;
    canvas.width = 34 * cell; canvas.height = 4 * cell;
    pen.drawImage(video, 0, 0, canvas.width, canvas.height, 0, 0, canvas.width, canvas.height);
    const data = pen.getImageData(0, 0, canvas.width, canvas.height).data;
    return decode((column, row) => {
      const x = cell + column * cell + (cell >> 1), y = cell + row * cell + (cell >> 1);
      return data[(y * canvas.width + x) * 4 + 1] > 127;
    });
  };
  /// What a VideoFrame shows, of a screen of that size, to which the sender may have given another. Of the frame only the corner is
  /// copied, which costs less than drawing it.
  const bytes = new Uint8Array(1 << 20);
  const readFrame = async (frame, screen) => {
    const { x, y, width, height } = frame.visibleRect, cell = cellSize(screen.width, screen.height) * width / screen.width;
    const rect = { x, y, width: Math.min(width, Math.ceil(34 * cell / 16) * 16), height: Math.min(height, Math.ceil(4 * cell / 16) * 16) };
    const [{ offset, stride }] = await frame.copyTo(bytes, { rect });
    const size = /^(I4|NV)/.test(frame.format) ? 1 : 4;   // otherwise red or blue comes first, the same in black and white
    return decode((column, row) => {
      let sum = 0, count = 0;
      for (let v = Math.floor(cell * (row + 1.25)); v < cell * (row + 1.75); v++) {
        for (let u = Math.floor(cell * (column + 1.25)); u < cell * (column + 1.75); u++, count++) sum += bytes[offset + v * stride + u * size];
      }
      return sum > 127 * count;
    });
  };
  return { read, readFrame };
})();
"""


def watch(viewer, seconds):
    """What the page presented in that time: one entry a frame with number, presentation time in seconds (None when unreadable)."""
    viewer.driver.set_script_timeout(seconds + 30)
    return viewer.asynchronous(READER + r"""
        const seconds = arguments[0], done = arguments[1], seen = [], video = document.querySelector('video');
        const until = performance.now() + seconds * 1000;
        const step = (now, metadata) => {
          const code = window.barcode.read(video);
          seen.push({ number: code && code.frame, at: metadata.expectedDisplayTime / 1000, media: metadata.rtpTimestamp,
                      presented: metadata.presentedFrames, width: metadata.width, height: metadata.height });
          if (performance.now() < until) video.requestVideoFrameCallback(step);
        };
        video.requestVideoFrameCallback(step);
        const poll = setInterval(() => { if (performance.now() >= until) { clearInterval(poll); done(seen); } }, 50);""", seconds)


def slope(samples):
    """Frames per second of what was read, by the median over pairs half the time apart: nothing is assumed of frames not presented, and
    a spell in which the machine was busy does not count."""
    points = [(s["at"], s["number"]) for s in samples if s["number"] is not None]
    half = len(points) // 2
    assert half > 10, f"only {len(points)} frames could be read of {len(samples)}"
    rates = sorted((b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(points, points[half:]))
    return rates[len(rates) // 2]


def distinct(samples):
    """The first sample of each picture; a sender may send one again, finer."""
    known = [s for s in samples if s["number"] is not None]
    return known[:1] + [b for a, b in zip(known, known[1:]) if b["number"] != a["number"]]


def steps(samples, length):
    """From one picture to the next, in a clip of that many frames that is looped: (frames ahead, media ticks ahead, seconds)."""
    known = distinct(samples)
    return [((b["number"] - a["number"]) % length, (b["media"] - a["media"]) % 2**32, b["at"] - a["at"]) for a, b in zip(known, known[1:])]


def assert_in_order(samples, length=None, unreadable=0.02):
    """Each presented frame comes after the one before it; at most a few may be unreadable (torn between two by nothing we know of)."""
    known = [s["number"] for s in samples if s["number"] is not None]
    assert len(known) >= (1 - unreadable) * len(samples), f"{len(samples) - len(known)} of {len(samples)} frames unreadable"
    length = length or 1 << 24
    back = [(a, b) for a, b in zip(known, known[1:]) if (b - a) % length > length // 2]
    assert not back, f"frames went backwards: {back[:5]}"


def unwrapped(samples, length):
    """The samples with numbers that count on from loop to loop."""
    turns, last, out = 0, None, []
    for s in samples:
        if s["number"] is None:
            continue
        if last is not None and s["number"] < last - length // 2:
            turns += 1
        last = s["number"]
        out.append({**s, "number": s["number"] + turns * length})
    return out
