public import RTCMedia

/// Frame number and drawing time as black and white cells, for programs that measure a viewer's picture.
///
/// 64 cells in two rows of 32, most significant bit first, white for 1: 24 bits frame number, 32 bits milliseconds, 8
/// bits CRC (polynomial 0x07) of the seven bytes before it. A grey margin one cell wide surrounds them, in the top left
/// corner of the picture. Cells are 16 pixels on pictures at least 1024 wide, less on narrower ones.
public struct FrameBarcode: Hashable, Sendable {
  /// The frame number; its lower 24 bits are shown.
  public var frame: UInt32
  /// Milliseconds of the wall clock since 1970, modulo 2³².
  public var milliseconds: UInt32

  /// Number of the frame, and milliseconds since 1970 modulo 2³².
  public init(frame: UInt32, milliseconds: UInt32) {
    self.frame = frame & 0xff_ffff
    self.milliseconds = milliseconds
  }

  /// The edge of a cell in pixels; 0 when the picture has no room for the code.
  public static func cellSize(in size: PixelSize) -> Int {
    if size.width >= 1024 && size.height >= 64 { return 16 }
    let fitting = min(16, size.width / 34, size.height / 4)
    return fitting > 1 ? fitting / 2 * 2 : fitting
  }

  /// The cells without their margin.
  public static func rect(in size: PixelSize) -> PixelRect {
    let cell = cellSize(in: size)
    return PixelRect(x: cell, y: cell, width: 32 * cell, height: 2 * cell)
  }

  /// The 64 cells, most significant bit first.
  public var bits: UInt64 {
    let payload = UInt64(frame) << 32 | UInt64(milliseconds)
    return payload << 8 | UInt64(Self.crc8(payload))
  }

  /// Reads 64 cells; nil when the check does not fit.
  public init?(bits: UInt64) {
    guard Self.crc8(bits >> 8) == UInt8(truncatingIfNeeded: bits) else { return nil }
    self.init(frame: UInt32(truncatingIfNeeded: bits >> 40), milliseconds: UInt32(truncatingIfNeeded: bits >> 8))
  }

  /// The CRC of the lower 56 bits.
  private static func crc8(_ payload: UInt64) -> UInt8 {
    var crc: UInt8 = 0
    for byte in (0..<7).reversed() {
      crc ^= UInt8(truncatingIfNeeded: payload >> UInt64(byte * 8))
      for _ in 0..<8 { crc = crc & 0x80 != 0 ? crc << 1 ^ 0x07 : crc << 1 }
    }
    return crc
  }

  @_lifetime(canvas: copy canvas)
  func draw(into canvas: inout PixelCanvas) {
    let cell = Self.cellSize(in: canvas.size)
    canvas.fill(PixelRect(x: 0, y: 0, width: 34 * cell, height: 4 * cell), 0x808080)
    canvas.fill(Self.rect(in: canvas.size), 0)
    let bits = bits
    for index in 0..<64 where bits >> UInt64(63 - index) & 1 == 1 {
      let (row, column) = (index / 32, index % 32)
      canvas.fill(PixelRect(x: cell + column * cell, y: cell + row * cell, width: cell, height: cell), 0xffffff)
    }
  }
}
