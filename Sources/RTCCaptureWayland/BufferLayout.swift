import CWayland
import RTCMedia

/// The form in which the compositor writes a picture.
struct BufferLayout: Hashable {
  /// More bytes are those of no monitor.
  private static let mostBytes = 1 << 30
  private static let largestSide = 32_768

  var size: PixelSize
  /// Bytes from one row to the next.
  var stride: Int
  /// `.bgra` or `.rgba`.
  var format: PixelFormat
  /// A value of `wl_shm.format`.
  var code: UInt32

  /// Nil if the format is another one, or the numbers are those of no picture.
  init?(code: UInt32, width: UInt32, height: UInt32, stride: UInt32) {
    switch code {
    case WL_SHM_FORMAT_XRGB8888.rawValue, WL_SHM_FORMAT_ARGB8888.rawValue: format = .bgra
    case WL_SHM_FORMAT_XBGR8888.rawValue, WL_SHM_FORMAT_ABGR8888.rawValue: format = .rgba
    default: return nil
    }
    let sides = 1...UInt32(Self.largestSide)
    guard sides.contains(width), sides.contains(height) else { return nil }
    size = PixelSize(width: Int(width), height: Int(height))
    self.stride = Int(stride)
    self.code = code
    guard self.stride >= size.width * 4, self.stride % 4 == 0, self.stride <= Self.mostBytes,
      byteCount <= Self.mostBytes
    else { return nil }
  }

  var byteCount: Int { stride * size.height }
}
