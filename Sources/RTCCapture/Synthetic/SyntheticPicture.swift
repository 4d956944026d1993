import Glibc
public import RTCMedia

/// Draws the pictures of a synthetic source. Every picture is a pure function of its arguments.
public enum SyntheticPicture {
  /// Draws frame number `frame` of `pattern` inside the canvas's clip.
  ///
  /// - Parameter milliseconds: the drawing time that the clock shows in its bar code; the other patterns ignore it.
  @_lifetime(canvas: copy canvas)
  public static func draw(
    _ pattern: SyntheticPattern, frame: UInt64, seed: UInt64, milliseconds: UInt32, into canvas: inout PixelCanvas
  ) {
    switch pattern {
    case .bars: bars(frame, &canvas)
    case .clock: clock(frame, seed, milliseconds, &canvas)
    case .noise: noise(frame, seed, &canvas)
    case .gradient: gradient(frame, seed, &canvas)
    case .scrollText: scrollText(frame, seed, &canvas)
    }
  }

  /// The difference between two frames of `pattern`; nil for everything.
  public static func damage(
    _ pattern: SyntheticPattern, from old: UInt64, to new: UInt64, in size: PixelSize
  ) -> [PixelRect]? {
    let rects: [PixelRect]
    switch pattern {
    case .bars:
      rects = [movingBlock(old, in: size), movingBlock(new, in: size)]
    case .clock:
      let face = ClockFace(size)
      rects = [FrameBarcode.rect(in: size), face.label, face.handsBounds(old).union(face.handsBounds(new))]
    case .noise, .gradient, .scrollText: return nil
    }
    return DamageList(rects).clipped(to: PixelRect(size)).rects
  }

  // MARK: Bars

  @_lifetime(canvas: copy canvas)
  private static func bars(_ frame: UInt64, _ canvas: inout PixelCanvas) {
    let colors: [UInt32] = [0xffffff, 0xffff00, 0x00ffff, 0x00ff00, 0xff00ff, 0xff0000, 0x0000ff, 0x000000]
    let (width, height) = (canvas.size.width, canvas.size.height)
    let split = height * 3 / 4
    for (index, color) in colors.enumerated() {
      let left = width * index / colors.count
      let right = width * (index + 1) / colors.count
      canvas.fill(PixelRect(x: left, y: 0, width: right - left, height: split), color)
    }
    for step in 0..<16 {
      let left = width * step / 16
      let grey = UInt32(step * 17)
      canvas.fill(
        PixelRect(x: left, y: split, width: width * (step + 1) / 16 - left, height: height - split), grey * 0x01_0101)
    }
    canvas.fill(movingBlock(frame, in: canvas.size), 0xff8000)
  }

  private static func movingBlock(_ frame: UInt64, in size: PixelSize) -> PixelRect {
    let edge = max(2, size.width / 32)
    let places = UInt64(max(1, size.width - edge))
    return PixelRect(
      x: Int(frame % (places / 4 + 1)) * 4, y: size.height - size.height / 8, width: edge, height: size.height / 16)
  }

  // MARK: Clock

  /// The positions of the clock's parts.
  private struct ClockFace {
    let centre: (x: Int, y: Int)
    let radius: Int
    let label: PixelRect
    let scale: Int

    init(_ size: PixelSize) {
      radius = max(4, min(size.width, size.height) / 4)
      centre = (size.width / 2, size.height / 2)
      scale = max(1, min(size.width / 320, size.height / 160))
      label = PixelRect(
        x: max(0, centre.x - 36 * scale), y: centre.y + radius + 2 * scale, width: 72 * scale, height: 8 * scale)
    }

    /// One turn of the fast hand takes 60 frames, of the slow one 3600.
    func tip(_ frame: UInt64, turn: UInt64, length: Int) -> (x: Int, y: Int) {
      let angle = Double(frame % turn) * 2 * .pi / Double(turn)
      return (
        centre.x + Int((sin(angle) * Double(length)).rounded()), centre.y - Int((cos(angle) * Double(length)).rounded())
      )
    }

    func hands(_ frame: UInt64) -> [(x: Int, y: Int)] {
      [tip(frame, turn: 60, length: radius * 7 / 8), tip(frame, turn: 3600, length: radius / 2)]
    }

    func handsBounds(_ frame: UInt64) -> PixelRect {
      hands(frame).reduce(PixelRect(x: centre.x - 4, y: centre.y - 4, width: 8, height: 8)) {
        $0.union(PixelRect(x: $1.x - 4, y: $1.y - 4, width: 8, height: 8))
      }
    }
  }

