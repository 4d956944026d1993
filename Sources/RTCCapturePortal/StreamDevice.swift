import Glibc
import RTCMedia

/// A DMA-BUF of the stream whose rows lie one after another, and the last picture in it.
final class StreamDevice {
  /// PipeWire's file, open until the buffer is removed.
  private let descriptor: Int32
  /// The bytes of the file before the buffer.
  private let offset: Int
  /// The last picture; it has a descriptor of its own.
  private var last: DMABuffer?

  init(descriptor: Int32, offset: Int) { (self.descriptor, self.offset) = (descriptor, offset) }

  /// The first pixel of a picture, mapped until another one is asked for. Before the buffer is removed.
  func picture(
    _ size: PixelSize, _ format: PixelFormat, offset inBuffer: Int, stride: Int
  ) throws(DMABufferError) -> UnsafeRawPointer {
    let plane = DMABuffer.Plane(offset: offset + inBuffer, stride: stride)
    if last?.planes != [plane] || last?.size != size || last?.format != format {
      let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
      guard own >= 0 else { throw .system(errno: errno, call: "fcntl") }
      last = try DMABuffer(
        descriptors: [own], fourCC: format == .rgba ? Self.xbgr : Self.xrgb, size: size, planes: [plane])
    }
    let pixels = PixelBuffer(last!) {}
    try pixels.map()
    return pixels.unsafePlane(0).base
  }

  /// Calls `body` while the processor may read the last picture.
  func read<Result>(_ body: () -> Result) throws(DMABufferError) -> Result {
    guard let last else { return body() }
    let pixels = PixelBuffer(last) {}
    try pixels.map()
    return withExtendedLifetime(pixels) { body() }
  }

  /// Codes of drm_fourcc.h for BGRA and RGBA, of which the fourth byte is not read.
  private static let xrgb: UInt32 = 0x3432_5258
  private static let xbgr: UInt32 = 0x3432_4258
}
