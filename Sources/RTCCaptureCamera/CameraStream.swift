import CLinux
import Glibc
import RTCConvert
import RTCMedia

/// A camera that delivers pictures into memory shared with its driver; stopped with the object.
final class CameraStream {
  /// The result for the newest picture.
  enum Newest {
    /// There is no new picture.
    case nothing
    /// It is incomplete, or not in the promised format.
    case damaged
    case picture(PixelBuffer)
  }

  let device: CameraDevice
  let encoding: CameraMode.Encoding
  let size: PixelSize
  /// Pictures a second; 0 when the camera does not say.
  let rate: Double
  let colorSpace: ColorSpace
  private let rowBytes: Int
  private var memories: [UnsafeMutableRawBufferPointer] = []

  /// Longer or wider pictures are refused, and so are larger ones, in pixels: more than 8K has.
  private static let longestSide = 1 << 14
  private static let mostPixels = 1 << 26

  init(_ device: CameraDevice, _ mode: CameraMode, rate: Double) throws(CaptureError) {
    self.device = device
    encoding = mode.encoding
    var layout = clinux_camera_layout()
    let status = clinux_camera_set(
      device.descriptor, mode.encoding.rawValue, UInt32(mode.size.width), UInt32(mode.size.height),
      mode.rate > 0 ? min(rate, mode.rate) : rate, &layout)
    size = PixelSize(width: Int(layout.width), height: Int(layout.height))
    self.rate = layout.rate
    let shortest = mode.encoding.layout(width: size.width)?.rowBytes ?? 0
    rowBytes = layout.row_bytes == 0 ? shortest : Int(layout.row_bytes)
    colorSpace = mode.encoding.pixelFormat == .bgra ? .sRGB : layout.is_bt709 != 0 ? .bt709Limited : .bt601Limited
    try Self.check(status, device)
    try checkPromise(of: layout.format)
    // Encoded pictures must not be dropped, so more of them may wait.
    let count = clinux_camera_request_buffers(device.descriptor, mode.encoding == .h264 ? 8 : 4)
    try Self.check(min(0, count), device)
    for index in 0..<UInt32(max(0, count)) {
      var length = 0
      guard let memory = clinux_camera_map(device.descriptor, index, &length) else { break }
      memories.append(UnsafeMutableRawBufferPointer(start: memory, count: length))
      try Self.check(clinux_camera_queue(device.descriptor, index), device)
    }
    guard !memories.isEmpty else {
      throw .unavailable("The camera \(device.name) shares no memory to put pictures in.")
    }
    try checkRows()
    try Self.check(clinux_camera_run(device.descriptor, 1), device)
  }

  deinit {
    _ = clinux_camera_run(device.descriptor, 0)
    for memory in memories { munmap(memory.baseAddress, memory.count) }
  }

  // MARK: - Parameters of the camera

  private static func check(_ status: Int32, _ device: CameraDevice) throws(CaptureError) {
    guard status < 0 else { return }
    if status == -EBUSY { throw .unavailable(CameraDevice.busy(device.name)) }
    if status == -ENODEV { throw .unavailable(CameraDevice.lost(device.name)) }
    throw .unavailable("The camera \(device.name) refuses to start: \(String(cString: strerror(-status))).")
  }

  private func checkPromise(of format: UInt32) throws(CaptureError) {
    guard format == encoding.rawValue else {
      throw .unavailable(
        "The camera \(device.name) delivers another format than it promised. Choose another size, or reconnect it.")
    }
    let isPossible =
      1...Self.longestSide ~= size.width && 1...Self.longestSide ~= size.height
      && size.width * size.height <= Self.mostPixels && (encoding != .yuyv || size.width % 2 == 0)
    guard isPossible else {
      throw .unavailable("The camera \(device.name) delivers pictures of \(size), which cannot be shown.")
    }
  }

  private func checkRows() throws(CaptureError) {
    guard let layout = encoding.layout(width: size.width) else { return }
    let count = memories.map(\.count).min() ?? 0
    let needed = rowBytes * size.height * layout.halves / 2
    guard rowBytes >= layout.rowBytes, needed - (rowBytes - layout.rowBytes) <= count else {
      throw .unavailable(
        "The camera \(device.name) states rows of \(rowBytes) bytes for pictures of \(size), which cannot be. Choose "
          + "another size.")
    }
  }

  // MARK: - Pictures

  /// Hands the oldest picture that waits to `body`, with its number; its bytes are none when it is damaged. Nil when none
  /// waits.
  /// - Throws: when the camera is gone.
  func takeOldest<Result>(_ body: (Span<UInt8>, UInt32) -> Result) throws(CameraLost) -> Result? {
    guard let filled = try dequeue() else { return nil }
    defer { _ = clinux_camera_queue(device.descriptor, filled.index) }
    return body(bytes(of: filled), filled.number)
  }

  /// The newest picture; older ones are dropped.
  /// - Throws: when the camera is gone.
  func takeNewest() throws(CameraLost) -> Newest {
    var newest: clinux_camera_filled?
    while let filled = try dequeue() {
      if let newest { _ = clinux_camera_queue(device.descriptor, newest.index) }
      newest = filled
    }
    guard let newest else { return .nothing }
    defer { _ = clinux_camera_queue(device.descriptor, newest.index) }
    return picture(bytes(of: newest)).map { .picture($0) } ?? .damaged
  }

  private func dequeue() throws(CameraLost) -> clinux_camera_filled? {
    var filled = clinux_camera_filled()
    let status = clinux_camera_dequeue(device.descriptor, &filled)
    if status == -EAGAIN { return nil }
    guard status == 0, Int(filled.index) < memories.count else { throw CameraLost() }
    return filled
  }

  @_lifetime(borrow self)
  private func bytes(of filled: clinux_camera_filled) -> Span<UInt8> {
    let memory = memories[Int(filled.index)]
    // The driver leaves the memory alone until it is queued again.
    let start = memory.baseAddress!.assumingMemoryBound(to: UInt8.self)
    let span = Span<UInt8>(_unsafeStart: start, count: min(filled.used, memory.count))
    return _overrideLifetime(span, borrowing: self)
  }

  private func picture(_ bytes: Span<UInt8>) -> PixelBuffer? {
    switch encoding {
    case .yuyv: CameraPixels.i420(yuyv: bytes, stride: rowBytes, size: size)
    case .jpeg, .motionJPEG: CameraPixels.bgra(jpeg: bytes, size: size)
    case .nv12, .i420: planes(bytes)
    case .h264: nil
    }
  }

  /// Planes one after another, chroma rows as long as luma's (NV12) or half (I420).
  private func planes(_ bytes: Span<UInt8>) -> PixelBuffer? {
    let format = encoding.pixelFormat
    var offset = 0
    var isWhole = true
    let buffer = PixelBuffer.allocate(format: format, size: size) { plane, target, stride in
      let extent = format.planeExtent(plane, of: size)
      let sourceStride = plane == 0 || format == .nv12 ? rowBytes : rowBytes / 2
      guard sourceStride >= extent.rowBytes,
        offset + sourceStride * (extent.rows - 1) + extent.rowBytes <= bytes.count
      else {
        isWhole = false
        return
      }
      for row in 0..<extent.rows {
        for byte in 0..<extent.rowBytes { target[row * stride + byte] = bytes[offset + row * sourceStride + byte] }
      }
      offset += sourceStride * extent.rows
    }
    return isWhole ? buffer : nil
  }
}

/// The camera was unplugged, or its driver gave up.
struct CameraLost: Error {}