  @_lifetime(canvas: copy canvas)
  private static func clock(
    _ frame: UInt64, _ seed: UInt64, _ milliseconds: UInt32, _ canvas: inout PixelCanvas
  ) {
    let size = canvas.size
    let face = ClockFace(size)
    let tint = UInt32(truncatingIfNeeded: mix(seed)) & 0x1f1f1f
    canvas.fill(PixelRect(size), 0x20_3040 + tint)
    let inner = face.radius * face.radius
    let outer = (face.radius + face.radius / 16 + 1) * (face.radius + face.radius / 16 + 1)
    let reach = face.radius * 9 / 8 + 2
    let disc = PixelRect(x: face.centre.x - reach, y: face.centre.y - reach, width: 2 * reach, height: 2 * reach)
    canvas.shade(disc) { x, y in
      let (dx, dy) = (x - face.centre.x, y - face.centre.y)
      let distance = dx * dx + dy * dy
      return distance > outer ? nil : distance > inner ? 0xe0e0e0 : 0x101820
    }
    for (tip, color) in zip(face.hands(frame), [0xff4040, 0xf0f0f0] as [UInt32]) {
      line(from: face.centre, to: tip, color, &canvas)
    }
    canvas.fill(face.label, 0x101820)
    let digits = String(frame % 1_000_000)
    let number = "FRAME " + String(repeating: "0", count: 6 - digits.utf8.count) + digits
    canvas.text(number, x: face.label.x, y: face.label.y, scale: face.scale, color: 0xffffff)
    FrameBarcode(frame: UInt32(truncatingIfNeeded: frame), milliseconds: milliseconds).draw(into: &canvas)
  }

  @_lifetime(canvas: copy canvas)
  private static func line(
    from start: (x: Int, y: Int), to end: (x: Int, y: Int), _ color: UInt32, _ canvas: inout PixelCanvas
  ) {
    let steps = max(abs(end.x - start.x), abs(end.y - start.y), 1)
    for step in 0...steps {
      let x = start.x + (end.x - start.x) * step / steps
      let y = start.y + (end.y - start.y) * step / steps
      canvas.fill(PixelRect(x: x - 2, y: y - 2, width: 4, height: 4), color)
    }
  }

  // MARK: Noise, gradient

  @_lifetime(canvas: copy canvas)
  private static func noise(_ frame: UInt64, _ seed: UInt64, _ canvas: inout PixelCanvas) {
    let width = UInt64(canvas.size.width)
    let key = mix(seed ^ mix(frame))
    canvas.shade(canvas.clip) { x, y in
      UInt32(truncatingIfNeeded: mix(key &+ UInt64(y) &* width &+ UInt64(x)) & 0xff_ffff)
    }
  }

  @_lifetime(canvas: copy canvas)
  private static func gradient(_ frame: UInt64, _ seed: UInt64, _ canvas: inout PixelCanvas) {
    let (width, height) = (canvas.size.width, canvas.size.height)
    let shift = Int(frame % 256)
    let blue = UInt32(mix(seed) & 0xff)
    canvas.shade(canvas.clip) { x, y in
      // Folded, so that the moving edge has no jump.
      let across = (x * 256 / width * 2 + shift * 2) % 512
      let red = UInt32(across < 256 ? across : 511 - across)
      let green = UInt32(y * 255 / height)
      return red << 16 | green << 8 | blue
    }
  }

  // MARK: Scrolling text

  @_lifetime(canvas: copy canvas)
  private static func scrollText(_ frame: UInt64, _ seed: UInt64, _ canvas: inout PixelCanvas) {
    let scale = canvas.size.height >= 480 ? 2 : 1
    let lineHeight = 10 * scale
    let inks: [UInt32] = [0x202020, 0x0000c0, 0x008000, 0xa02020, 0x6f008a]
    canvas.fill(PixelRect(canvas.size), 0xffffff)
    let offset = frame * 2
    let firstLine = offset / UInt64(lineHeight)
    var y = -Int(offset % UInt64(lineHeight))
    var line = firstLine
    while y < canvas.size.height {
      let text = textLine(line, seed: seed, columns: canvas.size.width / (6 * scale))
      let ink = inks[Int(mix(seed &+ line) % UInt64(inks.count))]
      canvas.text(text, x: 2 * scale, y: y + scale, scale: scale, color: ink)
      y += lineHeight
      line += 1
    }
  }

  private static func textLine(_ line: UInt64, seed: UInt64, columns: Int) -> String {
    let words = [
      "the", "quick", "brown", "fox", "jumps", "over", "lazy", "dog", "Screen", "pixel", "frame", "0x7F3A", "if",
      "else",
      "return", "encoder", "sharp", "text", "WAVE", "lllIII111", "rate", "control", "window", "(a + b)", "x = 42;",
      "illegible",
    ]
    var text = String(line % 10_000) + ": "
    var state = mix(seed ^ mix(line))
    while text.utf8.count < columns {
      text += words[Int(state % UInt64(words.count))] + " "
      state = mix(state)
    }
    return text
  }

  /// SplitMix64's output function: one well-mixed number for each input.
  private static func mix(_ value: UInt64) -> UInt64 {
    var z = value &+ 0x9e37_79b9_7f4a_7c15
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}
